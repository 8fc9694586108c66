// Package peer runs the resolver of the running OLM without a cluster: the packages resolver and cache of
// operator-lifecycle-manager. The snapshots of catalogs come from OLM's own code, which reads a catalog as opm serves
// it.
package peer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry"
	olm "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/model"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/client"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8scache "k8s.io/client-go/tools/cache"

	"github.com/olmkit/olmkit/resolver"
)

// Load loads a catalog as opm does: declcfg.LoadFS and ConvertToModel.
func Load(ctx context.Context, fsys fs.FS) (model.Model, error) {
	cfg, err := declcfg.LoadFS(ctx, fsys)
	if err != nil {
		return nil, err
	}
	return declcfg.ConvertToModel(*cfg)
}

// Snapshot returns the content of a catalog as it is in OLM's cache.
func Snapshot(ctx context.Context, m model.Model, id resolver.CatalogID) (*cache.Snapshot, error) {
	key := registry.CatalogKey{Name: id.Name, Namespace: id.Namespace}
	store := k8scache.NewIndexer(k8scache.MetaNamespaceKeyFunc, k8scache.Indexers{k8scache.NamespaceIndex: k8scache.MetaNamespaceIndexFunc})
	if err := store.Add(&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: id.Name, Namespace: id.Namespace}}); err != nil {
		return nil, err
	}
	list, err := bundles(m)
	if err != nil {
		return nil, err
	}
	sources := olm.SourceProviderFromRegistryClientProvider(
		clients{key: &served{model: m, bundles: list}}, listers.NewCatalogSourceLister(store), quiet())
	for _, source := range sources.Sources(id.Namespace) {
		snapshot, err := source.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		snapshot.Valid = nil // it never expires
		return snapshot, nil
	}
	return nil, fmt.Errorf("no source for catalog %s", id)
}

// bundles returns a bundle for each entry of a channel, in order, as opm serves them.
func bundles(m model.Model) ([]*api.Bundle, error) {
	var out []*api.Bundle
	for _, pkg := range slices.Sorted(maps.Keys(m)) {
		for _, ch := range slices.Sorted(maps.Keys(m[pkg].Channels)) {
			all := m[pkg].Channels[ch].Bundles
			for _, name := range slices.Sorted(maps.Keys(all)) {
				b, err := api.ConvertModelBundleToAPIBundle(*all[name])
				if err != nil {
					return nil, err
				}
				if b.BundlePath != "" {
					// The registry leaves out the content of a bundle that has an image.
					b.CsvJson, b.Object = "", nil
				}
				out = append(out, b)
			}
		}
	}
	return out, nil
}

type clients map[registry.CatalogKey]client.Interface

func (c clients) ClientsForNamespaces(...string) map[registry.CatalogKey]client.Interface { return c }

// A served implements the methods of a registry's client that OLM's resolver calls.
type served struct {
	client.Interface
	model   model.Model
	bundles []*api.Bundle
}

func (s *served) ListBundles(context.Context) (*client.BundleIterator, error) {
	rest := stream(s.bundles)
	return client.NewBundleIterator(&rest), nil
}

func (s *served) GetPackage(_ context.Context, name string) (*api.Package, error) {
	p, ok := s.model[name]
	if !ok {
		return nil, fmt.Errorf("package %q not found", name)
	}
	return &api.Package{Name: name, DefaultChannelName: p.DefaultChannel.Name}, nil
}

type stream []*api.Bundle

func (s *stream) Recv() (*api.Bundle, error) {
	if len(*s) == 0 {
		return nil, io.EOF
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b, nil
}

func quiet() *logrus.Logger {
	l := logrus.New()
	l.SetOutput(io.Discard)
	return l
}

// A Problem is a problem in the types of the running OLM.
type Problem struct {
	namespaces []string
	subs       []*v1alpha1.Subscription
	resolver   *olm.Resolver
	log        *logrus.Logger
}

// NewProblem converts a problem. The snapshots are those of p.Catalogs, in the same order.
func NewProblem(p *resolver.Problem, snapshots []*cache.Snapshot) (*Problem, error) {
	out := &Problem{namespaces: []string{p.Namespace, cmp.Or(p.GlobalNamespace, resolver.DefaultGlobalNamespace)}}
	own := map[string]*v1alpha1.Subscription{}
	for i := range p.Subscriptions {
		s := &p.Subscriptions[i]
		sub := &v1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(s.Name, s.Package), Namespace: p.Namespace},
			Spec: &v1alpha1.SubscriptionSpec{
				Package: s.Package, Channel: s.Channel, StartingCSV: s.StartingCSV,
				CatalogSource: s.Catalog, CatalogSourceNamespace: s.CatalogNamespace,
			},
			Status: v1alpha1.SubscriptionStatus{InstalledCSV: s.InstalledCSV},
		}
		out.subs = append(out.subs, sub)
		if s.InstalledCSV != "" {
			own[s.InstalledCSV] = sub
		}
	}
	sources := cache.StaticSourceProvider{}
	prio := priorities{}
	for i := range p.Catalogs {
		key := cache.SourceKey{Name: p.Catalogs[i].Name, Namespace: p.Catalogs[i].Namespace}
		sources[key], prio[key] = snapshots[i], p.Catalogs[i].Priority
	}
	virtual := cache.NewVirtualSourceKey(p.Namespace)
	existing := &cache.Snapshot{}
	for i := range p.Installed {
		in := &p.Installed[i]
		v, err := semver.Parse(in.Version)
		if err != nil {
			return nil, err
		}
		e := &cache.Entry{
			Name: in.Name, Version: &v,
			SourceInfo: &cache.OperatorSourceInfo{Package: in.Package, Catalog: virtual, Subscription: own[in.Name]},
		}
		for _, q := range in.Properties {
			e.Properties = append(e.Properties, &api.Property{Type: q.Type, Value: string(q.Value)})
		}
		existing.Entries = append(existing.Entries, e)
	}
	sources[virtual] = existing
	out.log = quiet()
	out.resolver = olm.NewDefaultResolver(cache.New(sources, cache.WithSourcePriorityProvider(prio)), out.log)
	return out, nil
}

type priorities map[cache.SourceKey]int

func (p priorities) Priority(k cache.SourceKey) int { return p[k] }

// Resolve runs the resolver.
func (p *Problem) Resolve() ([]*cache.Entry, error) { return p.resolver.Resolve(p.namespaces, p.subs) }

// TookBack runs the resolver and reports whether its search backtracked, so that the preferences of later choices were
// lost.
func (p *Problem) TookBack() bool {
	trace := &strings.Builder{}
	p.log.SetLevel(logrus.DebugLevel)
	p.log.SetOutput(trace)
	p.Resolve()
	p.log.SetLevel(logrus.InfoLevel)
	p.log.SetOutput(io.Discard)
	return strings.Contains(trace.String(), "Assumptions:")
}

// Answer returns the chosen bundles as text. It does not depend on their order.
func Answer(list []*cache.Entry) string {
	var lines []string
	for _, e := range list {
		s := e.SourceInfo
		lines = append(lines, line(s.Package, e.Name, s.Channel, resolver.CatalogID{Name: s.Catalog.Name, Namespace: s.Catalog.Namespace}, e.Replaces))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Ours returns a solution in the form of Answer.
func Ours(sol *resolver.Solution) string {
	var lines []string
	for _, s := range sol.Selected {
		lines = append(lines, line(s.Package, s.Name, s.Channel, resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}, s.Replaces))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func line(pkg, name, channel string, id resolver.CatalogID, replaces string) string {
	return fmt.Sprintf("%s %s in %s of %s replaces %q", pkg, name, channel, id, replaces)
}
