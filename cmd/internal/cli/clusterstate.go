package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// A clusterState holds the flags that name a cluster, and what was read of the cluster, over
// the network or from files.
type clusterState struct {
	live
	files     []string
	catalogs  []string
	sample    *bool
	namespace string
	all       bool // all namespaces
	// single is true for commands about one namespace unless all is set.
	single bool
	// imitates is true if a CatalogSource whose content is unknown counts as unhealthy, as for a controller, unless the status in a file
	// states that it serves content.
	imitates    bool
	global      string
	kubeVersion string
	complete    bool
	pullSecrets bool
	// contextual is the namespace that the context of the kubeconfig names, if any.
	contextual string
	// unknown has the catalogs whose content is unknown.
	unknown map[resolver.CatalogID]bool
	// missing lists the kinds that could not be read.
	missing []unread
	// inferred holds notes about missing objects and inferred settings.
	inferred []reconcile.Note
	cmd      *cobra.Command
	cluster  *memcluster.Cluster // as it was read
	// sources has the CatalogSources that the cluster had, and whether their catalogs were read.
	sources map[resolver.CatalogID]bool
	// recording, if set, gets the objects as they were read.
	recording *recording
	// snapshotVersion is the version of the cluster in a snapshot.
	snapshotVersion string
}

// stateHelp describes the state of a cluster in the help of the commands that read it.
const stateHelp = `With --cluster, or --context or --kubeconfig, the cluster that kubectl would use is
read: each kind once, in pages, without Secrets and custom resources. Nothing is
written. Kinds that you are not allowed to read are reported and treated as unknown.
With --namespace, permissions in that namespace suffice, and those in the namespace
of its catalogs to know their content.

The content of a catalog is that of the image that its registry pod serves now, by
digest, unless --catalog NAME=PATH gives it. A note reports catalogs that cannot be
read from here.

Kinds with no object and no list in the files are treated as unknown: what depends on
them keeps its recorded status, and a note names the kind. So get all of them:

  kubectl get -A -o yaml subscriptions.operators.coreos.com,csv,installplans,\
  operatorgroups,catalogsources,operatorconditions,olmconfigs,namespaces,crds,\
  apiservices,deployments,services,serviceaccounts,roles,rolebindings,\
  clusterroles,clusterrolebindings,validatingwebhookconfigurations,\
  mutatingwebhookconfigurations > state.yaml

and pass --complete to treat kinds without objects as absent, except for Secrets:
certificates of webhooks are assumed to be valid. On OpenShift, add
clusterversion. Custom resources are known if the files hold some of their kind, so
include those of CRDs that will be upgraded. minKubeVersion is checked only with
--kube-version, the version of the cluster.

The global namespace is the value of --namespace in deployment catalog-operator. If
that is unknown, it is openshift-marketplace on OpenShift; elsewhere, whichever of olm
and openshift-marketplace has CatalogSources or a Namespace object in the files, or is
named by a subscription. Otherwise it is the one whose CatalogSources are used by
subscriptions in other namespaces, or the only one with CatalogSources, or olm. A
catalog belongs to the only CatalogSource of its name, or else to the global
namespace. Notes report what was inferred; --global-namespace and the option
namespace= take precedence.
`

// addCluster adds the flags that name a cluster.
func (s *clusterState) addCluster(cmd *cobra.Command) {
	f := cmd.Flags()
	s.cmd = cmd
	s.live.addFlags(cmd)
	addList(f, &s.files, "filename", "f", "read objects of the cluster from `FILE`: YAML or JSON, a snapshot, or a must-gather directory or archive; - is standard input (repeatable)")
	f.BoolVar(&s.pullSecrets, "use-cluster-pull-secrets", false, "also pull catalogs with the Secrets named in the cluster's CatalogSources, and with OpenShift's global pull secret")
	f.StringVar(&s.kubeVersion, "kube-version", "", "the `VERSION` of the cluster, for minKubeVersion and image templates")
}

// clusterFlags are the flags of addCluster.
var clusterFlags = append([]string{"cluster", "filename", "kube-version", "use-cluster-pull-secrets"}, liveFlags...)

// given reports whether the command line names a cluster.
func (s *clusterState) given() bool { return len(s.files) > 0 || s.wanted(s.cmd) }

func (s *clusterState) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	s.addCluster(cmd)
	addCatalogs(cmd, &s.catalogs, "the content of a catalog, in place of what the cluster serves")
	s.sample = addSample(cmd)
	f.StringVarP(&s.namespace, "namespace", "n", "", "the `NAMESPACE` of the operators (default: that of the kubeconfig's context, or the only one with subscriptions)")
	completeFlag(cmd, "namespace", cobra.NoFileCompletions)
	f.StringVar(&s.global, "global-namespace", "", "the `NAMESPACE` of the catalogs that every namespace sees (default: that of the cluster)")
	s.addComplete(cmd)
}

// load returns the cluster in memory, and the content of the catalogs that the namespace sees,
// or of all catalogs.
// The content comes from the catalogs on the command line, or else from those that the cluster
// serves. load adds a CatalogSource for each catalog that has none, and the missing namespaces
// of objects.
func (s *clusterState) load(ctx context.Context, l *loader, paths []string) (*memcluster.Cluster, *reconcile.Catalogs, error) {
	list, err := sources(paths, s.catalogs, *s.sample, s.global)
	if err != nil {
		return nil, nil, err
	}
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if err := s.readable(olm.Group); err != nil {
		return nil, nil, err
	}
	if !s.all {
		if s.namespace, err = s.theNamespace(c); err != nil {
			return nil, nil, err
		}
	}
	s.inferred = append(s.inferred, inferNamespaces(list, c, s.global, s.namespace)...)
	if err := distinct(list); err != nil {
		return nil, nil, err
	}
	served, err := s.served(c, list, s.sees)
	if err != nil {
		return nil, nil, err
	}
	catalogs := &reconcile.Catalogs{StandIns: true}
	s.sources = map[resolver.CatalogID]bool{}
	for _, o := range c.List() {
		if k := o.Key(); k.Group == olm.Group && k.Kind == olm.KindCatalogSource {
			s.sources[resolver.CatalogID{Name: k.Name, Namespace: k.Namespace}] = false
		}
	}
	for _, src := range append(slices.Clone(list), served...) {
		if l.whole && src.files == "" && src.path != stdinPath && isIndex(src.place()) {
			return nil, nil, &catalogError{src.path, fmt.Errorf("is a compiled index, which has no manifests; name the directory that it was made from, too: --catalog %s=%s,source=DIR", src.name, src.path)}
		}
		g, err := s.content(ctx, l, src)
		if err != nil {
			return nil, nil, err
		}
		if g == nil {
			continue
		}
		if !s.all {
			l.noteUnseen(&resolver.Problem{Namespace: s.namespace, GlobalNamespace: s.global}, src)
		}
		id := resolver.CatalogID{Name: src.name, Namespace: src.namespace}
		catalogs.AddGraph(id, g)
		if _, exists := s.sources[id]; exists {
			s.sources[id] = true
		}
		if err := describe(c, src); err != nil {
			return nil, nil, err
		}
	}
	if err := s.standIns(ctx, c, catalogs); err != nil {
		return nil, nil, err
	}
	var needed []string // if one of them has no answer, nothing has
	if s.imitates {
		needed = inhabited(c)
	} else if !s.all {
		needed = []string{s.namespace}
	}
	for _, ns := range needed {
		if err := s.resolvable(c, ns); err != nil {
			noteAll(l, slices.DeleteFunc(s.inferred, func(n reconcile.Note) bool {
				return n.Object.Kind == olm.KindCatalogSource // the error repeats the one that matters
			}))
			return nil, nil, err
		}
	}
	return c, catalogs, addNamespaces(c)
}

// sees reports whether a catalog is visible in a chosen namespace.
func (s *clusterState) sees(id resolver.CatalogID) bool {
	return s.all || id.Namespace == s.namespace || id.Namespace == s.global
}

// read returns the cluster in memory as it was read, once, with its global namespace.
func (s *clusterState) read(ctx context.Context, l *loader) (*memcluster.Cluster, error) {
	if s.cluster != nil {
		return s.cluster, nil
	}
	isLive := s.wanted(s.cmd)
	switch {
	case s.pullSecrets && !isLive:
		return nil, usagef("--use-cluster-pull-secrets needs a live cluster; add --cluster, or log in with podman")
	case isLive && len(s.files) > 0:
		return nil, usagef("--filename cannot be combined with the flags of a live cluster; remove one of them")
	case !isLive && len(s.files) == 0:
		return nil, usagef("no cluster; read its objects from a file with --filename, or read the cluster of the kubeconfig with --cluster")
	}
	c := &memcluster.Cluster{KubeVersion: s.kubeVersion, Known: []olm.GroupKind{}}
	if s.complete {
		// Users cannot be expected to put Secrets into a file.
		c.Known = slices.DeleteFunc(reconcile.PlannedKinds(), func(k olm.GroupKind) bool { return k == olm.GroupKind{Kind: "Secret"} })
		c.Known = append(c.Known, olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorGroup})
	}
	found := func(k olm.GroupKind) {
		if k.Group == snapshotGroup {
			return
		}
		if s.recording != nil {
			s.recording.found(k)
		}
		if !slices.Contains(c.Known, k) {
			c.Known = append(c.Known, k)
		}
	}
	put := func(o olm.Object) error {
		if o.Key().Group == snapshotGroup {
			return s.fromSnapshot(o, l.images)
		}
		if o.Key().Group == "" && o.Kind == "Pod" && o.Metadata.Labels[labelCatalogPod] == "" {
			return nil // as from a live cluster
		}
		if err := slim(&o); err != nil {
			return err
		}
		if s.recording != nil {
			s.recording.put(o)
		}
		return c.Put(&o)
	}
	if isLive {
		if s.single && s.namespace == "" && !s.all {
			s.contextual = s.contextNamespace()
		}
		part := scope{namespace: cmp.Or(s.namespace, s.contextual)}
		if s.global != "" && s.cmd.Flags().Changed("global-namespace") {
			part.catalogs = []string{s.global}
		}
		version, missing, err := s.live.read(ctx, part, found, put)
		if err != nil {
			return nil, err
		}
		c.KubeVersion, s.missing = cmp.Or(s.kubeVersion, version), missing
		if len(missing) > 0 && s.contextual != "" {
			s.namespace = s.contextual // only that one was read
		}
	}
	for _, name := range s.files {
		if err := l.objects(ctx, name, found, put); err != nil {
			return nil, err
		}
	}
	c.KubeVersion = cmp.Or(c.KubeVersion, s.snapshotVersion)
	c.Known = slices.DeleteFunc(c.Known, func(k olm.GroupKind) bool {
		return s.lacks(k.Group, k.Kind, "") && (!isLocal(k) || s.lacks(k.Group, k.Kind, s.namespace))
	})
	if !s.cmd.Flags().Changed("global-namespace") {
		s.global, s.inferred = inferGlobal(c, s.lacks(olm.Group, olm.KindCatalogSource, ""))
	}
	if err := s.mirrors(c, l.images); err != nil {
		return nil, err
	}
	if s.pullSecrets {
		if err := s.readPullSecrets(ctx, c, l.images); err != nil {
			return nil, err
		}
	}
	s.inferred = append(append(s.inferred, s.unreadNotes()...), rivals(c)...)
	c.GlobalNamespace, s.cluster = s.global, c
	return c, nil
}

// describe adds a CatalogSource for the catalog src, or sets the priority of the existing one
// if src has a priority.
func describe(c *memcluster.Cluster, src source) error {
	obj := &olm.CatalogSource{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindCatalogSource, Metadata: olm.Metadata{Name: src.name, Namespace: src.namespace}}}
	if o, err := c.Get(obj.Key()); err == nil {
		if !src.hasPriority {
			return nil
		}
		if obj, err = olm.As[olm.CatalogSource](o); err != nil {
			return err
		}
		obj.Spec.Priority = src.priority
		return c.Put(obj)
	}
	obj.Spec.SourceType, obj.Spec.Priority = "grpc", src.priority
	obj.Status.ConnectionState = &olm.ConnectionState{LastObservedState: olm.ConnectionReady}
	return c.Put(obj)
}

func addNamespaces(c *memcluster.Cluster) error {
	names := map[string]bool{}
	for _, o := range c.List() {
		if ns := o.Metadata.Namespace; ns != "" {
			names[ns] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ns := &olm.Namespace{Header: olm.Header{APIVersion: "v1", Kind: "Namespace", Metadata: olm.Metadata{Name: name}}}
		if _, err := c.Get(ns.Key()); err == nil {
			continue
		}
		if err := c.Put(ns); err != nil {
			return err
		}
	}
	return nil
}

// theNamespace returns the namespace to plan: the given one, that of the context of a live cluster,
// or the only one with subscriptions or operator groups.
func (s *clusterState) theNamespace(c *memcluster.Cluster) (string, error) {
	if s.namespace == "" && s.contextual != "" {
		s.namespace = s.contextual
		if all := inhabited(c); len(all) > 0 && !slices.Contains(all, s.namespace) {
			return "", usagef("namespace %s, which the context of the kubeconfig names, has no operators; choose a namespace with --namespace: %s", s.namespace, someOf(all))
		}
	}
	if s.namespace != "" {
		if s.lacks("", "Namespace", "") {
			return s.namespace, nil // it may exist without objects
		}
		return s.namespace, mentioned(c, s.namespace)
	}
	for _, kind := range []string{olm.KindSubscription, olm.KindOperatorGroup} {
		found := map[string]bool{}
		for _, o := range c.List() {
			if o.Kind == kind {
				found[o.Metadata.Namespace] = true
			}
		}
		switch names := slices.Sorted(maps.Keys(found)); len(names) {
		case 0:
		case 1:
			return names[0], nil
		default:
			return "", usagef("several namespaces have %ss: %s; choose one with --namespace, or all with --all-namespaces", kind, someOf(names))
		}
	}
	return "", usagef("no subscription and no operator group in the cluster; choose a namespace with --namespace%s", extensionsOf(c))
}

// mentioned returns an error if no object mentions a namespace, because its name is probably
// misspelled.
func mentioned(c *memcluster.Cluster, name string) error {
	all := map[string]bool{}
	for _, o := range c.List() {
		if ns := o.Metadata.Namespace; ns != "" {
			all[ns] = true
		} else if o.Kind == "Namespace" {
			all[o.Metadata.Name] = true
		}
	}
	if all[name] {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	return usagef("namespace %q was not found%s", name, hint(name, names))
}

// objects calls put with each object of a file: the documents of a YAML or JSON stream, which
// may be compressed with gzip, and the items of lists; or the objects of an OpenShift
// must-gather, a directory or an archive. It calls found with the kind of each object and of
// each list, even if the list is empty.
func (l *loader) objects(ctx context.Context, name string, found func(olm.GroupKind), put func(olm.Object) error) error {
	if info, err := os.Stat(name); name != stdinPath && err == nil && info.IsDir() {
		return l.gathered(ctx, name, found, put)
	}
	in, err := l.input(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	content, isArchive, err := l.unpacked(in)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", display(name), err)
	case isArchive:
		return l.gatheredArchive(ctx, name, content, found, put)
	}
	return l.objectsFrom(ctx, content, name, found, put)
}

// objectsFrom is like objects, but reads from in; name is for messages.
func (l *loader) objectsFrom(ctx context.Context, in io.Reader, name string, found func(olm.GroupKind), put func(olm.Object) error) error {
	limits := l.limits.load.WithDefaults()
	docs := yamljson.NewStream(ctx, in, limits.DocumentSize)
	room := limits.Expansion // the remaining limit on the expansion of aliases
	opts := &yamljson.Options{Expansion: &room, Nodes: max(limits.Expansion/32, 1)}
	for n := 1; ; n++ {
		doc, err := docs.Next()
		if err == io.EOF {
			if n == 1 {
				return nothingIn(name, "objects of a cluster")
			}
			return nil
		}
		var values [][]byte
		if err == nil {
			values, err = yamljson.Values(ctx, doc, opts)
		}
		for i := 0; err == nil && i < len(values); i++ {
			if err = objectsOf(values[i], found, put); err != nil && len(values) > 1 {
				err = fmt.Errorf("value %d: %w", i+1, err)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: document %d: %w", display(name), n, limitOf(err, &limits))
		}
	}
}

// limitOf returns a LimitError, which names the limit for --limit, if err reports an exceeded
// limit. Otherwise it returns err.
func limitOf(err error, limits *fbc.Limits) error {
	var long *yamljson.SizeError
	var expands *yamljson.LimitError
	switch {
	case errors.As(err, &long):
		return &fbc.LimitError{Limit: "DocumentSize", What: "document", Max: long.Max}
	case errors.As(err, &expands):
		switch expands.Kind {
		case yamljson.Expansion:
			return &fbc.LimitError{Limit: "Expansion", What: "expansion of YAML aliases", Max: limits.Expansion} // the error contains the remaining limit
		case yamljson.Nodes:
			return &fbc.LimitError{Limit: "Expansion", What: "number of YAML keys, values and list items, at 32 bytes each,", Max: limits.Expansion}
		}
	}
	return err
}

// objectsOf passes on the objects of one document, which is JSON.
func objectsOf(text []byte, found func(olm.GroupKind), put func(olm.Object) error) error {
	if string(text) == "null" {
		return nil
	}
	var o olm.Object
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	items, isList := o.Get("items")
	if !isList || !strings.HasSuffix(o.Kind, "List") {
		return putOne(o, found, put)
	}
	if k := o.Key(); k.Kind != "List" {
		found(olm.GroupKind{Group: k.Group, Kind: strings.TrimSuffix(k.Kind, "List")})
	}
	var list []olm.Object
	if err := json.Unmarshal(items, &list); err != nil {
		return fmt.Errorf("/items: %w", err)
	}
	for i, item := range list {
		if item.Kind == "" && o.Kind != "List" { // the API server leaves the kind out of items
			item.APIVersion, item.Kind = o.APIVersion, strings.TrimSuffix(o.Kind, "List")
		}
		if err := putOne(item, found, put); err != nil {
			return fmt.Errorf("/items/%d: %w", i, err)
		}
	}
	return nil
}

func putOne(o olm.Object, found func(olm.GroupKind), put func(olm.Object) error) error {
	switch {
	case o.Kind == "":
		return errors.New("an object without a kind")
	case o.APIVersion == "":
		return fmt.Errorf("%s %q has no apiVersion", o.Kind, o.Metadata.Name)
	case o.Metadata.Name == "":
		return fmt.Errorf("%s without /metadata/name", o.Kind)
	}
	found(olm.GroupKind{Group: o.Key().Group, Kind: o.Kind})
	return put(o)
}
