package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Advice is what an administrator should know about a cluster apart from the next steps.
// Nothing in it blocks the next step of the namespace. All lists are in the order of the
// objects.
type Advice struct {
	// PlatformVersion is the version of the platform, if it is known.
	PlatformVersion string `json:"platformVersion,omitempty"`
	// Blockers are the operators of the cluster that block the next minor version of the
	// platform. It is empty if the version is unknown.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Held are the operators of the namespace that must not be upgraded now. They do not
	// block the platform.
	Held []Hold `json:"held,omitempty"`
	// CoTenancy are operators that are not supported in the same cluster.
	CoTenancy []operatorgroup.Violation `json:"coTenancy,omitempty"`
	// SharedRoles are groups that share their ClusterRoles with others of the
	// same name. There are none with [operatorgroup.Running].
	SharedRoles []SharedRoles `json:"sharedRoles,omitempty"`
}

// A Hold is a reason why an operator must not be upgraded.
type Hold struct {
	CSV    olm.Key `json:"csv"`
	Reason string  `json:"reason"`
}

// SharedRoles lists the sorted namespaces of the operator groups that have the same name.
type SharedRoles struct {
	Group      string   `json:"group"`
	Namespaces []string `json:"namespaces,omitzero"`
}

// Advise returns the advice for the administrator of the namespace of a
// snapshot. Opts may be nil. It returns an error if the version of the platform cannot be
// parsed.
func Advise(s *Snapshot, opts *Options) (*Advice, error) {
	if opts == nil {
		opts = &Options{}
	}
	w := s.world()
	a := &Advice{PlatformVersion: cmp.Or(opts.PlatformVersion, w.PlatformVersion())}
	if a.PlatformVersion != "" {
		var err error
		if a.Blockers, err = UpgradeBlockers(w.CSVs, a.PlatformVersion); err != nil {
			return nil, fmt.Errorf("platform version: %w", err)
		}
	}
	a.Held = held(w)
	a.CoTenancy = operatorgroup.CoTenancy(w.Tenants(func(*olm.ClusterServiceVersion) bool { return true }))
	if opts.RoleNaming == operatorgroup.Documented {
		conflicts := operatorgroup.NameConflicts(w.OperatorGroups)
		for _, name := range slices.Sorted(maps.Keys(conflicts)) {
			a.SharedRoles = append(a.SharedRoles, SharedRoles{name, conflicts[name]})
		}
	}
	return a, nil
}

// Held returns the operators of the namespace of a snapshot that must not be upgraded now, as in
// [Advice].
func Held(s *Snapshot) []Hold { return held(s.world()) }

func held(w *world.World) (list []Hold) {
	for _, c := range w.Own() {
		if why := w.NotUpgradeable(c); why != "" {
			list = append(list, Hold{c.Key(), why})
		}
	}
	return list
}

// noteAdvice adds the notes of the advice for the operators of the namespace. Notes about
// groups with the same name are added by package group.
func noteAdvice(w *world.World, p *change.Writer, opts *Options) {
	if opts.NoAdvice {
		return
	}
	noteBlockers(w, p, opts)
	families, crds := map[string]bool{}, map[string]bool{}
	for _, c := range w.Own() {
		families[world.Family(c)] = true
		for _, d := range c.Spec.CRDs.Owned {
			crds[d.Name] = true
		}
		noteRivals(w, p, c)
		if why := w.NotUpgradeable(c); why != "" && w.Replacement(c) == nil {
			p.Advice(c.Key(), "is not upgradeable: %s; its next version will wait", why).Rule = "E6"
		}
	}
	near := w.Tenants(func(c *olm.ClusterServiceVersion) bool {
		return families[world.Family(c)] || slices.ContainsFunc(c.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return crds[d.Name] })
	})
	violations := operatorgroup.CoTenancyIn(w.Namespace, near)
	for _, c := range w.Own() {
		is := func(t operatorgroup.Tenant) bool {
			return t.Namespace == w.Namespace && t.CSV == c.Metadata.Name
		}
		own := slices.DeleteFunc(slices.Clone(violations), func(v operatorgroup.Violation) bool { return !is(v.A) && !is(v.B) })
		if len(own) > 0 {
			p.Advice(c.Key(), "%s", operatorgroup.Sentence(w.Namespace, c.Metadata.Name, own)).Rule = "F9"
		}
	}
}

func noteBlockers(w *world.World, p *change.Writer, opts *Options) {
	version := cmp.Or(opts.PlatformVersion, w.PlatformVersion())
	if version == "" {
		return
	}
	blockers, err := UpgradeBlockers(w.Own(), version)
	if err != nil { // this must not hold up the namespace
		p.Note(olm.Key{Kind: "Namespace", Name: w.Namespace}, "cannot determine which operators block the platform upgrade: %s", err)
		return
	}
	for _, b := range blockers {
		p.Advice(b.CSV, "blocks the upgrade of the platform from version %s: %s", version, b.why()).Rule = "C7"
	}
}

// noteRivals adds notes that name the operators whose APIs conflict with those of c. The
// condition of c can name only their groups (F6).
func noteRivals(w *world.World, p *change.Writer, c *olm.ClusterServiceVersion) {
	j := operatorgroup.Judge(c, w.OperatorGroups)
	if j.Failure == nil || len(j.Decision.Rivals) == 0 {
		return
	}
	apis, _ := operatorgroup.OwnAPIs(c)
	for _, g := range j.Decision.Rivals {
		disputed := apis.Intersect(operatorgroup.Annotated(g))
		var names []string
		for _, o := range w.CSVs {
			if o.Metadata.Namespace != g.Metadata.Namespace || olm.IsCopied(o) {
				continue
			}
			if own, _ := operatorgroup.OwnAPIs(o); len(own.Intersect(disputed)) > 0 {
				names = append(names, o.Metadata.Name)
			}
		}
		if len(names) > 0 {
			p.Note(c.Key(), "its APIs are provided in namespace %s by %s", g.Metadata.Namespace, phrase.Join(names, "and")).Rule = "F6"
		} else {
			p.Note(c.Key(), "no operator provides its APIs in namespace %s: operator group %q only reserves them", g.Metadata.Namespace, g.Metadata.Name).Rule = "F6"
		}
	}
}
