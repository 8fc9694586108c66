package rollout

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// A Collision states which existing objects a revision may adopt.
type Collision string // K81

const (
	Prevent        Collision = "Prevent"        // none
	IfNoController Collision = "IfNoController" // those without a controller
	None           Collision = "None"           // all
)

// A Bundle is what a revision installs.
type Bundle struct {
	Name, Package, Version, Image string
	// Properties is the annotation olm.properties of its ClusterServiceVersion.
	Properties string
}

// A Digest identifies the content of a phase.
type Digest struct { // K90
	Phase, Digest string
}

// A Revision is a ClusterObjectSet.
type Revision struct {
	Name            string
	UID             types.UID
	ResourceVersion string
	Generation      int64
	Created         time.Time
	// Deleting is set once somebody has deleted it, and Finalizer if it has the finalizer
	// olm.operatorframework.io/teardown.
	Deleting, Finalizer bool
	// Orphan is set if the objects stay on the cluster when the revision is archived, because
	// somebody has deleted it or its owner without its dependents.
	Orphan bool

	// Owner is the name of its ClusterExtension. All revisions of an owner have different
	// numbers; the highest is the latest.
	Owner    string
	Number   int64
	Bundle   Bundle
	Archived bool
	// Phases are the objects. An object that is nil is in a Secret, which the same place in
	// Refs names.
	Phases []registryv1.Phase
	Refs   [][]registryv1.Ref
	// Collision is the protection of objects. Collisions has that of single objects, at the
	// same places as in Phases, where it is not empty. It may be nil.
	Collision  Collision
	Collisions [][]Collision
	Probes     []Probe
	// Migrated is set if operator-controller has installed the objects as a Helm release. Such a
	// revision is installed from the start.
	Migrated bool
	// Unreadable is why the revision cannot be applied as it is written, or empty.
	Unreadable string
	// Deadline is how long after its creation the revision may take. Zero means no limit.
	Deadline   time.Duration
	Conditions []metav1.Condition
	// Observed are the digests of the phases when they were first read.
	Observed []Digest
}

// An Extension is the ClusterExtension that owns revisions.
type Extension struct {
	Name            string
	UID             types.UID
	ResourceVersion string
	// Deleting is set once somebody has deleted it, and Finalizer if it has that finalizer.
	Deleting, Finalizer bool
}

// A Snapshot is the state of one extension on a cluster.
type Snapshot struct {
	// Extension is the owner of the revisions. It is zero for revisions that belong to no
	// extension, which are ClusterObjectSets that a user has created.
	Extension Extension
	// Recorded is set on a cluster without ClusterObjectSets. Revisions are Secrets in
	// Namespace, and the controller of their objects is the extension.
	Recorded bool
	// Namespace is where the Secrets of revisions are. Secrets are all those labeled with the
	// name of the extension, in any order, and any others that revisions refer to.
	Namespace string
	Secrets   []corev1.Secret
	// Revisions are all revisions of the extension, in any order.
	Revisions []Revision
	// Objects are the objects on the cluster with the names of those in the revisions, in any
	// order. An object that is not listed does not exist.
	Objects []*unstructured.Unstructured
	// Applied are the resourceVersions that the API server returned when the caller applied
	// objects, by UID. An object that still has it need not be applied again, although fields
	// may be missing: the API server drops fields that its schema does not have. It may be nil.
	Applied map[types.UID]string
	// Failed is why a write of the previous pass failed, by the name of the revision. It may
	// be nil.
	Failed map[string]string
	Now    time.Time
}

// An Op is the operation of a write.
type Op string

const (
	// Create creates Object as FieldOwner. It must fail if the object exists.
	Create Op = "create"
	// Apply applies Object as FieldOwner with Server-Side Apply, and overrides conflicts.
	Apply Op = "apply"
	// Migrate replaces the managed fields of the object on the cluster with those of Object.
	Migrate Op = "migrate"
	// SetOwners replaces the owner references of the object on the cluster with those of Object.
	SetOwners Op = "set owners"
	// Release replaces the owner references, labels and annotations of the object on the cluster
	// with those of Object.
	Release Op = "release"
	// Delete deletes Object.
	Delete Op = "delete"
	// DeleteUnused deletes Object, a Secret of objects that no revision refers to.
	DeleteUnused Op = "delete unused"
	// AddFinalizer and RemoveFinalizer change the finalizer of Revision, or of the extension if
	// Revision is empty.
	AddFinalizer    Op = "add finalizer"
	RemoveFinalizer Op = "remove finalizer"
	// Archive sets the lifecycle state of Revision to Archived.
	Archive Op = "archive"
	// SetStatus sets the conditions and digests of Revision.
	SetStatus Op = "set status"
	// CreateRevision creates Revision. It must fail if a revision with that name exists.
	CreateRevision Op = "create revision"
	// UpdateRevision sets the bundle, the probes and the deadline of Revision to those of New.
	UpdateRevision Op = "update revision"
	// DeleteRevision deletes Revision.
	DeleteRevision Op = "delete revision"
)

// A Write is one write to a cluster. It must be made only if the Revision, or the extension if
// Revision is empty, still has the resourceVersion in Version, unless that is empty. If the
// Object has a resourceVersion and a UID, the object on the cluster must have these as well.
// Writes that [Write.Outdated] rejects must not be made.
type Write struct {
	Op Op
	// Revision is the name of the revision that is written, or whose object is written.
	Revision string
	Version  string
	Object   *unstructured.Unstructured
	// Orphan is set if what the revision owns must stay. Only for DeleteRevision.
	Orphan bool
	// Known are the names of all revisions, if Revision is empty. Only for RemoveFinalizer.
	Known []string
	// Conditions and Observed replace all those of the revision. They are set only for
	// SetStatus.
	Conditions []metav1.Condition
	Observed   []Digest
	// New is the revision to create or its new settings. Only for CreateRevision and
	// UpdateRevision.
	New *Revision
}

// Outdated returns whether a write depends on a list of revisions that lacks one that matters. It
// calls read for the revisions on the cluster, if the write depends on any, and returns its error.
// Such writes are rare.
func (w *Write) Outdated(read func() ([]Revision, error)) (bool, error) { // K72, K94, K103
	ofExtension := w.Op == RemoveFinalizer && w.Revision == ""
	if w.Op != DeleteUnused && !ofExtension {
		return false, nil
	}
	revisions, err := read()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(revisions, func(r Revision) bool {
		if ofExtension {
			return !slices.Contains(w.Known, r.Name)
		}
		return slices.ContainsFunc(slices.Concat(r.Refs...), func(x registryv1.Ref) bool {
			return x.Namespace == w.Object.GetNamespace() && x.Name == w.Object.GetName()
		})
	}), nil
}

// A Plan lists the writes that are due, in order. If a write fails, only those after it
// that have an Object or are for another revision may be made in this pass. The objects that a
// revision creates or applies are all of one phase. None of them may be written if the API server
// rejects any of them in a dry run.
type Plan struct {
	Writes []Write
	// Waits are the reasons why revisions cannot go on, in the order of the revisions.
	Waits []Wait
	// Due is when Decide must be called again if nothing changes, or zero.
	Due time.Time
}

// A Wait is a reason why a revision cannot go on.
type Wait struct {
	Revision string
	// Phase is the phase that does not end, and Object the object on the cluster that it waits
	// for. Both are zero if the revision itself is at fault.
	Phase  string
	Object *unstructured.Unstructured
	// Collides is set if the object belongs to another owner.
	Collides bool
	// Rejected is set if the object does not exist, and the API server rejects it in a dry run.
	// Only in a [Rehearsal].
	Rejected bool
	Message  string
}
