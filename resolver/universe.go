package resolver

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A cand numbers a candidate of a problem: first the installed operators, then
// the entries of the catalogs. Its order is canonical: it does not depend on the
// order of the problem.
type cand int32

// A universe is a problem in canonical order, with indexes. It belongs to one resolution.
// Only the requirements of bundles that the resolution reaches are read (D21).
type universe struct {
	p         *Problem
	subs      []*subscription
	installed []*installed // by name
	ofPackage map[string][]*installed
	toPackage map[string][]int // the subscriptions; see subsTo
	cats      []*source        // by namespace and name
	given     []Catalog        // all catalogs of the problem
	unseen    []CatalogID      // those that the namespace does not see (D19)
	// named are the skipped entries that subscriptions may choose: a startingCSV names them (H3),
	// or their bundle may be chosen in another channel (H25).
	named []cand
	// installedPostings and namedPostings are the postings of installed and of named,
	// made on demand.
	installedPostings, namedPostings *listPostings[cand]
	policies                         map[string][]ruling
	pins                             map[Policy]pinned // computed on demand
	lists                            map[listKey][]cand
	exprs                            exprs
	orders                           map[int][]*source
	found                            foundOffers
	// waived are requirements that are ignored.
	waived []*fact.Requires
	// want, if not nil, restricts the candidates of one subscription.
	want  *want
	modes map[graph.Bundle]error // why bundles do not support the operator group; nil if they do
	// misfits has bundles that were checked, with nil for those that run.
	misfits map[graph.Bundle]*Misfit
	last    lastChannels
	evaluation
}

// A source is a catalog with the number of its first entry.
type source struct {
	*Catalog
	at    int // in the problem
	index int
	first cand
}

// cand returns the number of an entry of the catalog.
func (s *source) cand(e graph.Entry) cand { return s.first + cand(e.Index()) }

// entry returns the entry of the catalog with a number.
func (s *source) entry(c cand) graph.Entry { return s.Graph.EntryAt(int(c - s.first)) }

// A subscription is a [Subscription] with the installed operator that it owns.
type subscription struct {
	*Subscription
	current *installed // nil for a fresh installation
}

// An installed is an installed operator with its properties parsed.
type installed struct {
	*Installed
	at       int // in the problem
	id       cand
	pkgs     []string // the main one comes first
	version  semver.Version
	apis     []property.GVK
	requires []graph.Requirement
	facts    constraints.Bundle
	owners   []*subscription
	// prohibited reports whether it has the property olm.deprecated (H12).
	prohibited bool
	// err is the first property that cannot be read (H7).
	err error
	// repeats is the error for a repeated declaration (H26), or nil.
	repeats error
}

// A ruling is a policy with its range parsed.
type ruling struct {
	*Policy
	exclude *constraints.Range
	// fault and nearest are the results of checkPin.
	fault   string
	nearest []string
}

// A pinned is why a pin does not let an installed operator reach the version or bundle that it names, as in
// [fact.PolicyBlocked], and the range that an exclusion needs to let it.
type pinned struct {
	fault   string
	from    string
	steps   int
	exclude string
}

// installedNamed returns the installed operator of that name.
func (u *universe) installedNamed(name string) (*installed, bool) {
	i, ok := slices.BinarySearchFunc(u.installed, name, func(in *installed, name string) int { return cmp.Compare(in.Name, name) })
	if !ok {
		return nil, false
	}
	return u.installed[i], true
}

// semantics returns the meaning of compound constraints in this problem.
func (u *universe) semantics() Semantics { return cmp.Or(u.p.Options.Semantics, Documented) }

// isInstalled reports whether a candidate is an installed operator.
func (u *universe) isInstalled(c cand) bool { return int(c) < len(u.installed) }

// source returns the catalog of a candidate that is not installed.
func (u *universe) source(c cand) *source {
	i, ok := slices.BinarySearchFunc(u.cats, c, func(s *source, c cand) int { return cmp.Compare(s.first, c) })
	for !ok && i > 0 {
		i, ok = i-1, true
	}
	// A catalog without entries has the same first number as the next one.
	for i+1 < len(u.cats) && u.cats[i+1].first <= c {
		i++
	}
	return u.cats[i]
}

// entry returns the entry and bundle of a candidate that is not installed.
func (u *universe) entry(c cand) (graph.Entry, graph.Bundle) {
	s := u.source(c)
	e := s.entry(c)
	b, _ := e.Bundle()
	return e, b
}

// rank returns the position of a catalog's candidate in its channel's order. It returns
// false if another entry skips the candidate.
func (u *universe) rank(c cand) (int, bool) {
	e, _ := u.entry(c)
	return e.Rank()
}

// ref returns the public name of a candidate.
func (u *universe) ref(c cand) Ref {
	if u.isInstalled(c) {
		x := u.installed[c]
		return Ref{Package: u.pkg(c), Name: x.Name}
	}
	e, b := u.entry(c)
	return Ref{Catalog: u.source(c).ID(), Package: b.Package().Name(), Channel: e.Channel().Name(), Name: b.Name()}
}

func (u *universe) refs(list []cand) []Ref {
	out := make([]Ref, len(list))
	for i, c := range list {
		out[i] = u.ref(c)
	}
	return out
}

// bundle returns the bundle that constraints are evaluated on.
func (u *universe) bundle(c cand) constraints.Bundle {
	if u.isInstalled(c) {
		return u.installed[c].facts
	}
	_, b := u.entry(c)
	return b
}

// pkg returns the main package of a candidate, or "" if the package of an installed
// operator is unknown.
func (u *universe) pkg(c cand) string {
	if u.isInstalled(c) {
		if list := u.installed[c].pkgs; len(list) > 0 {
			return list[0]
		}
		return ""
	}
	_, b := u.entry(c)
	return b.Package().Name()
}

// further returns the additional packages of an installed operator (H22). A bundle of a
// catalog has none.
func (u *universe) further(c cand) []string {
	if !u.isInstalled(c) || len(u.installed[c].pkgs) < 2 {
		return nil
	}
	return u.installed[c].pkgs[1:]
}

// inPackage reports whether a candidate is in a package.
func (u *universe) inPackage(c cand, name string) bool {
	if u.isInstalled(c) {
		return slices.Contains(u.installed[c].pkgs, name)
	}
	return u.pkg(c) == name
}

// apis returns the APIs that a candidate provides, in order.
func (u *universe) apis(c cand) iter.Seq[property.GVK] {
	return func(yield func(property.GVK) bool) { u.eachAPI(c, yield) }
}

// eachAPI is apis without allocations.
func (u *universe) eachAPI(c cand, yield func(property.GVK) bool) {
	if !u.isInstalled(c) {
		_, b := u.entry(c)
		b.APIs()(yield)
		return
	}
	for _, g := range u.installed[c].apis {
		if !yield(g) {
			return
		}
	}
}

// requirements returns the requirements of a candidate, in the order of its properties.
func (u *universe) requirements(c cand) iter.Seq[graph.Requirement] {
	if u.isInstalled(c) {
		return slices.Values(u.installed[c].requires)
	}
	_, b := u.entry(c)
	if b.Err() != nil {
		return func(func(graph.Requirement) bool) {} // never chosen
	}
	return b.Requirements()
}

// numRequirements returns the number of requirements of a candidate, or more.
func (u *universe) numRequirements(c cand) int {
	if u.isInstalled(c) {
		return len(u.installed[c].requires)
	}
	_, b := u.entry(c)
	return b.NumRequirements()
}

// pos returns where a candidate is defined.
func (u *universe) pos(c cand) fbc.Pos {
	if u.isInstalled(c) {
		return fbc.Pos{}
	}
	_, b := u.entry(c)
	return b.Pos()
}

// satisfies reports whether a candidate alone satisfies an expression. An expression that
// cannot be evaluated is false, and the fault is kept (D7).
func (u *universe) satisfies(ctx context.Context, x constraints.Expr, c cand) bool {
	return u.test(ctx, x, u.bundle(c))
}

// unread sets err if part of a catalog could not be read.
func (u *universe) unread(err *error) { unread(u.given, err) }

type listKey struct {
	expr constraints.Expr
	own  int
}

// A want demands, for one subscription, a bundle that the subscription prefers over the one
// that it got.
type want struct {
	subscription string
	// names are the preferred bundles. Other bundles must be newer than above.
	names map[string]bool
	above semver.Version
}
