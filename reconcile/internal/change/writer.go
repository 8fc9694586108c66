// Package change collects the changes and notes of a plan, in the order in which they are
// added.
package change

import (
	"fmt"
	"time"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// An Op is what a change does to an object.
type Op string

// The operations, as reconcile describes them.
const (
	Create       Op = "create"
	Update       Op = "update"
	UpdateStatus Op = "update status"
	Delete       Op = "delete"
)

// A Change is one write to a cluster.
type Change struct {
	Op     Op
	Object olm.Object
	Reason string
	// Rule is the id of the rule in docs/rules.md that the change follows, or "".
	Rule string
	// If lists other objects that the change depends on.
	If []world.Version
	// For is the object that the change is made for.
	For   olm.Key
	Event *Event
}

// An Event informs the users of the For object of a change about it.
type Event struct {
	Warning         bool
	Reason, Message string
}

// A Note explains why something is not changed, or contains other information for users.
type Note struct {
	Object  olm.Key
	Message string
	// Rule is the id of the rule in docs/rules.md that the note follows, or "".
	Rule string
	Code Code
	// Command does what the message advises, if a command can.
	Command string
	// StatesStatus is set if the message includes that of the object's status.
	StatesStatus bool
}

// A Code is what a note is about, if other parts of an answer state it too, or "": a Holder of package resolver, or one
// of the constants.
type Code string

// The codes that are not holders.
const (
	Advice  Code = "advice"  // part of the advice for administrators
	Version Code = "version" // an advice of the solution
	Refused Code = "refused" // the subscriptions cannot be resolved
)

// A Writer collects a plan. The packages that write to it cannot read the plan, except for
// whether an object is already being changed.
type Writer struct {
	Changes []Change
	Notes   []Note
	// Due is the time of the next timeout, or zero.
	Due time.Time

	now     time.Time
	touched map[olm.Key]bool
	// basis holds the objects that changes to other objects currently depend on, or is nil.
	basis []world.Version
}

// New returns an empty plan. Now is the time to write into statuses; if it is zero, nothing
// times out.
func New(now time.Time) *Writer { return &Writer{now: now, touched: map[olm.Key]bool{}} }

// Touches reports whether the plan already has a change for an object.
func (w *Writer) Touches(key olm.Key) bool { return w.touched[key] }

// Advice adds a note that is also part of the advice for administrators. The result is valid
// until the next note.
func (w *Writer) Advice(key olm.Key, format string, args ...any) *Note {
	n := w.Note(key, format, args...)
	n.Code = Advice
	return n
}

// RestOn makes changes depend on the given versions of objects until the returned function
// is called. A change to such an object itself does not need this, because it carries the
// version.
func (w *Writer) RestOn(list ...world.Version) (done func()) {
	w.basis = list
	return func() { w.basis = nil }
}

// Emit plans a change. It does nothing if the plan already has a change to the same object,
// or if the object to delete is already being deleted. The format and its arguments give
// the reason.
func (w *Writer) Emit(op Op, r olm.Resource, forKey olm.Key, event *Event, rule, format string, args ...any) error {
	key := r.Head().Key()
	if w.touched[key] || op == Delete && r.Head().Metadata.IsDeleted() {
		return nil
	}
	o, err := olm.ToObject(r)
	if err != nil {
		return err
	}
	if op == Delete {
		o.Rest = nil
	}
	w.touched[key] = true
	c := Change{Op: op, Object: o, Reason: fmt.Sprintf(format, args...), Rule: rule, For: forKey, Event: event}
	for _, v := range w.basis {
		if !w.touched[v.Key] { // a change to the object itself carries its version
			c.If = append(c.If, v)
		}
	}
	w.Changes = append(w.Changes, c)
	return nil
}

// Note adds a note. The result is valid until the next one.
func (w *Writer) Note(key olm.Key, format string, args ...any) *Note {
	w.Notes = append(w.Notes, Note{Object: key, Message: fmt.Sprintf(format, args...)})
	return &w.Notes[len(w.Notes)-1]
}

// SetCondition is [olm.SetCondition] at the time of the plan. The message is escaped (S8).
func (w *Writer) SetCondition(list *[]olm.Condition, c olm.Condition) bool {
	c.Message = visible.Lines(c.Message)
	return olm.SetCondition(list, c, w.now)
}

// ClearCondition removes a condition from a copy of a list and reports whether
// there was one.
func ClearCondition(list *[]olm.Condition, typ string) bool {
	var out []olm.Condition
	for _, c := range *list {
		if c.Type != typ {
			out = append(out, c)
		}
	}
	found := len(out) < len(*list)
	if found {
		*list = out
	}
	return found
}

// Past reports whether more than d has passed since t. If not, it sets the time when the plan
// is due to t+d, unless that is already earlier. Without a clock, the result is false.
func (w *Writer) Past(t time.Time, d time.Duration) bool {
	if w.now.IsZero() || t.IsZero() {
		return false
	}
	due := t.Add(d)
	if !w.now.Before(due) {
		return true
	}
	if w.Due.IsZero() || due.Before(w.Due) {
		w.Due = due
	}
	return false
}
