package rollout

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/visible"
)

// The types of the conditions of a revision.
const (
	Progressing = "Progressing"
	Available   = "Available"
	Succeeded   = "Succeeded"
)

// progress is what a pass found out about an active revision.
type progress struct {
	complete   bool
	phase      int      // the index of the current phase
	collisions []string // a line for each
	failing    string   // the first object of the current phase that fails a probe
}

// collide records that an object belongs to another owner, and returns to which.
func (p *progress) collide(o *unstructured.Unstructured) string {
	by := "without a controller"
	if c := metav1.GetControllerOfNoCopy(o); c != nil {
		by = fmt.Sprintf("controlled by %s %s", c.Kind, c.Name)
	}
	p.collisions = append(p.collisions, fmt.Sprintf("%s exists already, %s", title(o), by))
	return "it exists already, " + by
}

func (p *progress) fail(o *unstructured.Unstructured, messages []string) { // K98
	if p.failing == "" {
		p.failing = fmt.Sprintf("%s: %s", title(o), strings.Join(messages, " and "))
	}
}

// title names an object in conditions.
func title(o *unstructured.Unstructured) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return fmt.Sprintf("Object %s.%s %s", o.GetKind(), o.GetAPIVersion(), name)
}

// maxMessage is the API server's limit on the bytes of a condition's message.
const maxMessage = 32768

// Message returns a text as the message of a condition: invisible characters are escaped, and
// what is beyond the limit of the API server is cut off.
func Message(text string) string { // K101, S8
	const cut = "\n\n... [message truncated]"
	text = visible.Lines(text)
	if len(text) <= maxMessage {
		return text
	}
	text = text[:maxMessage-len(cut)]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + cut
}

func condition(typ string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: typ, Status: status, Reason: reason, Message: Message(message)}
}

// report sets the conditions of an active revision.
func (w *world) report(r *Revision, p progress) { // K97, K98, K99
	rolling := fmt.Sprintf("Revision %s is rolling out.", r.Bundle.Version)
	progressing := condition(Progressing, metav1.ConditionTrue, "RollingOut", rolling)
	available := condition(Available, metav1.ConditionFalse, "RollingOut", rolling)
	if p.complete {
		w.status(r, []metav1.Condition{
			condition(Progressing, metav1.ConditionTrue, "Succeeded", fmt.Sprintf("Revision %s has rolled out.", r.Bundle.Version)),
			condition(Available, metav1.ConditionTrue, "ProbesSucceeded", "Objects are available and pass all probes."),
			condition(Succeeded, metav1.ConditionTrue, "Succeeded", "Revision succeeded rolling out."),
		})
		return
	}
	var succeeded []metav1.Condition
	if r.Migrated { // K77
		succeeded = append(succeeded, condition(Succeeded, metav1.ConditionTrue, "Succeeded", "Revision succeeded - migrated from Helm release"))
	}
	if p.failing != "" {
		available.Reason, available.Message = "ProbeFailure", p.failing
	}
	if len(p.collisions) > 0 {
		w.again(retry) // what collides may belong to nobody that the caller watches
		progressing.Reason = "Retrying"
		progressing.Message = fmt.Sprintf("revision object collisions in phase %d\n%s", p.phase, strings.Join(p.collisions, "\n"))
	}
	if message := w.snapshot.Failed[r.Name]; message != "" {
		progressing.Reason, progressing.Message = "Retrying", message
		w.status(r, w.interrupted(r, w.deadline(r, progressing), message))
		return
	}
	w.status(r, append(succeeded, w.deadline(r, progressing), available))
}

// interrupted returns the conditions of a revision about which only an error can be reported.
func (w *world) interrupted(r *Revision, progressing metav1.Condition, message string) []metav1.Condition { // K98
	list := []metav1.Condition{progressing}
	if meta.FindStatusCondition(r.Conditions, Available) != nil && !r.Archived {
		list = append(list, condition(Available, metav1.ConditionUnknown, "Reconciling", message))
	}
	return list
}

// retry is when a revision that cannot go on is decided again.
const retry = 10 * time.Second

// removal is when a revision whose objects are being removed is decided again.
const removal = 5 * time.Second // K94

// again requests another decision after some time.
func (w *world) again(d time.Duration) {
	if t := w.snapshot.Now.Add(d); w.plan.Due.IsZero() || t.Before(w.plan.Due) {
		w.plan.Due = t
	}
}

// deadline returns the condition Progressing in place of c, once the deadline has passed.
func (w *world) deadline(r *Revision, c metav1.Condition) metav1.Condition { // K96
	if r.Deadline <= 0 || meta.IsStatusConditionTrue(r.Conditions, Succeeded) {
		return c
	}
	if left := r.Created.Add(r.Deadline).Sub(w.snapshot.Now); left > 0 {
		w.again(left)
		return c
	}
	return condition(Progressing, metav1.ConditionFalse, "ProgressDeadlineExceeded",
		fmt.Sprintf("Revision has not rolled out for %d minute(s). Last status: %s", int(r.Deadline/time.Minute), c.Message))
}

// stop reports why nothing can be done for a revision.
func (w *world) stop(r *Revision, f *fault) { // K88, K89, K90, K97, K98
	w.plan.Waits = append(w.plan.Waits, Wait{Revision: r.Name, Message: f.message})
	w.again(retry) // the caller may not watch the Secrets
	progressing := condition(Progressing, metav1.ConditionTrue, "Retrying", f.message)
	if f.blocks {
		progressing.Status, progressing.Reason = metav1.ConditionFalse, "Blocked"
	} else if !r.Archived {
		progressing = w.deadline(r, progressing)
	}
	w.status(r, w.interrupted(r, progressing, f.message))
}

func archiving(r *Revision) []metav1.Condition { // K94
	return []metav1.Condition{
		condition(Progressing, metav1.ConditionTrue, "Retrying", "removing revision resources that are not owned by another revision"),
		condition(Available, metav1.ConditionUnknown, "Archived", "revision is archived"),
	}
}

func archived(r *Revision) []metav1.Condition { // K97
	return []metav1.Condition{
		condition(Progressing, metav1.ConditionFalse, "Archived", "revision is archived"),
		condition(Available, metav1.ConditionUnknown, "Archived", "revision is archived"),
	}
}

// status sets conditions and digests, and returns whether that changes the revision.
func (w *world) status(r *Revision, list []metav1.Condition) bool {
	now := slices.Clone(r.Conditions)
	for _, c := range list {
		c.ObservedGeneration = r.Generation
		c.LastTransitionTime = metav1.NewTime(w.snapshot.Now)
		meta.SetStatusCondition(&now, c)
	}
	if reflect.DeepEqual(now, r.Conditions) && !w.fresh[r] {
		return false
	}
	w.write(r, Write{Op: SetStatus, Conditions: now, Observed: r.Observed})
	return true
}
