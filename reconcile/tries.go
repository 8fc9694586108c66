package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// A cluster may refuse a change with a different text each time, for example one that
// contains a random name or a time, or refuse to create an object because of one that the
// plan cannot see. To ensure that a run ends, it counts its failed attempts.

const (
	// maxTexts is how many different refusals of one change are reported. After that the
	// last text stays, so the status that contains it settles.
	maxTexts = 3
	// maxTries is how often a change is tried if it is refused each time.
	maxTries = 10
	// maxRefusal is the maximum length of the text of a refusal.
	maxRefusal = 4 << 10
)

// A RefusedError is the error of a change that the cluster refused for a reason other than a
// conflict. It is assumed to be permanent.
type RefusedError struct {
	Change Change
	Err    error // the error of [Cluster.Apply]
}

// Error names the write and why it was refused.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Change.Op, e.Change.Key(), e.Err)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// An attempt is an operation on an object.
type attempt struct {
	op  Op
	key olm.Key
}

func attemptOf(e *RefusedError) attempt { return attempt{e.Change.Op, e.Change.Key()} }

// Tries are the failed attempts of one run.
type tries struct {
	refused map[attempt]int
	text    map[attempt]string
	// conflicts are creations of objects that already existed, with the versions of the
	// objects that they depended on.
	conflicts map[olm.Key][]Version
	// warned are the refusals that were reported to users.
	warned map[Rejection]bool
}

func newTries() *tries {
	return &tries{refused: map[attempt]int{}, text: map[attempt]string{}, conflicts: map[olm.Key][]Version{}, warned: map[Rejection]bool{}}
}

// rejections counts refusals and returns them for the next snapshot.
func (t *tries) rejections(list []*RefusedError) []Rejection {
	var out []Rejection
	for _, e := range list {
		a := attemptOf(e)
		if t.refused[a]++; t.refused[a] <= maxTexts {
			t.text[a] = shorten(e.Err.Error())
		}
		out = append(out, Rejection{Op: a.op, Key: a.key, For: e.Change.For, Message: t.text[a], Runs: e.Change.runs(), Forbidden: errors.Is(e.Err, ErrForbidden)})
	}
	return out
}

// shorten truncates the text of a refusal, which may quote the whole object. Otherwise
// the status that reports it might be refused for its size.
func shorten(text string) string {
	if len(text) <= maxRefusal {
		return text
	}
	return strings.ToValidUTF8(text[:maxRefusal], "") + "..."
}

// areOver reports whether each of some refused changes was tried the maximum number of
// times.
func (t *tries) areOver(list []*RefusedError) bool {
	return !slices.ContainsFunc(list, func(e *RefusedError) bool { return t.refused[attemptOf(e)] < maxTries })
}

// unseen reports whether the creation c failed for the second time because its object already
// exists, although the cluster was read in between. The objects that c depends on have not
// changed, so they are not the cause.
func (t *tries) unseen(c Change) bool {
	if c.Op != Create {
		return false
	}
	before, ok := t.conflicts[c.Key()]
	t.conflicts[c.Key()] = c.If
	return ok && slices.Equal(before, c.If)
}

// forget forgets the conflicts of creations that are no longer planned: the snapshot now has
// the existing objects.
func (t *tries) forget(p *Plan) {
	maps.DeleteFunc(t.conflicts, func(k olm.Key, _ []Version) bool {
		return !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Op == Create && c.Key() == k })
	})
}
