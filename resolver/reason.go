package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Reason is one link in the chain from a bundle to the request that led to it.
type Reason struct {
	Bundle Ref `json:"bundle"`
	// Subscription is the name of the subscription that requests the bundle, or "".
	Subscription string `json:"subscription,omitempty"`
	// By is the bundle that requires Bundle, Requirement is what it requires, and Place is
	// where the requirement is defined.
	By          Ref         `json:"by,omitzero"`
	Requirement string      `json:"requirement,omitempty"`
	Place       *fact.Place `json:"place,omitzero"`
	// Held is why the subscription of an installed operator is held, if the problem states that.
	Held string `json:"held,omitempty"`
	// Preferred are the options that were preferred over the bundle but not possible,
	// each with the reason.
	Preferred []*fact.Step `json:"preferred,omitempty"`
	// Options is the number of all options, without the installed operator of the subscription.
	Options int `json:"options"`
	// Decided are the rules by which the bundle is preferred over the remaining options, or
	// the reason why there are none.
	Decided string `json:"decided,omitempty"`

	again bool // an installed operator follows itself, so it stays
}

func (r *Reason) stays() bool { return r.Bundle.Installed() || r.again }

// String returns the reason as a sentence.
func (r Reason) String() string {
	switch {
	case r.Subscription != "" && r.stays():
		return fmt.Sprintf("%s stays for subscription %s", r.Bundle.Name, r.Subscription)
	case r.Subscription != "":
		return fmt.Sprintf("%s was chosen for subscription %s", r.Bundle.Name, r.Subscription)
	case r.By.Name != "":
		return fmt.Sprintf("%s satisfies %s, required by %s", r.Bundle.Name, r.Requirement, r.By.Name)
	}
	if r.Held != "" {
		return r.Held
	}
	return r.Bundle.Name + " is installed without a subscription and stays"
}

// also returns the reason as a sentence that follows another one about the bundle.
func (r Reason) also() string {
	switch {
	case r.Subscription != "" && r.stays():
		return "it also stays for subscription " + r.Subscription
	case r.Subscription != "":
		return "it was also chosen for subscription " + r.Subscription
	}
	return fmt.Sprintf("it also satisfies %s, required by %s", r.Requirement, r.By.Name)
}

// Reasons are a chain of reasons from [Solution.Why], or independent reasons from
// [Solution.RequiredBy].
type Reasons []Reason

// MarshalJSON returns a list, never null.
func (list Reasons) MarshalJSON() ([]byte, error) { return json.Marshal([]Reason(list)) }

// Text returns the reasons, each with the options that were preferred but not possible.
// See [Report.Text] for width and style.
func (list Reasons) Text(width int, style *Style) string {
	t := newWriter(width, style)
	for i, r := range list {
		text := r.String()
		if i == 0 {
			t.Line(t.Style.Headline, text, "", "")
		} else {
			t.Line(nil, text, "", "")
		}
		if r.Place != nil {
			t.Places([]fact.Place{*r.Place}, "  ")
		}
		if text := r.preference(); text != "" {
			t.Line(nil, text, "  ", "  ")
		}
		for _, s := range r.Preferred {
			switch why, direct := plainClash(s); {
			case why != "" && direct:
				t.Line(nil, s.Text+": "+why, "  - ", "    ")
				continue
			case why != "":
				t.Line(nil, s.Text, "  - ", "    ")
				t.Line(nil, why, "    - ", "      ")
				continue
			}
			t.Line(nil, s.Shown().Text, "  - ", "    ")
			t.Reasons(s, "    ")
		}
	}
	return t.String()
}

// AlsoText returns the reasons of [Solution.RequiredBy] as lines to print after the first reason of the same
// bundle.
func (list Reasons) AlsoText(width int, style *Style) string {
	t := newWriter(width, style)
	for _, r := range list {
		t.Line(nil, r.also(), "  ", "  ")
		if r.Place != nil {
			t.Places([]fact.Place{*r.Place}, "    ")
		}
	}
	return t.String()
}

// plainClash returns the clause of a clash that is the only reason against the bundles of a step, or "", and whether
// it is the first reason.
func plainClash(s *fact.Step) (why string, direct bool) {
	for x := s; len(s.Bundles) > 0 && len(x.Because) == 1; {
		x = x.Because[0]
		q, _ := x.Fact.(*fact.Requires)
		if len(x.Bundles) > 1 || q != nil && q.Bundle.Installed() && x != s.Because[0] {
			break // a step before states more
		}
		if why := clashAt(x, s.Bundles...); why != "" {
			return why, x == s.Because[0]
		}
	}
	return "", false
}

// clash returns the clause that explains why a bundle conflicts with one of another package, if the reasons
// of a step state it, else "".
func clash(s *fact.Step, b Ref) string {
	if why := clashAt(s, b); why != "" {
		return why
	}
	for _, x := range s.Because {
		if why := clash(x, b); why != "" {
			return why
		}
	}
	return ""
}

// clashAt returns that clause for the step itself: both bundles provide an API, or the other one requires
// something else of the package. Of several bundles, all are of one package and behave alike.
func clashAt(s *fact.Step, bundles ...Ref) string {
	b, they, which := bundles[0], "it", bundles[0].Name+" does"
	if len(bundles) > 1 {
		they, which = "they", "they do"
	}
	switch f := s.Fact.(type) {
	case *fact.OneProvider:
		i := slices.IndexFunc(f.Providers, func(x Ref) bool { return x.Package != b.Package })
		if i >= 0 && slices.ContainsFunc(f.Providers, func(x Ref) bool { return x.Name == b.Name }) {
			return fmt.Sprintf("%s and %s both provide %s", they, f.Providers[i].Name, f.API)
		}
	case *fact.Requires:
		mine := func(x *fact.Step) bool {
			one, ok := x.Fact.(*fact.OnePerPackage)
			return ok && one.Package == b.Package
		}
		if f.Bundle.Package != b.Package && slices.ContainsFunc(s.Because, mine) {
			return fmt.Sprintf("%s requires %s, which %s not satisfy", f.Bundle.Name, prose.Requirement(f.Requirement), which)
		}
	}
	return ""
}

// followsItself explains an upgrade of a bundle to itself (H2).
const followsItself = "its entry accepts an upgrade from itself, a mistake in the catalog that has no effect"

// preference describes the rank of the bundle among the options.
func (r *Reason) preference() string {
	switch n := len(r.Preferred); {
	case n == 0 && (r.Options <= 1 || r.again):
		return r.Decided
	case n == 0 && r.Decided != "":
		return fmt.Sprintf("it is the preferred one of %d options: %s", r.Options, r.Decided)
	case n == 0:
		return fmt.Sprintf("it is the preferred one of %d options", r.Options)
	case r.stays():
		return "these were preferred but are not possible:"
	}
	return fmt.Sprintf("it is the best possible of %d options; these were preferred but not possible:", r.Options)
}

// rejection returns why the first bundle of a step was not chosen. by is what is in the way, or "", and otherwise the reason
// that applies if the step states none.
func rejection(s *fact.Step, by, otherwise string) string {
	if why := clash(s, s.Bundles[0]); why != "" {
		return why
	}
	why := ""
	if by != "" {
		why = by + " is in the way"
	}
	x := requirementOf(s)
	switch {
	case x != nil && why != "":
		return s.Bundles[0].Name + " requires " + prose.Requirement(x) + ", and " + why
	case x != nil:
		return s.Bundles[0].Name + " requires " + prose.Requirement(x) + ", which cannot be satisfied"
	}
	return cmp.Or(why, otherwise)
}

// requirementOf returns the first requirement of the bundles of a step that its reasons state,
// if it is short: a package or an API. Otherwise, it returns nil.
func requirementOf(s *fact.Step) constraints.Expr {
	if q, ok := s.Fact.(*fact.Requires); ok {
		switch q.Requirement.(type) {
		case *constraints.Package, *constraints.GVK:
			return q.Requirement
		}
		return nil
	}
	for _, b := range s.Because {
		if x := requirementOf(b); x != nil {
			return x
		}
	}
	return nil
}
