package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Report is the full explanation of a conflict as data. [Report.Text] and
// [Report.Markdown] format it; it also marshals to JSON.
type Report struct {
	ID        string       `json:"id,omitempty"`
	Namespace string       `json:"namespace"`
	Cores     []CoreReport `json:"cores"`
	// Planned and Refused are the subscriptions that can and cannot be planned, and Plan
	// is the plan of the former.
	Planned []string   `json:"planned"`
	Refused []string   `json:"refused"`
	Plan    []Selected `json:"plan"`
	// Advice explains why planned subscriptions get no newer version.
	Advice []Advice `json:"advice,omitempty"`
}

// MarshalJSON returns the report as an object. Required lists are never null.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(plain(r), json.Deterministic(true))
}

// A CoreReport explains one core.
type CoreReport struct {
	// Code is the code of the fact that explains the core best. It is stable, and "olmkit
	// explain" describes it.
	Code     fact.Code `json:"code"`
	Headline string    `json:"headline"`
	*Derivation
	// Notes list catalogs that were skipped and rules that could not be evaluated.
	Notes []string `json:"notes,omitempty"`
	// Fixes are changes that would resolve the core, least disruptive first.
	Fixes []*Fix    `json:"fixes,omitzero"`
	Facts fact.List `json:"facts"`
	// Faults are the rules in the core that could not be evaluated on some bundle.
	Faults []Fault `json:"faults,omitempty"`
	// Requests are the names of the subscriptions and operators involved.
	Requests []string `json:"requests,omitzero"`
	// Also are other subscriptions that fail alike: to the same package, or for lack of the same
	// dependency. The report is for all of them, and the conflict has a core for each.
	Also []string `json:"also,omitempty"`
}

// telling returns the codes of facts, starting with those that explain a conflict best.
var telling = []fact.Code{
	(*fact.Unavailable)(nil).Code(), (*fact.PolicyBlocked)(nil).Code(), (*fact.InstallMode)(nil).Code(),
	(*fact.Prohibited)(nil).Code(), (*fact.Unusable)(nil).Code(), (*fact.OneProvider)(nil).Code(),
	(*fact.OnePerPackage)(nil).Code(), (*fact.Replaced)(nil).Code(), (*fact.Requires)(nil).Code(),
	(*fact.MustStay)(nil).Code(), (*fact.Subscribed)(nil).Code(),
}

// code returns the code of the fact that explains the core best.
func (c *Core) code() fact.Code {
	if len(c.Facts) == 0 {
		return "" // the zero value
	}
	best := slices.MinFunc(c.Facts, func(a, b fact.Fact) int {
		return cmp.Compare(slices.Index(telling, a.Code()), slices.Index(telling, b.Code()))
	})
	return best.Code()
}

// requests returns the subscriptions and operators that the core is about.
func (c *Core) requests() []string {
	out := []string{}
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			out = append(out, f.Subscription.Name)
		case *fact.Unavailable:
			out = append(out, f.Subscription.Name)
		case *fact.MustStay:
			out = append(out, f.Operator.Name)
		}
	}
	return out
}

// notes returns the rules that could not be evaluated and, if something is missing, the
// catalogs that were skipped or searched.
func (c *Core) notes() []string {
	u := c.e.r.u
	missing, nowhere := false, false
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *fact.Unavailable:
			missing = true
			nowhere = nowhere || f.What == "package" && (len(f.Nearest) == 0 || f.Crowded) && len(u.versionsOf(f.Subscription.Package)) == 0
		case *fact.Requires:
			if len(f.Candidates) > 0 {
				continue
			}
			missing = true
			nowhere = nowhere || c.e.r.u.nowhere(f) != nil
		}
	}
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.String())
	}
	if also := c.alsoLacks(); also != "" {
		faults = append(faults, also)
	}
	faults = append(append(faults, c.alsoRequests()...), c.leadNowhere()...)
	if !missing {
		return faults
	}
	var out []string
	for _, x := range u.p.Catalogs {
		switch {
		case x.Unhealthy != "":
			out = append(out, fmt.Sprintf("catalog %s is unhealthy and was skipped (%s); it may contain what is missing", x.ID(), x.Unhealthy))
		case x.Unknown && u.p.sees(x.ID()):
			out = append(out, fmt.Sprintf("the content of catalog %s is unknown; it may contain what is missing", x.ID()))
		}
	}
	slices.Sort(out)
	if !nowhere || len(out) > 0 {
		return append(faults, out...)
	}
	if len(u.cats) == 0 {
		return append(faults, "no catalogs were searched; add one that contains what is missing")
	}
	names := make([]string, len(u.cats))
	for i, s := range u.cats {
		names[i] = s.ID().String()
	}
	were := "was"
	if len(names) > 1 {
		were = "were"
	}
	return append(faults, "only "+phrase.Plural(len(names), "catalog")+" "+phrase.And(names)+" "+were+" searched; if another catalog has what is missing, add it")
}

// alsoLacks states what else the newest bundle of the core requires that nothing satisfies, or returns "".
func (c *Core) alsoLacks() string {
	e, newest := c.e, -1
	for _, i := range c.index {
		if !e.fails(i) {
			continue
		}
		if newest < 0 || e.r.u.Version(e.r.u.ref(e.facts[i].owner)).GT(e.r.u.Version(e.r.u.ref(e.facts[newest].owner))) {
			newest = i
		}
	}
	if newest < 0 {
		return ""
	}
	var more []string
	for i, f := range e.facts {
		if f.owner != e.facts[newest].owner || f.need == e.facts[newest].need || !e.fails(i) {
			continue
		}
		if what := prose.Requirement(f.Fact.(*fact.Requires).Requirement); !slices.Contains(more, what) {
			more = append(more, what)
		}
	}
	if len(more) == 0 || len(more) > maxUnmet {
		return ""
	}
	return e.r.u.ref(e.facts[newest].owner).Name + " also requires " + phrase.And(more) + ", which no bundle in any catalog satisfies"
}

// alsoRequests names the rivals that are not requests of the core.
func (c *Core) alsoRequests() (notes []string) {
	mine := c.requests()
	for _, r := range c.rivals() {
		var names []string
		for _, s := range r.rest {
			if !slices.Contains(mine, s.Name) {
				names = append(names, s.Name)
			}
		}
		switch {
		case len(names) == 1:
			notes = append(notes, fmt.Sprintf("subscription %s requests package %s as well", names[0], r.rest[0].Package))
		case len(names) > 1:
			notes = append(notes, fmt.Sprintf("subscriptions %s request package %s as well", phrase.And(names), r.rest[0].Package))
		}
	}
	return notes
}

// leadNowhere names the suggested channels that have no upgrade of the installed operator, in place of a channel that
// does not exist.
func (c *Core) leadNowhere() (notes []string) {
	for n, f := range c.Facts {
		q, ok := f.(*fact.Unavailable)
		if !ok || q.What != "channel" {
			continue
		}
		s := c.e.r.u.subs[c.index[n]]
		in, others := c.e.r.u.sourcesFor(s)
		names := slices.DeleteFunc(slices.Clone(q.Nearest), func(name string) bool {
			return s.current == nil || slices.ContainsFunc(slices.Concat(in, others), func(src *source) bool {
				p, ok := src.Graph.Package(s.Package)
				return ok && s.leaves(p, name) == 0
			})
		})
		switch {
		case len(names) == 1:
			notes = append(notes, fmt.Sprintf("channel %s has no upgrade from %s", names[0], s.current.Name))
		case len(names) > 1:
			notes = append(notes, fmt.Sprintf("channels %s have no upgrade from %s", phrase.And(names), s.current.Name))
		}
	}
	return notes
}
