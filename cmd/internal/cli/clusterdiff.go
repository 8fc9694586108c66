package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// diff returns what the catalog in arg changes for the installed operators of the cluster.
func (s *clusterState) diff(ctx context.Context, l *loader, arg string, reading graph.Reading) (*diffAnswer, error) {
	next, err := parseSource(arg, resolver.DefaultGlobalNamespace)
	if err != nil {
		return nil, err
	}
	r, err := s.readOperators(ctx, l)
	if err != nil {
		return nil, err
	}
	old, err := r.replaced(next, reading == graph.V1)
	if err != nil {
		return nil, err
	}
	r.notes()
	var cats [2]*graph.Catalog
	for i, src := range []source{old, next} {
		if cats[i], err = l.indexOf(ctx, src); err != nil {
			return nil, err
		}
		l.note(src.path, cats[i])
	}
	d, err := graph.Compare(ctx, cats[0], cats[1], reading)
	if err != nil {
		return nil, err
	}
	var own []operatorStatus
	for _, o := range r.operators {
		if o.isV1() && reading == graph.V1 || o.Catalog == old.name && o.catalogNamespace == old.namespace {
			own = append(own, o)
		}
	}
	return &diffAnswer{concerning(d, own), own}, nil
}

var errNoneServed = errors.New("no catalog of the cluster has a known digest")

// replaced returns the catalog in the cluster that next would replace: the one with the same
// name, or else the only one.
func (r *clusterReader) replaced(next source, v1 bool) (source, error) {
	before := len(r.inferred)
	list, err := r.catalogs(nil, v1)
	if err != nil {
		return source{}, err
	}
	var names []string
	for _, src := range list {
		names = append(names, src.name)
	}
	same := slices.DeleteFunc(slices.Clone(list), func(src source) bool {
		return src.name != next.name || next.hasNamespace && src.namespace != next.namespace
	})
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return source{}, usagef("several namespaces have a CatalogSource %s; choose one: %s=%s,namespace=NAMESPACE", next.name, next.name, next.path)
	case len(list) == 1 && len(r.inferred) == before:
		return list[0], nil
	case len(list) == 0:
		return source{}, fmt.Errorf("%w, so there is nothing to compare %s with; name the older catalog as well, instead of the cluster", errNoneServed, next.path)
	}
	return source{}, usagef("the cluster has no catalog %q; choose one of %s: NAME=%s", next.name, strings.Join(names, ", "), next.path)
}

// concerning limits a difference to the packages, channels and versions of operators.
func concerning(d *graph.Diff, operators []operatorStatus) *graph.Diff {
	of := func(pkg string) (list []operatorStatus) {
		for _, o := range operators {
			if o.Package == pkg {
				list = append(list, o)
			}
		}
		return list
	}
	out := &graph.Diff{Reading: d.Reading}
	for _, name := range d.PackagesRemoved {
		if len(of(name)) > 0 {
			out.PackagesRemoved = append(out.PackagesRemoved, name)
		}
	}
	for _, p := range d.Packages {
		users := of(p.Name)
		if len(users) == 0 {
			continue
		}
		isUsed := func(n graph.Node) bool {
			return slices.ContainsFunc(users, func(o operatorStatus) bool { return o.Installed == n.Name })
		}
		var channels []graph.ChannelDiff
		for _, c := range p.Channels {
			if !slices.ContainsFunc(users, func(o operatorStatus) bool { return o.follows(c.Name) }) {
				continue
			}
			for _, list := range []*[]graph.Node{&c.Gained, &c.Lost, &c.Stranded, &c.Behind} {
				*list = slices.DeleteFunc(slices.Clone(*list), func(n graph.Node) bool { return !isUsed(n) })
			}
			c.Changed = slices.DeleteFunc(slices.Clone(c.Changed), func(r graph.Reroute) bool { return !isUsed(r.From) })
			out.Lost += len(c.Lost)
			out.Stranded += len(c.Stranded)
			channels = append(channels, c)
		}
		p.Channels = channels
		p.Precautions = slices.DeleteFunc(slices.Clone(p.Precautions), func(x graph.Precaution) bool {
			return !slices.ContainsFunc(users, func(o operatorStatus) bool { return o.Installed == x.From.Name && o.follows(x.Channel) })
		})
		out.APIsRemoved = append(out.APIsRemoved, p.APIsRemoved...)
		out.Packages = append(out.Packages, p)
	}
	return out
}

// follows reports whether the operator gets upgrades from a channel.
func (o *operatorStatus) follows(channel string) bool {
	if o.isV1() {
		return len(o.channels) == 0 || slices.Contains(o.channels, channel)
	}
	return o.Channel == "" || o.Channel == channel
}
