package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// requested returns the packages of the subscriptions and installed operators of a problem, without duplicates.
func requested(p *resolver.Problem) (list []string) {
	for _, s := range p.Subscriptions {
		list = append(list, s.Package)
	}
	for _, in := range p.Installed {
		list = append(list, in.PackageName())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// bundleOfVersion replaces a version with the name of its bundle in the packages that a problem requests.
func bundleOfVersion(p *resolver.Problem, name *string) error {
	if _, err := semver.ParseTolerant(*name); err != nil {
		return nil
	}
	var graphs []*graph.Catalog
	for _, c := range p.Catalogs {
		if c.Graph != nil {
			graphs = append(graphs, c.Graph)
		}
	}
	asked := requested(p)
	var found []string
	var missing error
	for _, pkg := range asked {
		o := operand{pkg: pkg}
		if err := o.inPackage(*name, packagesOf(graphs, pkg)); err != nil {
			missing = err
		} else {
			found = append(found, o.Node.Name)
		}
	}
	switch {
	case len(found) > 1:
		return fmt.Errorf("version %s is that of %s; name the bundle instead", *name, strings.Join(found, " and "))
	case len(found) == 1:
		*name = found[0]
	case len(asked) == 1:
		return missing
	}
	return nil
}

// tellWhyNot prints why the named bundle is not part of the plan. refused reports whether
// a conflict follows in the text.
func (x *explainer) tellWhyNot(ctx context.Context, p *resolver.Problem, why func(context.Context, string) (resolver.WhyNots, error), refused bool) error {
	list, err := why(ctx, x.whyNot)
	if err != nil && ctx.Err() == nil {
		var known, others []string
		asked := requested(p)
		for q := range packages(p.Catalogs, "") {
			for b := range q.Bundles() {
				if slices.Contains(asked, q.Name()) {
					known = append(known, b.Name())
				} else {
					others = append(others, b.Name())
				}
			}
		}
		return fmt.Errorf("%w%s", err, cmp.Or(hint(x.whyNot, known), hint(x.whyNot, others)))
	}
	if err != nil {
		return err
	}
	if err := x.adapt(ctx, nil, list); err != nil {
		return err
	}
	if x.out.format == formatJSON || x.out.format == formatYAML {
		return x.out.encode(list)
	}
	if err := x.prose("", list.Text(x.width(), x.style())); err != nil || !refused {
		return err
	}
	_, err = fmt.Fprintln(x.out.w)
	return err
}
