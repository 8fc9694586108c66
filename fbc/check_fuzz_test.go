package fbc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/property"
)

// FuzzCheck checks that Check finds the same whether or not it keeps everything (A8, A13, A17).
func FuzzCheck(f *testing.F) {
	heavy := "\nproperties:\n- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}\n"
	f.Add(pkgA + channel + bundle)
	f.Add(baseCatalog)
	for _, p := range []string{
		"- {type: olm.csv.metadata, value: {description: long, keywords: [a, b]}}", "- {type: olm.csv.metadata, value: text}",
		"- {type: olm.csv.metadata, value: null}", "- {type: olm.csv.metadata}", "- type: olm.csv.metadata\n  value:\n    a: &x [1]\n    b: *x\n    a: 2",
		"- {type: olm.bundle.object, value: {data: YQ==}}", "- {type: olm.bundle.object, value: {data: '?'}}", "- {type: olm.bundle.object, value: {ref: a}}",
		"- {type: olm.bundle.object, value: 1}", "- {type: olm.gvk, value: {group: '', version: v1, kind: K}}", "- {type: olm.nope, value: {}, value: 1}",
		"- null", "- {value: {a: 1}}", "- {type: olm.csv.metadata, value: {}, type: olm.gvk}",
	} {
		f.Add(baseCatalog + "---\nschema: olm.bundle\npackage: etcd\nname: a\nimage: x" + heavy + p + "\nrelatedImages:\n- {image: X}\n- {name: a}\n")
	}
	f.Add(`{"schema":"olm.bundle","package":"a","name":"a","image":"a","relatedImages":[{"name":"b","image":"B"},{"image":1}],"properties":[` +
		`{"type":"olm.csv.metadata","value":{"a":1,"a":2}},{"type":"olm.bundle.object","value":{"data":1}},{"type":"olm.csv.metadata","value":null}]}`)
	f.Add(`{"schema":"olm.bundle","package":"a","name":"a","properties":[{"type":"olm.csv.metadata","value":{"a":"\ud800"}},{"type":"x","value":"` + strings.Repeat("a", 1100) + `"}]}`)
	limits := &Limits{DocumentSize: 1 << 16, Depth: 100, Documents: 1000, PropertySize: 1 << 10, Diagnostics: 20}
	f.Fuzz(func(t *testing.T, text string) {
		all, want, err := CheckReader(t.Context(), strings.NewReader(text), "f", &LoadOptions{Limits: limits, KeepAll: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, got, err := CheckReader(t.Context(), strings.NewReader(text), "f", &LoadOptions{Limits: limits}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Errorf("findings (-kept +not):\n%s", diff)
		}
		kept := metas(all)
		for i, m := range metas(c) {
			kept := kept[i]
			if m.Raw != nil || m.Name != kept.Name || len(m.Properties) != len(kept.Properties) {
				t.Fatalf("%+v, want %+v without the text", m, kept)
			}
			for i, p := range m.Properties {
				q := kept.Properties[i]
				if p.Type != q.Type || string(p.Value) != string(q.Value) && !(p.Value == nil && property.IsHeavy(p.Type)) {
					t.Fatalf("%s, want %s", p, q)
				}
			}
		}
	})
}

func lines(found Diagnostics) []string {
	var out []string
	for _, d := range found {
		out = append(out, d.Severity.String()+" "+string(d.Code)+" "+d.Error())
	}
	return out
}
