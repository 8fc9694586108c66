package resolver_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	masterminds "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/conformance"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// selectAnswerOf answers a request, has the answer judged, and returns it as text.
func selectAnswerOf(t *testing.T, r olmv1.Request) string {
	t.Helper()
	want := selectOracleWithout(t, r, "").answer()
	r.Catalogs = slices.Clone(r.Catalogs)
	slices.Reverse(r.Catalogs) // D15
	err := r.Open(context.Background(), nil)
	var sel *olmv1.Selection
	if err == nil {
		sel, err = olmv1.Select(context.Background(), r)
	}
	var no *olmv1.Refusal
	var got string
	switch {
	case errors.As(err, &no):
		got = "refused: " + string(no.Code) + "\n"
	case err != nil:
		return "error: " + err.Error() + "\n"
	default:
		got = conformance.Selected(sel)
	}
	if got != want {
		t.Errorf("the oracle disagrees: got %s\nwant %s", got, want)
	}
	return got
}

// A selectOracle answers a request of OLM v1 from the text of the catalogs. It shares only
// the types of the input with the library.
type selectOracle struct {
	r    olmv1.Request
	all  []*selectable
	docs map[string][]doc // of the catalogs that are selected
	rng  *masterminds.Constraints
	off  string // the rule that is switched off, or ""
}

// A selectable is a bundle of a catalog.
type selectable struct {
	doc
	catalog olmv1.Catalog
	version *semver.Version // nil if it is invalid
	release []string        // nil if there is none
	message *string         // the message of its deprecation
}

// selectOracleWithout reads a request whose catalogs are given as text, with one of the rules
// in removableInV1 switched off.
func selectOracleWithout(t testing.TB, r olmv1.Request, off string) *selectOracle {
	o := &selectOracle{r: r, docs: map[string][]doc{}, off: off}
	if r.Version != "" {
		o.rng, _ = masterminds.NewConstraint(r.Version)
	}
	for _, c := range r.Catalogs {
		if off != "C1" && (c.Unavailable || !labelsMatch(r.Selector, c.Labels)) {
			continue
		}
		if off == "C6" {
			c.Priority = 0
		}
		o.docs[c.Name] = readDocs(t, *c.FBC)
		for _, d := range o.docs[c.Name] {
			if d.Schema == "olm.bundle" && d.Package == r.Package {
				b := &selectable{doc: d, catalog: c}
				b.readVersion(off)
				b.message = o.deprecation(c.Name, "olm.bundle", d.Name)
				o.all = append(o.all, b)
			}
		}
	}
	return o
}

// labelsMatch reports whether a selector matches labels (C1).
func labelsMatch(s *olmv1.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return true
	}
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, x := range s.MatchExpressions {
		got, has := labels[x.Key]
		in := has && slices.Contains(x.Values, got)
		if ok := map[string]bool{"In": in, "NotIn": !in, "Exists": has, "DoesNotExist": !has}[string(x.Operator)]; !ok {
			return false
		}
	}
	return true
}

// readVersion reads the version, treating its build metadata as a release if it has the form of one (A8).
func (b *selectable) readVersion(off string) {
	for _, p := range b.Properties {
		var v struct{ Version string }
		if p.Type != "olm.package" || json.Unmarshal(p.Value, &v) != nil {
			continue
		}
		if parsed, err := semver.Parse(v.Version); err == nil {
			b.version, b.release = asRelease(parsed)
			if off == "A8" {
				b.release = nil
			}
		}
	}
}

func asRelease(v semver.Version) (*semver.Version, []string) {
	release := v.Build
	if len(strings.Join(release, ".")) > 20 {
		return &v, nil
	}
	for _, s := range release {
		if len(s) > 1 && s[0] == '0' && strings.Trim(s, "0123456789") == "" {
			return &v, nil
		}
	}
	return &v, release
}

// compareReleases orders releases like prereleases. No release comes first.
func compareReleases(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	return slices.CompareFunc(a, b, func(x, y string) int {
		xn, yn := strings.Trim(x, "0123456789") == "", strings.Trim(y, "0123456789") == ""
		switch {
		case xn && yn:
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		case xn != yn:
			return cmp.Compare(no(xn), no(yn))
		}
		return cmp.Compare(x, y)
	})
}

// deprecation returns the message of a catalog's olm.deprecations, or nil.
func (o *selectOracle) deprecation(catalog, schema, name string) *string {
	for _, d := range o.docs[catalog] {
		if d.Schema != "olm.deprecations" || d.Package != o.r.Package {
			continue
		}
		for _, e := range d.Entries {
			if e.Reference != nil && e.Reference.Schema == schema && e.Reference.Name == name {
				return &e.Message
			}
		}
	}
	return nil
}

// answer returns the answer as text.
func (o *selectOracle) answer() string {
	refused := func(code olmv1.RefusalCode) string { return "refused: " + string(code) + "\n" }
	if len(o.docs) == 0 {
		return refused("no-catalog")
	}
	left := o.all
	stage := func(keep func(*selectable) bool) bool {
		left = slices.DeleteFunc(slices.Clone(left), func(b *selectable) bool { return !keep(b) })
		return len(left) > 0
	}
	switch {
	case len(left) == 0:
		return refused("no-package")
	case len(o.r.Channels) > 0 && o.off != "C3" && !stage(o.inChannel):
		return refused("no-channel")
	case o.rng != nil && !stage(o.inRange):
		return refused("no-version")
	case o.r.Installed != nil && o.r.Policy != olmv1.SelfCertified && o.off != "C4" && !stage(o.succeeds):
		return refused("no-successor")
	}
	// Bundles that are not deprecated come first, whatever the priority (C5, C6).
	if o.off != "C5" && slices.ContainsFunc(left, func(b *selectable) bool { return b.message == nil }) {
		stage(func(b *selectable) bool { return b.message == nil })
	}
	// Then the highest priority, and within a catalog the newest bundle (C3, C6).
	slices.SortFunc(left, func(a, b *selectable) int {
		return cmp.Or(cmp.Compare(b.catalog.Priority, a.catalog.Priority), cmp.Compare(a.catalog.Name, b.catalog.Name), o.newer(a, b))
	})
	best := left[0]
	if last := slices.IndexFunc(left, func(b *selectable) bool { return b.catalog.Name != best.catalog.Name }); last > 0 && left[last].catalog.Priority == best.catalog.Priority {
		return refused("tie")
	}
	if best.version == nil {
		return refused("invalid-version")
	}
	for _, p := range best.Properties {
		if o.off != "H16" && slices.Contains([]string{"olm.gvk.required", "olm.package.required", "olm.constraint"}, p.Type) {
			return refused("dependency")
		}
	}
	return o.text(best)
}

// newer orders the bundles of a catalog, newest first.
func (o *selectOracle) newer(a, b *selectable) int {
	if a.version == nil || b.version == nil {
		return cmp.Or(cmp.Compare(no(a.version != nil), no(b.version != nil)), cmp.Compare(a.Name, b.Name))
	}
	return cmp.Or(b.version.Compare(*a.version), compareReleases(b.release, a.release), cmp.Compare(a.Name, b.Name))
}

// text returns the selected bundle with the deprecations that concern it.
func (o *selectOracle) text(b *selectable) string {
	build := ""
	if len(b.version.Build) > 0 {
		build = "+" + strings.Join(b.version.Build, ".")
	}
	v := *b.version
	v.Build = nil
	text := fmt.Sprintf("select %s (%s%s) from %s\n", b.Name, v, build, b.catalog.Name)
	if b.message != nil {
		text += fmt.Sprintf("deprecated bundle %s: %s\n", b.Name, *b.message)
	}
	var channels []string
	for _, d := range o.docs[b.catalog.Name] {
		if d.Schema == "olm.channel" && d.Package == o.r.Package && (len(o.r.Channels) == 0 || slices.Contains(o.r.Channels, d.Name)) {
			channels = append(channels, d.Name)
		}
	}
	slices.Sort(channels)
	for _, name := range channels {
		if m := o.deprecation(b.catalog.Name, "olm.channel", name); m != nil {
			text += fmt.Sprintf("deprecated channel %s: %s\n", name, *m)
		}
	}
	if m := o.deprecation(b.catalog.Name, "olm.package", ""); m != nil {
		text += fmt.Sprintf("deprecated package : %s\n", *m)
	}
	return text
}

// entries returns the entries of a bundle, in the requested channels or in all.
func (o *selectOracle) entries(b *selectable, all bool) (list []docEntry) {
	for _, d := range o.docs[b.catalog.Name] {
		if d.Schema != "olm.channel" || d.Package != o.r.Package || !all && len(o.r.Channels) > 0 && !slices.Contains(o.r.Channels, d.Name) {
			continue
		}
		for _, e := range d.Entries {
			if e.Name == b.Name {
				list = append(list, e)
			}
		}
	}
	return list
}

func (o *selectOracle) inChannel(b *selectable) bool { return len(o.entries(b, false)) > 0 }

// inRange reports whether a bundle is in the requested range (C2).
func (o *selectOracle) inRange(b *selectable) bool {
	if b.version == nil {
		return false
	}
	v := *b.version
	v.Build = nil
	switch o.off {
	case "C2": // read like a skipRange
		rng, err := semver.ParseRange(o.r.Version)
		return err == nil && rng(v)
	case "H16": // prereleases like any other version
		v.Pre = nil
	}
	read, err := masterminds.NewVersion(v.String())
	return err == nil && o.rng.Check(read)
}

// succeeds reports whether a bundle may follow the installed one (B8): it has the same version
// and release, or one of its entries replaces, skips or covers the installed one.
func (o *selectOracle) succeeds(b *selectable) bool {
	in := o.r.Installed
	installed, err := semver.Parse(in.Version)
	if err != nil {
		return false
	}
	v, release := asRelease(installed)
	same := b.version != nil && b.version.Compare(*v) == 0 && compareReleases(b.release, release) == 0
	edge := o.off == "B2" || slices.ContainsFunc(o.entries(b, o.r.Options.OtherEdges), func(e docEntry) bool {
		return follows(e, &candidate{ref: resolver.Ref{Name: in.Name}, version: installed})
	})
	major := func(v semver.Version) []uint64 {
		switch {
		case v.Major > 0:
			return []uint64{v.Major}
		case v.Minor > 0:
			return []uint64{0, v.Minor}
		}
		return []uint64{0, 0, v.Patch}
	}
	compatible := b.version != nil && b.version.Compare(installed) >= 0 && slices.Equal(major(*b.version), major(installed)) &&
		(len(b.version.Pre) == 0 || len(installed.Pre) > 0)
	switch o.r.Options.Semver {
	case olmv1.SemverInstead:
		return same || compatible
	case olmv1.SemverAlso:
		return same || edge && compatible
	}
	return same || o.off != "B8" && edge
}
