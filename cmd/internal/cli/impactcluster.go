package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A clusterImpact compares what is installed in a cluster with what would be installed.
type clusterImpact struct {
	*impactRun
	reader *clusterReader
	client *rest.RESTClient // nil if the cluster is in files
	groups discovery
	read   map[string]*resourceList // by the name of the CRD
}

// A resourceList holds the custom resources of a CRD, or why they are not known.
type resourceList struct {
	objects []olm.Object
	unread  string
}

// onCluster compares the installed bundle of one operator, or of each operator, with the one
// that would be installed.
func (i *impactRun) onCluster(cmd *cobra.Command, args []string) error {
	ctx, s := cmd.Context(), &i.state
	switch {
	case cmd.Flags().Changed("olm"):
		return usagef("--olm follows from the operator in the cluster; remove it")
	case i.pull || len(i.only) > 0:
		return usagef("--pull and --package apply only if a catalog is the only argument; remove them")
	case len(args) > 2:
		return usagef("expected PACKAGE and NEW, got %s", strings.Join(args, ", "))
	}
	c := &clusterImpact{impactRun: i, groups: discovery{}, read: map[string]*resourceList{}}
	operators, err := c.operators(ctx, args)
	if err != nil {
		return err
	}
	if s.wanted(s.cmd) {
		if c.client, err = s.client(); err != nil {
			return err
		}
	}
	c.reader.notes()
	if len(operators) == 0 {
		where := ""
		if s.namespace != "" {
			where = " in namespace " + s.namespace
		}
		visible.Fprintf(i.stderr, "note: no installed operator was found%s\n", where)
	}
	opts := i.opts
	var unknown error
	for n := range operators {
		o := &operators[n]
		i.opts = opts
		err := c.operator(ctx, o, slices.Concat(args, []string{"", ""})[1])
		switch {
		case err == nil:
		case len(args) > 0 && (errors.Is(err, errReported) || errors.Is(err, errNegative)):
			return errReported
		case len(args) > 0:
			return fmt.Errorf("%s: %w", o.Object, err)
		case ctx.Err() != nil:
			return err
		default:
			unknown = errUnchecked
			if err := i.print(&impactUnknown{o.Object, o.Package, o.Installed, string(bare(err))}); err != nil {
				return err
			}
		}
	}
	return cmp.Or(i.end(ctx), unknown)
}

// An impactUnknown is an operator whose next upgrade could not be compared.
type impactUnknown struct {
	// Object is the object that manages the operator.
	Object  olm.Key `json:"object"`
	Package string  `json:"package"`
	From    string  `json:"from"`
	Error   string  `json:"error"`
}

func (u *impactUnknown) text(w io.Writer) error {
	p := proseWriter(w)
	p.Line(nil, visible.Words(fmt.Sprintf("Upgrade of package %s (%s) from %s: not compared: %s", u.Package, u.Object, u.From, u.Error)), "", "  ")
	_, err := io.WriteString(w, p.String())
	return err
}

// operators returns the operators to compare, with the content of their catalogs.
func (c *clusterImpact) operators(ctx context.Context, args []string) ([]operatorStatus, error) {
	s := &c.state
	s.namespace = c.opts.Namespace
	given, err := sources(nil, s.catalogs, false, s.global)
	if err != nil {
		return nil, err
	}
	l := newLoader(c.env)
	l.whole = true // for the manifests
	if c.reader, err = s.readOperators(ctx, l); err != nil {
		return nil, err
	}
	if len(given) > 0 {
		s.inferred = append(s.inferred, inferNamespaces(given, s.cluster, s.global, s.namespace)...)
	}
	chosen := c.reader.operators
	if len(args) > 0 {
		o, err := c.reader.installed(args[0])
		if err != nil {
			return nil, err
		}
		chosen = []operatorStatus{*o}
	}
	if err := s.readContent(ctx, l, c.reader.census, given, chosen); err != nil {
		return nil, err
	}
	all, err := c.reader.census.operators(ctx) // again, with the content
	return slices.DeleteFunc(all, func(o operatorStatus) bool {
		return o.Installed == "" || !slices.ContainsFunc(chosen, func(x operatorStatus) bool { return x.Object == o.Object })
	}), err
}

// operator compares the installed bundle of an operator with to, or with the bundle that
// would be installed next if to is "".
func (c *clusterImpact) operator(ctx context.Context, o *operatorStatus, to string) error {
	if to == "" && o.Moves == movesUnmanaged {
		c.stays(o)
		return nil
	}
	packages := c.packages(o)
	if len(packages) == 0 {
		return fmt.Errorf("no catalog of the cluster that can be read here has package %s; name a catalog with --catalog", o.Package)
	}
	c.install(o)
	isBundle := isDir(to) || isReference(to)
	var steps []graph.Step
	if !isBundle {
		var err error
		if steps, err = c.steps(o, packages, to); err != nil {
			return err
		}
		if len(steps) == 0 {
			c.stays(o)
			return nil
		}
	}
	bundles := c.bundlesOf(true, packages...)
	old, err := bundles.get(ctx, o.Installed)
	if err != nil {
		return err
	}
	if isBundle {
		created, dir, err := c.impactRun.read(ctx, to)
		if err != nil {
			return err
		}
		return c.step(ctx, old.Bundle, created, dir)
	}
	for _, step := range steps {
		created, err := bundles.get(ctx, step.To.Name)
		if err != nil {
			return err
		}
		if err := c.step(ctx, old.Bundle, created.Bundle, created.dir); err != nil {
			return err
		}
		if c.opts.Cluster, err = c.opts.Cluster.After(created.Bundle); err != nil {
			return err
		}
		old = created
	}
	return nil
}

// stays notes that an operator has no upgrade, and why.
func (c *clusterImpact) stays(o *operatorStatus) {
	why := ""
	switch {
	case o.Moves == movesLatest && o.Why == "":
		why = ", which is at the head of its channel"
	case o.Why != "":
		why = ": " + o.Why
	}
	visible.Fprintf(c.stderr, "note: %s of package %s: no upgrade from %s%s\n", o.Object, o.Package, o.Installed, why)
}

// step compares two bundles on the cluster.
func (c *clusterImpact) step(ctx context.Context, old, created impact.Bundle, dir string) error {
	if err := c.cluster(ctx, old, created); err != nil {
		return err
	}
	return c.compare(ctx, old, created, dir)
}

// packages returns the package of an operator in the catalogs that it can get bundles from, in
// order of preference.
func (c *clusterImpact) packages(o *operatorStatus) (list []graph.Package) {
	t := c.reader.census
	if o.Moves == movesUnmanaged { // OLM does not upgrade it
		for _, id := range t.given {
			if p, ok := t.content[id].Package(o.Package); ok {
				list = append(list, p)
			}
		}
		return list
	}
	if !o.isV1() {
		if g := t.content[resolver.CatalogID{Name: o.Catalog, Namespace: o.catalogNamespace}]; g != nil {
			if p, ok := g.Package(o.Package); ok {
				list = append(list, p)
			}
		}
		return list
	}
	var selector *olmv1.LabelSelector
	for _, x := range t.extensions {
		if x.Key() == o.Object {
			selector = x.request().Selector
		}
	}
	return preferred(t.contentV1, o.Package, selector, o.nextCatalog)
}

// install sets the options that depend on how an operator is installed.
func (c *clusterImpact) install(o *operatorStatus) {
	c.opts.Classic, c.opts.Namespace = !o.isV1(), o.Namespace
	c.opts.Cluster = &impact.Cluster{KubeVersion: c.state.cluster.KubeVersion}
	c.opts.Unenforced = false
	if o.isV1() {
		x, err := c.state.cluster.Get(o.Object)
		if err != nil {
			return
		}
		c.opts.Unenforced = text(x, "spec", "install", "preflight", "crdUpgradeSafety", "enforcement") == string(crdsafety.None)
		if ns := text(x, "spec", "config", "inline", "watchNamespace"); ns != "" && len(c.opts.Watch) == 0 {
			c.opts.Watch = []string{ns}
		}
		return
	}
	if len(c.opts.Watch) > 0 {
		return
	}
	for _, x := range c.state.cluster.List() {
		if k := x.Key(); k.Group != olm.Group || k.Kind != olm.KindOperatorGroup || k.Namespace != o.Namespace {
			continue
		}
		group, err := olm.As[olm.OperatorGroup](x)
		if err == nil && !slices.Contains(group.Status.Namespaces, "") {
			c.opts.Watch = group.Status.Namespaces
		}
	}
}

// steps returns the upgrades of an operator: the next one, or the one to a given version; with
// --path all on the way.
func (c *clusterImpact) steps(o *operatorStatus, packages []graph.Package, to string) ([]graph.Step, error) {
	from := graph.Node{Name: o.Installed, Version: o.Version}
	if to == "" {
		next := o.next
		if !o.isV1() {
			next = c.pending(o)
		}
		switch {
		case next != "" && next != o.Installed && !c.path:
			return []graph.Step{{From: from, To: graph.Node{Name: next}}}, nil
		case o.Outlook == nil || len(o.Outlook.Steps) == 0:
			return nil, nil
		case c.path:
			return o.Outlook.Steps, nil
		}
		return o.Outlook.Steps[:1], nil
	}
	var last error
	for _, p := range packages {
		node, err := findNode(p, to)
		if err != nil {
			last = fmt.Errorf("%s: %w", display(to), err)
			continue
		}
		if !c.path {
			return []graph.Step{{From: from, To: node}}, nil
		}
		reading, channels := graph.Classic, []string{cmp.Or(o.Channel, p.DefaultChannelName())}
		if o.isV1() {
			reading, channels = graph.V1, o.channels
		}
		u := p.Upgrades(reading, &graph.UpgradeOptions{Channels: channels, Installed: []graph.Node{from, node}})
		if err := u.Err(); err != nil {
			return nil, err
		}
		if steps, ok := u.Path(from, node); ok {
			return steps, nil
		}
		last = fmt.Errorf("no upgrade path leads from %s to %s; \"olmkit path --cluster\" shows how far upgrades lead", from, node)
	}
	return nil, last
}

// pending returns the bundle that a subscription is about to install, or "".
func (c *clusterImpact) pending(o *operatorStatus) string {
	for _, s := range c.reader.census.subscriptions {
		if s.Key() == o.Object {
			return s.Status.CurrentCSV
		}
	}
	return ""
}

// cluster adds the CRDs of bundles on the cluster, and their custom resources, to the options.
func (c *clusterImpact) cluster(ctx context.Context, old, created impact.Bundle) error {
	to := c.opts.Cluster
	if to.Resources == nil {
		to.Resources, to.Unread = map[string][]olm.Object{}, map[string]string{}
	}
	var names []string
	for _, b := range []impact.Bundle{old, created} {
		for n := range b.CRDs {
			names = append(names, b.CRDs[n].Object.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := c.opts.Cluster.Resources[name]; ok || to.Unread[name] != "" {
			continue // from an earlier step
		}
		var crd *apiextensionsv1.CustomResourceDefinition
		o, err := c.state.cluster.Get(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name})
		switch {
		case err == nil:
			raw, err := o.MarshalJSON()
			if err != nil {
				return err
			}
			crd = &apiextensionsv1.CustomResourceDefinition{}
			if err := json.Unmarshal(raw, crd); err != nil {
				return fmt.Errorf("%s: %w", o.Key(), err)
			}
			to.CRDs = append(to.CRDs, crd)
		case !slices.Contains(c.state.cluster.Known, olm.GroupKind{Group: olm.GroupCRD, Kind: olm.KindCRD}):
			to.Unread[name] = "the CRDs of the cluster are not known"
			continue
		case c.client == nil && slices.ContainsFunc(old.CRDs, func(x registryv1.Manifest[apiextensionsv1.CustomResourceDefinition]) bool {
			return x.Object.Name == name
		}):
			// The cluster has the CRDs of what is installed, so the files do not have all.
			to.Unread[name] = "the files do not have the CRD; add the output of \"kubectl get -o yaml crd " + name + "\" and of \"kubectl get -A -o yaml " + name + "\""
			continue
		default:
			to.Resources[name] = nil // the cluster does not have the CRD
			continue
		}
		list, err := c.resources(ctx, crd)
		if err != nil {
			return err
		}
		if list.unread != "" {
			to.Unread[name] = list.unread
			continue
		}
		to.Resources[name] = list.objects
	}
	return nil
}

// resources returns the custom resources of a CRD on the cluster, which are read once.
func (c *clusterImpact) resources(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*resourceList, error) {
	if r := c.read[crd.Name]; r != nil {
		return r, nil
	}
	r := &resourceList{}
	c.read[crd.Name] = r
	kind := olm.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	if c.client == nil {
		for _, o := range c.state.cluster.List() {
			if k := o.Key(); k.Group == kind.Group && k.Kind == kind.Kind {
				r.objects = append(r.objects, o)
			}
		}
		if r.objects == nil && !slices.Contains(c.state.cluster.Known, kind) {
			r.unread = "the files have none; add the output of \"kubectl get -A -o yaml " + crd.Name + "\""
		}
		return r, nil
	}
	version := ""
	for _, v := range crd.Spec.Versions {
		if v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	if version == "" {
		r.unread = "no version of it is served"
		return r, nil
	}
	var err error
	r.objects, err = list(ctx, c.client, liveKind{group: kind.Group, version: version, kind: kind.Kind, resource: crd.Spec.Names.Plural}, "", c.groups)
	var why *notServedError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case apierrors.IsForbidden(err):
		r.unread = "they may not be listed"
	case errors.As(err, &why):
		r.unread = "the API server does not serve version " + version
	case err != nil:
		return nil, fmt.Errorf("list %s: %w", crd.Name, liveError(ctx, err))
	}
	return r, nil
}
