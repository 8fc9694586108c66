package resolver

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
)

// asks returns the predicate for the only bundles that a subscription can have. With
// left, others have been excluded.
func (w *narrator) asks(q *Subscribed, bundles []Ref, left bool) string {
	name := q.Subscription.Name
	_, current := offers(q)
	stays := slices.ContainsFunc(bundles, Ref.Installed)
	switch {
	case current == "" && q.Subscription.StartingCSV != "":
		return "is the startingCSV of subscription " + name
	case left:
		return "must be chosen for subscription " + name + ": no other candidate is left"
	case current == "":
		return "is requested by subscription " + name + " from " + origin(&q.Subscription)
	case stays && len(bundles) == 1:
		return "is what subscription " + name + " has installed, and has no successor" + within(&q.Subscription)
	default:
		return "must be chosen for subscription " + name + ": nothing else is one upgrade away" + within(&q.Subscription)
	}
}

// offers returns the versions that a subscription could have, each once, and the
// installed one.
func offers(q *Subscribed) (versions []string, current string) {
	var offered []Ref
	for _, c := range q.Candidates {
		if c.Installed() && c.Name == q.Subscription.InstalledCSV {
			current = c.Name
		} else {
			offered = append(offered, c)
		}
	}
	versions = slices.DeleteFunc(distinct(offered), func(name string) bool { return name == current })
	return versions, current
}

// unmet states that no candidate of a subscription is left.
func (w *narrator) unmet(q *Subscribed) string {
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
	switch n := len(versions); {
	case current != "" && n == 0:
		return text + "the installed " + current + " cannot stay and has no successor" + within(&q.Subscription)
	case current != "" && n == 1:
		return text + "neither the installed " + current + " nor " + versions[0] + ", its only successor" + within(&q.Subscription) + ", can be chosen"
	case current != "":
		return fmt.Sprintf("%sneither the installed %s nor any of its %d successors%s can be chosen", text, current, n, within(&q.Subscription))
	case n == 1 && q.Subscription.StartingCSV != "":
		return text + "its startingCSV " + versions[0] + " cannot be chosen"
	case n == 1:
		return text + versions[0] + ", the only version" + wants(&q.Subscription) + ", cannot be chosen"
	default:
		return fmt.Sprintf("%snone of the %d versions%s can be chosen", text, n, wants(&q.Subscription))
	}
}

// fold joins a subscription and the only reason against all its candidates in one
// sentence.
func (w *narrator) fold(s *Step) {
	q, ok := s.Fact.(*Subscribed)
	if !ok || len(s.Because) != 1 || s.Because[0].one == "" || s.Because[0].Code == CodeSupposed {
		return
	}
	why := s.Because[0]
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
	switch n := len(versions); {
	case current != "" && n == 0:
		text += "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + why.one
	case current != "" && n == 1:
		text += "the installed " + current + " and " + versions[0] + ", its only successor" + within(&q.Subscription) + ", " + why.many
	case current != "":
		text += fmt.Sprintf("the installed %s and %s its successors%s %s", current, all(n), within(&q.Subscription), why.many)
	case n == 1 && q.Subscription.StartingCSV != "":
		text += "its startingCSV " + versions[0] + " " + why.one
	case n == 1:
		text += versions[0] + ", the only version" + wants(&q.Subscription) + ", " + why.one
	default:
		text += fmt.Sprintf("%s versions%s %s", all(n), wants(&q.Subscription), why.many)
	}
	s.sentence, s.under = text, why
}

// lead adds to the sentence of an unmet requirement why its owner is necessary, if that
// is a single fact.
func (w *narrator) lead(s *Step, c *proof.Claim, r *rule) {
	if _, ok := r.Fact.(*Requires); !ok || len(c.Because) == 0 || len(s.Because) == 0 {
		return
	}
	by := c.Because[0]
	if by.Kind != proof.Chosen || by.Rule < 0 || len(by.Because) > 0 || s.Because[0].Fact != w.rules[by.Rule].Fact {
		return
	}
	names := distinct(s.Bundles)
	switch q := w.rules[by.Rule].Fact.(type) {
	case *Subscribed:
		_, current := offers(q)
		text := "subscription " + q.Subscription.Name + " cannot be satisfied: "
		switch {
		case len(names) > 1 && current == "":
			s.sentence = text + all(len(names)) + " versions" + wants(&q.Subscription) + " " + s.many
		case len(names) > 1:
			return
		case current == names[0]:
			s.sentence = text + "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + s.one
		case current != "":
			return
		case q.Subscription.StartingCSV == names[0]:
			s.sentence = text + "its startingCSV " + names[0] + " " + s.one
		default:
			s.sentence = text + names[0] + ", the only version" + wants(&q.Subscription) + ", " + s.one
		}
	case *MustStay:
		s.sentence = "the installed " + q.Operator.Name + ", an orphan (installed without a subscription) that must stay, " + s.one
	default:
		return
	}
	under := *s
	under.sentence, under.Because = "", s.Because[1:]
	s.under = &under
}

// all returns "both" or "all n".
func all(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// within returns the channel of the successors, for the end of a clause.
func within(s *Subscription) string {
	if s.Channel == "" {
		return ""
	}
	return " in channel " + s.Channel
}

// wants returns the package and channel of a subscription, for the end of a clause.
func wants(s *Subscription) string {
	if s.Channel == "" {
		return " of " + origin(s)
	}
	return " in " + origin(s)
}

// origin returns the package and channel of a subscription.
func origin(s *Subscription) string {
	if s.Channel == "" {
		return "package " + s.Package
	}
	return "channel " + s.Channel + " of package " + s.Package
}
