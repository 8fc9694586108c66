package olmv1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// demo is a package with a chain, a prerelease, a bundle with a dependency and a
// second major version.
const demo = `
{"schema":"olm.package","name":"demo","defaultChannel":"stable"}
{"schema":"olm.channel","package":"demo","name":"stable","entries":[
 {"name":"demo.v1.0.0"},{"name":"demo.v1.1.0","replaces":"demo.v1.0.0"},{"name":"demo.v1.2.0","replaces":"demo.v1.1.0"},
 {"name":"demo.v2.0.0","replaces":"demo.v1.2.0"},{"name":"demo.v2.1.0-rc.1","replaces":"demo.v2.0.0"}]}
{"schema":"olm.channel","package":"demo","name":"needy","entries":[{"name":"demo.v3.0.0","skipRange":">=1.0.0 <3.0.0"}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v1.2.0","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"1.2.0"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v2.0.0","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v2.1.0-rc.1","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"2.1.0-rc.1"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.v3.0.0","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"3.0.0"}},
 {"type":"olm.gvk.required","value":{"group":"db.example.com","version":"v1","kind":"Database"}},
 {"type":"olm.package.required","value":{"packageName":"cert","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"db","defaultChannel":"stable"}
{"schema":"olm.channel","package":"db","name":"stable","entries":[{"name":"db.v1.0.0"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}},
 {"type":"olm.gvk","value":{"group":"db.example.com","version":"v1","kind":"Database"}},
 {"type":"olm.package.required","value":{"packageName":"cert","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"cert","defaultChannel":"stable"}
{"schema":"olm.channel","package":"cert","name":"stable","entries":[{"name":"cert.v1.0.0"}]}
{"schema":"olm.bundle","package":"cert","name":"cert.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"cert","version":"1.0.0"}}]}
`

func demoCatalog(t testing.TB) *graph.Catalog {
	c, err := graph.LoadReader(context.Background(), strings.NewReader(demo), "demo.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSelect(t *testing.T) {
	cat := demoCatalog(t)
	at := func(v string) *olmv1.Installed {
		return &olmv1.Installed{Name: "demo.v" + v, Version: v}
	}
	for _, tt := range []struct {
		name string
		r    olmv1.Request
		want string
	}{
		{"C3: the newest in the range", olmv1.Request{Version: "<3"}, "demo.v2.0.0 (the range \"<3\" names no prerelease and leaves out newer ones: demo.v2.1.0-rc.1)"},
		{"C3: a channel", olmv1.Request{Channels: []string{"stable"}}, "demo.v2.1.0-rc.1"},
		{"C3: pinned", olmv1.Request{Version: "1.1.0"}, "demo.v1.1.0"},
		{"C4: successors", olmv1.Request{Channels: []string{"stable"}, Installed: at("1.0.0")},
			"demo.v1.1.0 (demo.v1.0.0 is four steps from the newest bundle of channel stable: 1.1.0 first, then 1.2.0, 2.0.0 and 2.1.0-rc.1)"},
		{"C4: a downgrade needs SelfCertified", olmv1.Request{Channels: []string{"stable"}, Version: "1.0.0", Installed: at("1.1.0")},
			`no-successor: no bundle of package "demo" in range "1.0.0" in channel stable is a successor of demo.v1.1.0, which is newer than all of them; OLM v1 does not downgrade`},
		{"C4: SelfCertified", olmv1.Request{Version: "1.0.0", Installed: at("1.1.0"), Policy: olmv1.SelfCertified},
			"demo.v1.0.0 (no entry of the catalog allows demo.v1.0.0 over demo.v1.1.0; OLM v1 installs it because of the policy SelfCertified, but the operator may fail or lose data. Set the policy back afterwards) (1.0.0 is a downgrade from 1.1.0)"},
		{"C4: semver also: no automatic major upgrade", olmv1.Request{Channels: []string{"stable"}, Installed: at("1.2.0"), Options: olmv1.Options{Semver: olmv1.SemverAlso}},
			"demo.v1.2.0 (version order, which allows only upgrades in ^1.2.0, leaves out newer versions: without it, demo.v2.0.0 is selected from catalog c, and OLM v1 upgrades it to the prerelease demo.v2.1.0-rc.1 on its own, in 1 more step)"},
		{"C4: semver instead of edges", olmv1.Request{Channels: []string{"stable"}, Installed: at("1.0.0"), Options: olmv1.Options{Semver: olmv1.SemverInstead}}, "demo.v1.2.0"},
		{"G3: hops to the wanted one", olmv1.Request{Channels: []string{"stable"}, Version: "2.0.0", Installed: at("1.0.0")},
			`no-successor: no bundle of package "demo" in range "2.0.0" in channel stable is a successor of demo.v1.0.0; to reach it, install in order: demo.v1.1.0, then demo.v1.2.0, then demo.v2.0.0`},
		{"G3: the nearest versions to a range without any", olmv1.Request{Channels: []string{"stable"}, Version: ">=1.3, <1.9"},
			`no-version: no bundle of package "demo" in range ">=1.3, <1.9" in channel stable; closest available: 1.2.0, 2.0.0`},
		{"G6: dependencies are refused, with what would satisfy them", olmv1.Request{Installed: at("1.0.0")},
			`dependency: the best bundle of package "demo" is demo.v3.0.0, which declares dependencies (olm.gvk.required). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed. ` +
				`It requires API Database (db.example.com/v1) and package cert >=1.0.0; installing cert.v1.0.0, then db.v1.0.0 satisfies that. Classic OLM would install them too, for a Subscription`},
		{"G6: other installed operators count", olmv1.Request{Channels: []string{"needy"}, Options: olmv1.Options{OtherInstalled: []resolver.Installed{{
			Name: "db.v1.0.0", Package: "db", Version: "1.0.0", Properties: []property.Property{property.New(property.TypeGVK, property.GVK{Group: "db.example.com", Version: "v1", Kind: "Database"})},
		}}}},
			`dependency: the best bundle of package "demo" in channel needy is demo.v3.0.0, which declares dependencies (olm.gvk.required). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed. ` +
				`It requires package cert >=1.0.0, which cert.v1.0.0 provides. Classic OLM would install it too, for a Subscription`},
		{"C3: no such channel", olmv1.Request{Channels: []string{"beta"}}, `no-channel: package "demo" has no bundle in channel beta; its channels are needy, stable`},
		{"C1: no such package", olmv1.Request{Package: "dmo"}, `no-package: no catalog has package "dmo"; searched c; the closest is demo; OLM v1 refuses demo, because it declares dependencies`},
		{"C6: a selector that selects nothing", olmv1.Request{Selector: &olmv1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
			"no-catalog: no available catalog is selected (of 1 given); the selector requires other labels: catalog c has none"},
		{"C2: the other syntax", olmv1.Request{Version: ">=1.0.0<2.0.0"}, `problem: /version: invalid version range ">=1.0.0<2.0.0": separate comparisons with a comma or a space: write ">=1.0.0 <2.0.0"`},
		{"C1: a bad installed version", olmv1.Request{Installed: at("1.0")}, `problem: /installed/version: "1.0" is not a semantic version: want three numbers, such as 1.2.3 or 1.2.3-rc.1`},
		{"C4: a bad policy", olmv1.Request{Policy: "Any"}, `problem: /policy: "Any" is neither CatalogProvided nor SelfCertified`},
		{"C1: a bad selector", olmv1.Request{Selector: &olmv1.LabelSelector{MatchExpressions: []olmv1.LabelRequirement{{Key: "a", Operator: "Near"}}}},
			`problem: /selector: /matchExpressions/0/operator: "Near" is not an operator; want In, NotIn, Exists or DoesNotExist`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.r.Package == "" {
				tt.r.Package = "demo"
			}
			tt.r.Catalogs = []olmv1.Catalog{{Name: "c", Graph: cat}}
			sel, err := olmv1.Select(context.Background(), tt.r)
			checkFunnel(t, tt.name, sel, err)
			got := ""
			var no *olmv1.Refusal
			switch {
			case errors.As(err, &no):
				got = string(no.Code) + ": " + no.Error()
			case err != nil:
				got = err.Error()
			default:
				got = sel.Bundle
				for _, n := range sel.Notes {
					got += " (" + n.Text + ")"
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestSelectSameVersion checks that a bundle with the version and release of the installed one may replace it without
// an edge, but another build of that version may not (B8).
func TestSelectSameVersion(t *testing.T) {
	const text = `
{"schema":"olm.package","name":"demo","defaultChannel":"stable"}
{"schema":"olm.channel","package":"demo","name":"stable","entries":[{"name":"demo.1"},{"name":"demo.2","replaces":"demo.1"}]}
{"schema":"olm.bundle","package":"demo","name":"demo.1","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"1.0.0+1"}}]}
{"schema":"olm.bundle","package":"demo","name":"demo.2","properties":[{"type":"olm.package","value":{"packageName":"demo","version":"1.0.0+2"}}]}
`
	c, err := graph.LoadReader(t.Context(), strings.NewReader(text), "demo.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	for installed, want := range map[string]string{"1.0.0+1": "demo.1", "1.0.0+2": "demo.2", "1.0.0+3": "", "1.0.0": ""} {
		sel, err := olmv1.Select(t.Context(), olmv1.Request{
			Package: "demo", Installed: &olmv1.Installed{Name: "elsewhere", Version: installed},
			Catalogs: []olmv1.Catalog{{Name: "c", Graph: c}},
		})
		var no *olmv1.Refusal
		switch {
		case want == "" && !(errors.As(err, &no) && no.Code == "no-successor"):
			t.Errorf("installed %s: got %+v, %v; want no successor", installed, sel, err)
		case want != "" && (err != nil || sel.Bundle != want):
			t.Errorf("installed %s: got %+v, %v; want %s", installed, sel, err, want)
		}
	}
}

func TestSelectObeysContext(t *testing.T) {
	// D18.
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("enough"))
	_, err := olmv1.Select(ctx, olmv1.Request{Package: "demo", Catalogs: []olmv1.Catalog{{Name: "c", Graph: demoCatalog(t)}}})
	if err == nil || err.Error() != "enough" {
		t.Errorf("got %v", err)
	}
}

func TestVersionRangeErrors(t *testing.T) {
	// H17: errors for invalid ranges suggest a valid one.
	for text, want := range map[string]string{
		"":                             `invalid version range "": it is empty; omit it to allow any version`,
		"V1.2.3":                       `invalid version range "V1.2.3": use a lowercase v, or none: write "v1.2.3"`,
		"==1.0.0":                      `invalid version range "==1.0.0": use a single = for equality: write "=1.0.0"`,
		">=1<2":                        `invalid version range ">=1<2": separate comparisons with a comma or a space: write ">=1 <2"`,
		">=1 && <2":                    `invalid version range ">=1 && <2": use a comma instead of &&: write ">=1 , <2"`,
		"1.0 | 2.0":                    `invalid version range "1.0 | 2.0": separate alternatives with ||: write "1.0 || 2.0"`,
		"[1.0,2.0)":                    `invalid version range "[1.0,2.0)": intervals in brackets are not supported; write >=1.0.0, <2.0.0`,
		"latest":                       `invalid version range "latest": want comparisons such as >=1.2.0, <2.0.0 or ^1.2 or ~1.2.3 or 1.2.x, with || between alternatives`,
		"!1.0.0 <2.0.0":                `invalid version range "!1.0.0 <2.0.0": it uses the syntax of a catalog's skipRange or versionRange (blang/semver); use the syntax of Masterminds/semver, such as >=1.2.0, <2.0.0 or ^1.2 or 1.2.x`,
		strings.Repeat("1.0.0 ", 1000): `invalid version range of 6000 bytes: at most 4096 are allowed`,
	} {
		_, err := olmv1.ParseVersionRange(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.20q: got  %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"01.2.3", "~1", "1.x.2", "*", "1.2 - 1.4", ">=1.0.0-0", "^0.0.3 || 2"} {
		if _, err := olmv1.ParseVersionRange(text); err != nil {
			t.Error(err)
		}
	}
	r, _ := olmv1.ParseVersionRange("1.x.2")
	if !r.Contains(semver.MustParse("1.5.3")) {
		t.Error("1.x.2 matches 1.5.3 (H17)")
	}
}

func TestLabelSelector(t *testing.T) {
	prod := map[string]string{"env": "prod", "tier": "gold", "olm.io/name": "a"}
	for _, tt := range []struct {
		text string
		want bool
		err  string
	}{
		{"", true, ""},
		{"env=prod", true, ""},
		{"env==prod,tier!=gold", false, ""},
		{"env in (prod, dev), tier", true, ""},
		{"env notin (prod)", false, ""},
		{"absent notin (x)", true, ""},
		{"absent!=x", true, ""},
		{"!absent", true, ""},
		{"!tier", false, ""},
		{"olm.io/name=a", true, ""},
		{"env in ()", false, ""},
		{"env in (prod", false, "the parentheses do not match"},
		{"env,,tier", false, "a requirement is empty"},
		{"env near (a)", false, "want key in (a,b)"},
		{"-env=a", false, "label key"},
		{"env=a b", false, "label value"},
		{"Olm.io/x=a", false, "before the slash"},
	} {
		s, err := olmv1.ParseLabelSelector(tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: got %v, want %s", tt.text, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if got := s.Matches(prod); got != tt.want {
			t.Errorf("%q: got %v", tt.text, got)
		}
	}
	for _, op := range []string{"Exists", "DoesNotExist"} {
		s := &olmv1.LabelSelector{MatchExpressions: []olmv1.LabelRequirement{{Key: "env", Operator: op, Values: []string{}}}}
		if got, want := s.Matches(prod), op == "Exists"; got != want || s.Validate() != nil {
			t.Errorf("%s with an empty list of values: %v, %v", op, got, s.Validate())
		}
	}
	invalid := &olmv1.LabelSelector{MatchExpressions: []olmv1.LabelRequirement{{Key: "env", Operator: "Near"}}}
	if invalid.Matches(prod) {
		t.Error("an invalid selector matches")
	}
}

func FuzzParseVersionRange(f *testing.F) {
	for _, s := range []string{"", "*", "^1.2", "~1.2.3-rc.1 || >=2, <3", "1 - 2", ">=1<2", "x.x.x", "01.2.3", "!=1.0.0-0+b", "=>1"} {
		f.Add(s, "1.2.3-rc.1")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := olmv1.ParseVersionRange(text)
		if err != nil {
			return
		}
		if r.String() != text {
			t.Errorf("%q prints as %q", text, r)
		}
		if v, err := semver.Parse(version); err == nil {
			r.Contains(v)
		}
	})
}

func FuzzParseLabelSelector(f *testing.F) {
	for _, s := range []string{"", "a=b", "a in (b,c),!d", "a notin (b)", "a!=b", "x/y==z", "((", "a,,b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := olmv1.ParseLabelSelector(text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%q parses, but the result is invalid: %v", text, err)
		}
		s.Matches(map[string]string{"a": "b"})
	})
}

func TestSelectUnreadableVersion(t *testing.T) {
	// C4: only CatalogProvided uses the installed version.
	for _, version := range []string{"1.0", "v1.0.0", ""} {
		for policy, refused := range map[olmv1.UpgradePolicy]bool{olmv1.SelfCertified: false, olmv1.CatalogProvided: true, "": true} {
			_, err := olmv1.Select(context.Background(), olmv1.Request{
				Package: "demo", Version: "2.0.0", Policy: policy, Installed: &olmv1.Installed{Name: "demo.v1", Version: version},
				Catalogs: []olmv1.Catalog{{Name: "c", Graph: demoCatalog(t)}},
			})
			var bad *document.Error
			if errors.As(err, &bad) != refused || refused && bad.Path != "/installed/version" {
				t.Errorf("version %q with policy %q: %v", version, policy, err)
			}
		}
	}
}
