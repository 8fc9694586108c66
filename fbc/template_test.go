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

// TestTemplateIsNotACatalog refuses a template in the place of a catalog. Among the
// blobs of a catalog it is a warning, and an error where a load refuses templates
// (A18). The advice fits what else the file and the catalog hold.
func TestTemplateIsNotACatalog(t *testing.T) {
	const render = `render it with "olmkit render FILE --from IMAGE=DIRECTORY"`
	for _, tt := range []struct{ text, schema, what, do string }{
		{"schema: olm.semver\n", "olm.semver", "is a semver template, which describes a catalog and is not part of one; ", render},
		{"schema: olm.template.basic\n", "olm.template.basic", "is a basic template, which describes a catalog and is not part of one; ", render},
		{"schema: olm.composite\n", "olm.composite", "is a composite template, which describes a catalog and is not part of one; ", `render it with "olmkit render FILE --from IMAGE=CATALOG"`},
		{"schema: olm.composite\ncomponents: []\n", "olm.composite", "is a composite template, which describes a catalog and is not part of one; it has the form with components, which opm dropped and olmkit does not render; ", adviceComponents},
		{"schema: olm.composite.catalogs\n", "olm.composite.catalogs", "is a composite template, which describes a catalog and is not part of one; it has the form with components, which opm dropped and olmkit does not render; ", adviceComponents},
		{"schema: olm.template.substitutes\n", "olm.template.substitutes", "is a substitutes template, which describes a catalog and is not part of one; ", `render it with "opm alpha render-template substitutes", because olmkit cannot render it yet`},
		{"schema: olm.template.new\nname: 1\n", "olm.template.new", `is a template of the unknown kind "new", which is not part of a catalog; `, "render it with the tool that it was written for"},
	} {
		prefix := ": " + tt.schema + ": /schema: " + tt.what
		that := strings.Replace(tt.do, "render it", "render that", 1)
		for _, x := range []struct {
			files []string
			want  string // of the load; of a load that refuses templates if there are blobs
			blobs bool
		}{
			{[]string{"t.yaml", tt.text}, "t.yaml:1" + prefix + tt.do, false},
			{[]string{"t.yaml", tt.text + "---\n" + tt.text}, "t.yaml:1" + prefix + "move it to a separate file, and " + that + "\nt.yaml:" + fmt.Sprint(2+strings.Count(tt.text, "\n")) + prefix + "move it to a separate file, and " + that, false},
			{[]string{"a/c.json", baseCatalog, "b/t.yaml", tt.text}, "b/t.yaml:1" + prefix + "move its file out of the catalog, and " + tt.do, true},
			{[]string{"b/t.yaml", tt.text, "c.json", baseCatalog}, "b/t.yaml:1" + prefix + "move its file out of the catalog, and " + tt.do, true},
			{[]string{"t.yaml", tt.text + "---\n" + baseCatalog}, "t.yaml:1" + prefix + "move it to a separate file outside the catalog, and " + that, true},
		} {
			tree := files(x.files...)
			for _, opts := range []LoadOptions{{}, {Visit: func(Blob) {}}, {chunk: 7}, {Keep: KeepAll}, {RefuseTemplates: true}} {
				c, err := Load(t.Context(), tree, &opts)
				got, one := errText(err), (*TemplateError)(nil)
				switch isOne := errors.As(err, &one); {
				case x.blobs && !opts.RefuseTemplates:
					if err != nil {
						t.Fatal(err)
					}
					if got = c.Findings.Error(); c.Findings.Err() != nil {
						t.Errorf("%q: want warnings only", x.files)
					}
				case !isOne || one.Kind == "" || one.InCatalog != x.blobs:
					t.Errorf("%q: want a TemplateError, got %#v", x.files, err)
				}
				if got != x.want {
					t.Errorf("%q: %s\nwant %s", x.files, got, x.want)
				}
			}
			_, found, err := Check(t.Context(), tree, nil, nil)
			code := map[bool]Code{true: CodeTemplate, false: CodeEmpty}[x.blobs]
			if err != nil || found.Error() != x.want || found[0].Code != code || (found.Err() == nil) != x.blobs {
				t.Errorf("check %q: %v %v\nwant %s", x.files, found, err, x.want)
			}
		}
		one := new(TemplateError)
		if out, err := Format(t.Context(), []byte(tt.text), "t.yaml", nil); !errors.As(err, &one) {
			t.Errorf("format: %q %v, want a TemplateError", out, err)
		}
	}
}

// TestTemplatesAreCounted counts the templates of a large catalog that are not
// listed, and reports none of them twice (A16, A18).
func TestTemplatesAreCounted(t *testing.T) {
	text := baseCatalog + strings.Repeat("---\nschema: olm.semver\n", 5)
	opts := LoadOptions{Limits: &Limits{Diagnostics: 3}}
	c, err := LoadBytes(t.Context(), []byte(text), "t.yaml", &opts)
	if err != nil || len(c.Findings) != 4 || !strings.HasPrefix(c.Findings[3].Err.Error(), "2 more ") {
		t.Errorf("%v %v", c, err)
	}
	opts.RefuseTemplates = true
	var found Diagnostics
	if _, err = LoadBytes(t.Context(), []byte(text), "t.yaml", &opts); !errors.As(err, &found) || len(found) != 4 {
		t.Errorf("%v", err)
	}
}

// TestRecipeWithoutSchema reports what a document without a schema looks like (A18).
func TestRecipeWithoutSchema(t *testing.T) {
	const what = "t.yaml:1: /schema: is missing; the document looks like a "
	for text, want := range map[string]string{
		"references: []\n":     what + `composite template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=CATALOG"`,
		"components: []\n":     what + "composite template, which describes a catalog and is not part of one; it has the form with components, which opm dropped and olmkit does not render; " + adviceComponents,
		"Schema: olm.semver\n": what + `semver template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=DIRECTORY"`,
		"Schema: x\n":          "t.yaml:1: /schema: is missing",
		"name: a\n":            "t.yaml:1: /schema: is missing",
	} {
		if _, err := LoadBytes(t.Context(), []byte(text), "t.yaml", nil); errText(err) != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
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
