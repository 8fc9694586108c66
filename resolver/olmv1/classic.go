package olmv1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver"
)

// classicNamespace is the namespace for operators of classic OLM.
const classicNamespace = "operators"

// A classicPlan is how classic OLM installs a bundle.
type classicPlan struct {
	channel  string
	starting string        // the startingCSV, or ""
	add      *resolver.Fix // adds a catalog that has what is missing, or nil
	selected []resolver.Selected
	catalog  string
	node     graph.Node
	version  graph.VersionRelease
}

// classic returns the fix that installs a bundle that OLM v1 refuses with classic OLM, or else another requested one of its
// channels, with what it requires, or nil if classic OLM does not. If no bundle is in the version range, any will do.
func (s *selecting) classic(ctx context.Context, refused graph.Bundle) (*Fix, error) {
	p := resolver.Problem{Namespace: classicNamespace, Installed: s.Options.OtherInstalled}
	for _, c := range s.catalogs {
		p.Catalogs = append(p.Catalogs, resolver.Catalog{Name: c.Name, Namespace: p.Namespace, Priority: c.Priority, Graph: c.Graph})
	}
	var channels []string // the default one first
	for e := range refused.Entries() {
		if ch := e.Channel(); s.asked(refused) && !s.inChannel(ch) {
			continue
		} else if ch.IsDefault() {
			channels = slices.Insert(channels, 0, ch.Name())
		} else {
			channels = append(channels, ch.Name())
		}
	}
	channels = channels[:min(len(channels), 3)]
	starts := []string{"", refused.Name()} // the startingCSV
	for _, starting := range starts {
		var best *classicPlan
		for _, ch := range channels {
			p.Subscriptions = []resolver.Subscription{{Package: s.Package, Channel: ch, StartingCSV: starting}}
			sol, err := resolver.Resolve(ctx, p)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				continue
			}
			if plan := s.planned(classicPlan{channel: ch, starting: starting, selected: sol.Selected}); plan != nil && (best == nil || plan.version.Compare(best.version) > 0) {
				best = plan
			}
		}
		if best != nil {
			return s.classicFix(best), nil
		}
	}
	for _, starting := range starts {
		for _, ch := range channels {
			p.Subscriptions = []resolver.Subscription{{Package: s.Package, Channel: ch, StartingCSV: starting}}
			f, err := added(ctx, p)
			if err != nil {
				return nil, err
			}
			if f == nil {
				continue
			}
			if plan := s.planned(classicPlan{channel: ch, starting: starting, add: f, selected: f.Selected}); plan != nil {
				return s.classicFix(plan), nil
			}
		}
	}
	return nil, nil
}

// added returns the first fix of a problem if it only adds a catalog, or nil.
func added(ctx context.Context, p resolver.Problem) (*resolver.Fix, error) {
	_, err := resolver.Resolve(ctx, p)
	var no *resolver.Conflict
	if !errors.As(err, &no) || len(no.Cores) > 1 {
		return nil, nil
	}
	fixes, err := no.Cores[0].Fixes(ctx, 1)
	if len(fixes) == 0 || slices.ContainsFunc(fixes[0].Changes, func(c resolver.Change) bool { return c.Kind != resolver.AddCatalog }) || len(fixes[0].Commands) == 0 {
		return nil, err
	}
	return fixes[0], err
}

// planned completes a plan with the bundle of the package that it installs. It returns nil if that is not requested.
func (s *selecting) planned(c classicPlan) *classicPlan {
	for _, x := range c.selected {
		v, err := semver.Parse(x.Version)
		if x.Package == s.Package && err == nil && (len(s.inRanges) == 0 || s.rng.Contains(v)) {
			c.catalog, c.node, c.version = x.Catalog, graph.Node{Name: x.Name, Version: x.Version}, graph.ReadRelease(v)
			return &c
		}
	}
	return nil
}

// classicFix returns a plan as a fix. It deletes what OLM v1 has installed, which classic OLM does not take over.
func (s *selecting) classicFix(c *classicPlan) *Fix {
	spec := map[string]any{"name": s.Package, "channel": c.channel, "source": c.catalog, "sourceNamespace": resolver.DefaultGlobalNamespace}
	text, then, risk := "use classic OLM: ", fmt.Sprintf(", if CatalogSource %s in namespace %s has this catalog", c.catalog, resolver.DefaultGlobalNamespace), ""
	var commands []string
	if c.add != nil {
		commands = slices.Clone(c.add.Commands) // first, because they fail if the image is not set
	}
	if s.Installed != nil {
		text += "delete the ClusterExtension, and "
		commands = append(commands, kubectl.Delete("clusterextension", "", s.object()))
		risk = ". Risk: OLM v1 then deletes the CRDs of the operator with all of its custom resources; save them first"
	}
	text += fmt.Sprintf("create a Subscription to package %s, channel %s", s.Package, c.channel)
	if c.starting != "" {
		text += ", with startingCSV " + c.starting + " and Manual approval"
		spec["startingCSV"], spec["installPlanApproval"] = c.starting, "Manual"
	}
	if s.Installed == nil {
		text += ", in place of the ClusterExtension"
	}
	var later []Command
	if c.starting != "" {
		text += ", and approve its install plan"
		later = []Command{{Line: kubectl.Operator{Namespace: classicNamespace, Name: s.Package}.Approve()}}
	}
	if c.add != nil {
		text += ", and " + c.add.String()
	} else {
		var names []string
		for _, x := range c.selected {
			names = append(names, x.Name)
		}
		text += "; then " + phrase.And(names) + phrase.Either(len(names), " is", " are") + " installed"
	}
	commands = append(commands, kubectl.Apply(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
		"metadata": map[string]any{"name": s.Package, "namespace": classicNamespace}, "spec": spec,
	}))
	return &Fix{
		Kind: FixClassic, Package: s.Package, Channels: []string{c.channel}, Course: Course{Catalog: c.catalog, Selected: c.node},
		Command: strings.Join(commands, " && "), Then: later, Text: text + then + risk,
	}
}

// onlyClassic returns the bundle to install with classic OLM: the one that OLM v1 chose and refuses for its dependencies, or
// the highest requested one, or else the highest, if OLM v1 refuses all bundles of the version range or of
// the package. An installed one is not replaced because of the version range.
func (s *selecting) onlyClassic(r *Refusal) graph.Bundle {
	switch {
	case r.Code == RefusedDependency:
		return r.chosen.Bundle
	case r.Code != RefusedChannels && r.Code != RefusedRange && r.Code != RefusedSuccessors || !s.refusesAll() && !s.refusesRange():
		return graph.Bundle{}
	}
	list := slices.Clone(s.inRanges)
	for i, p := range s.packages {
		for b := range p.Bundles() {
			if (s.Installed == nil || r.Code == RefusedChannels) && len(s.inRanges) == 0 && (r.Code == RefusedChannels || s.asked(b)) {
				c := candidate{Bundle: b, source: s.sources[i]}
				c.version, c.known = b.VersionRelease()
				list = append(list, c)
			}
		}
	}
	if len(list) == 0 {
		return graph.Bundle{}
	}
	return slices.MinFunc(list, candidate.compare).Bundle
}

// refusesRange reports whether there are bundles in the version range and OLM v1 refuses all of them for their dependencies.
func (s *selecting) refusesRange() bool {
	accepts := func(c candidate) bool { return Dependency(c.Bundle) == "" }
	return len(s.inRanges) > 0 && !slices.ContainsFunc(s.inRanges, accepts)
}
