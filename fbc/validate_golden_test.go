package fbc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/constraints"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/golden"
)

// TestValidateGolden compares the messages of findings that are not in the
// examples of the explanations with golden files.
func TestValidateGolden(t *testing.T) {
	pkg := func(rest string) string { return baseCatalog + "---\n" + rest }
	b := func(props string) string {
		return pkg("schema: olm.bundle\npackage: etcd\nname: x\nimage: i\nproperties:\n" + props + "\n---\nschema: olm.channel\npackage: etcd\nname: x\nentries: [{name: x}]\n")
	}
	g := golden.Archive{File: "validate.txtar"}
	for _, c := range []struct{ name, text string }{
		{"valid", baseCatalog},
		{"no-package-once", "schema: olm.channel\npackage: a\nname: s\nentries: [{name: x}]\n---\nschema: olm.bundle\npackage: a\nname: z\n---\nschema: olm.deprecations\npackage: a\n"},
		{"channels-only", "schema: olm.package\nname: a\ndefaultChannel: s\n---\nschema: olm.channel\npackage: a\nname: s\nentries: [{name: x}]\n"},
		{"long-package-name", "schema: olm.package\nname: " + strings.Repeat("a", 64) + "\ndefaultChannel: s\n"},
		{"no-package-property", b("- {type: x, value: 1}")},
		{"two-package-properties", b("- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}\n- {type: olm.package, value: {packageName: etcd, version: 1.0.1}}")},
		{"bad-values", b(`- {type: olm.package, value: {packageName: etcd, version: 1}}
- {type: olm.gvk, value: []}
- {type: olm.gvk.required, value: {group: g, version: v1}}
- {type: olm.gvk.required, value: {group: G, version: v1, kind: K}}
- {type: olm.constraint, value: {all: {constraints: []}}}
- {type: olm.constraint, value: {any: {constraints: [{gvk: {group: a.b, version: v1, kind: K}}, {package: {packageName: p, versionRange: ">=1.0.0"}}]}}}
- {type: olm.constraint, value: {not: {constraints: [{gvk: {group: a.b, version: v1, kind: K}}]}}}
- {type: olm.label, value: x}
- {type: olm.label.required, value: {label: l}}
- {type: olm.kubeversion, value: {version: new}}
- {type: olm.csv.metadata, value: []}
- {type: olm.bundle.object, value: {data: "%"}}
- {type: olm.bundle.object, value: {ref: file}}
- {type: own, value: {a: 1}}
- {type: own, value: null}`)},
		{"release-too-long", b("- {type: olm.package, value: {packageName: etcd, version: 1.0.0, release: abcdefghijklmnopqrstu}}")},
		{"release-and-build", b("- {type: olm.package, value: {packageName: etcd, version: 1.0.0+1, release: '01'}}\n- {type: own, value: 1}")},
		{"release-with-build", b("- {type: olm.package, value: {packageName: etcd, version: 1.0.0+1, release: '1'}}")},
		{"deprecations", pkg(`schema: olm.deprecations
package: etcd
name: own
entries:
- {reference: {schema: olm.package, name: etcd}, message: m}
- {reference: {schema: olm.package}, message: m}
- {reference: {schema: olm.package}, message: again}
- {reference: {schema: olm.channel}, message: m}
- {reference: {schema: olm.channel, name: gone}, message: m}
- {reference: {schema: olm.bundle, name: etcd.v0.9.0}}
- {reference: {schema: olm.gvk, name: x}, message: m}
- {reference: {}, message: m}
- {message: m}
---
schema: olm.deprecations
package: etcd
`)},
		{"graph", pkg(`schema: olm.channel
package: etcd
name: many-faults
entries:
- {name: a, replaces: b, skips: [""]}
- {name: b, replaces: a}
- {name: c, replaces: c, skipRange: "not a range"}
- {name: d}
- {name: e}
---
schema: olm.channel
package: etcd
name: empty
entries: []
---
schema: olm.channel
package: etcd
name: itself
entries: [{name: etcd.v0.9.0, skips: [etcd.v0.9.0]}]
`)},
		{"deprecated-property-on-head", strings.Replace(baseCatalog, "version: 0.9.2}\n", "version: 0.9.2}\n- {type: olm.deprecated, value: {}}\n", 1)},
		{"images", strings.ReplaceAll(baseCatalog, "quay.io/example/etcd:v0.9.0", "UPPER/x:1") + "relatedImages:\n- {image: 'a@sha256:123'}\n- {image: 'a:b c'}\n- {image: 'ex_ample.com/a'}\n- {image: '" + strings.Repeat("a", 64) + "'}\n- {image: 'quay.io/'}\n- {image: 'quay.io//a'}\n- {image: 'localhost:5000/a/b:v1'}\n- {image: a}\n"},
		{"others", pkg("schema: olm.composite\nproperties: [{type: olm.nope, value: 1}]\n---\nschema: own\n")},
		{"refused-and-validated", pkg("schema: olm.bundle\npackage: etcd\nname: broken\nimage: 1\n---\n{broken\n")},
	} {
		_, found, err := CheckReader(t.Context(), strings.NewReader(c.text), "f", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, d := range found {
			out.WriteString(d.Severity.String() + " [" + string(d.Code) + "] " + d.Error() + "\n")
		}
		g.Add(c.name, out.String())
	}
	g.Check(t)
}

func TestValidateOptions(t *testing.T) {
	text := strings.Replace(baseCatalog, "version: 0.9.2}\n", "version: 0.9.2}\n- {type: olm.nope, value: 1}\n- {type: olm.constraint, value: {not: {constraints: [{cel: {rule: 'true'}}]}}}\n", 1)
	c, err := LoadReader(t.Context(), strings.NewReader(text), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Validate(t.Context(), c, nil); err != nil || len(found) != 1 || found[0].Code != codes.UnknownProperty {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := Validate(t.Context(), c, &ValidateOptions{WithoutWarnings: true}); err != nil || len(found) != 0 {
		t.Errorf("without warnings: %v, %v", found, err)
	}
	if found, err := Validate(t.Context(), c, &ValidateOptions{ConstraintLimits: &constraints.Limits{MaxDepth: 1}, WithoutWarnings: true}); err != nil || len(found) != 1 || found[0].Code != codes.Constraint {
		t.Errorf("with a limit: %v, %v", found, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("no more time")
	cancel(cause)
	if found, err := Validate(ctx, c, nil); err != cause {
		t.Errorf("after the end of the context: %v, %v", found, err)
	}
}
