package generate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// Catalogs returns the catalogs of the problem of a seed, for [Namespace].
func Catalogs(seed uint64) []resolver.Catalog { return newMaker(seed).p.Catalogs }

// Namespace returns a namespace over the catalogs of a seed. Its operators run, are being installed or have failed;
// some replace each other in chains, and some are orphans, with and without annotations. Its subscriptions own
// operators, are new, or wait for install plans. The operator group may allow failed operators to be replaced.
func Namespace(catalogs, seed uint64) *reconcile.Snapshot {
	g := newMaker(catalogs)
	g.Rand = rand.New(rand.NewPCG(seed, catalogs))
	n := &namespace{maker: g, s: &reconcile.Snapshot{Namespace: g.p.Namespace, GlobalNamespace: "olm", Known: []olm.GroupKind{reconcile.AllKinds}}}
	n.group()
	for _, c := range g.p.Catalogs {
		src := &olm.CatalogSource{Header: header(olm.V1Alpha1, olm.KindCatalogSource, c.Namespace, c.Name)}
		src.Spec.SourceType, src.Spec.Priority = "grpc", c.Priority
		n.s.CatalogSources = append(n.s.CatalogSources, src)
	}
	for range g.IntN(4) {
		n.chain(pick(g, g.bundles...))
	}
	for range g.IntN(3) {
		n.fresh(pick(g, g.bundles...))
	}
	return n.s
}

type namespace struct {
	*maker
	s *reconcile.Snapshot
}

func header(version, kind, namespace, name string) olm.Header {
	return olm.Header{APIVersion: version, Kind: kind, Metadata: olm.Metadata{Name: name, Namespace: namespace}}
}

func (n *namespace) group() {
	og := &olm.OperatorGroup{Header: header(olm.V1, olm.KindOperatorGroup, n.s.Namespace, "og")}
	og.Status.Namespaces = []string{""}
	if n.one(3) {
		og.Spec.UpgradeStrategy = olm.UpgradeFailForward
	}
	n.s.OperatorGroups = append(n.s.OperatorGroups, og)
}

// chain adds operators of a package, each of which replaces the one before, and usually a subscription to it.
func (n *namespace) chain(newest bundle) {
	if slices.ContainsFunc(n.s.CSVs, func(c *olm.ClusterServiceVersion) bool { return strings.HasPrefix(c.Metadata.Name, newest.pkg+".") }) && !n.one(8) {
		return
	}
	list := []bundle{newest}
	for i := 1 + n.IntN(5); i > 3; i-- { // sometimes up to two older ones
		old := bundle{newest.cat, newest.pkg, fmt.Sprintf("%s.v0.%d.0", newest.pkg, i), fmt.Sprintf("0.%d.0", i), nil}
		for _, b := range n.bundles {
			if b.cat == newest.cat && b.pkg == newest.pkg && b.version < list[0].version && n.one(2) {
				old = b
			}
		}
		if slices.ContainsFunc(list, func(b bundle) bool { return b.name == old.name }) {
			break
		}
		list = slices.Insert(list, 0, old)
	}
	for i, b := range list {
		c := n.csv(b)
		if i > 0 {
			c.Spec.Replaces = list[i-1].name
		} else if n.one(4) {
			c.Spec.Replaces = b.pkg + ".v0.0.1" // which no longer exists
		}
		c.Status.Phase = pick(n.maker, olm.PhaseSucceeded, olm.PhaseSucceeded, olm.PhaseSucceeded, olm.PhaseFailed, olm.PhaseFailed, olm.PhasePending, olm.PhaseInstalling)
		if i < len(list)-1 && !n.one(6) {
			c.Status.Phase = olm.PhaseReplacing
		}
		if !slices.ContainsFunc(n.s.CSVs, func(o *olm.ClusterServiceVersion) bool { return o.Metadata.Name == c.Metadata.Name }) {
			n.s.CSVs = append(n.s.CSVs, c)
		}
	}
	if n.one(4) {
		return // orphans
	}
	s := n.subscription(newest)
	st := &s.Status
	st.CurrentCSV, st.InstalledCSV, st.State = newest.name, newest.name, olm.StateAtLatestKnown
	switch n.IntN(12) {
	case 0: // the upgrade has not been noticed yet
		st.InstalledCSV, st.State = list[0].name, olm.StateUpgradePending
	case 1: // waiting for an upgrade
		st.CurrentCSV, st.State = newest.pkg+".v9.0.0", olm.StateUpgradePending
		n.waits(s)
	case 2: // its operator was deleted
		st.CurrentCSV, st.InstalledCSV = newest.pkg+".v0.0.2", newest.pkg+".v0.0.2"
	}
	if n.one(15) {
		again := n.subscription(newest)
		again.Status = *st // two subscriptions own one operator
	}
}

// fresh adds a subscription without an operator.
func (n *namespace) fresh(b bundle) {
	if slices.ContainsFunc(n.s.Subscriptions, func(s *olm.Subscription) bool { return s.Spec.Package == b.pkg }) && !n.one(6) {
		return
	}
	s := n.subscription(b)
	if n.one(6) {
		s.Spec.StartingCSV = b.name
	}
	if n.one(5) {
		s.Status.CurrentCSV, s.Status.State = b.name, olm.StateUpgradePending
		n.waits(s)
	}
}

func (n *namespace) subscription(b bundle) *olm.Subscription {
	c := n.p.Catalogs[b.cat]
	s := &olm.Subscription{Header: header(olm.V1Alpha1, olm.KindSubscription, n.s.Namespace, fmt.Sprintf("s%d", len(n.s.Subscriptions)))}
	s.Spec.Package, s.Spec.Channel = b.pkg, pick(n.maker, n.cats[b.cat][b.pkg]...)
	s.Spec.Source, s.Spec.SourceNamespace = c.Name, c.Namespace
	switch {
	case n.one(12):
		s.Spec.Channel = ""
	case n.one(25) && !n.shared(b.pkg):
		s.Spec.Channel, s.Spec.Source, s.Spec.SourceNamespace = "", "", ""
	}
	n.s.Subscriptions = append(n.s.Subscriptions, s)
	return s
}

// shared reports whether several catalogs have a package. OLM cannot order a channel that several catalogs define
// (H28).
func (n *namespace) shared(pkg string) bool {
	found := 0
	for _, c := range n.cats {
		if c[pkg] != nil {
			found++
		}
	}
	return found > 1
}

// waits makes a subscription refer to an install plan for its current CSV, which usually exists.
func (n *namespace) waits(s *olm.Subscription) {
	name := fmt.Sprintf("install-%d", len(n.s.InstallPlans))
	s.Status.InstallPlanRef = &olm.ObjectReference{APIVersion: olm.V1Alpha1, Kind: olm.KindInstallPlan, Namespace: n.s.Namespace, Name: name}
	if n.one(8) {
		return // the plan was deleted
	}
	p := &olm.InstallPlan{Header: header(olm.V1Alpha1, olm.KindInstallPlan, n.s.Namespace, name)}
	p.Spec.ClusterServiceVersionNames, p.Spec.Approval, p.Spec.Generation = []string{s.Status.CurrentCSV}, olm.Automatic, 1
	p.Status.Phase = pick(n.maker, olm.PlanInstalling, olm.PlanRequiresApproval, olm.PlanFailed, olm.PlanComplete)
	n.s.InstallPlans = append(n.s.InstallPlans, p)
}

// csv returns the CSV of a bundle. In most cases it has the annotation in which OLM records what the bundle provides
// and requires.
func (n *namespace) csv(b bundle) *olm.ClusterServiceVersion {
	c := &olm.ClusterServiceVersion{Header: header(olm.V1Alpha1, olm.KindClusterServiceVersion, n.s.Namespace, b.name)}
	c.Spec.Version = b.version
	c.Spec.Install.Strategy = olm.StrategyDeployment
	props := b.props
	if props == nil {
		props = []property.Property{prop(property.TypePackage, `{"packageName":%q,"version":%q}`, b.pkg, b.version)}
	}
	for _, p := range props {
		var k struct{ Group, Version, Kind string }
		switch json.Unmarshal(p.Value, &k); p.Type {
		case property.TypeGVK:
			c.Spec.CRDs.Owned = append(c.Spec.CRDs.Owned, olm.CRDDescription{Name: strings.ToLower(k.Kind) + "s." + k.Group, Version: k.Version, Kind: k.Kind})
		case property.TypeGVKRequired:
			c.Spec.CRDs.Required = append(c.Spec.CRDs.Required, olm.CRDDescription{Name: strings.ToLower(k.Kind) + "s." + k.Group, Version: k.Version, Kind: k.Kind})
		}
	}
	if n.one(8) {
		c.Spec.Version = pick(n.maker, "", "0.0.0")
	}
	switch n.IntN(16) {
	case 0, 1:
		return c // without the annotation
	case 2:
		props = []property.Property{prop(property.TypePackage, pick(n.maker, `{"packageName":%q}`, `{"packageName":%q,"version":""}`), b.pkg)}
	case 3:
		props = append(slices.Clip(props), prop(property.TypePackage, `{"packageName":%q,"version":"1.0.0"}`, n.name()))
	case 4:
		props = slices.DeleteFunc(slices.Clone(props), func(p property.Property) bool { return p.Type == property.TypePackage })
	}
	text, _ := json.Marshal(map[string]any{"properties": props}) // cannot fail: props is valid JSON
	c.Metadata.SetAnnotation(property.ProjectedAnnotation, string(text))
	return c
}
