package template

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/property"
)

func madeBundle(pkg, version string) *bundle.Dir {
	name := pkg + ".v" + version
	return &bundle.Dir{Bundle: &fbc.Bundle{Image: "q/" + pkg + ":" + version, Meta: fbc.Meta{Schema: fbc.SchemaBundle, Package: pkg, Name: name,
		Properties: []property.Property{property.New(property.TypePackage, property.Package{PackageName: pkg, Version: version})}}}}
}

// TestSemver checks the channels and edges of expanded templates (A15), and
// that they are valid catalogs.
func TestSemver(t *testing.T) {
	g := golden.Archive{File: "semver.txtar"}
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
			g.Add(c.name, err.Error())
			continue
		}
		made, err := s.Expand(t.Context(), func(_ context.Context, image string) (*bundle.Dir, error) {
			return madeBundle("a", strings.TrimPrefix(image, "q/a:")), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := fbc.Validate(t.Context(), made, nil); err != nil || len(found.Errors()) > 0 {
			t.Errorf("%s: %v %v", c.name, err, found)
		}
		text := "default " + made.Packages[0].DefaultChannel + "\n"
		for _, ch := range made.Channels {
			text += ch.Name + "\n"
			for _, e := range ch.Entries {
				text += strings.TrimRight(fmt.Sprintf("  %s replaces %s skips %s", e.Name, e.Replaces, strings.Join(e.Skips, " ")), " ") + "\n"
			}
		}
		g.Add(c.name, text)
	}
	two := &Semver{Minor: true, Stable: []string{"x", "y"}}
	for name, load := range map[string]func(context.Context, string) (*bundle.Dir, error){
		"cannot-render": func(context.Context, string) (*bundle.Dir, error) { return nil, errors.New("no registry") },
		"two-packages":  func(_ context.Context, image string) (*bundle.Dir, error) { return madeBundle(image, "1.0.0"), nil },
		"same-bundle":   func(context.Context, string) (*bundle.Dir, error) { return madeBundle("a", "1.0.0"), nil },
		"same-version": func(_ context.Context, image string) (*bundle.Dir, error) {
			return madeBundle("a", "1.0.0+"+image), nil
		},
		"no-version": func(context.Context, string) (*bundle.Dir, error) {
			return &bundle.Dir{Bundle: &fbc.Bundle{Meta: fbc.Meta{Name: "b"}}}, nil
		},
	} {
		_, err := two.Expand(t.Context(), load)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if want := `"a.v1.0.0+x" (1.0.0+x) and "a.v1.0.0+y" (1.0.0+y)`; name == "same-version" && !strings.Contains(errText(err), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	neither := &Semver{Stable: []string{"1.0.0"}}
	if c, err := neither.Expand(t.Context(), func(_ context.Context, image string) (*bundle.Dir, error) { return madeBundle("a", image), nil }); err == nil {
		t.Errorf("a template without channels: %v", c)
	}
	g.Check(t)
}

// TestSemverPresents checks that a package has the description and the icon of
// the bundle at the head of its default channel (A15).
func TestSemverPresents(t *testing.T) {
	s := &Semver{Minor: true, Stable: []string{"1.0.0", "1.1.0"}, Fast: []string{"2.0.0"}}
	for _, tt := range []struct {
		icon *bundle.Icon
		want string
	}{
		{&bundle.Icon{Base64Data: "PHN2Zy8+", MediaType: "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0.","icon":{"base64data":"PHN2Zy8+","mediatype":"image/svg+xml"}}`},
		{&bundle.Icon{Base64Data: "no base64", MediaType: "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
		{&bundle.Icon{Base64Data: "", MediaType: "image/svg+xml"}, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
		{nil, `{"schema":"olm.package","name":"a","defaultChannel":"stable-v1.1","description":"Of 1.1.0."}`},
	} {
		c, err := s.Expand(t.Context(), func(_ context.Context, image string) (*bundle.Dir, error) {
			return &bundle.Dir{Bundle: madeBundle("a", image).Bundle, Description: "Of " + image + ".", Icon: tt.icon}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Packages[0].Raw); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.icon, got, tt.want)
		}
	}
}

// TestDetect checks that only the first document of a file determines its kind
// (A18).
func TestDetect(t *testing.T) {
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
		if got := Detect(t.Context(), strings.NewReader(text), "t.yaml", nil); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestComposite(t *testing.T) {
	g := golden.Archive{File: "composite.txtar"}
	text := "name: community\nrepo: quay.io/c/catalog\ntag: latest\nreferences:\n- name: a\n  image: q/a@sha256:" + strings.Repeat("ab", 32) + "\n- name: b\n  image: q/b:v1\n"
	c, err := ParseComposite(t.Context(), []byte(text), "catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	load := func(_ context.Context, r Reference) (*fbc.Catalog, error) {
		return fbc.LoadReader(context.Background(), strings.NewReader(strings.ReplaceAll(catalogA, `"a`, `"`+r.Name)), r.Name, nil)
	}
	parts, whole, err := c.Expand(t.Context(), load)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, p := range parts {
		out += fmt.Sprintf("%s: %v\n", p.Path, p.Catalog.PackageNames())
	}
	g.Add("expanded", out+fmt.Sprintf("all: %v\n", whole.PackageNames()))
	_, _, err = c.Expand(t.Context(), func(_ context.Context, r Reference) (*fbc.Catalog, error) {
		return load(context.Background(), Reference{Name: "a"})
	})
	g.Add("same-package-twice", errText(err))
	_, _, err = c.Expand(t.Context(), func(context.Context, Reference) (*fbc.Catalog, error) { return nil, errors.New("no registry") })
	g.Add("cannot-load", errText(err))
	for name, text := range map[string]string{"empty": "name: ''\n"} {
		_, err := ParseComposite(t.Context(), []byte(text), "c.yaml")
		g.Add(name, errText(err))
	}
	_, err = ParseComposite(t.Context(), []byte("name: n\nwhat: 1\nreferences: [{name: ../x, image: a}, {name: a, image: A}, {name: a, image: a}, {}]\n"), "c.yaml")
	g.Add("broken", errText(err))
	g.Check(t)
}

const catalogA = `{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"q/a:1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
`

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
