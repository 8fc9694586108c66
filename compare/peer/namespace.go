package peer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned"
	typed "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned/typed/operators/v1alpha1"
	groups "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1"
	listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	olm "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/operatorlister"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8scache "k8s.io/client-go/tools/cache"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// A Namespace is a namespace of a cluster as the catalog operator of the running OLM sees it.
type Namespace struct {
	name, global string
	group        *operatorsv1.OperatorGroup
	subs         []*v1alpha1.Subscription
	csvs         map[string]*v1alpha1.ClusterServiceVersion
	plans        map[string]*v1alpha1.InstallPlan
	lister       operatorlister.OperatorLister
	sources      cache.StaticSourceProvider
}

// NewNamespace converts a snapshot with one operator group. catalogs holds the content of its catalogs.
func NewNamespace(s *reconcile.Snapshot, catalogs map[resolver.CatalogID]*cache.Snapshot) (*Namespace, error) {
	n := &Namespace{
		name: s.Namespace, global: s.GlobalNamespace, csvs: map[string]*v1alpha1.ClusterServiceVersion{}, plans: map[string]*v1alpha1.InstallPlan{},
		lister: operatorlister.NewLister(), sources: cache.StaticSourceProvider{},
	}
	for id, c := range catalogs {
		n.sources[cache.SourceKey{Name: id.Name, Namespace: id.Namespace}] = c
	}
	group, sub, csv, source := index(), index(), index(), index()
	for _, g := range s.OperatorGroups {
		n.group = &operatorsv1.OperatorGroup{}
		if err := convert(g, n.group, group); err != nil {
			return nil, err
		}
	}
	for _, c := range s.CSVs {
		x := &v1alpha1.ClusterServiceVersion{}
		if err := convert(c, x, csv); err != nil {
			return nil, err
		}
		n.csvs[x.Name] = x
	}
	for _, c := range s.CatalogSources {
		if err := convert(c, &v1alpha1.CatalogSource{}, source); err != nil {
			return nil, err
		}
	}
	for _, p := range s.InstallPlans {
		x := &v1alpha1.InstallPlan{}
		if err := convert(p, x, index()); err != nil {
			return nil, err
		}
		n.plans[x.Name] = x
	}
	for _, x := range s.Subscriptions {
		y := &v1alpha1.Subscription{}
		if err := convert(x, y, sub); err != nil {
			return nil, err
		}
		n.subs = append(n.subs, y)
	}
	n.lister.OperatorsV1().RegisterOperatorGroupLister(n.name, groups.NewOperatorGroupLister(group))
	n.lister.OperatorsV1alpha1().RegisterClusterServiceVersionLister(n.name, listers.NewClusterServiceVersionLister(csv))
	n.lister.OperatorsV1alpha1().RegisterSubscriptionLister(n.name, listers.NewSubscriptionLister(sub))
	n.lister.OperatorsV1alpha1().RegisterCatalogSourceLister(metav1.NamespaceAll, listers.NewCatalogSourceLister(source))
	return n, nil
}

func index() k8scache.Indexer {
	return k8scache.NewIndexer(k8scache.MetaNamespaceKeyFunc, k8scache.Indexers{k8scache.NamespaceIndex: k8scache.MetaNamespaceIndexFunc})
}

// convert converts the object from to OLM's type, in to, and adds that to store.
func convert(from, to any, store k8scache.Indexer) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return err
	}
	return store.Add(to)
}

// Settle repeats ensureSubscriptionCSVState until the statuses of the subscriptions no longer change. It returns false
// if OLM does not resolve because all subscriptions wait for install plans (nothingToUpdate).
func (n *Namespace) Settle() bool {
	for changed := true; changed; {
		changed = false
		for _, s := range n.subs {
			changed = n.ensureCSVState(s) || changed
		}
	}
	return slices.ContainsFunc(n.subs, func(s *v1alpha1.Subscription) bool {
		return s.Status.InstallPlanRef == nil || s.Status.State != v1alpha1.SubscriptionStateUpgradePending
	})
}

// ensureCSVState is Operator.ensureSubscriptionCSVState of the catalog operator, without its client.
func (n *Namespace) ensureCSVState(s *v1alpha1.Subscription) bool {
	if s.Status.CurrentCSV == "" {
		return false
	}
	var state v1alpha1.SubscriptionState = v1alpha1.SubscriptionStateUpgradePending
	installed := s.Status.InstalledCSV
	if n.csvs[s.Status.CurrentCSV] != nil {
		state, installed = v1alpha1.SubscriptionStateAtLatest, s.Status.CurrentCSV
	} else if ref := s.Status.InstallPlanRef; ref != nil && n.group.UpgradeStrategy() == operatorsv1.UpgradeStrategyUnsafeFailForward {
		if p := n.plans[ref.Name]; p != nil && p.Status.Phase == v1alpha1.InstallPlanPhaseFailed {
			state = v1alpha1.SubscriptionStateFailed
		}
	}
	if s.Status.State == state {
		return false
	}
	s.Status.State, s.Status.InstalledCSV = state, installed
	return true
}

// A Plan is the result of a resolution.
type Plan struct {
	// Steps are the bundles to install, one line each, in order.
	Steps string
	// Made reports whether OLM makes an install plan for the steps, which it does only if the status of a subscription
	// changes.
	Made bool
	// TookBack reports whether the search backtracked before it found the steps.
	TookBack bool
}

// Plan resolves the namespace as OperatorStepResolver does.
func (n *Namespace) Plan() (Plan, error) {
	live := subscriptions{subs: n.copies()}
	log, trace := quiet(), &strings.Builder{}
	log.SetLevel(logrus.DebugLevel)
	log.SetOutput(trace)
	r := olm.NewOperatorStepResolver(n.lister, live, n.global, olm.NewOperatorCacheProvider(n.lister, live, n.sources, quiet()), log)
	_, lookups, updated, err := r.ResolveSteps(n.name)
	if err != nil {
		return Plan{}, err
	}
	var lines []string
	for _, l := range lookups {
		lines = append(lines, PlanLine(l.Identifier, l.Replaces, resolver.CatalogID{Name: l.CatalogSourceRef.Name, Namespace: l.CatalogSourceRef.Namespace}))
	}
	slices.Sort(lines)
	return Plan{strings.Join(lines, ""), len(updated) > 0, strings.Contains(trace.String(), "Assumptions:")}, nil
}

// PlanLine returns the line of [Plan].Steps for a bundle.
func PlanLine(name, replaces string, from resolver.CatalogID) string {
	return fmt.Sprintf("%s of %s replaces %q\n", name, from, replaces)
}

// copies returns copies of the subscriptions, because a resolution modifies them.
func (n *Namespace) copies() []v1alpha1.Subscription {
	var out []v1alpha1.Subscription
	for _, s := range n.subs {
		out = append(out, *s.DeepCopy())
	}
	slices.SortFunc(out, func(a, b v1alpha1.Subscription) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Subscriptions is the part of a client that a resolution uses.
type subscriptions struct {
	versioned.Interface
	typed.OperatorsV1alpha1Interface
	typed.SubscriptionInterface
	subs []v1alpha1.Subscription
}

func (c subscriptions) OperatorsV1alpha1() typed.OperatorsV1alpha1Interface { return c }

func (c subscriptions) Subscriptions(string) typed.SubscriptionInterface { return c }

func (c subscriptions) List(context.Context, metav1.ListOptions) (*v1alpha1.SubscriptionList, error) {
	return &v1alpha1.SubscriptionList{Items: c.subs}, nil
}

// Statuses lists the status of each subscription.
func (n *Namespace) Statuses() string {
	var lines []string
	for _, s := range n.subs {
		lines = append(lines, fmt.Sprintf("%s: installed %q, current %q", s.Name, s.Status.InstalledCSV, s.Status.CurrentCSV))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Installed returns the installed operators of the namespace, as OLM's resolver sees them.
func (n *Namespace) Installed() ([]*cache.Entry, error) {
	live := subscriptions{subs: n.copies()}
	all := olm.NewOperatorCacheProvider(n.lister, live, n.sources, quiet()).Namespaced(n.name, n.global)
	return all.Catalog(cache.NewVirtualSourceKey(n.name)).Find(cache.True()), all.Error()
}
