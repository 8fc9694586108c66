package desired

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// The annotations of a ClusterObjectSet that describe its bundle.
const (
	bundleName       = prefix + "bundle-name"
	packageName      = prefix + "package-name"
	bundleVersion    = prefix + "bundle-version"
	bundleReference  = prefix + "bundle-reference"
	bundleProperties = "olm.properties"
)

// NewObjectSet returns the ClusterObjectSet that is a new revision of an extension.
func NewObjectSet(r *rollout.Revision, e *api.ClusterExtension) *api.ClusterObjectSet { // K70
	set := &api.ClusterObjectSet{
		ObjectMeta: metadata(r, e),
		Spec: api.ClusterObjectSetSpec{
			LifecycleState: api.LifecycleActive, Revision: r.Number, CollisionProtection: string(r.Collision),
		},
	}
	for i, p := range r.Phases {
		phase := api.ObjectSetPhase{Name: p.Name}
		for _, ref := range r.Refs[i] {
			phase.Objects = append(phase.Objects, api.ObjectSetObject{Ref: &api.ObjectSetRef{Name: ref.Name, Namespace: ref.Namespace, Key: ref.Key}})
		}
		set.Spec.Phases = append(set.Spec.Phases, phase)
	}
	setSettings(set, r)
	return set
}

// setSettings sets what may change in an object set.
func setSettings(set *api.ClusterObjectSet, r *rollout.Revision) { // K71
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	for key, v := range map[string]string{
		bundleName: r.Bundle.Name, packageName: r.Bundle.Package, bundleVersion: r.Bundle.Version, bundleReference: r.Bundle.Image, bundleProperties: r.Bundle.Properties,
	} {
		if set.Annotations[key] = v; v == "" {
			delete(set.Annotations, key)
		}
	}
	set.Spec.ProgressDeadlineMinutes = int32(r.Deadline / time.Minute)
	set.Spec.ProgressionProbes = nil
	for _, p := range r.Probes {
		probe := api.ProgressionProbe{Selector: api.ProbeSelector{Type: api.SelectGroupKind, GroupKind: &metav1.GroupKind{Group: p.GroupKind.Group, Kind: p.GroupKind.Kind}}}
		for _, a := range p.Assertions {
			switch {
			case a.Condition != "":
				probe.Assertions = append(probe.Assertions, api.ProbeAssertion{Type: api.AssertCondition, ConditionEqual: &api.ConditionEqual{Type: a.Condition, Status: a.Status}})
			case a.FieldA != "":
				probe.Assertions = append(probe.Assertions, api.ProbeAssertion{Type: api.AssertFieldsEqual, FieldsEqual: &api.FieldsEqual{FieldA: a.FieldA, FieldB: a.FieldB}})
			default:
				probe.Assertions = append(probe.Assertions, api.ProbeAssertion{Type: api.AssertFieldValue, FieldValue: &api.FieldValue{FieldPath: a.Field, Value: a.Value}})
			}
		}
		set.Spec.ProgressionProbes = append(set.Spec.ProgressionProbes, probe)
	}
}

// ChangeObjectSet makes a write of a rollout to an object set.
func ChangeObjectSet(set *api.ClusterObjectSet, w rollout.Write) {
	switch w.Op {
	case rollout.Archive:
		set.Spec.LifecycleState = api.LifecycleArchived
	case rollout.SetStatus:
		set.Status = api.ClusterObjectSetStatus{Conditions: w.Conditions}
		for _, d := range w.Observed {
			set.Status.ObservedPhases = append(set.Status.ObservedPhases, api.ObservedPhase{Name: d.Phase, Digest: d.Digest})
		}
	case rollout.UpdateRevision:
		setSettings(set, w.New)
	}
}

// FromObjectSet returns the revision that an object set is. Secrets without a namespace are in
// the given one.
func FromObjectSet(set *api.ClusterObjectSet, namespace string) *rollout.Revision { // K78, K79, K80, K81, K82
	a := set.Annotations
	r := &rollout.Revision{
		Name: set.Name, UID: set.UID, ResourceVersion: set.ResourceVersion, Generation: set.Generation, Created: set.CreationTimestamp.Time,
		Deleting: set.DeletionTimestamp != nil, Finalizer: slices.Contains(set.Finalizers, Teardown),
		Owner: set.Labels[OwnerName], Number: set.Spec.Revision, Archived: set.Spec.LifecycleState == api.LifecycleArchived,
		Orphan: slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents), // K94
		Bundle: rollout.Bundle{
			Name: a[bundleName], Package: a[packageName], Version: a[bundleVersion], Image: a[bundleReference], Properties: a[bundleProperties],
		},
		Collision: rollout.Collision(set.Spec.CollisionProtection), Deadline: time.Duration(set.Spec.ProgressDeadlineMinutes) * time.Minute,
		Conditions: set.Status.Conditions, Migrated: set.Labels[fromHelm] == "true",
	}
	for _, p := range set.Spec.Phases {
		phase := registryv1.Phase{Name: p.Name, Objects: make([]*unstructured.Unstructured, len(p.Objects))}
		refs, collisions := make([]registryv1.Ref, len(p.Objects)), make([]rollout.Collision, len(p.Objects))
		for n, o := range p.Objects {
			collisions[n] = rollout.Collision(o.CollisionProtection)
			if o.CollisionProtection == "" {
				collisions[n] = rollout.Collision(p.CollisionProtection)
			}
			switch {
			case o.Object != nil:
				phase.Objects[n] = &unstructured.Unstructured{}
				if err := phase.Objects[n].UnmarshalJSON(o.Object.Raw); err != nil {
					r.Unreadable = fmt.Sprintf("phase %q, object %d: %v", p.Name, n+1, err)
				}
			case o.Ref != nil:
				refs[n] = registryv1.Ref{Name: o.Ref.Name, Namespace: o.Ref.Namespace, Key: o.Ref.Key}
				if o.Ref.Namespace == "" {
					refs[n].Namespace = namespace
				}
			}
		}
		r.Phases, r.Refs, r.Collisions = append(r.Phases, phase), append(r.Refs, refs), append(r.Collisions, collisions)
	}
	for i, p := range set.Spec.ProgressionProbes {
		probe, err := fromProbe(p)
		if err != nil {
			r.Unreadable = fmt.Sprintf("progressionProbes, probe %d: %v", i+1, err)
		}
		r.Probes = append(r.Probes, probe)
	}
	for _, p := range set.Status.ObservedPhases {
		r.Observed = append(r.Observed, rollout.Digest{Phase: p.Name, Digest: p.Digest})
	}
	return r
}

func fromProbe(p api.ProgressionProbe) (out rollout.Probe, err error) { // K82
	switch {
	case p.Selector.GroupKind != nil:
		out.GroupKind = schema.GroupKind{Group: p.Selector.GroupKind.Group, Kind: p.Selector.GroupKind.Kind}
	case p.Selector.Label != nil:
		if out.Labels, err = metav1.LabelSelectorAsSelector(p.Selector.Label); err != nil {
			return out, err
		}
	default:
		out.Labels = labels.Nothing()
	}
	for _, a := range p.Assertions {
		switch {
		case a.ConditionEqual != nil:
			out.Assertions = append(out.Assertions, rollout.Assertion{Condition: a.ConditionEqual.Type, Status: a.ConditionEqual.Status})
		case a.FieldsEqual != nil:
			out.Assertions = append(out.Assertions, rollout.Assertion{FieldA: a.FieldsEqual.FieldA, FieldB: a.FieldsEqual.FieldB})
		case a.FieldValue != nil:
			out.Assertions = append(out.Assertions, rollout.Assertion{Field: a.FieldValue.FieldPath, Value: a.FieldValue.Value})
		}
	}
	return out, nil
}
