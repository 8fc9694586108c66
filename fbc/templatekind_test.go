package fbc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/codes"
)

// TestTemplateIsNotACatalog checks that loading a template as a catalog is an error. Among
// the blobs of a catalog, a template is a warning, or an error if the load refuses
// templates (A18). The advice depends on the other content of the file and the catalog.
func TestTemplateIsNotACatalog(t *testing.T) {
	const render = `render it with "olmkit render FILE --from IMAGE=DIRECTORY"`
	for _, tt := range []struct{ text, schema, what, do string }{
		{"schema: olm.semver\n", "olm.semver", "is a semver template, which describes a catalog and is not part of one; ", render},
		{"schema: olm.template.basic\n", "olm.template.basic", "is a basic template, which describes a catalog and is not part of one; ", render},
		{"schema: olm.composite\n", "olm.composite", "is a composite template, which describes a catalog and is not part of one; ", `render it with "olmkit render FILE --from IMAGE=CATALOG"`},
		{"schema: olm.composite\ncomponents: []\n", "olm.composite", "is a composite template, which describes a catalog and is not part of one; it lists components, a form that opm dropped and olmkit does not render; ", adviceComponents},
		{"schema: olm.composite.catalogs\n", "olm.composite.catalogs", "is a composite template, which describes a catalog and is not part of one; it lists components, a form that opm dropped and olmkit does not render; ", adviceComponents},
		{"schema: olm.template.substitutes\n", "olm.template.substitutes", "is a substitutes template, which describes a catalog and is not part of one; ", `render it with "opm alpha render-template substitutes", because olmkit cannot render it yet`},
		{"schema: olm.template.new\nname: 1\n", "olm.template.new", `is a template of the unknown kind "new", which is not part of a catalog; `, "render it with the tool that it was written for"},
	} {
		prefix := ": " + tt.schema + ": /schema: " + tt.what
		that := strings.Replace(tt.do, "render it", "render that", 1)
		for _, x := range []struct {
			files []string
			want  string // of the load, or of one that refuses templates if there are blobs
			blobs bool
		}{
			{[]string{"t.yaml", tt.text}, "t.yaml:1" + prefix + tt.do, false},
			{[]string{"t.yaml", tt.text + "---\n" + tt.text}, "t.yaml:1" + prefix + "move it to a separate file, and " + that + "\nt.yaml:" + fmt.Sprint(2+strings.Count(tt.text, "\n")) + prefix + "move it to a separate file, and " + that, false},
			{[]string{"a/c.json", baseCatalog, "b/t.yaml", tt.text}, "b/t.yaml:1" + prefix + "move its file out of the catalog, and " + tt.do, true},
			{[]string{"b/t.yaml", tt.text, "c.json", baseCatalog}, "b/t.yaml:1" + prefix + "move its file out of the catalog, and " + tt.do, true},
			{[]string{"t.yaml", tt.text + "---\n" + baseCatalog}, "t.yaml:1" + prefix + "move it to a separate file outside the catalog, and " + that, true},
		} {
			tree := files(x.files...)
			for _, opts := range []LoadOptions{{}, {Visit: func(Blob) {}}, {chunk: 7}, {KeepAll: true}, {RefuseTemplates: true}} {
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
			code := map[bool]Code{true: codes.Template, false: codes.Empty}[x.blobs]
			if err != nil || found.Error() != x.want || found[0].Code != code || (found.Err() == nil) != x.blobs {
				t.Errorf("check %q: %v %v\nwant %s", x.files, found, err, x.want)
			}
		}
		one := new(TemplateError)
		if out, err := rewritten(t.Context(), []byte(tt.text), YAML); !errors.As(err, &one) {
			t.Errorf("format: %q %v, want a TemplateError", out, err)
		}
	}
}

// TestTemplatesAreCounted checks that templates beyond the limit on findings are counted,
// and that none is reported twice (A16, A18).
func TestTemplatesAreCounted(t *testing.T) {
	text := baseCatalog + strings.Repeat("---\nschema: olm.semver\n", 5)
	opts := LoadOptions{Limits: &Limits{Diagnostics: 3}}
	c, err := LoadReader(t.Context(), strings.NewReader(text), "t.yaml", &opts)
	if err != nil || len(c.Findings) != 4 || !strings.HasPrefix(c.Findings[3].Err.Error(), "2 more ") {
		t.Errorf("%v %v", c, err)
	}
	opts.RefuseTemplates = true
	var found Diagnostics
	if _, err = LoadReader(t.Context(), strings.NewReader(text), "t.yaml", &opts); !errors.As(err, &found) || len(found) != 4 {
		t.Errorf("%v", err)
	}
}

// TestRecipeWithoutSchema checks that the error for a document without a schema names the
// kind of template that it resembles (A18).
func TestRecipeWithoutSchema(t *testing.T) {
	const what = "t.yaml:1: /schema: is missing; the document looks like a "
	for text, want := range map[string]string{
		"references: []\n":     what + `composite template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=CATALOG"`,
		"components: []\n":     what + "composite template, which describes a catalog and is not part of one; it lists components, a form that opm dropped and olmkit does not render; " + adviceComponents,
		"Schema: olm.semver\n": what + `semver template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=DIRECTORY"`,
		"Schema: x\n":          "t.yaml:1: /schema: is missing",
		"name: a\n":            "t.yaml:1: /schema: is missing",
	} {
		if _, err := LoadReader(t.Context(), strings.NewReader(text), "t.yaml", nil); errText(err) != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
