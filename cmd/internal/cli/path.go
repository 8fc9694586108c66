package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

func newPath(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path {CATALOG PACKAGE FROM|--cluster PACKAGE} [TO]",
		Short: "List the upgrades from one version to another",
		Long: `Path lists the steps from an installed version to the head of a channel, or to
another version: the path that OLM takes automatically, and the shortest one. Each
step names the edges that allow it.

FROM and TO are versions or names of bundles, or BUNDLE@VERSION for a bundle that is
in no catalog ("olmkit help operators"). Without --channel, classic uses the default
channel, and v1 all channels.

With --impact, each step has the verdict of "olmkit impact". With --avoid breaks,
the shortest path is the shortest one without an upgrade that breaks something. If
there is none, the upgrades are listed of which each path takes at least one. Upgrades
whose manifests are not available count as safe, and are marked.

If only other channels lead to TO or to a head, the answer is how to follow them. If
none does, it is how to remove the operator and install it again.

With --cluster or --filename, FROM, the channel and the catalog are those of the
package's operator in the cluster. A ClusterExtension is read as v1.

Exit codes: 0 there is a path, 1 there is none, 2 the input could not be read, 3 there
is a path, but --avoid could not judge all of its upgrades.`,
		Example: `  olmkit path ./catalog etcd 0.9.0
  olmkit path --cluster etcd
  olmkit path ./catalog etcd 0.9.0 --avoid breaks --bundles ./operators
  olmkit path --sample etcd 0.9.0 0.9.4 --reading v1`,
	}
	f, from, reading := addFormat(cmd), addCatalog(cmd), addReading(cmd)
	avoid := addAvoid(cmd)
	var channels []string
	var s clusterState
	s.addCluster(cmd)
	s.addNamespace(cmd)
	addList(cmd.Flags(), &channels, "channel", "c", "a `CHANNEL` whose edges count (repeatable)")
	cmd.ValidArgsFunction = from.completeArgs(e, 2)
	completeFlag(cmd, "channel", from.completeChannel(e))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := avoid.check(); err != nil {
			return err
		}
		l := newLoader(e)
		l.onDemand = true
		l.whole = avoid.on() // for the manifests
		var p graph.Package
		var operator *operatorStatus // on the cluster
		var err error
		if s.given() {
			if p, operator, err = s.operator(cmd.Context(), l, from, args); err != nil {
				return err
			}
			args[0] = operator.Installed
			if !mentions(p, operator.Installed) && !has(p, operator.Installed) {
				args[0] += "@" + operator.Version
			}
			if operator.isV1() && !cmd.Flags().Changed("reading") {
				*reading = graph.V1
			}
			if channels == nil {
				channels = operator.channels
				if !operator.isV1() && operator.Channel != "" {
					channels = []string{operator.Channel}
				}
			}
		} else {
			if err := s.checkNamespace(); err != nil {
				return err
			}
			p, args, err = from.pkg(cmd.Context(), l, args)
		}
		switch {
		case err != nil:
			return err
		case len(args) == 0:
			return usagef("FROM is missing; name a bundle or version after the package")
		case len(args) > 2:
			return usagef("expected FROM and TO, got %s", strings.Join(args, ", "))
		}
		if err := checkChannels(p, channels); err != nil {
			return err
		}
		assumed := channels == nil && *reading == graph.Classic
		if assumed {
			channels = []string{p.DefaultChannelName()}
		}
		a := &pathAnswer{Package: p.Name(), Reading: *reading, Channels: channels, assumed: assumed}
		if a.From, err = l.findFrom(p, args[0]); err != nil {
			return fmt.Errorf("FROM %s: %w", args[0], err)
		}
		o := &graph.UpgradeOptions{Channels: channels, Installed: []graph.Node{a.From}}
		if len(args) == 2 {
			to, err := findNode(p, args[1])
			if err != nil {
				return fmt.Errorf("TO %s: %w", args[1], err)
			}
			a.To = &to
			o.Installed = append(o.Installed, to)
		}
		u := p.Upgrades(*reading, o)
		if u.Err() != nil {
			return u.Err()
		}
		a.Heads, a.Walk = u.Heads(), u.Walk(a.From)
		if n := len(a.Walk.Steps) - 1; n >= 0 && a.Walk.Steps[n].From == a.Walk.Steps[n].To {
			a.Walk.Steps, a.Walk.Loops = a.Walk.Steps[:n], false // an entry that accepts itself, which has no effect
		}
		a.find(u)
		if avoid.on() {
			a.avoid = avoid.verdict
			judge, err := avoid.judge(e, &s, operator, p, *reading)
			if err != nil {
				return err
			}
			if err := avoid.avoiding(cmd.Context(), judge, u, a); err != nil {
				return err
			}
		}
		if err := a.halt(cmd.Context(), p, avoid.on()); err != nil {
			return err
		}
		manager := kubectl.Operator{V1: *reading == graph.V1, Namespace: "operators", Name: p.Name()}
		managed := operator == nil || operator.Object.Kind != olm.KindClusterServiceVersion
		if operator != nil {
			manager.Namespace, manager.Name = operator.Namespace, operator.Object.Name
		}
		if outlooks := graph.NewOutlooks(*reading, []graph.Source{{Package: p}}, nil); a.OK {
			a.downgrades(outlooks)
			if end, ok := a.stopsEarly(); ok && managed {
				a.Commands = []string{manager.Hold(cmp.Or(end.Version, end.Name))}
			}
		} else if len(a.Avoided) == 0 {
			a.elsewhere(outlooks)
			if managed {
				a.instruct(p, manager)
				if err := a.reinstall(cmd.Context(), p, manager); err != nil {
					return err
				}
				if err := a.selfCertify(cmd.Context(), p, manager); err != nil {
					return err
				}
			}
		}
		if err := (&printer{w: e.stdout, format: *f}).print(a); err != nil {
			return err
		}
		switch {
		case !a.OK:
			return errNegative
		case avoid.avoids() && len(a.unjudged()) > 0:
			return errUnchecked
		}
		return nil
	}
	return cmd
}

// operator returns the installed operator whose package the first argument names. It also
// returns that package, from the catalog on the command line or else from the operator's own
// catalog.
func (s *clusterState) operator(ctx context.Context, l *loader, from *catalogArg, args []string) (p graph.Package, o *operatorStatus, err error) {
	if len(args) == 0 {
		return p, nil, usagef("no package; name one whose operator is installed")
	}
	r, err := s.readOperators(ctx, l)
	if err != nil {
		return p, nil, err
	}
	if o, err = r.installed(args[0]); err != nil {
		return p, nil, err
	}
	if from.flag != "" || *from.sample {
		p, _, err = from.pkg(ctx, l, args)
	} else {
		p, err = r.find(ctx, o)
	}
	r.notes()
	return p, o, err
}

// older reports whether the version of a is lower than that of b.
func older(a, b graph.Node) bool {
	x, xerr := version.Parse(a.Version)
	y, yerr := version.Parse(b.Version)
	return xerr == nil && yerr == nil && x.LT(y)
}

func has(p graph.Package, name string) bool {
	_, ok := p.Bundle(name)
	return ok
}

// A pathAnswer describes the paths between two versions.
type pathAnswer struct {
	Package  string        `json:"package"`
	Reading  graph.Reading `json:"reading"`
	Channels []string      `json:"channels,omitempty"`
	From     graph.Node    `json:"from"`
	To       *graph.Node   `json:"to,omitzero"`
	// OK is true if there is a path to To or, without To, to a head.
	OK       bool         `json:"ok"`
	Heads    []graph.Node `json:"heads"`
	Walk     graph.Walk   `json:"walk"`
	Shortest []graph.Step `json:"shortest"`
	// With --impact or --avoid, Impact has the verdicts on the steps of Shortest, with --impact
	// also those of Walk. With --avoid, Avoided are the upgrades that were excluded because of
	// their verdicts. If that leaves no path, each path takes at least one of Blocking.
	Impact   []edgeImpact `json:"impact,omitempty"`
	Avoided  []edgeImpact `json:"avoided,omitempty"`
	Blocking []edgeImpact `json:"blocking,omitempty"`
	// Outlook is how far OLM upgrades From, and how other channels lead further, if neither a path
	// nor Way leads to the target.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// Back is how far OLM upgrades From, if one of the steps of Shortest leads to an older version.
	Back *graph.Outlook `json:"back,omitzero"`
	// Way is how other channels lead to To. It is nil if a path leads there, or if they do not either.
	Way *graph.Way `json:"way,omitzero"`
	// Certified is the bundle that OLM v1 installs with the policy SelfCertified, although no way leads to it.
	Certified *graph.Node `json:"certified,omitzero"`
	// Commands make the changes of Way or of the way of Outlook, in order, or install Certified, or a To to which no way
	// leads, in the place of From, or keep OLM from continuing beyond the end of Shortest.
	Commands []string `json:"commands,omitempty"`
	// Fixes install the operator again, if no way leads to the head of a channel.
	Fixes []*resolver.Fix `json:"fixes,omitempty"`

	// DeadEnd is the first upgrade of Shortest that OLM does not take because of what its bundle requires.
	DeadEnd *resolver.DeadEnd `json:"deadEnd,omitzero"`

	avoid     string
	again     string // the channel from which an unreachable To can be installed
	assumed   bool   // whether the channel is an assumption
	unchecked bool   // whether the check of CRDs of OLM v1 may refuse an upgrade
}

// elsewhere sets where other channels lead.
func (a *pathAnswer) elsewhere(o *graph.Outlooks) {
	for _, w := range o.Ways(a.From, "", a.Channels) {
		if a.To != nil && w.End().Name == a.To.Name {
			a.Way = &w
			return
		}
	}
	a.Outlook = o.Of(a.From, "", a.Channels)
}

// goesBack reports whether To is unreachable and older than From.
func (a *pathAnswer) goesBack() bool {
	return a.unreachable() && older(*a.To, a.From)
}

// unreachable reports whether To was given, and no way leads to it.
func (a *pathAnswer) unreachable() bool { return !a.OK && a.Way == nil && a.To != nil }

// way returns the way that the answer gives, or nil.
func (a *pathAnswer) way() *graph.Way {
	if a.Way == nil && a.Outlook != nil && !a.unreachable() {
		return a.Outlook.Way
	}
	return a.Way
}

// instruct sets the commands for the object that manages the operator.
func (a *pathAnswer) instruct(p graph.Package, manager kubectl.Operator) {
	if a.unreachable() {
		b, _ := p.Bundle(a.To.Name)
		for e := range b.Entries() {
			ch := e.Channel().Name()
			if _, offered := e.Rank(); offered && (a.again == "" || slices.Contains(a.Channels, ch) && !slices.Contains(a.Channels, a.again)) {
				a.again, a.Commands = ch, manager.Reinstall(a.From.Name, ch, a.To.Name, a.To.Version, false)
			}
		}
		if manager.V1 && len(a.Channels) == 0 && a.again != "" { // all channels
			a.Commands = []string{manager.Set(map[string]any{"version": a.To.Version, "upgradeConstraintPolicy": "SelfCertified"})}
		}
		return
	}
	if len(a.Channels) > 1 {
		return
	}
	if a.way() == nil {
		if o := a.Outlook; o != nil && o.Keep != nil && o.Downgrade == nil { // whose head it is
			a.Commands = []string{manager.Follow(o.Keep.Channel, nil)}
		}
		return
	}
	a.Commands = prose.LegCommands(a.way(), manager, false, nil)
}

// reinstall sets the fixes that install an operator of classic OLM again.
func (a *pathAnswer) reinstall(ctx context.Context, p graph.Package, manager kubectl.Operator) error {
	if manager.V1 || a.To != nil || len(a.Channels) > 1 {
		return nil
	}
	in := resolver.Installed{Name: a.From.Name, Version: a.From.Version, Package: p.Name()}
	if b, ok := p.Bundle(a.From.Name); ok {
		in = installedFrom(b)
	}
	sol, err := resolver.Resolve(ctx, resolver.Problem{
		Namespace:     manager.Namespace,
		Catalogs:      []resolver.Catalog{{Name: "catalog", Namespace: resolver.DefaultGlobalNamespace, Graph: p.Catalog()}},
		Subscriptions: []resolver.Subscription{{Name: manager.Name, Package: p.Name(), Channel: strings.Join(a.Channels, ""), InstalledCSV: in.Name}},
		Installed:     []resolver.Installed{in},
	})
	if sol == nil && ctx.Err() == nil {
		return nil // without its dependencies, there is nothing to test
	} else if err != nil {
		return err
	}
	list, err := sol.AdviceWithFixes(ctx)
	for _, x := range list {
		for _, f := range x.Fixes {
			if x.Package == a.Package && f.Changes[0].Kind == resolver.Reinstall {
				a.Fixes = append(a.Fixes, f)
			}
		}
	}
	return err
}

// selfCertify sets the bundle that OLM v1 installs with the policy SelfCertified, if no way leads to a newer one.
func (a *pathAnswer) selfCertify(ctx context.Context, p graph.Package, manager kubectl.Operator) error {
	o := a.Outlook
	if !manager.V1 || a.To != nil || o == nil || a.way() != nil || len(a.Commands) > 0 || o.Gap != nil && o.Gap.Replaced {
		return nil
	}
	at := o.End()
	sel, err := olmv1.Select(ctx, olmv1.Request{
		Package: p.Name(), Channels: a.Channels, Policy: olmv1.SelfCertified, Catalogs: []olmv1.Catalog{{Name: "catalog", Graph: p.Catalog()}},
		Installed: &olmv1.Installed{Name: at.Name, Version: at.Version},
	})
	var no *olmv1.Refusal
	if errors.As(err, &no) {
		return nil
	} else if err != nil {
		return err
	}
	if got := (graph.Node{Name: sel.Bundle, Version: sel.Version}); older(at, got) {
		a.Certified, a.Commands = &got, []string{manager.Set(map[string]any{"upgradeConstraintPolicy": olmv1.SelfCertified})}
	}
	return nil
}

// beyond returns the steps that OLM takes on its own after those of Shortest, and whether it begins with these.
func (a *pathAnswer) beyond() ([]graph.Step, bool) {
	n, walk := len(a.Shortest), a.Walk.Steps
	if !a.OK || len(walk) < n || a.Walk.Loops {
		return nil, false
	}
	return walk[n:], slices.EqualFunc(walk[:n], a.Shortest, func(x, y graph.Step) bool { return x.To == y.To })
}

// stopsEarly returns where the shortest path ends, and whether OLM takes it on its own and would continue from there.
func (a *pathAnswer) stopsEarly() (graph.Node, bool) {
	beyond, is := a.beyond()
	end := a.From
	if n := len(a.Shortest); n > 0 {
		end = a.Shortest[n-1].To
	}
	return end, is && len(beyond) > 0 && a.stop() == ""
}

// downgrades sets Back.
func (a *pathAnswer) downgrades(o *graph.Outlooks) {
	x := o.Of(a.From, "", a.Channels)
	if d := x.Downgrade; d != nil && slices.ContainsFunc(a.Shortest, func(s graph.Step) bool { return s.From == d.From && s.To == d.To }) {
		a.Back = x
	}
}

// unjudged returns the upgrades that could not be compared.
func (a *pathAnswer) unjudged() []edgeImpact {
	return slices.DeleteFunc(slices.Clone(a.Impact), func(e edgeImpact) bool { return e.Error == "" })
}

// find sets the shortest path.
func (a *pathAnswer) find(u *graph.Upgrades) {
	if a.To != nil {
		a.Shortest, a.OK = u.Path(a.From, *a.To)
	} else {
		a.Shortest, a.OK = u.PathToHead(a.From)
	}
}

// halt sets where OLM stops on the path because of what a bundle requires, and whether the check of CRDs may stop it.
// That check concerns bundles with APIs, and has been made if judged is set.
func (a *pathAnswer) halt(ctx context.Context, p graph.Package, judged bool) error {
	for _, s := range a.Shortest {
		b, ok := p.Bundle(s.To.Name)
		if !ok {
			continue
		}
		requires := false
		for x := range b.Properties() {
			requires = requires || property.IsRequirement(x.Type)
			a.unchecked = a.unchecked || x.Type == property.TypeGVK && a.Reading == graph.V1 && !judged
		}
		switch {
		case !requires:
			continue
		case a.Reading == graph.V1:
			a.DeadEnd = &resolver.DeadEnd{At: s.From, Bundle: s.To, Because: fmt.Sprintf("it refuses %s, which declares dependencies", s.To)}
			return nil
		}
		c, err := resolver.CheckDependencies(ctx, b, nil, []resolver.Catalog{{Name: "catalog", Graph: p.Catalog()}})
		if err != nil {
			return err
		}
		for _, u := range c.Unmet {
			if u.Reason == "" {
				continue
			}
			a.DeadEnd = &resolver.DeadEnd{At: s.From, Bundle: s.To, Requires: u.Requires}
			if u.Offered() {
				a.DeadEnd.Requires, a.DeadEnd.Because = "", fmt.Sprintf("%s requires %s: %s", s.To, u.Requires, u.Reason)
			}
			return nil
		}
	}
	return nil
}
