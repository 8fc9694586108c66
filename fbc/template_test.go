package fbc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/property"
)

func madeBundle(pkg, version string) *Bundle {
	name := pkg + ".v" + version
	return &Bundle{Image: "q/" + pkg + ":" + version, Meta: Meta{Schema: SchemaBundle, Package: pkg, Name: name,
		Properties: []property.Property{property.NewPackage(property.Package{PackageName: pkg, Version: version})}}}
}

// TestSemverTemplate expands templates to channels and edges (A15), which are
// valid catalogs.
func TestSemverTemplate(t *testing.T) {
	g := golden{file: "semver.txtar"}
	images := func(grade string, versions ...string) string {
		if len(versions) == 0 {
			return ""
		}
		s := grade + ":\n  bundles:\n"
		for _, v := range versions {
			s += "  - image: q/a:" + v + "\n"
		}
		return s
	}
	many := []string{"1.2.1", "0.1.0", "0.1.1", "1.0.0", "1.0.1", "1.1.0", "1.2.0", "2.0.0", "1.0.2"}
	for _, c := range []struct{ name, text string }{
		{"minor-by-default", "schema: olm.semver\n" + images("stable", many...)},
		{"major", "Schema: olm.semver\nGenerateMajorChannels: true\n" + images("Stable", many...)},
		{"both-prefer-major", "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: major\n" + images("candidate", "1.1.0", "1.2.0") + images("fast", "1.0.0", "1.1.0")},
		{"both", "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\n" + images("candidate", "1.1.0")},
		{"other-schema", "schema: olm.package\n"},
		{"no-bundles", "schema: olm.semver\nstable: {bundles: []}\n"},
		{"odd-preference", "schema: olm.semver\ngenerateMajorChannels: true\ndefaultChannelTypePreference: minor\nextra: 1\nfast: {bundles: [{image: A}, {image: a}, {image: a}]}\n"},
		{"two-documents", "schema: olm.semver\n---\nschema: olm.semver\n"},
		{"wrong-types", "schema: 1\ngenerateMajorChannels: yes please\nfast: 1\n"},
	} {
		s, err := ParseSemver(t.Context(), []byte(c.text), "t.yaml")
		if err != nil {
			g.add(c.name, err.Error())
			continue
		}
		made, err := s.Expand(t.Context(), func(_ context.Context, image string) (*Bundle, error) {
			return madeBundle("a", strings.TrimPrefix(image, "q/a:")), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Validate(t.Context(), made, nil); err != nil || len(found.Errors()) > 0 {
			t.Errorf("%s: %v %v", c.name, err, found)
		}
		text := "default " + made.Packages[0].DefaultChannel + "\n"
		for _, ch := range made.Channels {
			text += ch.Name + "\n"
			for _, e := range ch.Entries {
				text += strings.TrimRight(fmt.Sprintf("  %s replaces %s skips %s", e.Name, e.Replaces, strings.Join(e.Skips, " ")), " ") + "\n"
			}
		}
		g.add(c.name, text)
	}
	two := &SemverTemplate{Minor: true, Stable: []string{"x", "y"}}
	for name, bundle := range map[string]func(context.Context, string) (*Bundle, error){
		"cannot-render": func(context.Context, string) (*Bundle, error) { return nil, errors.New("no registry") },
		"two-packages":  func(_ context.Context, image string) (*Bundle, error) { return madeBundle(image, "1.0.0"), nil },
		"same-bundle":   func(context.Context, string) (*Bundle, error) { return madeBundle("a", "1.0.0"), nil },
		"same-version": func(_ context.Context, image string) (*Bundle, error) {
			b := madeBundle("a", "1.0.0+"+image)
			return b, nil
		},
		"no-version": func(context.Context, string) (*Bundle, error) { return &Bundle{Meta: Meta{Name: "b"}}, nil },
	} {
		_, err := two.Expand(t.Context(), bundle)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if want := `"a.v1.0.0+x" (1.0.0+x) and "a.v1.0.0+y" (1.0.0+y)`; name == "same-version" && !strings.Contains(errText(err), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	g.check(t)
}

// TestSemverTemplatePresents gives a package the description and the icon of the
// bundle that the default channel ends with (A15).
func TestSemverTemplatePresents(t *testing.T) {
	s := &SemverTemplate{Minor: true, Stable: []string{"1.0.0", "1.1.0"}, Fast: []string{"2.0.0"}}
	for _, tt := range []struct {
		icon *Icon
		want string
	}{
		{&Icon{"PHN2Zy8+", "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0.","icon":{"base64data":"PHN2Zy8+","mediatype":"image/svg+xml"}}`},
		{&Icon{"no base64", "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
		{&Icon{"", "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
		{nil, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
	} {
		c, err := s.ExpandDirs(t.Context(), func(_ context.Context, image string) (*BundleDir, error) {
			return &BundleDir{Bundle: madeBundle("a", image), Description: "Of " + image + ".", Icon: tt.icon}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Packages[0].Raw); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.icon, got, tt.want)
		}
	}
}

// TestDetectTemplate decides by the first document of a file, not by its text
// (A18).
func TestDetectTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"schema: olm.semver\n":                                                     "semver",
		"# A comment.\n---\nSchema: 'olm.semver'\n":                                "semver",
		`{"stable": {}, "schema": "olm.semver"}`:                                   "semver",
		"schema: olm.template.basic\nentries: []\n":                                "basic",
		"schema: olm.composite\n":                                                  "composite",
		"name: a\nreferences: []\n":                                                "composite",
		"schema: olm.template.substitutes\n":                                       "substitutes",
		"schema: olm.template.new\n":                                               "new",
		"schema: olm.package\nreferences: []\n":                                    "",
		"schema: x\ndescription: |\n  schema: olm.semver\n":                        "",
		"schema: olm.package\nname: a # schema: olm.semver\n":                      "",
		`{"schema": "olm.package", "description": "{\"schema\": \"olm.semver\"}"}`: "",
		"schema: x\nnested:\n  schema: olm.semver\n":                               "",
		"schema: x\n---\nschema: olm.semver\n":                                     "",
		"schema: 'olm.semver\n":                                                    "",
		"- schema: olm.semver\n":                                                   "",
		"olm.semver\n":                                                             "",
		"":                                                                         "",
	} {
		if got := DetectTemplate(t.Context(), []byte(text), "t.yaml"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTemplateIsNotACatalog refuses a template in the place of a catalog, and
// warns of one among the blobs of a catalog (A18).
func TestTemplateIsNotACatalog(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{"olm.semver", `is a semver template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=DIRECTORY"`},
		{"olm.template.basic", `is a basic template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=DIRECTORY"`},
		{"olm.template.substitutes", `is a substitutes template, which describes a catalog and is not part of one; olmkit cannot render it yet, "opm alpha render-template substitutes" can`},
		{"olm.template.new", `is a template of the unknown kind "new", which is not part of a catalog; render it with the tool that it was written for`},
	} {
		text := "schema: " + tt.schema + "\n"
		for _, opts := range []*LoadOptions{nil, {Visit: func(Blob) {}}} {
			_, err := LoadBytes(t.Context(), []byte(text), "t.yaml", opts)
			if want := "t.yaml:1: " + tt.schema + ": /schema: " + tt.want; errText(err) != want {
				t.Errorf("load: %v, want %s", err, want)
			}
		}
		_, found, err := CheckBytes(t.Context(), []byte(text), "t.yaml", nil, nil)
		if err != nil || len(found) != 1 || found[0].Code != CodeEmpty || found[0].Err.Error() != tt.want {
			t.Errorf("check: %v %v, want %s", found, err, tt.want)
		}
		_, found, err = CheckBytes(t.Context(), []byte(baseCatalog+"---\n"+text), "t.yaml", nil, nil)
		if err != nil || len(found) != 1 || found[0].Code != CodeTemplate || found[0].Err.Error() != tt.want+", and list the file in .indexignore" {
			t.Errorf("check: %v %v, want %s", found, err, tt.want)
		}
		if formatted, err := Format(t.Context(), []byte(text), "t.yaml", nil); err != nil || len(formatted) == 0 {
			t.Errorf("format: %q %v", formatted, err)
		}
	}
}

func TestComposite(t *testing.T) {
	g := golden{file: "composite.txtar"}
	text := "name: community\nrepo: quay.io/c/catalog\ntag: latest\nreferences:\n- name: a\n  image: q/a@sha256:" + strings.Repeat("ab", 32) + "\n- name: b\n  image: q/b:v1\n"
	c, err := ParseComposite(t.Context(), []byte(text), "catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	load := func(_ context.Context, r Reference) (*Catalog, error) {
		return LoadBytes(context.Background(), []byte(strings.ReplaceAll(pkgA+channel+bundle, `"a`, `"`+r.Name)), r.Name, nil)
	}
	parts, whole, err := c.Expand(t.Context(), load)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, p := range parts {
		out += fmt.Sprintf("%s: %v\n", p.Path, p.Catalog.PackageNames())
	}
	g.add("expanded", out+fmt.Sprintf("all: %v\n", whole.PackageNames()))
	_, _, err = c.Expand(t.Context(), func(_ context.Context, r Reference) (*Catalog, error) {
		return load(context.Background(), Reference{Name: "a"})
	})
	g.add("same-package-twice", errText(err))
	_, _, err = c.Expand(t.Context(), func(context.Context, Reference) (*Catalog, error) { return nil, errors.New("no registry") })
	g.add("cannot-load", errText(err))
	for name, text := range map[string]string{"empty": "name: ''\n"} {
		_, err := ParseComposite(t.Context(), []byte(text), "c.yaml")
		g.add(name, errText(err))
	}
	_, err = ParseComposite(t.Context(), []byte("name: n\nwhat: 1\nreferences: [{name: ../x, image: a}, {name: a, image: A}, {name: a, image: a}, {}]\n"), "c.yaml")
	g.add("broken", errText(err))
	g.check(t)
}
