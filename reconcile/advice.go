package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// An Advice is what an administrator should know of a cluster, apart from
// what happens next. Nothing in it keeps the namespace from its next step. All lists
// are in order of the objects.
type Advice struct {
	// PlatformVersion is the version of the platform, if it is known.
	PlatformVersion string `json:"platformVersion,omitempty"`
	// Blockers are the operators of the cluster that keep the platform from its
	// next minor version. Without a version, none is found.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Held are the operators of the namespace that must not be upgraded now. They
	// do not keep the platform from its next version.
	Held []Hold `json:"held,omitempty"`
	// CoTenancy are operators that are not supported in one cluster.
	CoTenancy []operatorgroup.Violation `json:"coTenancy,omitempty"`
	// SharedRoles are groups that share their ClusterRoles with others of the
	// same name. There are none with [operatorgroup.Running].
	SharedRoles []SharedRoles `json:"sharedRoles,omitempty"`
}

// A Hold is why an operator must not be upgraded.
type Hold struct {
	CSV    olm.Key `json:"csv"`
	Reason string  `json:"reason"`
}

// SharedRoles are the namespaces, sorted, whose groups have one name.
type SharedRoles struct {
	Group      string   `json:"group"`
	Namespaces []string `json:"namespaces"`
}

// Advise returns the advice for the administrator of the namespace of a
// snapshot. Opts may be nil. The error is about the version of the platform, if it cannot be
// read.
func Advise(s *Snapshot, opts *Options) (*Advice, error) {
	if opts == nil {
		opts = &Options{}
	}
	s = s.clone()
	a := &Advice{PlatformVersion: cmp.Or(opts.PlatformVersion, s.platformVersion())}
	if a.PlatformVersion != "" {
		var err error
		if a.Blockers, err = UpgradeBlockers(s.CSVs, a.PlatformVersion); err != nil {
			return nil, fmt.Errorf("the version of the platform: %w", err)
		}
	}
	for _, c := range s.own() {
		if why := s.notUpgradeable(c); why != "" {
			a.Held = append(a.Held, Hold{c.Key(), why})
		}
	}
	a.CoTenancy = operatorgroup.CoTenancy(s.tenants(func(*olm.ClusterServiceVersion) bool { return true }))
	if opts.RoleNaming == operatorgroup.Documented {
		conflicts := operatorgroup.NameConflicts(s.OperatorGroups)
		for _, name := range slices.Sorted(maps.Keys(conflicts)) {
			a.SharedRoles = append(a.SharedRoles, SharedRoles{name, conflicts[name]})
		}
	}
	return a, nil
}

// platformVersion returns the version that the object ClusterVersion of
// OpenShift is at or moves to, if there is one.
func (s *Snapshot) platformVersion() string {
	o := s.object(olm.Key{Group: "config.openshift.io", Kind: "ClusterVersion", Name: "version"})
	if o == nil {
		return ""
	}
	v, _ := o.Get("status", "desired", "version")
	var version string
	if json.Unmarshal(v, &version) != nil {
		return ""
	}
	return version
}

// notUpgradeable returns why an operator must not be upgraded, if it exists to
// be upgraded at all.
func (s *Snapshot) notUpgradeable(c *olm.ClusterServiceVersion) string {
	for _, cond := range s.OperatorConditions {
		if cond.Metadata.Name == c.Metadata.Name && !c.Metadata.IsDeleted() {
			return NotUpgradeable(cond)
		}
	}
	return ""
}

// tenants returns the operators of the cluster that pass a test, without those
// being deleted.
func (s *Snapshot) tenants(test func(*olm.ClusterServiceVersion) bool) []operatorgroup.Tenant {
	var list []operatorgroup.Tenant
	for _, c := range s.CSVs {
		if !c.IsCopied() && !c.Metadata.IsDeleted() && test(c) {
			list = append(list, operatorgroup.TenantOf(c, operatorName(c)))
		}
	}
	return list
}

// operatorName returns the package of a CSV: that of its properties, or else its
// name up to the version.
func operatorName(c *olm.ClusterServiceVersion) string {
	list, _ := Properties(c) // a fault there is reported where the CSV is resolved
	return cmp.Or(packageOf(list), family(c))
}

func family(c *olm.ClusterServiceVersion) string {
	name, _, _ := strings.Cut(c.Metadata.Name, ".")
	return name
}

// advise adds the notes of the advice for the operators of the namespace. Groups
// with the same name are noted with the group.
func (p *planner) advise(context.Context) error {
	if p.opts.NoAdvice {
		return nil
	}
	p.noteBlockers()
	families, crds := map[string]bool{}, map[string]bool{}
	for _, c := range p.own() {
		families[family(c)] = true
		for _, d := range c.Spec.CRDs.Owned {
			crds[d.Name] = true
		}
		p.noteRivals(c)
		if why := p.notUpgradeable(c); why != "" && p.replacement(c) == nil {
			p.advice(c.Key(), "is not upgradeable: %s; its next version will wait (E6)", why)
		}
	}
	near := p.tenants(func(c *olm.ClusterServiceVersion) bool {
		return families[family(c)] || slices.ContainsFunc(c.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return crds[d.Name] })
	})
	for _, v := range operatorgroup.CoTenancy(near) {
		for _, t := range []operatorgroup.Tenant{v.A, v.B} {
			if t.Namespace == p.Namespace {
				p.advice(olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: t.Namespace, Name: t.CSV}, "%s (F9)", v)
			}
		}
	}
	return nil
}

func (p *planner) noteBlockers() {
	version := cmp.Or(p.opts.PlatformVersion, p.platformVersion())
	if version == "" {
		return
	}
	blockers, err := UpgradeBlockers(p.own(), version)
	if err != nil { // no reason to hold up the namespace
		p.note(olm.Key{Kind: "Namespace", Name: p.Namespace}, "cannot determine which operators block the platform upgrade: %s", err)
		return
	}
	for _, b := range blockers {
		p.advice(b.CSV, "blocks the upgrade of the platform from version %s: %s (C7)", version, b.why())
	}
}

// noteRivals names the providers of the APIs over which an operator failed; its
// condition can name only the groups (F6).
func (p *planner) noteRivals(c *olm.ClusterServiceVersion) {
	j := operatorgroup.Judge(c, p.OperatorGroups)
	if j.Failure == nil || len(j.Decision.Rivals) == 0 {
		return
	}
	apis, _ := operatorgroup.OwnAPIs(c)
	for _, g := range j.Decision.Rivals {
		var names []string
		for _, o := range operatorgroup.Providers(apis.Intersect(operatorgroup.Annotated(g)), p.CSVs) {
			if o.Metadata.Namespace == g.Metadata.Namespace {
				names = append(names, o.Metadata.Name)
			}
		}
		if len(names) > 0 {
			p.note(c.Key(), "its APIs are provided in namespace %s by %s (F6)", g.Metadata.Namespace, list(names))
		} else {
			p.note(c.Key(), "no operator provides its APIs in namespace %s: operator group %q only reserves them (F6)", g.Metadata.Namespace, g.Metadata.Name)
		}
	}
}

// advice adds a note that is part of an [Advice], too.
func (p *planner) advice(key olm.Key, format string, args ...any) {
	p.plan.Notes = append(p.plan.Notes, Note{Object: key, Message: fmt.Sprintf(format, args...), Advice: true})
}
