package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/steps"
	"github.com/olmkit/olmkit/resolver"
)

// An Op is the operation of a change.
type Op string

const (
	// Create creates an object. Its status is not written.
	Create Op = "create"
	// Update replaces an object except its status, if the cluster still has the version
	// that the change is based on.
	Update Op = "update"
	// UpdateStatus replaces only an object's status, on the same condition.
	UpdateStatus Op = "update status"
	// Delete deletes an object, on the same condition. Only its key and version count.
	Delete Op = "delete"
)

// A Change is one write to a cluster.
type Change struct {
	Op     Op         `json:"op"`
	Object olm.Object `json:"object"`
	// Reason explains the change.
	Reason string `json:"reason"`
	// Rule is the id of the rule in docs/rules.md that the change follows, if any.
	Rule string `json:"rule,omitzero"`
	// If lists other objects that the change depends on, if any: the cluster must
	// refuse the change with [ErrConflict] once one of them has another version. So
	// a loop that was paused cannot recreate what has been deleted since, or upgrade
	// a CRD for an install plan that was withdrawn, and one whose caches differ in
	// age cannot choose an older version again or take an operator back because of an
	// outdated deployment.
	If []Version `json:"if,omitempty"`
	// For is the object on whose behalf the change is made, such as the install plan whose
	// step it is, or the CSV whose role it is. It may be the object itself.
	For olm.Key `json:"for"`
	// Event is the event to emit for the For object once the change is made, if any.
	Event *Event `json:"event,omitzero"`
}

// A Version identifies the state of an object that a change depends on.
type Version struct {
	Key olm.Key `json:"key"`
	// ResourceVersion is empty if there is no such object.
	ResourceVersion string `json:"resourceVersion"`
}

// Key returns the key of the object.
func (c Change) Key() olm.Key { return c.Object.Key() }

// String returns the change as text: "create Role ops/etcd: why", and the
// rule, if any, in parentheses.
func (c Change) String() string {
	rule := ""
	if c.Rule != "" {
		rule = " (" + c.Rule + ")"
	}
	return visible.Line(fmt.Sprintf("%s %s: %s%s", c.Op, c.Key(), c.Reason, rule))
}

// An Event informs the users of an object about what happened to it.
type Event struct {
	Object  olm.Key `json:"object"`
	Type    string  `json:"type"` // Normal or Warning
	Reason  string  `json:"reason"`
	Message string  `json:"message"`
}

// A Note explains why something is not changed, or is something that a user should know.
type Note struct {
	Object  olm.Key `json:"object"`
	Message string  `json:"message"`
	// Rule is the id of the rule in docs/rules.md that the note follows, if any.
	Rule string `json:"rule,omitzero"`
	// Code is what the note is about, if an answer states it elsewhere too.
	Code NoteCode `json:"code,omitzero"`
	// Command does what the message advises, if a command can.
	Command string `json:"command,omitzero"`
}

// A NoteCode is a [resolver.Holder] of an [Obstacle], or one of the constants.
type NoteCode string

const (
	NoteAdvice  = NoteCode(change.Advice)  // the note repeats [Advise] and does not explain the plan
	NoteVersion = NoteCode(change.Version) // it is an advice of the solution about newer versions
	NoteRefused = NoteCode(change.Refused) // the subscriptions cannot be resolved
)

// String returns the note as text.
func (n Note) String() string { return visible.Line(n.Object.String() + ": " + n.Message) }

// A Plan lists what to do next in a namespace. It does not change after [Decide] returns
// it.
type Plan struct {
	Namespace string `json:"namespace"`
	// Changes must be made in this order. Each object occurs at most once: consequences of
	// a change are in the next plan.
	Changes []Change `json:"changes"`
	// Notes are in the order of the concerns that made them.
	Notes []Note `json:"notes,omitempty"`
	// Due is when the next timeout ends, which changes the plan even if nothing else does.
	// It is zero if no timeout is running.
	Due time.Time `json:"due,omitzero"`
	// Paused lists the signs that OLM is running. If there are any, the plan has no
	// changes.
	Paused []Sighting `json:"paused,omitempty"`
	// Problem is the resolved problem, if any, Solution is its solution, and Refused is why
	// there is none, such as a *ManifestError. If Refused is a *resolver.Conflict, it includes
	// the plan without the refused subscriptions. With the resolver's option Partial, that
	// plan is the solution, and Refused is the conflict of the refused subscriptions.
	Problem  *resolver.Problem  `json:"-"`
	Solution *resolver.Solution `json:"solution,omitzero"`
	Refused  error              `json:"-"`
}

// MarshalJSON returns the plan as an object. Required lists are never null.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	return json.Marshal(plain(p), json.Deterministic(true))
}

// A ManifestError in Plan.Refused reports that the manifests of a chosen bundle cannot be
// read or are invalid.
type ManifestError struct {
	// Bundle is the name of the bundle.
	Bundle string
	Err    error
}

// Error names the bundle and what is wrong with it.
func (e *ManifestError) Error() string { return (*steps.ManifestError)(e).Error() }

// Unwrap returns the cause.
func (e *ManifestError) Unwrap() error { return e.Err }

// Hash returns a hash of the changes: the same state and content have the same
// hash. New certificates, which differ each time, do not count.
func (p *Plan) Hash() string { // G2
	h := sha256.New()
	changes := slices.Clone(p.Changes)
	for i := range changes {
		if o := &changes[i].Object; serving.IsCertificate(o) {
			o.Metadata.Annotations, o.Rest = nil, nil
		}
	}
	text, err := json.Marshal(changes, json.Deterministic(true))
	h.Write(text)
	if err != nil { // an object of the snapshot that is not valid JSON: hash its bytes
		for i := range p.Changes {
			c := &p.Changes[i]
			fmt.Fprintf(h, "%q %v %q\n", c.String(), c.Object.Header, c.Object.Rest)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ErrConflict is the error of a change whose object has changed since it was read. Read and
// decide again.
var ErrConflict = errors.New("the object was changed by another writer")

// ErrForbidden is the error of a change that the cluster does not permit. An install plan does
// not fail because of it: the permission may be granted later.
var ErrForbidden = errors.New("the change is not permitted")

// ErrUnavailable is the error of a change that the cluster, as far as is known, neither made
// nor refused: it does not answer, or asks to retry later. It ends a run. Nothing is wrong
// with the change, so no status may report it.
var ErrUnavailable = errors.New("the cluster is not available")
