package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// A request holds the flags that describe a problem.
type request struct {
	clusterState
	packages    []string
	installed   []string
	startingCSV []string

	snapshot *reconcile.Snapshot // of the cluster, if the problem is one of a cluster
}

func (r *request) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	r.addCluster(cmd)
	r.addComplete(cmd)
	addCatalogs(cmd, &r.catalogs, "another catalog, or the content of one in the cluster")
	r.sample = addSample(cmd)
	addList(f, &r.packages, "package", "p", "a package to subscribe to, as `PACKAGE[:CHANNEL]` (repeatable)")
	addList(f, &r.installed, "installed", "i", "an installed operator: "+installedUsage+"; with :CHANNEL also its subscription (repeatable)")
	addList(f, &r.startingCSV, "starting-csv", "", "the bundle to start with, as `[PACKAGE=]BUNDLE` (repeatable)")
	f.StringVarP(&r.namespace, "namespace", "n", "operators", "the `NAMESPACE` to resolve; with a cluster, the default is that of the kubeconfig's context, or the only one with subscriptions")
	r.addAllNamespaces(cmd, "with a cluster, all namespaces that have operators", "package", "installed", "starting-csv")
	addGlobalNamespace(f, &r.global)
}

// addComplete adds --complete.
func (s *clusterState) addComplete(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.complete, "complete", false, "treat objects that the files lack as absent, except custom resources and Secrets")
}

// obstacles returns what keeps the bundles of the solution of a problem, which may be nil, from running in the
// cluster. Without a cluster, its version counts, if it was given, and where the running OLM decides otherwise.
func (r *request) obstacles(ctx context.Context, p *resolver.Problem, sol *resolver.Solution) ([]reconcile.Obstacle, error) {
	switch {
	case r.snapshot != nil:
		var content reconcile.Catalogs
		for _, c := range p.Catalogs {
			if c.Graph != nil {
				content.AddGraph(c.ID(), c.Graph)
			}
		}
		list, err := reconcile.Obstacles(ctx, r.snapshot, sol)
		if err == nil {
			err = reconcile.FailForward(ctx, list, r.snapshot, &content)
		}
		if err != nil {
			return nil, err
		}
		return list, anticipate(ctx, list, *p)
	case r.kubeVersion != "" || len(r.differences(sol)) > 0:
		list, err := reconcile.Obstacles(ctx, &reconcile.Snapshot{Namespace: r.namespace, KubeVersion: r.kubeVersion, Known: []olm.GroupKind{}}, sol)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(o reconcile.Obstacle) bool {
			return differs(o) && !slices.ContainsFunc(r.differences(sol), func(d resolver.Difference) bool { return d.Text == o.Reason })
		})
		return list, anticipate(ctx, list, *p)
	}
	return nil, nil
}

// differences returns the rules in which the running OLM decides otherwise than a solution, which may be nil. A
// package on the command line is not a Subscription, so those about subscriptions need a cluster.
func (r *request) differences(sol *resolver.Solution) []resolver.Difference {
	switch {
	case sol == nil:
		return nil
	case r.snapshot != nil:
		return sol.Differs
	}
	return slices.DeleteFunc(slices.Clone(sol.Differs), func(d resolver.Difference) bool { return d.Subscription != "" })
}

// deleted returns the operators of the cluster that were deleted while their subscriptions stayed.
func (r *request) deleted(sol *resolver.Solution) []reconcile.DeletedOperator {
	if r.snapshot == nil || sol == nil {
		return nil
	}
	return reconcile.DeletedOperators(r.snapshot, sol)
}

// adapt completes advice by what the cluster knows, and changes that lead around a bundle whose install plan waits for
// approval: they delete the plan.
func (r *request) adapt(ctx context.Context, advice resolver.AdviceList, list resolver.WhyNots) error {
	if r.snapshot == nil {
		return nil
	}
	err := adapt(ctx, advice, r.snapshot, nil)
	plan := waitingPlan(r.snapshot, nil)
	if plan == nil || err != nil {
		return err
	}
	_, remove := reconcile.Discard(r.snapshot.Subscriptions, plan)
	for i := range list {
		w := &list[i]
		if len(w.Commands) > 0 && risk("", w.Outlook) != "" {
			w.Commands = slices.Insert(slices.Clone(w.Commands), 1, remove...)
		}
		for j, f := range w.Fixes {
			if slices.ContainsFunc(f.Changes, func(c resolver.Change) bool { return c.Kind == resolver.ChangeChannel }) && len(f.Commands) > 0 {
				changed := *f
				changed.Commands = append(slices.Clone(f.Commands), remove...)
				w.Fixes[j] = &changed
			}
		}
	}
	return nil
}

// isUsed reports whether a flag of the request was given.
func (r *request) isUsed(cmd *cobra.Command) bool {
	names := append([]string{"catalog", "sample", "package", "installed", "starting-csv", "namespace", "all-namespaces", "global-namespace", "complete"}, clusterFlags...)
	return slices.ContainsFunc(names, cmd.Flags().Changed)
}

// problem loads the catalogs and returns the problem.
func (r *request) problem(ctx context.Context, l *loader, paths []string) (*resolver.Problem, error) {
	switch {
	case r.given():
		return r.ofCluster(ctx, l, paths)
	case r.all:
		return nil, usagef("--all-namespaces needs a cluster; add --cluster or --filename")
	}
	list, err := sources(paths, r.catalogs, *r.sample, r.global)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, usagef("no catalog; name its directory, or give --catalog, --sample or --problem")
	case len(r.packages)+len(r.installed) == 0:
		return nil, usagef("nothing to resolve; name packages with --package, and what is installed with --installed")
	}
	p := &resolver.Problem{Namespace: r.namespace}
	p.Options.Cluster.KubeVersion, p.Options.Command = r.kubeVersion, l.commandLine()
	if r.global != resolver.DefaultGlobalNamespace {
		p.GlobalNamespace = r.global
	}
	for _, s := range list {
		c := resolver.Catalog{Name: s.name, Namespace: s.namespace, Priority: s.priority}
		unseen := p.WhyUnseen(c.ID()) != ""
		g, err := l.indexOf(ctx, s)
		if err != nil && unseen && ctx.Err() == nil {
			p.Catalogs = append(p.Catalogs, c) // only fixes need its content
			continue
		}
		if err != nil {
			return nil, err
		}
		l.note(s.path, g)
		if r.kubeVersion != "" {
			l.noteKubernetes(s)
		}
		c.Graph = g
		p.Catalogs = append(p.Catalogs, c)
	}
	return p, r.add(p, l)
}

// add adds the packages and installed operators of the command line to a problem.
func (r *request) add(p *resolver.Problem, l *loader) error {
	channels := make([]string, len(r.installed))
	own := len(p.Installed)
	for i, arg := range r.installed {
		in, channel, err := installedOperator(l, arg, p.Catalogs)
		if err != nil {
			return err
		}
		p.Installed = append(p.Installed, in)
		channels[i] = channel
	}
	if err := r.subscribe(p, p.Installed[own:], channels); err != nil {
		return err
	}
	return r.start(p)
}

// subscribe adds a subscription for each package in r.packages, and for each installed
// operator with a channel. The subscription of a package owns the installed operator of that
// package. If the cluster already has a subscription to the package, subscribe only changes
// its channel.
func (r *request) subscribe(p *resolver.Problem, installed []resolver.Installed, channels []string) error {
	own := len(p.Subscriptions)
	for _, arg := range r.packages {
		pkg, channel, _ := strings.Cut(arg, ":")
		if pkg == "" {
			return usagef("--package %q has no package; write PACKAGE[:CHANNEL]", arg)
		}
		if err := notation(p.Catalogs, pkg); err != nil {
			return err
		}
		switch i := slices.IndexFunc(p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == pkg }); {
		case i >= own:
			return usagef("--package %s is given twice; a namespace holds one version of a package", pkg)
		case i >= 0:
			p.Subscriptions[i].Channel = cmp.Or(channel, p.Subscriptions[i].Channel)
			continue
		}
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: pkg, Channel: channel})
	}
	for i, in := range installed {
		at := slices.IndexFunc(p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == in.Package })
		channel := channels[i]
		switch {
		case channel != "" && in.Package == "":
			return usagef("--installed %s: a channel belongs to a package; write PACKAGE=%s", r.installed[i], r.installed[i])
		case channel != "" && at < 0:
			p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: in.Package, Channel: channel})
			at = len(p.Subscriptions) - 1
		case channel != "" && p.Subscriptions[at].Channel == "":
			p.Subscriptions[at].Channel = channel
		case channel != "" && p.Subscriptions[at].Channel != channel:
			return usagef("--installed %s and --package %s:%s name two channels; a subscription has one", r.installed[i], in.Package, p.Subscriptions[at].Channel)
		}
		if at >= 0 {
			p.Subscriptions[at].InstalledCSV = in.Name
		}
	}
	return nil
}

// notation returns an error for an argument that names not a package, but a bundle, PACKAGE@VERSION, PACKAGE=VERSION or
// PACKAGE/CHANNEL of a package that a catalog has. Other commands and tools accept these.
func notation(cats []resolver.Catalog, arg string) error {
	for range packages(cats, arg) {
		return nil
	}
	if strings.ContainsAny(arg, "0123456789") { // names of bundles have a version, and looking for them reads the whole index
		for p := range packages(cats, "") {
			if _, ok := p.Bundle(arg); ok {
				return usagef("--package %q names a bundle; write --package %s --starting-csv %s", arg, p.Name(), arg)
			}
		}
	}
	i := strings.IndexAny(arg, "@=/")
	if i < 0 || i == len(arg)-1 {
		return nil
	}
	name, rest := arg[:i], arg[i+1:]
	for p := range packages(cats, name) {
		if arg[i] == '/' {
			return usagef("--package %q names a package and a channel; write --package %s:%s", arg, name, rest)
		}
		for b := range p.Bundles() {
			if b.Name() == rest || b.Version().String() == rest {
				return usagef("--package %q names a package and a version; write --package %s --starting-csv %s", arg, name, b.Name())
			}
		}
		return usagef("--package %q names a package and a version; write --package %s --starting-csv BUNDLE, with a bundle that \"olmkit list bundles\" shows", arg, name)
	}
	return nil
}

// start sets the startingCSV of subscriptions from the flag.
func (r *request) start(p *resolver.Problem) error {
	for _, arg := range r.startingCSV {
		pkg, name, ok := strings.Cut(arg, "=")
		if !ok {
			pkg, name = "", arg
		}
		match := -1
		for i, s := range p.Subscriptions {
			if pkg != "" && s.Package != pkg || pkg == "" && !hasBundle(p.Catalogs, s.Package, name) {
				continue
			}
			if match >= 0 {
				return usagef("--starting-csv %s is in packages %s and %s; write PACKAGE=%s", name, p.Subscriptions[match].Package, s.Package, name)
			}
			match = i
		}
		switch {
		case match >= 0:
			p.Subscriptions[match].StartingCSV = name
		case pkg == "" && len(p.Subscriptions) == 1:
			p.Subscriptions[0].StartingCSV = name // the answer lists the available bundles
		case pkg != "":
			return usagef("--starting-csv %s belongs to package %q; add --package for it", arg, pkg)
		default:
			return usagef("--starting-csv %s is in none of the packages of --package; \"olmkit list bundles\" shows the names", name)
		}
	}
	return nil
}

func hasBundle(cats []resolver.Catalog, pkg, name string) bool {
	for _, c := range inPreference(cats) {
		if p, ok := c.Graph.Package(pkg); ok {
			if _, ok := p.Bundle(name); ok {
				return true
			}
		}
	}
	return false
}

// graphs returns the indexes of catalogs in the order of their preference.
func graphs(cats []resolver.Catalog) []*graph.Catalog {
	var list []*graph.Catalog
	for _, c := range inPreference(cats) {
		list = append(list, c.Graph)
	}
	return list
}

// installedOperator returns the installed operator that an operand names, with its
// properties from the preferred catalog, and the channel after the colon.
func installedOperator(l *loader, arg string, cats []resolver.Catalog) (in resolver.Installed, channel string, err error) {
	o, err := l.findInstalled(arg, graphs(cats), "")
	if err != nil {
		return in, "", fmt.Errorf("--installed %s: %w", arg, err)
	}
	if o.bundle != (graph.Bundle{}) {
		return installedFrom(o.bundle), o.channel, nil
	}
	return resolver.Installed{Name: o.Name, Version: o.Version, Package: o.pkg}, o.channel, nil
}

// inPreference returns the loaded catalogs by priority, then by namespace and
// name.
func inPreference(cats []resolver.Catalog) []resolver.Catalog {
	loaded := slices.DeleteFunc(slices.Clone(cats), func(c resolver.Catalog) bool { return c.Graph == nil })
	return slices.SortedStableFunc(slices.Values(loaded), func(a, b resolver.Catalog) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// packages yields the packages with a name, or all, in the order of the
// catalogs' preference.
func packages(cats []resolver.Catalog, name string) iter.Seq[graph.Package] {
	return func(yield func(graph.Package) bool) {
		for _, c := range inPreference(cats) {
			if name != "" {
				if p, ok := c.Graph.Package(name); ok && !yield(p) {
					return
				}
				continue
			}
			for p := range c.Graph.Packages() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func installedFrom(b graph.Bundle) resolver.Installed {
	in := resolver.Installed{Name: b.Name(), Version: b.Version().String(), Package: b.Package().Name()}
	for p := range b.Properties() {
		if !property.IsHeavy(p.Type) {
			in.Properties = append(in.Properties, p)
		}
	}
	return in
}
