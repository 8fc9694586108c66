package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Step plans the creation or the upgrade of a CRD (E7).
func (e *Upgrades) Step(ctx context.Context, s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	have := e.CRD(o.Metadata.Name)
	if have == nil {
		if s.Status == olm.StepWaitingForAPI {
			s.Status = olm.StepUnknown // deleted before it was served
		}
		e.IsRead(world.KindCRD, o.Metadata.Name)
		o.Metadata.Annotations = e.alongside(o.Metadata.Annotations, s.Resolving)
		return olm.StepWaitingForAPI, "", e.Emit(change.Create, &o, e.plan.Key(), nil, "", "step of the install plan for %s", s.Resolving)
	}
	if s.Status == olm.StepWaitingForAPI {
		if have.Status.IsEstablished() {
			return olm.StepCreated, "", nil
		}
		e.Note(e.plan.Key(), "waits until the cluster serves CustomResourceDefinition %s%s", have.Metadata.Name, notServed(have))
		return s.Status, "", nil
	}
	want, err := olm.As[olm.CustomResourceDefinition](o)
	if err != nil {
		return s.Status, err.Error(), nil
	}
	if want.Metadata.Annotations[AnnotationStandIn] != "" {
		keepVersions(want, have)
		if o, err = olm.ToObject(want); err != nil {
			return s.Status, "", err
		}
	}
	if o, err = e.keepConversion(have, o); err != nil {
		return s.Status, "", err
	}
	merged, same, err := merge(have, &o)
	if err != nil {
		return s.Status, "", err
	}
	merged.Metadata.Annotations = e.alongside(merged.Metadata.Annotations, s.Resolving)
	if same {
		if !e.isAlongsideOther(have.Metadata.Annotations, s.Resolving) {
			return olm.StepPresent, "", nil
		}
		return olm.StepPresent, "", e.Emit(change.Update, merged, e.plan.Key(), nil, "E37", "was also installed with %s", s.Resolving)
	}
	why, problem, err := e.upgradable(ctx, s, have, want)
	if problem != "" || err != nil {
		return s.Status, problem, err
	}
	return olm.StepPresent, "", e.Emit(change.Update, merged, e.plan.Key(), nil, "E7", "the version of %s; %s", s.Resolving, why)
}

// Changes reports whether a step with the definition o changes a CRD. If not, its custom
// resources need not be checked.
func Changes(have *olm.CustomResourceDefinition, o olm.Object) bool {
	_, same, err := merge(have, &o)
	return err != nil || !same
}

// merge returns a CRD with the definition o, and whether that is the one that it has.
func merge(have *olm.CustomResourceDefinition, o *olm.Object) (merged *olm.Object, same bool, err error) {
	old, err := olm.ToObject(have)
	if err != nil {
		return nil, false, err
	}
	merged = generated.Merge(&old, o)
	same, err = sameCRD(old, *merged)
	return merged, same, err
}

// sameCRD reports whether two definitions are equal apart from the API server's defaults.
// If such a difference counted as an upgrade, every namespace that installs the operator
// would write the CRD again.
func sameCRD(a, b olm.Object) (bool, error) {
	a, err := defaultCRD(a)
	if err != nil {
		return false, err
	}
	b, err = defaultCRD(b)
	return err == nil && olm.Equal(&a, &b), err
}

func defaultCRD(o olm.Object) (olm.Object, error) {
	text, ok := o.Get("spec")
	if !ok {
		return o, nil
	}
	var spec map[string]any
	if err := olm.Unmarshal(text, &spec); err != nil {
		return o, fmt.Errorf("%s: /spec: %w", o.Key(), err)
	}
	setDefault := func(m map[string]any, name string, value any) {
		if _, ok := m[name]; !ok {
			m[name] = value
		}
	}
	setDefault(spec, "conversion", map[string]any{"strategy": "None"})
	if names, ok := spec["names"].(map[string]any); ok {
		if kind, ok := names["kind"].(string); ok {
			setDefault(names, "singular", strings.ToLower(kind))
			setDefault(names, "listKind", kind+"List")
		}
	}
	return o.Set("spec", spec)
}

// notServed returns why the API server does not serve a CRD, from its conditions.
func notServed(crd *olm.CustomResourceDefinition) string {
	for _, typ := range []string{"NamesAccepted", "Established"} {
		if c, ok := olm.FindCondition(crd.Status.Conditions, typ); ok && c.Status != olm.ConditionTrue {
			return ": " + typ + " is " + c.Status + ", " + status.Condition(c)
		}
	}
	return ""
}

// upgradable returns why a new definition of a CRD may replace the old one, or the problem
// (E7). No other operator may lose a version that it uses, no stored version may be
// removed, and the custom resources must be valid. If other operators own the CRD too, all
// served versions must stay.
func (e *Upgrades) upgradable(ctx context.Context, s *olm.Step, have, want *olm.CustomResourceDefinition) (why, problem string, err error) {
	name := have.Metadata.Name
	users := e.crdUsers(name, s.Resolving)
	var owners []string
	for _, c := range users {
		if Owns(c, name) {
			owners = append(owners, c.Metadata.Namespace+"/"+c.Metadata.Name)
		}
	}
	isShared := len(owners) > 0
	checked := isShared || !e.opts.SharedOnly
	violations := LostVersions(have, want, users, isShared)
	var resources []olm.Object
	unable := false // there are custom resources but no function to check them
	if checked {
		resources = e.Instances(have)
		unable = len(resources) > 0 && e.opts.CheckResources == nil
	}
	if len(resources) > 0 && !unable {
		refused, err := e.opts.CheckResources(ctx, want, resources)
		if err != nil {
			return "", "", err
		}
		if c := want.Spec.Conversion; c != nil && c.Strategy == "Webhook" {
			// As in OLM: the new version's webhook may convert them to valid ones.
			for i := range refused {
				refused[i].Unchecked = true
			}
		}
		violations = append(violations, refused...)
	}
	if unable && !isShared {
		e.Note(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name}, "its custom resources (%d) were not checked against the new schema", len(resources))
		return "no other operator owns it, and its custom resources were not checked", "", nil
	}
	var breaks []string
	for _, v := range violations {
		if v.Unchecked {
			e.Note(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name}, "cannot be checked: %s", v)
			continue
		}
		breaks = append(breaks, v.String())
	}
	if unable {
		breaks = append(breaks, fmt.Sprintf("its custom resources (%d) were not checked against the new schema", len(resources)))
	}
	if len(breaks) > 0 {
		shared := ""
		if isShared {
			shared = ", which also belongs to " + phrase.Join(owners, "and") + ","
		}
		return "", fmt.Sprintf("CustomResourceDefinition %s%s cannot be upgraded: %s; %s", name, shared, strings.Join(breaks, "; "), remedy(violations, unable)), nil
	}
	if !checked {
		return "no other operator owns it", "", nil
	}
	why = "no other operator owns it"
	if isShared {
		why = "all versions stay because it also belongs to " + phrase.Join(owners, "and")
	}
	switch {
	case !e.InstancesRead(name):
		why += "; its custom resources were not read, so they were not checked against the new schema"
		e.Note(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name}, "its custom resources were not read; check that the schema of %s accepts all of them", s.Resolving)
	case len(breaks) < len(violations):
		why += "; as far as could be checked, the new schema accepts all of its custom resources"
	case len(resources) == 0:
		why += "; it has no custom resources"
	default:
		why += "; the new schema accepts all of its custom resources"
	}
	return why, "", nil
}

// remedy returns the fix that allows the CRD to be upgraded. unable is set if its custom
// resources could not be checked.
func remedy(violations []Violation, unable bool) string {
	var lost, refused bool
	for _, v := range violations {
		lost = lost || !v.Unchecked && v.Object == (olm.Key{})
		refused = refused || !v.Unchecked && v.Object != (olm.Key{})
	}
	var parts []string
	if lost {
		parts = append(parts, "keep these versions in the new definition, or upgrade or remove their users, store all objects in a remaining version and remove the others from /status/storedVersions of the old definition")
	}
	if refused {
		parts = append(parts, "change these objects to match the new schema")
	}
	if unable {
		parts = append(parts, "set Options.CheckResources, or delete these custom resources")
	}
	return "to continue, " + phrase.Join(parts, "and")
}

// Owns reports whether an operator owns a CRD.
func Owns(c *olm.ClusterServiceVersion, crd string) bool {
	return slices.ContainsFunc(c.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return d.Name == crd })
}

// crdUsers returns the operators of the cluster that own or require a CRD, except the one
// that installs it and those that the plan replaces.
func (e *Upgrades) crdUsers(crd, bringing string) []*olm.ClusterServiceVersion {
	leaving := map[string]bool{bringing: true}
	for c := e.CSV(bringing); c != nil && !leaving[c.Spec.Replaces]; c = e.Replaced(c) {
		leaving[c.Spec.Replaces] = true
	}
	if e.leaving == nil {
		e.leaving = map[string]bool{}
		for _, s := range e.plan.Status.Plan { // the CSVs may not exist yet
			if world.IsCSV(s.Resource) {
				e.leaving[replacesOf(s)] = true
			}
		}
	}
	maps.Copy(leaving, e.leaving)
	return Users(e.World, crd, leaving)
}

// Users returns the operators of the cluster that own or require a CRD, except those of the namespace that leave.
func Users(w *world.World, crd string, leaving map[string]bool) []*olm.ClusterServiceVersion {
	var users []*olm.ClusterServiceVersion
	for _, c := range w.Users(w.CSVs)[crd] {
		if olm.IsCopied(c) || c.Metadata.IsDeleted() || c.Metadata.Namespace == w.Namespace && leaving[c.Metadata.Name] {
			continue
		}
		users = append(users, c)
	}
	return users
}

func replacesOf(s olm.Step) string {
	if ref, ok := s.Resource.Reference(); ok {
		return ref.Replaces
	}
	var c olm.ClusterServiceVersion
	if c.UnmarshalJSON([]byte(s.Resource.Manifest)) != nil {
		return ""
	}
	return c.Spec.Replaces
}
