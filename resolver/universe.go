package resolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
)

// A cand numbers a candidate of a problem: first the installed operators, then
// the entries of the catalogs. Its order is canonical: it does not depend on the
// order of the problem.
type cand int32

// A universe is a problem in canonical order, with the indexes that answer its
// questions. It belongs to one resolution.
type universe struct {
	p         *Problem
	subs      []*subscription
	installed []*installed // by name
	ofPackage map[string][]*installed
	cats      []*source   // by namespace and name
	unseen    []CatalogID // the catalogs that the namespace does not see (D19)
	// named are the entries that are not offered but that a startingCSV names.
	named []cand
	// Postings of the installed operators and of named, when they are needed.
	installedPostings, namedPostings *listPostings[cand]
	policies                         map[string][]ruling
	lists                            map[listKey][]cand
	orders                           map[int][]*source
	// waived are requirements that are not held against their packages.
	waived []*Requires
	modes  map[graph.Bundle]error // why bundles do not serve the operator group; nil: they do
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

// An installed is an installed operator with its properties parsed.
type installed struct {
	*Installed
	at       int // in the problem
	id       cand
	pkgs     []string // the one that names it first
	version  semver.Version
	apis     []property.GVK
	requires []graph.Requirement
	facts    *constraints.PropertyList
	owners   []*subscription
	// prohibited: it has the property olm.deprecated (H12).
	prohibited bool
	// err is the first property that cannot be read (H7).
	err error
	// repeats says what it states twice (H26), or is nil.
	repeats error
}

// A subscription is a subscription with what it owns.
type subscription struct {
	*Subscription
	current *installed // nil for a fresh installation
}

// newUniverse checks the problem and puts it in canonical order.
func newUniverse(ctx context.Context, p *Problem) (*universe, error) {
	u := &universe{
		p:        p,
		policies: map[string][]ruling{},
		lists:    map[listKey][]cand{},
		orders:   map[int][]*source{},
		evaluation: evaluation{
			Evaluator: constraints.NewEvaluator(p.Options.Cluster, p.Options.ConstraintLimits),
			values:    map[graph.Bundle]*constraints.Values{},
			faults:    map[Fault]bool{},
		},
	}
	if err := u.checkOptions(); err != nil {
		return nil, err
	}
	if err := u.addInstalled(ctx); err != nil {
		return nil, err
	}
	if err := u.addCatalogs(); err != nil {
		return nil, err
	}
	if err := u.addPolicies(); err != nil {
		return nil, err
	}
	return u, u.addSubscriptions()
}

func (u *universe) checkOptions() error {
	switch o := &u.p.Options; {
	case o.Semantics != "" && o.Semantics != Documented && o.Semantics != PerBundle:
		return document.Errorf("/options/constraints", "%q is neither %q nor %q", o.Semantics, Documented, PerBundle)
	case o.SubscriptionOrder != "" && o.SubscriptionOrder != ByName && o.SubscriptionOrder != AsGiven:
		return document.Errorf("/options/subscriptionOrder", "%q is neither %q nor %q", o.SubscriptionOrder, ByName, AsGiven)
	}
	return nil
}

func (u *universe) addInstalled(ctx context.Context) error {
	compiled := compilations{limits: u.p.Options.ConstraintLimits}
	var owners map[string][]string // the packages of the subscriptions that own a CSV
	for i := range u.p.Installed {
		in, path := &u.p.Installed[i], fmt.Sprintf("/installed/%d", i)
		if in.Package == "" && in.Properties == nil {
			if owners == nil {
				owners = u.owners()
			}
			inferred := in.Infer(owners[in.Name]...)
			in = &inferred
		}
		x := &installed{Installed: in, at: i}
		if in.Name == "" {
			return document.Errorf(path+"/name", "is missing; name the ClusterServiceVersion")
		}
		if in.Version != "" {
			v, err := semver.Parse(in.Version)
			if err != nil {
				return &document.Error{Path: path + "/version", Err: version.Error(in.Version, err)}
			}
			x.version = v
		}
		for n, p := range in.Properties {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			x.property(&compiled, n, p)
		}
		x.repeats = repeated(in.Properties)
		slices.SortFunc(x.apis, property.GVK.Compare)
		x.apis = slices.Compact(x.apis)
		// Nobody keeps the order of a CSV's properties, so it must not show (H29), nor does
		// the way in which a formula is written (D20).
		slices.SortStableFunc(x.requires, func(a, b graph.Requirement) int {
			return cmp.Or(
				cmp.Compare(normal(a.Expr, false).String(), normal(b.Expr, false).String()),
				cmp.Compare(a.Expr.String(), b.Expr.String()),
				slices.Compare(messages(a.Expr), messages(b.Expr)),
			)
		})
		x.facts = constraints.NewPropertyList(in.Properties, &constraints.Identity{Package: in.Package, Version: &x.version})
		x.pkgs = packagesOf(x.facts)
		u.installed = append(u.installed, x)
	}
	slices.SortStableFunc(u.installed, func(a, b *installed) int { return cmp.Compare(a.Name, b.Name) })
	for i, x := range u.installed {
		x.id = cand(i)
		if i > 0 && u.installed[i-1].Name == x.Name {
			return document.Errorf(fmt.Sprintf("/installed/%d/name", x.at), "%q appears twice; names are unique in a namespace", x.Name)
		}
	}
	return nil
}

// owners returns the packages of the subscriptions that own a CSV, by its name.
func (u *universe) owners() map[string][]string {
	m := map[string][]string{}
	for _, s := range u.p.Subscriptions {
		m[s.InstalledCSV] = append(m[s.InstalledCSV], s.Package)
	}
	return m
}

// Compilations are the requirements of installed operators. Those that are equal are
// compiled once, and so are one need.
type compilations struct {
	limits *constraints.Limits
	made   *constraints.Compiler
	known  map[string]compilation // by type and value
}

type compilation struct {
	expr constraints.Expr
	err  error
}

// of returns the constraint that a property states; ok is false when it states none.
func (c *compilations) of(p property.Property) (x constraints.Expr, ok bool, err error) {
	if !property.IsRequirement(p.Type) {
		return nil, false, nil
	}
	if c.made == nil {
		c.made, c.known = constraints.NewCompiler(c.limits), map[string]compilation{}
	}
	key := p.Type + "\x00" + string(p.Value)
	got, known := c.known[key]
	if !known {
		got.expr, _, got.err = c.made.FromProperty(p)
		c.known[key] = got
	}
	return got.expr, true, got.err
}

// property takes up one property of an installed operator.
func (x *installed) property(compiled *compilations, n int, p property.Property) {
	keep := func(err error) bool {
		if err != nil && x.err == nil {
			x.err = fmt.Errorf("/properties/%d/value: %w", n, err)
		}
		return err == nil
	}
	switch p.Type {
	case property.TypePackage:
		_, err := property.ParseInstalledPackage(p.Value)
		keep(err)
	case property.TypeGVK:
		if g, err := property.ParseGVK(p.Value); keep(err) {
			x.apis = append(x.apis, g)
		}
	case property.TypeDeprecated:
		x.prohibited = true
	default:
		if e, ok, err := compiled.of(p); ok && keep(err) {
			x.requires = append(x.requires, graph.Requirement{Property: n, ID: -1, Expr: e})
		}
	}
}

func (u *universe) addCatalogs() error {
	var sick []Catalog
	for i := range u.p.Catalogs {
		c := &u.p.Catalogs[i]
		path := fmt.Sprintf("/catalogs/%d", i)
		switch {
		case c.Name == "":
			return document.Errorf(path+"/name", "is missing; name the catalog")
		case !u.p.Sees(c.ID()):
			u.unseen = append(u.unseen, c.ID())
			continue
		case c.Unhealthy != "":
			sick = append(sick, *c)
			continue
		case c.Graph == nil:
			return document.Errorf(path, "catalog %q is not loaded; set Graph or call Open", c.Name)
		}
		u.cats = append(u.cats, &source{Catalog: c, at: i})
	}
	if len(sick) > 0 && !u.p.Options.IgnoreUnhealthy {
		slices.SortFunc(sick, func(a, b Catalog) int { return compareID(a.ID(), b.ID()) })
		return &UnhealthyError{Catalogs: sick}
	}
	slices.SortFunc(u.unseen, compareID)
	slices.SortStableFunc(u.cats, func(a, b *source) int { return compareID(a.ID(), b.ID()) })
	next := cand(len(u.installed))
	for i, c := range u.cats {
		if i > 0 && u.cats[i-1].ID() == c.ID() {
			return document.Errorf(fmt.Sprintf("/catalogs/%d", c.at), "catalog %q appears twice in namespace %q", c.Name, c.Namespace)
		}
		c.index, c.first = i, next
		next += cand(c.Graph.NumEntries())
	}
	return nil
}

func compareID(a, b CatalogID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func (u *universe) addSubscriptions() error {
	n := len(u.p.Subscriptions)
	seen := make(map[string]bool, n)
	// In two pieces of memory, however many there are.
	given, own := slices.Clone(u.p.Subscriptions), make([]subscription, n)
	u.subs = make([]*subscription, 0, n)
	for i := range given {
		s := &given[i]
		if s.Package == "" {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/package", i), "is missing; name the package to subscribe to")
		}
		s.Name = cmp.Or(s.Name, s.Package)
		if seen[s.Name] {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/name", i), "%q appears twice; give each subscription a unique name", s.Name)
		}
		seen[s.Name] = true
		x := &own[i]
		x.Subscription = s
		if in, ok := u.installedNamed(s.InstalledCSV); ok {
			x.current = in
			x.current.owners = append(x.current.owners, x)
		}
		u.subs = append(u.subs, x)
	}
	if u.p.Options.SubscriptionOrder != AsGiven {
		slices.SortFunc(u.subs, func(a, b *subscription) int { return cmp.Compare(a.Name, b.Name) })
	}
	return nil
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
	// Catalogs without entries share their number with the next one.
	for i+1 < len(u.cats) && u.cats[i+1].first <= c {
		i++
	}
	return u.cats[i]
}

// entry returns the entry and bundle of a candidate that is not installed.
func (u *universe) entry(c cand) (graph.Entry, graph.Bundle) {
	s := u.source(c)
	e := s.Graph.EntryAt(int(c - s.first))
	b, _ := e.Bundle()
	return e, b
}

// rank returns the place of a candidate of a catalog in its channel's order;
// false when another entry skips it.
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

// bundle returns what constraints are evaluated on.
func (u *universe) bundle(c cand) constraints.Bundle {
	if u.isInstalled(c) {
		return u.installed[c].facts
	}
	_, b := u.entry(c)
	return b
}

// pkg returns the package that a candidate goes by, "" when that of an installed
// operator is not known.
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

// further returns the packages of an installed operator beyond the one that it goes
// by (H22). A bundle of a catalog has none.
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
	if u.isInstalled(c) {
		return slices.Values(u.installed[c].apis)
	}
	_, b := u.entry(c)
	return b.APIs()
}

// requirements returns what a candidate requires, in order of its properties.
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

// waives reports whether a requirement of a candidate does not count.
func (u *universe) waives(c cand, x constraints.Expr) bool {
	if len(u.waived) == 0 {
		return false
	}
	pkg := u.pkg(c)
	return slices.ContainsFunc(u.waived, func(q *Requires) bool {
		return q.Bundle.Package == pkg && sameExpr(q.Requirement, x)
	})
}

// pos returns where a candidate is defined.
func (u *universe) pos(c cand) fbc.Pos {
	if u.isInstalled(c) {
		return fbc.Pos{}
	}
	_, b := u.entry(c)
	return b.Pos()
}

// barred returns the fact that keeps a candidate from ever being chosen, or nil:
// it is prohibited (D12, H12), cannot be read (H7), lists an API twice (H26), is ruled out by a policy (G8)
// or cannot serve the operator group (G7).
func (u *universe) barred(ctx context.Context, c cand) Fact {
	if u.isInstalled(c) {
		if u.installed[c].prohibited {
			return &Prohibited{Bundle: u.ref(c)}
		}
		if err := u.installed[c].repeats; err != nil && u.semantics() == PerBundle {
			return &Unusable{Bundle: u.ref(c), Err: err}
		}
		return nil
	}
	if f := u.unreadable(c); f != nil {
		return f
	}
	_, b := u.entry(c)
	if b.IsProhibited() {
		return &Prohibited{Bundle: u.ref(c), Pos: b.Pos()}
	}
	if f := u.policyBlocks(c); f != nil {
		return f
	}
	return u.unsupported(ctx, c)
}

// unreadable returns the fact that a candidate of a catalog cannot be read, or
// as the running OLM reads it not be used, or nil.
func (u *universe) unreadable(c cand) *Unusable {
	_, b := u.entry(c)
	if api, ok := b.RepeatedAPI(); ok && u.semantics() == PerBundle {
		return &Unusable{Bundle: u.ref(c), Pos: b.Pos(), Err: &repeatedError{api.String()}}
	}
	err := b.Err()
	if err == nil {
		return nil
	}
	var d *fbc.Diagnostic
	if errors.As(err, &d) {
		err = errors.New(d.Path + ": " + d.Err.Error())
	}
	return &Unusable{Bundle: u.ref(c), Pos: b.Pos(), Err: err}
}

// satisfies reports whether one candidate satisfies an expression by itself. An
// expression that cannot be evaluated is false, and the fault is kept (D7).
func (u *universe) satisfies(ctx context.Context, x constraints.Expr, c cand) bool {
	return u.test(ctx, x, u.bundle(c))
}
