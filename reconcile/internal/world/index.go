package world

import (
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
)

// An index speeds up lookups that a plan makes often, such as those for each operator of
// the namespace.
type index struct {
	objects     map[olm.Key]*olm.Object
	ownCSVs     []*olm.ClusterServiceVersion
	csvs        map[string]*olm.ClusterServiceVersion // of ownCSVs
	crds        map[string]*olm.CustomResourceDefinition
	crdKinds    map[olm.GroupKind]*olm.CustomResourceDefinition
	deployments map[string]*olm.Deployment
	Deployed    map[string][]*olm.Deployment // by the CSV that their labels name
	plans       map[string]*olm.InstallPlan
	ownGroups   []*olm.OperatorGroup
	// subscribed holds the subscriptions by their package, and following holds them by the
	// CSVs that they name.
	subscribed, following map[string][]*olm.Subscription
	Place                 map[*olm.Subscription]int // the index in Subscriptions
	// claims holds the CSVs of the namespace by what they claim.
	claims map[claim][]int // indices in ownCSVs
	byCRD  map[string][]*olm.ClusterServiceVersion
}

// A claim is something that one CSV of a namespace can have: a CRD, an APIService or
// a deployment.
type claim struct{ kind, name string }

// newIndex returns the index of a snapshot. Of several objects with the same name, it holds
// the first one.
func newIndex(s *State) *index {
	x := &index{
		objects: make(map[olm.Key]*olm.Object, len(s.Objects)), csvs: map[string]*olm.ClusterServiceVersion{},
		crds: make(map[string]*olm.CustomResourceDefinition, len(s.CRDs)), crdKinds: make(map[olm.GroupKind]*olm.CustomResourceDefinition, len(s.CRDs)),
		deployments: make(map[string]*olm.Deployment, len(s.Deployments)), Deployed: map[string][]*olm.Deployment{},
		plans:      make(map[string]*olm.InstallPlan, len(s.InstallPlans)),
		subscribed: map[string][]*olm.Subscription{}, following: map[string][]*olm.Subscription{},
		Place: make(map[*olm.Subscription]int, len(s.Subscriptions)), claims: map[claim][]int{},
	}
	for i := range s.Objects {
		x.objects[s.Objects[i].Key()] = &s.Objects[i]
	}
	x.ownCSVs = OwnCSVs(s.Namespace, s.CSVs)
	for i, c := range x.ownCSVs {
		byName(x.csvs, c)
		for _, k := range claimsOf(c) {
			if list := x.claims[k]; len(list) == 0 || list[len(list)-1] != i {
				x.claims[k] = append(list, i)
			}
		}
	}
	for _, c := range s.CRDs {
		byName(x.crds, c)
		if k := (olm.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind}); x.crdKinds[k] == nil {
			x.crdKinds[k] = c
		}
	}
	for _, d := range s.Deployments {
		byName(x.deployments, d)
		owner := d.Metadata.Labels[ownerlabel.Name]
		x.Deployed[owner] = append(x.Deployed[owner], d)
	}
	for _, p := range s.InstallPlans {
		byName(x.plans, p)
	}
	for _, g := range s.OperatorGroups {
		if g.Metadata.Namespace == s.Namespace {
			x.ownGroups = append(x.ownGroups, g)
		}
	}
	for i, sub := range s.Subscriptions {
		x.Place[sub] = i
		x.subscribed[sub.Spec.Package] = append(x.subscribed[sub.Spec.Package], sub)
		names := []string{sub.Status.InstalledCSV, sub.Status.CurrentCSV, sub.Spec.StartingCSV}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			x.following[name] = append(x.following[name], sub)
		}
	}
	return x
}

// claimsOf returns the claims of a CSV.
func claimsOf(c *olm.ClusterServiceVersion) (list []claim) {
	for _, d := range c.Spec.CRDs.Owned {
		list = append(list, claim{olm.KindCRD, d.Name})
	}
	for _, d := range c.Spec.APIServices.Owned {
		list = append(list, claim{"APIService", d.Version + "." + d.Group})
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		list = append(list, claim{"Deployment", d.Name})
	}
	return list
}

// OwnCSVs returns the CSVs of a namespace, except copied ones.
func OwnCSVs(namespace string, csvs []*olm.ClusterServiceVersion) []*olm.ClusterServiceVersion {
	var list []*olm.ClusterServiceVersion
	for _, c := range csvs {
		if c.Metadata.Namespace == namespace && !olm.IsCopied(c) {
			list = append(list, c)
		}
	}
	return list
}

func byName[R olm.Resource](m map[string]R, r R) {
	name := r.Head().Metadata.Name
	if _, ok := m[name]; !ok {
		m[name] = r
	}
}

// Object returns the object with key k among the Objects of the snapshot, or nil.
func (x *index) Object(k olm.Key) *olm.Object { return x.objects[k] }

// Own returns the CSVs of the namespace without copies.
func (x *index) Own() []*olm.ClusterServiceVersion { return x.ownCSVs }

// CSV returns a CSV of the namespace, not a copy, or nil.
func (x *index) CSV(name string) *olm.ClusterServiceVersion { return x.csvs[name] }

// CRD returns a CRD, or nil.
func (x *index) CRD(name string) *olm.CustomResourceDefinition { return x.crds[name] }

// CRDOf returns the first CRD of a kind, or nil.
func (x *index) CRDOf(group, kind string) *olm.CustomResourceDefinition {
	return x.crdKinds[olm.GroupKind{Group: group, Kind: kind}]
}

// Deployment returns a deployment of the namespace, or nil.
func (x *index) Deployment(name string) *olm.Deployment { return x.deployments[name] }

// Groups returns the operator groups of the namespace.
func (x *index) Groups() []*olm.OperatorGroup { return x.ownGroups }

// InstallPlan returns the install plan with the given name, or nil. If there are several, it
// returns the one with the lowest generation.
func (x *index) InstallPlan(name string) *olm.InstallPlan { return x.plans[name] }

// Followers returns the subscriptions that name a CSV as their installed, current or
// starting CSV.
func (x *index) Followers(csv string) []*olm.Subscription { return x.following[csv] }

// Users returns the given CSVs by the names of the CRDs that they own or require. It caches
// the result of the first call and ignores the argument of later ones.
func (x *index) Users(csvs []*olm.ClusterServiceVersion) map[string][]*olm.ClusterServiceVersion {
	if x.byCRD == nil {
		x.byCRD = map[string][]*olm.ClusterServiceVersion{}
		for _, c := range csvs {
			for _, list := range [][]olm.CRDDescription{c.Spec.CRDs.Owned, c.Spec.CRDs.Required} {
				for _, d := range list {
					if known := x.byCRD[d.Name]; len(known) == 0 || known[len(known)-1] != c {
						x.byCRD[d.Name] = append(known, c)
					}
				}
			}
		}
	}
	return x.byCRD
}

// Claimants returns the other CSVs of the namespace that have a claim in common with a CSV,
// in order.
func (x *index) Claimants(c *olm.ClusterServiceVersion) (list []*olm.ClusterServiceVersion) {
	var all []int
	for _, k := range claimsOf(c) {
		all = append(all, x.claims[k]...)
	}
	slices.Sort(all)
	for _, i := range slices.Compact(all) {
		if o := x.ownCSVs[i]; o.Metadata.Name != c.Metadata.Name {
			list = append(list, o)
		}
	}
	return list
}
