package resolver_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// An oracle answers a problem by trying everything. It reads the text of the catalogs and uses neither the index nor
// the SAT encoding. It shares with the library only the input types, the trees of constraints, and the test of one
// leaf on one bundle. It supports up to 64 candidates.
type oracle struct {
	p       resolver.Problem
	docs    [][]doc      // of each catalog
	all     []*candidate // the installed ones first
	subs    []*wish      // in the order in which they choose
	skipped map[int]bool // candidates that only a startingCSV may name (H3)
	eval    *constraints.Evaluator
	memo    map[leafOn]bool
	off     string // the rule that is switched off, or ""
}

// A doc has the fields of a catalog blob that matter for resolution.
type doc struct {
	Schema         string              `json:"schema"`
	Package        string              `json:"package,omitempty"`
	Name           string              `json:"name,omitempty"`
	DefaultChannel string              `json:"defaultChannel,omitempty"`
	Entries        []docEntry          `json:"entries,omitempty"`
	Image          string              `json:"image,omitempty"`
	Properties     []property.Property `json:"properties,omitempty"`
}

type docEntry struct {
	Name      string   `json:"name,omitempty"`
	Replaces  string   `json:"replaces,omitempty"`
	Skips     []string `json:"skips,omitempty"`
	SkipRange string   `json:"skipRange,omitempty"`

	// Of olm.deprecations.
	Reference *docReference `json:"reference,omitempty"`
	Message   string        `json:"message,omitempty"`
}

type docReference struct {
	Schema string `json:"schema"`
	Name   string `json:"name,omitempty"`
}

// A candidate is an installed operator, or an entry of a catalog.
type candidate struct {
	ref       resolver.Ref
	catalog   int // -1 for installed operators
	entry     docEntry
	isDefault bool // in the default channel of its package
	place     int  // counted from the head of the channel
	version   semver.Version
	facts     *constraints.PropertyList
	pkgs      []string
	apis      []property.GVK
	requires  []constraints.Expr
	twice     bool // declares an API twice or, if installed, its package (H26)
	barred    bool // has olm.deprecated (D12), or cannot be read (H7)
	odd       bool // cannot be read
	free      bool // installed, and no subscription owns it (D11)
	replaces  set  // the installed operators that it upgrades
}

// A wish is a subscription with its candidates in order of preference.
type wish struct {
	resolver.Subscription
	current int // the installed operator that it owns, or -1
	options []int
	missing bool // it names something that does not exist (H5)
}

type leafOn struct {
	leaf constraints.Expr
	c    int
}

// A set contains candidates by number.
type set uint64

func (s set) has(c int) bool { return s>>c&1 == 1 }
func (s set) with(c int) set { return s | 1<<c }

// each calls f with the members until f returns false.
func (s set) each(f func(c int) bool) bool {
	for ; s != 0; s &= s - 1 {
		if !f(bits.TrailingZeros64(uint64(s))) {
			return false
		}
	}
	return true
}

// newOracle reads a problem whose catalogs are given as text.
func newOracle(t testing.TB, p resolver.Problem) *oracle { return oracleWithout(t, p, "") }

// oracleWithout is newOracle with one of the removable rules switched off.
func oracleWithout(t testing.TB, p resolver.Problem, off string) *oracle {
	o := &oracle{
		off: off, p: p, skipped: map[int]bool{}, memo: map[leafOn]bool{},
		eval: constraints.NewEvaluator(p.Options.Cluster, nil),
	}
	compiler := constraints.NewCompiler(nil)
	for _, in := range p.Installed {
		v, _ := semver.Parse(cmp.Or(in.Version, "0.0.0"))
		c := &candidate{catalog: -1, version: v, free: off != "D11", ref: resolver.Ref{Package: in.Package, Name: in.Name}}
		if in.Package != "" {
			c.pkgs = append(c.pkgs, in.Package)
		} else if in.Properties == nil && off != "H22" {
			in.Properties = inferred(p.Subscriptions, in)
		}
		c.read(compiler, in.Properties, off)
		slices.SortStableFunc(c.requires, func(a, b constraints.Expr) int { // H29
			return cmp.Or(cmp.Compare(o.writing(alternative{expr: a}), o.writing(alternative{expr: b})), cmp.Compare(a.String(), b.String()))
		})
		if in.Package == "" && len(c.pkgs) > 0 {
			c.ref.Package = c.pkgs[len(c.pkgs)-1]
		}
		// An installed operator counts even if it cannot be read (H7); only olm.deprecated excludes it (H12).
		c.barred = off != "H12" && slices.ContainsFunc(in.Properties, func(p property.Property) bool { return p.Type == property.TypeDeprecated })
		c.facts = constraints.NewPropertyList(in.Properties, &constraints.Identity{Package: c.ref.Package, Version: &v})
		o.all = append(o.all, c)
	}
	for i, c := range p.Catalogs {
		o.docs = append(o.docs, nil)
		// A namespace sees its own catalogs and the global ones (D19).
		if c.Unhealthy == "" && (off == "D19" || c.Namespace == p.Namespace || c.Namespace == cmp.Or(p.GlobalNamespace, "olm")) {
			o.docs[i] = readDocs(t, *c.FBC)
		}
		for _, ch := range o.docs[i] {
			if ch.Schema == "olm.channel" {
				o.channel(compiler, i, ch)
			}
		}
	}
	if len(o.all) > 64 {
		t.Fatalf("%d candidates are too many for the oracle", len(o.all))
	}
	for _, c := range o.all {
		c.barred = c.barred || c.catalog >= 0 && o.ruled(c) || c.twice && p.Options.Semantics == resolver.PerBundle && off != "H26"
	}
	for _, s := range p.Subscriptions {
		s.Name = cmp.Or(s.Name, s.Package)
		o.subs = append(o.subs, &wish{Subscription: s, current: -1})
	}
	if p.Options.SubscriptionOrder != resolver.AsGiven {
		slices.SortFunc(o.subs, func(a, b *wish) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, s := range o.subs {
		o.wish(s)
	}
	return o
}

// readDocs reads JSON documents, or YAML ones. Before JSON there may be a byte order
// mark and comments (H19).
func readDocs(t testing.TB, text string) (out []doc) {
	text = strings.TrimPrefix(text, "\ufeff")
	for rest, isJSON := text, false; !isJSON && strings.HasPrefix(rest, "#"); {
		_, rest, _ = strings.Cut(rest, "\n")
		if isJSON = strings.HasPrefix(rest, "{"); isJSON {
			text = rest
		}
	}
	if strings.HasPrefix(text, "{") && !strings.Contains(text, "\n---\n") || text == "" {
		for d := json.NewDecoder(strings.NewReader(text)); ; {
			var x doc
			err := d.Decode(&x)
			if errors.Is(err, io.EOF) {
				return out
			}
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
	}
	for part := range bytes.SplitSeq([]byte(text), []byte("---\n")) {
		var x doc
		if err := yaml.Unmarshal(part, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// inferred returns the package that OLM infers for a CSV without properties: the only one
// named by the subscriptions that own it (H22).
func inferred(subs []resolver.Subscription, in resolver.Installed) []property.Property {
	pkgs := map[string]bool{}
	pkg := ""
	for _, s := range subs {
		if s.InstalledCSV == in.Name {
			pkg, pkgs[s.Package] = s.Package, true
		}
	}
	if len(pkgs) != 1 {
		return nil
	}
	return []property.Property{text(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, strings.TrimPrefix(in.Version, "0.0.0"))}
}

// read parses the properties.
func (c *candidate) read(compiler *constraints.Compiler, list []property.Property, off string) {
	named := map[string]bool{}
	for _, p := range list {
		var err error
		switch p.Type {
		case property.TypePackage:
			var v property.Package
			if err = json.Unmarshal(p.Value, &v); err == nil {
				c.pkgs = append(c.pkgs, v.PackageName)
				c.twice = c.twice || named[v.PackageName]
				named[v.PackageName] = true
			}
			if err == nil && c.catalog >= 0 {
				c.version, err = semver.Parse(v.Version)
			}
		case property.TypeGVK:
			var g property.GVK
			if g, err = property.Parse[property.GVK](p); err == nil {
				c.twice = c.twice || slices.Contains(c.apis, g)
				c.apis = append(c.apis, g)
			}
		case property.TypeDeprecated:
			c.barred = c.barred || off != "D12"
		default:
			var x constraints.Expr
			var ok bool
			if x, ok, err = compiler.FromProperty(p); ok && err == nil && off != "D2" && (off != "H10" || p.Type != property.TypeLabelRequired) {
				c.requires = append(c.requires, x)
			}
		}
		c.odd = c.odd || err != nil
		c.barred = c.barred || err != nil && off != "H7"
	}
}

// chain returns the entries of a channel from the head along replaces (B3), with skipped
// entries marked. It returns nil unless there is one head and no cycle.
func chain(ch doc) (order []docEntry, skipped map[string]bool) {
	entries, covered := map[string]docEntry{}, map[string]bool{}
	skipped = map[string]bool{}
	for _, e := range ch.Entries {
		entries[e.Name] = e
		covered[e.Replaces] = true
		for _, s := range e.Skips {
			covered[s], skipped[s] = true, true
		}
	}
	heads := slices.DeleteFunc(slices.Clone(ch.Entries), func(e docEntry) bool { return covered[e.Name] })
	if len(heads) != 1 {
		return nil, nil
	}
	seen := map[string]bool{}
	for e, ok := heads[0], true; ok; e, ok = entries[e.Replaces] {
		if seen[e.Name] {
			return nil, nil
		}
		seen[e.Name] = true
		order = append(order, e)
	}
	return order, skipped
}

// channel adds the entries of a channel unless it is broken.
func (o *oracle) channel(compiler *constraints.Compiler, catalog int, ch doc) {
	order, skipped := chain(ch)
	if order == nil && o.off == "A7" {
		order = ch.Entries
	}
	if order == nil {
		return
	}
	if o.off == "H3" {
		skipped = nil
	}
	add := func(e docEntry, place int) {
		b := find(o.docs[catalog], "olm.bundle", ch.Package, e.Name)
		if b == nil {
			return
		}
		id := o.p.Catalogs[catalog].ID()
		c := &candidate{
			ref:     resolver.Ref{Catalog: id, Package: ch.Package, Channel: ch.Name, Name: e.Name},
			pkgs:    []string{ch.Package},
			catalog: catalog, entry: e, place: place,
			facts: constraints.NewPropertyList(b.Properties, &constraints.Identity{Package: ch.Package}),
		}
		if p := find(o.docs[catalog], "olm.package", "", ch.Package); p != nil {
			c.isDefault = p.DefaultChannel == ch.Name
		}
		if o.off == "B3" {
			c.place = -place
		}
		c.read(compiler, b.Properties, o.off)
		o.all = append(o.all, c)
	}
	for i, e := range order {
		if !skipped[e.Name] {
			add(e, i)
		}
	}
	// Skipped entries, and those outside the chain, can be named as a startingCSV or come
	// from another channel (H25).
	for _, e := range ch.Entries {
		named := slices.ContainsFunc(o.p.Subscriptions, func(s resolver.Subscription) bool {
			return s.Package == ch.Package && (s.StartingCSV == e.Name || s.Channel == "" || s.Catalog == "" && s.CatalogNamespace == "")
		})
		on := slices.ContainsFunc(order, func(x docEntry) bool { return x.Name == e.Name }) && !skipped[e.Name]
		if named && !on {
			before := len(o.all)
			add(e, len(order))
			if len(o.all) > before {
				o.skipped[before] = true
			}
		}
	}
}

func find(docs []doc, schema, pkg, name string) *doc {
	for i, d := range docs {
		if d.Schema == schema && d.Package == pkg && d.Name == name {
			return &docs[i]
		}
	}
	return nil
}

// ruled reports whether a policy blocks a candidate from a catalog (G8).
func (o *oracle) ruled(c *candidate) bool {
	return slices.ContainsFunc(o.p.Policies, func(p resolver.Policy) bool {
		if p.Package != c.ref.Package {
			return false
		}
		if p.From != "" && !slices.ContainsFunc(o.all, func(in *candidate) bool {
			return in.catalog < 0 && slices.Contains(in.pkgs, p.Package) && (in.ref.Name == p.From || in.version.String() == p.From)
		}) {
			return false
		}
		isVersion := func(text string) bool { r, err := semver.Parse(text); return err == nil && r.Equals(c.version) }
		in, err := semver.ParseRange(p.Exclude)
		return p.Hold || p.Pin != "" && p.Pin != c.ref.Name && !isVersion(p.Pin) ||
			p.Exclude != "" && (p.Exclude == c.ref.Name || err == nil && in(c.version))
	})
}

// wish determines the candidates of a subscription (D9).
func (o *oracle) wish(s *wish) {
	for i, c := range o.all {
		if c.catalog < 0 && c.ref.Name == s.InstalledCSV {
			s.current = i
			c.free = false
		}
	}
	s.missing = true
	var in, others []int // entries of the considered channels
	for i, c := range o.all {
		if c.catalog < 0 || c.ref.Package != s.Package || s.Channel != "" && c.ref.Channel != s.Channel {
			continue
		}
		// An incomplete reference does not match any catalog (H28).
		half := o.off == "H28" && (s.Catalog == "" || s.Catalog == c.ref.Catalog.Name) && (s.CatalogNamespace == "" || s.CatalogNamespace == c.ref.Catalog.Namespace)
		if half || s.Catalog == "" && s.CatalogNamespace == "" || c.ref.Catalog == (resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}) {
			in = append(in, i)
		} else {
			others = append(others, i)
		}
	}
	s.missing = !slices.ContainsFunc(in, func(c int) bool {
		if s.current < 0 && s.StartingCSV != "" {
			return o.all[c].ref.Name == s.StartingCSV
		}
		return !o.skipped[c]
	})
	var here []int // installed operators also count (H23)
	for i, c := range o.all {
		if o.off != "H23" && c.catalog < 0 && s.Catalog == "" && s.CatalogNamespace == "" && s.Channel == "" && slices.Contains(c.pkgs, s.Package) &&
			(s.current >= 0 || s.StartingCSV == "" || s.StartingCSV == c.ref.Name) {
			here = append(here, i)
			s.missing = false
		}
	}
	if s.current < 0 && o.off != "H27" && o.headless(s) {
		s.missing = true
		return
	}
	s.options = o.choices(s, in)
	if s.current < 0 {
		s.options = append(s.options, here...)
		return
	}
	if o.p.Options.OtherSources {
		s.options = append(s.options, o.choices(s, others)...)
	}
	for _, c := range s.options {
		o.all[c].replaces = o.all[c].replaces.with(s.current)
	}
	s.options = append(s.options, s.current)
}

// headless reports whether one of the subscription's channels, reduced to the entry that the
// startingCSV names, has no head (H27).
func (o *oracle) headless(s *wish) bool {
	for i, docs := range o.docs {
		if id := o.p.Catalogs[i].ID(); (s.Catalog != "" || s.CatalogNamespace != "") && id != (resolver.CatalogID{Name: s.Catalog, Namespace: s.CatalogNamespace}) {
			continue
		}
		for _, ch := range docs {
			if ch.Schema != "olm.channel" || ch.Package != s.Package || s.Channel != "" && ch.Name != s.Channel {
				continue
			}
			for _, e := range ch.Entries {
				if e.Name == s.StartingCSV && (e.Replaces == e.Name || slices.Contains(e.Skips, e.Name)) {
					return true
				}
			}
		}
	}
	return false
}

// choices returns the entries that a subscription may choose.
func (o *oracle) choices(s *wish, in []int) (list []int) {
	for _, c := range in {
		x := o.all[c]
		switch {
		case s.current >= 0 && (o.skipped[c] || o.off != "B2" && !follows(x.entry, o.all[s.current])):
		case s.current < 0 && s.StartingCSV != "" && o.off != "D9" && x.ref.Name != s.StartingCSV:
		case s.current < 0 && s.StartingCSV == "" && o.skipped[c]:
		default:
			list = append(list, c)
		}
	}
	o.sort(list, -1)
	if s.current >= 0 && o.off == "H1" {
		slices.Reverse(list)
	}
	if s.current >= 0 && o.off != "B4" {
		// Default channels, then channels by name; in them heads, then the rest (B4).
		group := func(c int) string {
			switch x := o.all[c]; {
			case s.Channel != "" || x.isDefault:
				return ""
			default:
				return x.ref.Channel
			}
		}
		slices.SortStableFunc(list, func(i, j int) int {
			return cmp.Or(cmp.Compare(group(i), group(j)), cmp.Compare(min(o.all[i].place, 1), min(o.all[j].place, 1)))
		})
	}
	// The same bundles in all channels (H25), each at its first position.
	var names []string
	of := map[string][]int{}
	for _, c := range list {
		name := o.all[c].ref.Name
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], c)
	}
	var out []int
	for _, name := range names {
		out = append(out, of[name]...)
		for _, catalog := range o.sources() {
			var more []int
			for _, c := range in {
				if o.off != "H25" && o.all[c].catalog == catalog && o.all[c].ref.Name == name && !slices.Contains(list, c) {
					more = append(more, c)
				}
			}
			o.sort(more, -1)
			out = append(out, more...)
		}
	}
	return out
}

// sources returns the numbers of the catalogs in order of preference.
func (o *oracle) sources() []int {
	list := slices.Collect(indexes(len(o.p.Catalogs)))
	slices.SortFunc(list, func(i, j int) int { return o.compareSources(o.p.Catalogs[i], o.p.Catalogs[j]) })
	return list
}

// compareSources orders catalogs by preference (H13).
func (o *oracle) compareSources(a, b resolver.Catalog) int {
	if o.off == "H13" {
		a, b = b, a
	}
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(no(a.Namespace == o.p.Namespace), no(b.Namespace == o.p.Namespace)),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace),
	)
}

// no returns 0 if first is true, else 1, so that candidates that come first sort first.
func no(first bool) int {
	if first {
		return 0
	}
	return 1
}

// follows reports whether an entry can follow an installed operator (B2, H1).
func follows(e docEntry, in *candidate) bool {
	if e.Replaces == in.ref.Name || slices.Contains(e.Skips, in.ref.Name) {
		return true
	}
	r, err := semver.ParseRange(e.SkipRange)
	return e.SkipRange != "" && err == nil && r(in.version)
}

// sort sorts candidates by the preference of a bundle from the catalog own (D8, H13).
func (o *oracle) sort(list []int, own int) {
	slices.SortFunc(list, func(i, j int) int {
		a, b := o.all[i], o.all[j]
		if a.catalog < 0 || b.catalog < 0 {
			return cmp.Or(cmp.Compare(no(a.catalog < 0), no(b.catalog < 0)),
				cmp.Compare(a.ref.Package, b.ref.Package), cmp.Compare(a.ref.Name, b.ref.Name))
		}
		ac, bc := o.p.Catalogs[a.catalog], o.p.Catalogs[b.catalog]
		return cmp.Or(
			cmp.Compare(no(a.catalog == own && o.off != "D8"), no(b.catalog == own && o.off != "D8")),
			o.compareSources(ac, bc),
			cmp.Compare(no(a.isDefault && o.off != "H15"), no(b.isDefault && o.off != "H15")),
			cmp.Compare(a.ref.Package, b.ref.Package), cmp.Compare(a.ref.Channel, b.ref.Channel),
			cmp.Compare(a.place, b.place),
		)
	})
}

// matches reports whether a single candidate satisfies a tree (D6). A leaf always refers to
// one candidate.
func (o *oracle) matches(x constraints.Expr, c int) bool {
	key := leafOn{x, c}
	ok, known := o.memo[key]
	if !known {
		r, err := o.eval.Satisfies(context.Background(), x, o.all[c].facts)
		ok = err == nil && r.OK || err != nil && o.off == "D7"
		o.memo[key] = ok
	}
	return ok
}

// holds reports whether a set satisfies a requirement (D2): in the documented semantics as a
// formula whose leaves are true if some member satisfies them (D5), otherwise if one member
// satisfies the whole tree (D6).
func (o *oracle) holds(x constraints.Expr, s set) bool {
	one := func(x constraints.Expr) bool { return o.holds(x, s) }
	perBundle := o.p.Options.Semantics == resolver.PerBundle
	if !perBundle {
		switch x := x.(type) {
		case *constraints.All:
			return !slices.ContainsFunc(x.Of, func(x constraints.Expr) bool { return !one(x) })
		case *constraints.Any:
			return slices.ContainsFunc(x.Of, one)
		case *constraints.Not:
			return !slices.ContainsFunc(x.Of, one)
		}
	}
	// The running OLM considers only offered entries. A skipped entry does not count, not
	// even for its own requirements (H3).
	return !s.each(func(c int) bool { return perBundle && o.skipped[c] || !o.matches(x, c) })
}

// together reports whether two candidates may be in one set: they are of different packages, do not provide the same
// API (D10), and neither upgrades the other.
func (o *oracle) together(i, j int) bool {
	a, b := o.all[i], o.all[j]
	if o.off == "D10" {
		return !a.replaces.has(j) && !b.replaces.has(i)
	}
	if slices.ContainsFunc(a.pkgs, func(p string) bool { return slices.Contains(b.pkgs, p) }) || a.replaces.has(j) || b.replaces.has(i) {
		return false
	}
	return !slices.ContainsFunc(a.apis, func(g property.GVK) bool { return slices.Contains(b.apis, g) })
}

// fits reports whether adding c to s keeps the rules about single bundles and pairs.
func (o *oracle) fits(s set, c int) bool {
	return !o.all[c].barred && s.each(func(d int) bool { return d == c || o.together(c, d) })
}

// valid returns "" if a set violates no rule, and otherwise the violated rule.
func (o *oracle) valid(s set) string {
	for _, w := range o.subs {
		if w.missing && o.off == "H5" {
			continue
		}
		if w.missing {
			return "H5: subscription " + w.Name + " names nothing"
		}
		if !slices.ContainsFunc(w.options, s.has) {
			return "D9: subscription " + w.Name + " gets nothing"
		}
	}
	for i, c := range o.all {
		if c.free && !s.has(i) {
			return "D11: " + c.ref.Name + " must stay"
		}
	}
	broken := ""
	s.each(func(c int) bool {
		if !o.fits(s, c) {
			broken = "D10, D12: " + o.all[c].ref.String() + " does not fit"
		}
		for _, x := range o.all[c].requires {
			if !o.holds(x, s) {
				broken = "D2: " + o.all[c].ref.String() + " requires " + x.String()
			}
		}
		return broken == ""
	})
	return broken
}

// models calls f with every valid set until it returns false.
func (o *oracle) models(f func(set) bool) bool {
	var try func(c int, s set) bool
	try = func(c int, s set) bool {
		if c == len(o.all) {
			return o.valid(s) != "" || f(s)
		}
		return try(c+1, s) && (!o.fits(s, c) || try(c+1, s.with(c)))
	}
	return try(0, 0)
}

func (o *oracle) solvable() bool { return !o.models(func(set) bool { return false }) }
