package resolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Record is a problem with its answer. It marshals to one JSON document that can be
// replayed elsewhere and later.
type Record struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	Problem       Problem                `json:"problem"`
	Answer        Answer                 `json:"answer"`
}

// MarshalJSON returns the record as an object. Required lists are never null.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	return json.Marshal(plain(r), json.Deterministic(true))
}

// An Answer is the part of a resolution's result that a replay compares.
type Answer struct {
	OK       bool       `json:"ok"`
	Selected []Selected `json:"selected,omitempty"`
	Stayed   []Stay     `json:"stayed,omitempty"`
	// Digest is the digest of the plan; see [Solution.Digest].
	Digest string `json:"digest,omitempty"`
	// Refused are the subscriptions without a plan.
	Refused []string `json:"refused,omitempty"`
	// Conflicts are the codes of the facts of each core, in order.
	Conflicts [][]fact.Code `json:"conflicts,omitempty"`
	// Explanation is the text of the conflict.
	Explanation string `json:"explanation,omitempty"`
	// Error is the error for an unhealthy catalog.
	Error string `json:"error,omitempty"`
}

// Record resolves the problem and returns it with its answer. Call [Problem.Inline] or
// [Problem.Refer] first to include the catalogs. A conflict or an unhealthy catalog is an
// answer; other errors are returned.
func (p *Problem) Record(ctx context.Context) (*Record, error) {
	a, err := answerTo(ctx, *p)
	if err != nil {
		return nil, err
	}
	return &Record{Problem: *p, Answer: *a}, nil
}

func answerTo(ctx context.Context, p Problem) (*Answer, error) {
	sol, err := Resolve(ctx, p)
	a := &Answer{}
	var no *Conflict
	var sick *UnhealthyError
	switch {
	case errors.As(err, &sick):
		a.Error = err.Error()
		return a, nil
	case err != nil && !errors.As(err, &no):
		return nil, err
	case err == nil:
		a.OK = true
		a.Selected, a.Stayed, no = sol.Selected, sol.Stayed, sol.Refused
		if a.Digest, err = sol.Digest(); err != nil {
			return nil, err
		}
	}
	if no == nil {
		return a, nil
	}
	_, a.Refused = no.Subscriptions()
	for _, c := range no.Cores {
		a.Conflicts = append(a.Conflicts, c.codes())
	}
	a.Explanation, err = no.Text(ctx, 0, nil)
	return a, err
}

// codes returns the codes of the facts, in order.
func (c *Core) codes() []fact.Code {
	var out []fact.Code
	for _, f := range c.Facts {
		out = append(out, f.Code())
	}
	return out
}

// Replay resolves the problem again and returns the differences between the answers. It
// opens directories as [Problem.Open] does.
func (r *Record) Replay(ctx context.Context, dir func(ctx context.Context, name string) (*graph.Catalog, error)) ([]string, error) {
	p := r.Problem
	p.Catalogs = slices.Clone(p.Catalogs)
	if err := p.Open(ctx, dir); err != nil {
		return nil, err
	}
	got, err := answerTo(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.Answer.differences(got), nil
}

// differences compares a recorded answer with a new one.
func (a *Answer) differences(b *Answer) []string {
	var out []string
	differ := func(what, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s: was %s, is %s", what, cmp.Or(was, "nothing"), cmp.Or(is, "nothing")))
		}
	}
	differ("answer", outcome(a), outcome(b))
	differ("selected", names(a.Selected, selectedText), names(b.Selected, selectedText))
	differ("stayed", names(a.Stayed, stayText), names(b.Stayed, stayText))
	differ("refused", strings.Join(a.Refused, ", "), strings.Join(b.Refused, ", "))
	codes := func(list []fact.Code) string {
		var b strings.Builder
		for i, c := range list {
			if i > 0 {
				b.WriteByte('+')
			}
			b.WriteString(string(c))
		}
		return b.String()
	}
	differ("conflicts", names(a.Conflicts, codes), names(b.Conflicts, codes))
	differ("error", a.Error, b.Error)
	if len(out) == 0 {
		differ("explanation", a.Explanation, b.Explanation)
		differ("digest", a.Digest, b.Digest)
	}
	return out
}

func outcome(a *Answer) string {
	switch {
	case a.Error != "":
		return "none"
	case a.OK && len(a.Refused) > 0:
		return "a partial plan"
	case a.OK:
		return "a plan"
	}
	return "a conflict"
}

func names[T any](list []T, name func(T) string) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return strings.Join(out, ", ")
}

// selectedText returns the bundle, its origin, and the operator that it replaces.
func selectedText(s Selected) string {
	text := fmt.Sprintf("%s (%s/%s, channel %s)", s.Name, s.Catalog, s.CatalogNamespace, s.Channel)
	if s.Replaces != "" {
		text += " replacing " + s.Replaces
	}
	return text
}

// stayText returns the operator and the reason why it stays.
func stayText(s Stay) string { return fmt.Sprintf("%s (%s)", s.Name, s.Reason) }
