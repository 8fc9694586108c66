package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

const (
	kindObjectSet = "ClusterObjectSet"
	// labelOwner is the label of everything that belongs to a ClusterExtension, and
	// annotationRevision the annotation of an object with the number of its revision.
	labelOwner         = groupV1 + "/owner-name"
	annotationRevision = groupV1 + "/revision"
	// systemNamespace is where the Secrets of revisions are, unless the revisions show another
	// namespace.
	systemNamespace = "olmv1-system"
)

// asTyped decodes an object into a Go type of Kubernetes.
func asTyped(o olm.Object, to any) error {
	text, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Key(), err)
	}
	return nil
}

// asUnstructured returns an object as package rollout reads it.
func asUnstructured(o olm.Object) (*unstructured.Unstructured, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Key(), err)
	}
	return out, nil
}

// An extensionState is a ClusterExtension with its revisions and their objects.
type extensionState struct {
	*extensionReader
	extension *api.ClusterExtension
	snapshot  *rollout.Snapshot
	read      map[olm.Key]bool // the objects that were looked up
	unread    []string         // kinds whose objects are not known
	selected  string           // the catalog of the selected bundle, or ""
	notes     []reconcile.Note
}

// states returns the states of ClusterExtensions in the order in which they are planned: those
// that have something on the cluster come first.
func (r *extensionReader) states(ctx context.Context, names []string) ([]*extensionState, error) {
	var first, rest []*extensionState
	for _, name := range names {
		x, err := r.state(ctx, name)
		if err != nil {
			return nil, err
		}
		r.change(nil, x.snapshot)
		if len(x.snapshot.Revisions) > 0 {
			first = append(first, x)
		} else {
			rest = append(rest, x)
		}
	}
	return append(first, rest...), nil
}

// change records for the extensions that are planned later what has become of objects.
func (r *extensionReader) change(before, after *rollout.Snapshot) { // K83
	if before != nil {
		for _, o := range before.Objects {
			r.made[keyOf(o)] = nil
		}
	}
	for _, o := range after.Objects {
		r.made[keyOf(o)] = o
	}
}

// refresh reads the objects that the plans of other extensions have changed.
func (x *extensionState) refresh(ctx context.Context) error {
	s := x.snapshot
	s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), func(o *unstructured.Unstructured) bool {
		_, ok := x.made[keyOf(o)]
		return ok
	})
	for key := range x.made {
		delete(x.read, key)
	}
	return x.objects(ctx, nil, s.Named())
}

// state returns the state of a ClusterExtension.
func (r *extensionReader) state(ctx context.Context, name string) (*extensionState, error) {
	o, err := r.cluster.Get(olm.Key{Group: groupV1, Kind: kindExtension, Name: name})
	if err != nil {
		return nil, fmt.Errorf("the cluster has no ClusterExtension %q%s", name, hint(name, r.names()))
	}
	e := &api.ClusterExtension{}
	if err := asTyped(o, e); err != nil {
		return nil, err
	}
	s := &rollout.Snapshot{
		Extension: rollout.Extension{
			Name: name, UID: e.UID, ResourceVersion: e.ResourceVersion, Deleting: e.DeletionTimestamp != nil,
			Finalizer: slices.Contains(e.Finalizers, groupV1+"/teardown"),
		},
		Recorded: true, Namespace: systemNamespace, Applied: map[types.UID]string{},
	}
	x := &extensionState{extensionReader: r, extension: e, snapshot: s, read: map[olm.Key]bool{}}
	if err := x.revisions(ctx); err != nil {
		return nil, err
	}
	for i := range s.Revisions {
		s.Revisions[i].Orphan = slices.Contains(e.Finalizers, metav1.FinalizerOrphanDependents)
	}
	installed, _ := s.Installed()
	if installed != nil {
		own := &rollout.Snapshot{Revisions: []rollout.Revision{*installed}, Secrets: s.Secrets}
		if err := x.objects(ctx, installed, own.Named()); err != nil {
			return nil, err
		}
	}
	return x, x.objects(ctx, nil, s.Named())
}

// revisions adds the revisions of the extension, and the Secrets with their objects.
func (x *extensionState) revisions(ctx context.Context) error {
	s := x.snapshot
	for i := range x.secrets {
		secret := &x.secrets[i]
		if secret.Labels[labelOwner] != s.Extension.Name {
			continue
		}
		switch r, err := desired.FromSecret(secret); {
		case err != nil:
			return err
		case r != nil:
			s.Namespace = secret.Namespace
			s.Revisions = append(s.Revisions, *r)
		default:
			s.Secrets = append(s.Secrets, *secret)
		}
	}
	if err := x.objectSets(); err != nil {
		return err
	}
	if len(s.Revisions) == 0 && x.extension.Status.Install != nil {
		return x.standIn(ctx)
	}
	for i := range s.Revisions {
		if err := x.restore(ctx, &s.Revisions[i]); err != nil {
			return err
		}
	}
	return nil
}

// note adds a note about the extension, or about one of its revisions.
func (x *extensionState) note(revision, message string) {
	key := olm.Key{Group: groupV1, Kind: kindExtension, Name: x.extension.Name}
	if revision != "" {
		message = "revision " + revision + ": " + message
	}
	x.notes = append(x.notes, reconcile.Note{Object: key, Message: message})
}

// objects adds the objects on the cluster with the names of those in list. If it is not known
// whether an object exists, it is assumed that r has applied it, unless r is nil.
func (x *extensionState) objects(ctx context.Context, r *rollout.Revision, list []*unstructured.Unstructured) error {
	for _, want := range list {
		key := keyOf(want)
		if x.read[key] {
			continue
		}
		x.read[key] = true
		live, known, err := x.object(ctx, want)
		if err != nil {
			return err
		}
		if !known && r != nil {
			x.snapshot.Assume(r, want)
		}
		if live == nil {
			continue
		}
		if x.snapshot.Recorded {
			x.number(live)
		}
		// What was read has no managed fields, so an object that has all values has not drifted.
		if len(impact.Fields(live, nil, want)) == 0 {
			x.snapshot.Applied[live.GetUID()] = live.GetResourceVersion()
		}
		x.snapshot.Objects = append(x.snapshot.Objects, live)
	}
	return nil
}

// number gives an object that the extension controls the number of its revision. Objects that
// OLM v1 installs without revisions have none.
func (x *extensionState) number(o *unstructured.Unstructured) {
	c := metav1.GetControllerOfNoCopy(o)
	annotations := o.GetAnnotations()
	if c == nil || c.UID != x.snapshot.Extension.UID || annotations[annotationRevision] != "" || len(x.snapshot.Revisions) == 0 {
		return
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationRevision] = strconv.FormatInt(x.snapshot.Revisions[0].Number, 10)
	o.SetAnnotations(annotations)
}

// object returns the object on the cluster with the name of want, or nil, and whether it is known.
func (x *extensionState) object(ctx context.Context, want *unstructured.Unstructured) (live *unstructured.Unstructured, known bool, err error) {
	key := keyOf(want)
	if made, ok := x.made[key]; ok {
		if made != nil && made.GetAPIVersion() != want.GetAPIVersion() {
			made = made.DeepCopy()
			made.SetAPIVersion(want.GetAPIVersion())
		}
		return made, true, nil
	}
	if live, known, err = x.lookup(ctx, want); !known && err == nil {
		x.unknown(olm.GroupKind{Group: key.Group, Kind: key.Kind})
	}
	return live, known, err
}

// lookup is like object before anything is planned.
func (r *extensionReader) lookup(ctx context.Context, want *unstructured.Unstructured) (live *unstructured.Unstructured, known bool, err error) {
	key := keyOf(want)
	o, err := r.cluster.Get(key)
	if err != nil {
		kind := olm.GroupKind{Group: key.Group, Kind: key.Kind}
		switch {
		case slices.Contains(r.cluster.Known, kind), r.client == nil && r.complete:
			return nil, true, nil
		case r.client == nil:
			return nil, false, nil
		}
		found, err := getObject(ctx, r.client, want, r.groups)
		switch {
		case apierrors.IsForbidden(err):
			return nil, false, nil
		case err != nil || found == nil:
			return nil, true, err
		}
		o = *found
	}
	if live, err = asUnstructured(o); err == nil {
		live.SetAPIVersion(want.GetAPIVersion())
	}
	return live, true, err
}

// unknown records that the objects of a kind are not known.
func (x *extensionState) unknown(k olm.GroupKind) {
	name := k.Kind
	if k.Group != "" {
		name += "." + k.Group
	}
	if !slices.Contains(x.unread, name) {
		x.unread = append(x.unread, name)
	}
}

// unreadNote returns a note about the kinds that are not known, or nil.
func (x *extensionState) unreadNote() []reconcile.Note {
	if len(x.unread) == 0 {
		return nil
	}
	slices.Sort(x.unread)
	how := "the files have none of them"
	if x.client != nil {
		how = "you may not read them"
	}
	return []reconcile.Note{{
		Object:  olm.Key{Group: groupV1, Kind: kindExtension, Name: "*"},
		Message: fmt.Sprintf("objects of an installed revision are assumed to be unchanged, and others to be absent, because %s: %s", how, strings.Join(x.unread, ", ")),
	}}
}

// getObject returns the object on a cluster with the name of want, or nil. If the cluster does
// not serve the kind, there is none.
func getObject(ctx context.Context, c rest.Interface, want *unstructured.Unstructured, groups discovery) (*olm.Object, error) {
	gvk := want.GroupVersionKind()
	resources, err := resourcesOf(ctx, c, gvk.GroupVersion(), groups)
	if err != nil {
		return nil, err
	}
	i := indexOfKind(resources, gvk.Kind)
	if i < 0 {
		return nil, nil
	}
	path := apiPath(gvk.GroupVersion())
	if resources[i].Namespaced {
		path += "/namespaces/" + want.GetNamespace()
	}
	text, err := get(ctx, c.Get().AbsPath(path, resources[i].Name, want.GetName()))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, liveError(ctx, err)
	}
	var o olm.Object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	return &o, slim(&o)
}

// objectSets adds the ClusterObjectSets of the extension. A cluster that has that kind records
// revisions in it, except those that are already in Secrets.
func (x *extensionState) objectSets() error {
	s := x.snapshot
	if len(s.Revisions) > 0 {
		return nil
	}
	_, err := x.cluster.Get(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: "clusterobjectsets." + groupV1})
	s.Recorded = err != nil
	for _, o := range x.cluster.List() {
		if k := o.Key(); k.Group != groupV1 || k.Kind != kindObjectSet || o.Metadata.Labels[labelOwner] != s.Extension.Name {
			continue
		}
		set := &api.ClusterObjectSet{}
		if err := asTyped(o, set); err != nil {
			return err
		}
		s.Recorded = false
		r := desired.FromObjectSet(set, s.Namespace)
		for _, ref := range slices.Concat(r.Refs...) {
			if ref.Namespace != "" {
				s.Namespace = ref.Namespace
			}
		}
		s.Revisions = append(s.Revisions, *r)
	}
	return nil
}
