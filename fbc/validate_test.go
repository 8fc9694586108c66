package fbc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/codes"
)

// TestRealValidate checks that the same packages are valid as in opm, and that
// invalid ones have the same errors (A5-A10).
func TestRealValidate(t *testing.T) {
	for _, name := range realNames {
		t.Run(name, func(t *testing.T) {
			if name == "community-invalid" {
				t.Skip("see TestRealInvalid")
			}
			_, found, err := Check(t.Context(), realTree(t, name), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found.Errors() {
				t.Errorf("[%s] %v", d.Code, d)
			}
			t.Logf("warnings: %s", tally(found))
		})
	}
}

// tally counts findings by code.
func tally(ds Diagnostics) string {
	n := map[Code]int{}
	var codes []Code
	for _, d := range ds {
		if n[d.Code]++; n[d.Code] == 1 {
			codes = append(codes, d.Code)
		}
	}
	slices.Sort(codes)
	var out []string
	for _, c := range codes {
		out = append(out, fmt.Sprintf("%s %d", c, n[c]))
	}
	return strings.Join(out, ", ")
}

func TestRealInvalid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(shared, "catalogs", "community-report.json"))
	if err != nil {
		t.Skipf("no real catalogs here: %v", err)
	}
	var report struct {
		Invalid []struct {
			Package string
			Classes []string
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	codes := map[string]Code{"multiple-heads": codes.Heads, "stranded-bundles": codes.Stranded, "invalid-skip-range": codes.SkipRange, "invalid-image-reference": codes.Image}
	_, found, err := Check(t.Context(), realTree(t, "community-invalid"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Invalid {
		got := map[Code]bool{}
		for _, d := range found.Errors() {
			if d.Package == p.Package {
				got[d.Code] = true
			}
		}
		for _, class := range p.Classes {
			code, ok := codes[class]
			if !ok {
				t.Fatalf("unknown class %s", class)
			}
			if !got[code] {
				t.Errorf("%s: %s not found, only %v", p.Package, class, got)
			}
		}
		if len(got) != len(p.Classes) {
			t.Logf("%s: opm %v, we %v", p.Package, p.Classes, got)
		}
	}
	t.Logf("%d packages; %s", len(report.Invalid), tally(found))
}

// TestConformance compares verdicts with opm's. If a rule is stricter or looser
// on purpose, the mutation is in deliberate.
func TestConformance(t *testing.T) {
	f, err := os.Open(filepath.Join(shared, "conformance", "validate.jsonl"))
	if err != nil {
		t.Skipf("no conformance cases here: %v", err)
	}
	defer f.Close()
	cases, agree, differ := 0, 0, 0
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c struct {
			ID, Mutation, Rule, FBC string
			Want                    struct {
				OK    bool
				Error string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases++
		_, found, err := CheckReader(t.Context(), strings.NewReader(c.FBC), "catalog.yaml", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ok := found.Err() == nil
		reason, listed := deliberate[c.Mutation]
		seen[c.Mutation] = true
		switch {
		case ok == c.Want.OK && !listed:
			agree++
		case ok != c.Want.OK && listed:
			differ++
		case listed:
			t.Errorf("%s: agrees with opm, but is listed: %s", c.ID, reason)
		default:
			t.Errorf("%s (%s): we say %v, opm %v %s\n%s", c.ID, c.Rule, ok, c.Want.OK, c.Want.Error, found.Errors().Error())
		}
	}
	for m := range deliberate {
		if !seen[m] {
			t.Errorf("no case of %s", m)
		}
	}
	t.Logf("%d cases: %d agree with opm, %d differ on purpose", cases, agree, differ)
}

// deliberate lists the mutations for which our verdict differs from opm's, with
// the reason.
var deliberate = func() map[string]string {
	out := map[string]string{}
	for reason, mutations := range map[string]string{
		"stricter by A4: properties have a type and a value, in every blob": "package-property-null-value package-property-no-type channel-property-null " +
			"property-null-value-0 property-null-value-1 property-null-value-3 property-no-type-0 property-no-type-2 raw-yaml-property-null-tilde unknown-schema-property-null",
		"stricter by A4: package is not empty and properties are a list, in blobs of unknown schemas too": "unknown-schema-empty-package unknown-schema-properties-text",
		"stricter by A7: a cycle among skipped entries is a cycle":                                        "channel-cycle-all-skipped channel-skipped-replaces-itself",
		"stricter by A9: olm.deprecations has no name":                                                    "deprecation-with-name",
		"stricter by A13: GVKs follow the naming rules of Kubernetes": "gvk-bad-0 gvk-bad-1 gvk-bad-2 gvk-bad-3 gvk-bad-5 gvk-bad-6 gvk-bad-7 gvk-bad-8 " +
			"gvk-required-bad-1 gvk-required-bad-5 gvk-required-bad-8",
		"stricter by D2, D3, H7: requirements that cannot be read": "package-required-bad-0 package-required-bad-1 package-required-bad-2 package-required-bad-3 package-required-bad-4 package-required-bad-5 " +
			"constraint-bad-0 constraint-bad-1 constraint-bad-2 constraint-bad-3 constraint-bad-4 constraint-bad-5",
		"stricter by C7: a malformed limit must not pass for none":             "maxOpenShift-bad",
		"stricter by H20: keys are read as they are written":                   "key-case",
		"stricter by H18: of a key that appears twice, one value is lost":      "raw-yaml-duplicate-key",
		"stricter by H19: the second document, which opm drops, has no schema": "raw-bom-then-two-json-documents raw-comment-then-two-json-documents",
		"looser by H19: documents without content are passed over":             "raw-comment-before-first-dashes raw-comment-document-between raw-comment-document-at-end raw-blank-lines-before-first-dashes raw-yaml-double-dashes",
		"looser by H19: all documents are kept, and the catalog is valid":      "raw-json-single-quotes raw-json-bom raw-json-huge-exponent raw-json-leading-comment raw-json-one-document-yaml-comment",
	} {
		for m := range strings.FieldsSeq(mutations) {
			out[m] = reason
		}
	}
	return out
}()

// TestBundleWithoutImage accepts a bundle without an image if it has its manifests
// as olm.bundle.object (A19).
func TestBundleWithoutImage(t *testing.T) {
	const object = "- {type: olm.bundle.object, value: {data: e30=}}\n"
	for _, tt := range []struct {
		image, properties string
		want              string
	}{
		{"", object, ""},
		{"", object + object, ""},
		{"image: q/a:1\n", "", ""},
		{"image: ''\n", object, ""},
		{"", "", "/image: is missing or empty; name the image of the bundle, or add its manifests as olm.bundle.object"},
		{"", "- {type: olm.csv.metadata, value: {}}\n", "/image: is missing or empty"},
	} {
		text := "schema: olm.package\nname: a\ndefaultChannel: s\n---\nschema: olm.channel\npackage: a\nname: s\nentries: [{name: a.v1}]\n---\n" +
			"schema: olm.bundle\npackage: a\nname: a.v1\n" + tt.image + "properties:\n- {type: olm.package, value: {packageName: a, version: 1.0.0}}\n" + tt.properties
		_, found, err := CheckReader(t.Context(), strings.NewReader(text), "f", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := found.Error(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q: %s, want %s", text, got, tt.want)
		}
		// A catalog loaded without heavy values has the same findings.
		c, err := LoadReader(t.Context(), strings.NewReader(text), "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Validate(t.Context(), c, nil); err != nil || again.Error() != found.Error() {
			t.Errorf("%q: %v %v, want %v", text, again, err, found)
		}
	}
}
