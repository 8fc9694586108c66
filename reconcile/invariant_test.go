package reconcile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	rules "github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// checked checks the invariants for every change of a cluster.
func checked(t *testing.T, c *memcluster.Cluster, intercept func(reconcile.Change, func() error) error) {
	if intercept == nil {
		intercept = func(_ reconcile.Change, apply func() error) error { return apply() }
	}
	var mu sync.Mutex // so that before and after differ by one change
	w := watch{}
	c.Intercept = func(change reconcile.Change, apply func() error) error {
		return intercept(change, func() error {
			mu.Lock()
			defer mu.Unlock()
			before := w.view(c.List())
			if err := apply(); err != nil {
				return err
			}
			for _, bad := range invariants(&change, before, w.view(c.List())) {
				t.Errorf("after %s: %v", &change, bad)
			}
			return nil
		})
	}
}

// invariants returns the invariants that a change violates, given the states before and
// after it.
func invariants(c *reconcile.Change, before, after view) []error {
	var bad []error
	check := func(err error) {
		if err != nil {
			bad = append(bad, err)
		}
	}
	check(oneVersion(after))
	check(oneGeneration(after))
	check(untouched(after))
	check(approved(c, before))
	check(notApproving(c, before))
	check(crdKept(c, before, after))
	check(stillProvided(before, after))
	check(takenOver(c, before))
	check(frozen(before, after))
	check(hasSucceeded(c, before))
	check(citesRule(c))
	return bad
}

// A view is the part of a cluster that the invariants examine: all CSVs except copies, those
// of the namespace, its install plans and deployments, the CRDs, and the kinds that have objects.
type view struct {
	deployments map[string]*olm.Deployment
	all, csvs   []*operator
	plans       []*olm.InstallPlan
	manual      bool // a subscription of the namespace wants approval by hand
	crds        map[string]*olm.CustomResourceDefinition
	kinds       map[string]bool // "<apiVersion> <kind>" of all objects
}

// An operator is a CSV with the APIs of its properties.
type operator struct {
	*olm.ClusterServiceVersion
	provides, requires []property.GVK
}

// A watch caches decoded objects, because most do not change.
type watch map[olm.Key]reading

type reading struct {
	version string
	value   any
}

func (w watch) view(list []olm.Object) view {
	v := view{deployments: map[string]*olm.Deployment{}, crds: map[string]*olm.CustomResourceDefinition{}, kinds: map[string]bool{}}
	for _, o := range list {
		v.kinds[o.APIVersion+" "+o.Kind] = true
		switch o.Kind {
		case olm.KindClusterServiceVersion, olm.KindInstallPlan, olm.KindCRD, olm.KindSubscription, "Deployment":
		default:
			continue
		}
		k := o.Key()
		r, ok := w[k]
		if !ok || r.version != o.Metadata.ResourceVersion {
			r = reading{o.Metadata.ResourceVersion, read(o)}
			w[k] = r
		}
		switch x := r.value.(type) {
		case *operator:
			if olm.IsCopied(x.ClusterServiceVersion) {
				continue
			}
			v.all = append(v.all, x)
			if x.Metadata.Namespace == testNamespace {
				v.csvs = append(v.csvs, x)
			}
		case *olm.InstallPlan:
			if x.Metadata.Namespace == testNamespace {
				v.plans = append(v.plans, x)
			}
		case *olm.Subscription:
			v.manual = v.manual || x.Metadata.Namespace == testNamespace && x.Spec.InstallPlanApproval == olm.Manual
		case *olm.CustomResourceDefinition:
			v.crds[x.Metadata.Name] = x
		case *olm.Deployment:
			if x.Metadata.Namespace == testNamespace {
				v.deployments[x.Metadata.Name] = x
			}
		}
	}
	return v
}

// read returns an object as its own type, or nil if it cannot be decoded.
func read(o olm.Object) any {
	switch o.Kind {
	case olm.KindClusterServiceVersion:
		c, err := olm.As[olm.ClusterServiceVersion](o)
		if err != nil {
			return nil
		}
		x := &operator{ClusterServiceVersion: c}
		list, err := rules.Properties(c)
		if err != nil {
			return x
		}
		for _, p := range list {
			if g, err := property.Parse[property.GVK](p); p.Type == property.TypeGVK && err == nil {
				x.provides = append(x.provides, g)
			}
			if g, err := property.Parse[property.GVK](p); p.Type == property.TypeGVKRequired && err == nil {
				x.requires = append(x.requires, g)
			}
		}
		return x
	case olm.KindInstallPlan:
		if p, err := olm.As[olm.InstallPlan](o); err == nil {
			return p
		}
	case olm.KindSubscription:
		if s, err := olm.As[olm.Subscription](o); err == nil {
			return s
		}
	case olm.KindCRD:
		if c, err := olm.As[olm.CustomResourceDefinition](o); err == nil {
			return c
		}
	case "Deployment":
		if d, err := olm.As[olm.Deployment](o); err == nil {
			return d
		}
	}
	return nil
}

func (v view) plan(name string) *olm.InstallPlan {
	for _, p := range v.plans {
		if p.Metadata.Name == name {
			return p
		}
	}
	return nil
}

// isReplaced reports whether another CSV names this one in spec.replaces.
func (v view) isReplaced(c *operator) bool {
	return slices.ContainsFunc(v.all, func(o *operator) bool {
		return o.Metadata.Namespace == c.Metadata.Namespace && o.Spec.Replaces == c.Metadata.Name
	})
}

// replaces reports whether a CSV replaces an older one, directly or through others in the
// namespace.
func (v view) replaces(newer, older *operator) bool {
	name := newer.Spec.Replaces
	for range v.csvs {
		i := slices.IndexFunc(v.csvs, func(c *operator) bool { return c.Metadata.Name == name })
		if i < 0 || name == older.Metadata.Name {
			break
		}
		name = v.csvs[i].Spec.Replaces
	}
	return name == older.Metadata.Name
}

// isLeaving reports whether an operator is replaced, or a plan that is being
// executed replaces it.
func (v view) isLeaving(c *operator) bool {
	return v.isReplaced(c) || c.Metadata.Namespace == testNamespace && slices.ContainsFunc(v.plans, func(p *olm.InstallPlan) bool {
		return p.Status.Phase == olm.PlanInstalling && slices.ContainsFunc(p.Status.Plan, func(s olm.Step) bool {
			return s.Resource.Kind == olm.KindClusterServiceVersion && strings.Contains(s.Resource.Manifest, fmt.Sprintf("\"replaces\":%q", c.Metadata.Name))
		})
	})
}

func packageName(c *operator) string {
	name, _, _ := strings.Cut(c.Metadata.Name, ".")
	return name
}

// oneVersion: no two versions of a package run at once. If two exist, one replaces the
// other, directly or through others that failed (D10, E10).
func oneVersion(v view) error {
	for i, a := range v.csvs {
		for _, b := range v.csvs[i+1:] {
			if packageName(a) != packageName(b) {
				continue
			}
			if !v.replaces(a, b) && !v.replaces(b, a) {
				return fmt.Errorf("%s and %s: two versions of a package", a.Metadata.Name, b.Metadata.Name)
			}
			if runs(a) && runs(b) {
				return fmt.Errorf("%s (%s) and %s (%s) run at once", a.Metadata.Name, a.Status.Phase, b.Metadata.Name, b.Status.Phase)
			}
		}
	}
	return nil
}

func runs(c *operator) bool {
	switch c.Status.Phase {
	case olm.PhaseInstallReady, olm.PhaseInstalling, olm.PhaseSucceeded:
		return true
	}
	return false
}

// oneGeneration: a generation has one plan (E2).
func oneGeneration(v view) error {
	seen := map[int]string{}
	for _, p := range v.plans {
		if other, ok := seen[p.Spec.Generation]; ok {
			return fmt.Errorf("plans %s and %s are both of generation %d", other, p.Metadata.Name, p.Spec.Generation)
		}
		seen[p.Spec.Generation] = p.Metadata.Name
	}
	return nil
}

// untouched: a plan that is not approved does not claim to have been executed
// (E2).
func untouched(v view) error {
	for _, p := range v.plans {
		if p.Spec.Approved {
			continue
		}
		if p.Status.Phase != "" && p.Status.Phase != olm.PlanRequiresApproval {
			return fmt.Errorf("plan %s is %s and not approved", p.Metadata.Name, p.Status.Phase)
		}
		for _, s := range p.Status.Plan {
			if s.Status == olm.StepCreated || s.Status == olm.StepPresent || s.Status == olm.StepWaitingForAPI {
				return fmt.Errorf("plan %s is not approved, and its step %s %s is %s", p.Metadata.Name, s.Resource.Kind, s.Resource.Name, s.Status)
			}
		}
	}
	return nil
}

// approved: every write for an install plan is one of its steps, and the plan is approved
// and being executed. CSVs, CRDs and further subscriptions are created only by plans (E2).
func approved(c *reconcile.Change, before view) error {
	k := c.Key()
	switch {
	case k == c.For:
		if c.Op == reconcile.Create && k.Kind != olm.KindInstallPlan {
			break // for itself, so for no plan
		}
		return nil
	case c.For.Kind == olm.KindInstallPlan:
		p := before.plan(c.For.Name)
		if p == nil || !p.Spec.Approved || p.Status.Phase != olm.PlanInstalling {
			return fmt.Errorf("%s was written for plan %s, which is not approved and being executed", k, c.For.Name)
		}
		if !slices.ContainsFunc(p.Status.Plan, func(s olm.Step) bool {
			return s.Resource.Name == k.Name && (s.Resource.Kind == k.Kind || s.Resource.Kind == "Bundle"+k.Kind) // OLM's BundleSecret
		}) {
			return fmt.Errorf("%s was written for plan %s and is no step of it", k, p.Metadata.Name)
		}
		return nil
	}
	if c.Op != reconcile.Create {
		return nil
	}
	switch {
	case k.Kind == olm.KindClusterServiceVersion && k.Namespace == testNamespace, k.Kind == olm.KindCRD, k.Kind == olm.KindSubscription:
		return fmt.Errorf("%s was created for %s, which is no install plan", k, c.For)
	}
	return nil
}

// notApproving: manual approval is never given automatically (E2, E9).
func notApproving(c *reconcile.Change, before view) error {
	k := c.Key()
	if k.Kind != olm.KindInstallPlan || c.Op != reconcile.Create && c.Op != reconcile.Update {
		return nil
	}
	p, err := olm.As[olm.InstallPlan](c.Object)
	switch old := before.plan(k.Name); {
	case err != nil || !p.Spec.Approved:
		return nil
	case old == nil && before.manual:
		return fmt.Errorf("plan %s is created approved, and a subscription wants approval by hand", k.Name)
	case old != nil && !old.Spec.Approved:
		return fmt.Errorf("plan %s is approved by nobody", k.Name)
	}
	return nil
}

// stillProvided: an API that an operator requires and has is not removed, unless the
// operator is being replaced itself (D1).
func stillProvided(before, after view) error {
	has := func(v view, g property.GVK) bool {
		return slices.ContainsFunc(v.csvs, func(c *operator) bool { return slices.Contains(c.provides, g) })
	}
	for _, c := range after.csvs {
		for _, g := range c.requires {
			if has(before, g) && !has(after, g) && !after.isReplaced(c) {
				return fmt.Errorf("%s was taken from under %s", g, c.Metadata.Name)
			}
		}
	}
	return nil
}

// takenOver: an operator is only deleted when one that replaces it, directly or through
// others, has succeeded.
func takenOver(c *reconcile.Change, before view) error {
	if k := c.Key(); c.Op != reconcile.Delete || k.Kind != olm.KindClusterServiceVersion || k.Namespace != testNamespace {
		return nil
	}
	gone := map[string]bool{c.Key().Name: true}
	isOwn := false
	for range before.csvs {
		for _, o := range before.csvs {
			isOwn = isOwn || o.Metadata.Name == c.Key().Name
			if gone[o.Spec.Replaces] {
				if o.Status.Phase == olm.PhaseSucceeded {
					return nil
				}
				gone[o.Metadata.Name] = true
			}
		}
	}
	if !isOwn {
		return nil // a copy
	}
	return fmt.Errorf("%s is deleted, and none that replaces it has succeeded", c.Key())
}

// hasSucceeded: an operator succeeds only if its deployments are available and its latest
// install plan has no more steps for it (E36, E40).
func hasSucceeded(c *reconcile.Change, before view) error {
	k := c.Key()
	csv, _ := read(c.Object).(*operator)
	if c.Op != reconcile.UpdateStatus || k.Kind != olm.KindClusterServiceVersion || k.Namespace != testNamespace || csv == nil || csv.Status.Phase != olm.PhaseSucceeded {
		return nil
	}
	if olm.IsCopied(csv.ClusterServiceVersion) || slices.ContainsFunc(before.csvs, func(o *operator) bool { return o.Key() == k && o.Status.Phase == olm.PhaseSucceeded }) {
		return nil
	}
	for _, spec := range csv.Spec.Install.Spec.Deployments {
		d := before.deployments[spec.Name]
		if d == nil || d.Metadata.Generation > d.Status.ObservedGeneration {
			return fmt.Errorf("%s succeeds without its deployment %s", k, spec.Name)
		}
		if a, _ := olm.FindCondition(d.Status.Conditions, "Available"); a.Status != olm.ConditionTrue {
			return fmt.Errorf("%s succeeds although its deployment %s is not available", k, spec.Name)
		}
	}
	var last *olm.InstallPlan
	for _, p := range before.plans {
		if slices.Contains(p.Spec.ClusterServiceVersionNames, k.Name) && (last == nil || p.Spec.Generation > last.Spec.Generation) {
			last = p
		}
	}
	if last == nil || last.Status.Phase != olm.PlanInstalling {
		return nil
	}
	for _, s := range last.Status.Plan {
		if s.Resolving == k.Name && s.Status != olm.StepCreated && s.Status != olm.StepPresent {
			return fmt.Errorf("%s succeeds, and the step %s %s of plan %s is %s", k, s.Resource.Kind, s.Resource.Name, last.Metadata.Name, s.Status)
		}
	}
	return nil
}

// frozen: the steps of an install plan do not change. It may have been approved since (E2).
func frozen(before, after view) error {
	for _, old := range before.plans {
		p := after.plan(old.Metadata.Name)
		if p == nil || p.Metadata.UID != old.Metadata.UID {
			continue
		}
		if !slices.Equal(old.Spec.ClusterServiceVersionNames, p.Spec.ClusterServiceVersionNames) {
			return fmt.Errorf("plan %s was for %q and is for %q", old.Metadata.Name, old.Spec.ClusterServiceVersionNames, p.Spec.ClusterServiceVersionNames)
		}
		for _, s := range old.Status.Plan {
			if !slices.ContainsFunc(p.Status.Plan, func(x olm.Step) bool { return x.Resolving == s.Resolving && sameStep(x.Resource, s.Resource) }) {
				return fmt.Errorf("plan %s loses its step %s %s, or has it otherwise", old.Metadata.Name, s.Resource.Kind, s.Resource.Name)
			}
		}
	}
	return nil
}

func sameStep(a, b olm.StepResource) bool {
	return a.Group == b.Group && a.Version == b.Version && a.Kind == b.Kind && a.Name == b.Name && a.Manifest == b.Manifest
}

// crdKept: a version of a CRD that has custom resources stays. A version that an operator
// requires, or owns together with the one being upgraded, is still served, unless the
// upgrade replaces that operator (E7).
func crdKept(c *reconcile.Change, before, after view) error {
	if c.Object.Kind != olm.KindCRD || c.Op == reconcile.Create || c.Op == reconcile.UpdateStatus {
		return nil
	}
	name := c.Object.Metadata.Name
	was, is := before.crds[name], after.crds[name]
	if was == nil {
		return nil
	}
	has := func(d *olm.CustomResourceDefinition, version string, served bool) bool {
		return d != nil && slices.ContainsFunc(d.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == version && (v.Served || !served) })
	}
	for _, v := range was.Spec.AllVersions() {
		if before.kinds[was.Spec.Group+"/"+v.Name+" "+was.Spec.Names.Kind] && !has(is, v.Name, false) {
			return fmt.Errorf("CRD %s loses version %s, which custom resources are of", name, v.Name)
		}
	}
	owners := 0
	for _, o := range before.all {
		if slices.ContainsFunc(o.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return d.Name == name }) {
			owners++
		}
	}
	for _, o := range before.all {
		needs := slices.Clone(o.Spec.CRDs.Required)
		if owners > 1 {
			needs = append(needs, o.Spec.CRDs.Owned...)
		}
		for _, d := range needs {
			if d.Name == name && has(was, d.Version, true) && !has(is, d.Version, true) && !before.isLeaving(o) {
				return fmt.Errorf("CRD %s no longer serves version %s, which %s uses", name, d.Version, o.Key())
			}
		}
	}
	return nil
}

// final returns the objects of a cluster as text, without the values that depend on the
// number of writes: UIDs, versions, former states, and whether a step of a plan created its
// object or found it present, which a loop that was killed in between cannot know.
func final(c *memcluster.Cluster) []string {
	var out strings.Builder
	for _, o := range c.List() {
		var v map[string]any
		text, err := json.Marshal(o)
		if err != nil || json.Unmarshal(text, &v) != nil {
			fmt.Fprintln(&out, err)
			continue
		}
		if status, ok := v["status"].(map[string]any); ok && o.Kind == olm.KindClusterServiceVersion {
			delete(status, "conditions")
		}
		strip(v)
		text, err = json.MarshalIndent(v, "", " ")
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	// The last error of an object that is refused each time is random.
	text := strings.NewReplacer(errInjected.Error(), errRefused.Error(), unseenConflict, errRefused.Error()).Replace(out.String())
	return strings.Split(strings.ReplaceAll(text, `"status": "Created"`, `"status": "Present"`), "\n")
}

// unseenConflict is the message about a conflict that was injected twice.
var unseenConflict = fmt.Sprintf("it exists, although reading the cluster did not return it: %s: %s", errInjected, reconcile.ErrConflict)

const touched = "test/touched"

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"uid", "uuid", "resourceVersion", "generation", "observedGeneration", touched} {
			delete(v, name)
		}
		for name, child := range v {
			strip(child)
			if m, ok := child.(map[string]any); ok && name == "annotations" && len(m) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for _, child := range v {
			strip(child)
		}
	}
}
