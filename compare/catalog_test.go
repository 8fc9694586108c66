package compare_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/realcat"
)

var realTrees = []string{"community", "openshift-v4.16", "openshift-v4.19", "community-invalid"}

// TestLoadLikeOPM loads every real catalog with opm's loader and ours. Both must return the same blobs with the same
// JSON values, except for fields that opm's types do not have.
func TestLoadLikeOPM(t *testing.T) {
	for _, name := range realTrees {
		t.Run(name, func(t *testing.T) {
			tree := realcat.FS(t, name)
			cfg, err := declcfg.LoadFS(t.Context(), tree)
			if err != nil {
				t.Fatal(err)
			}
			c, err := fbc.Load(t.Context(), tree, &fbc.LoadOptions{KeepAll: true})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			add := func(schema, pkg, name string, blob any) {
				text, err := json.Marshal(blob)
				if err != nil {
					t.Fatal(err)
				}
				want[schema+"/"+pkg+"/"+name] = plain(t, text)
			}
			for _, x := range cfg.Packages {
				add(x.Schema, x.Name, x.Name, x)
			}
			for _, x := range cfg.Channels {
				add(x.Schema, x.Package, x.Name, x)
			}
			for _, x := range cfg.Bundles {
				add(x.Schema, x.Package, x.Name, x)
			}
			for _, x := range cfg.Deprecations {
				add(x.Schema, x.Package, "", x)
			}
			n, differ := 0, 0
			for b := range c.Blobs() {
				n++
				m := b.Common()
				got := plain(t, m.Raw)
				if w, ok := want[m.Schema+"/"+m.Package+"/"+m.Name]; !ok {
					t.Errorf("%s: opm has no %s %q", m.Pos, m.Schema, m.Name)
				} else if w != got {
					if differ++; differ < 5 {
						t.Errorf("%s: %s %q: opm has\n%.300s\nwe\n%.300s", m.Pos, m.Schema, m.Name, w, got)
					}
				}
			}
			if n != len(want)+len(cfg.Others) {
				t.Errorf("%d blobs, opm has %d", n, len(want)+len(cfg.Others))
			}
			t.Logf("%d blobs, %d differ", n, differ)
		})
	}
}

// plain returns a JSON text with sorted keys and without empty fields, because opm's types add or drop empty fields.
func plain(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for k, x := range v {
		if list, ok := x.([]any); x == nil || x == "" || ok && len(list) == 0 {
			delete(v, k)
		}
	}
	if list, ok := v["relatedImages"].([]any); ok {
		for _, e := range list {
			if e := e.(map[string]any); e["name"] == nil {
				e["name"] = ""
			}
			if e := e.(map[string]any); e["image"] == nil {
				e["image"] = ""
			}
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// opmVerdict returns opm's error for a catalog, or nil if the catalog is valid.
func opmVerdict(t *testing.T, tree fs.FS) error {
	cfg, err := declcfg.LoadFS(t.Context(), tree)
	if err != nil {
		return err
	}
	_, err = declcfg.ConvertToModel(*cfg)
	return err
}

// TestBundleWithoutImageLikeOPM checks bundles without an image against opm: those with olm.bundle.object are valid
// (A19).
func TestBundleWithoutImageLikeOPM(t *testing.T) {
	for _, properties := range []string{
		"", `,{"type":"olm.csv.metadata","value":{}}`, `,{"type":"olm.bundle.object","value":{"data":"e30="}}`,
		`,{"type":"olm.bundle.object","value":{"data":""}}`, `,{"type":"olm.bundle.object","value":{"ref":"csv.yaml"}}`,
		`,{"type":"olm.bundle.object","value":{}}`, `,{"type":"olm.bundle.object","value":{"data":"%"}}`,
	} {
		for _, image := range []string{"", `"image":"",`, `"image":"q/a:1",`} {
			text := `{"schema":"olm.package","name":"a","defaultChannel":"s"}{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"}]}` +
				`{"schema":"olm.bundle","package":"a","name":"a.v1",` + image + `"properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}` + properties + `]}`
			opm := opmVerdict(t, fstest.MapFS{"catalog.json": {Data: []byte(text)}})
			_, found, err := fbc.CheckReader(t.Context(), strings.NewReader(text), "catalog.json", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if (opm == nil) != (found.Err() == nil) {
				t.Errorf("%s: opm returns %v, olmkit %v", text, opm, found)
			}
		}
	}
}

// TestValidateLikeOPM checks that olmkit and opm agree on the validity of every package in the real catalogs.
func TestValidateLikeOPM(t *testing.T) {
	for _, name := range realTrees {
		t.Run(name, func(t *testing.T) {
			tree := realcat.FS(t, name)
			dirs, err := fs.ReadDir(tree, ".")
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range dirs {
				sub, err := fs.Sub(tree, d.Name())
				if err != nil {
					t.Fatal(err)
				}
				_, found, err := fbc.Check(t.Context(), sub, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if opm := opmVerdict(t, sub); (opm == nil) != (found.Err() == nil) {
					t.Errorf("%s: opm returns %v, olmkit %v", d.Name(), opm, found.Err())
				}
			}
			t.Logf("%d packages", len(dirs))
		})
	}
}

// stricter lists the codes of findings for which opm has no check. The conformance test of package fbc names the rules
// behind them.
var stricter = []fbc.Code{
	codes.Property, codes.Meta, codes.RepeatedKey, codes.APIName, codes.API, codes.Constraint, codes.PropertyValue, codes.Deprecation,
	codes.Cycle,
}

// TestValidateMutated repeatedly changes a random line of a small real package. opm must accept a package that olmkit
// accepts, and refuse one that olmkit refuses, unless the reason is one that opm does not check (see stricter).
func TestValidateMutated(t *testing.T) {
	tree := realcat.FS(t, "community")
	rng := rand.New(rand.NewPCG(6, 28))
	files := smallYAML(t, tree)
	tries, same, ours := 0, 0, 0
	for range 1500 {
		lines := strings.SplitAfter(files[rng.IntN(len(files))], "\n")
		i := rng.IntN(len(lines))
		switch rng.IntN(4) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, i, lines[i])
		case 2:
			j := rng.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			lines[i] = strings.Replace(lines[i], ": ", ": x", 1)
		}
		text := strings.Join(lines, "")
		opm := opmVerdict(t, fstest.MapFS{"catalog.yaml": {Data: []byte(text)}})
		_, found, err := fbc.CheckReader(t.Context(), strings.NewReader(text), "catalog.yaml", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		tries++
		errs := found.Errors()
		known := slices.DeleteFunc(slices.Clone(errs), func(d *fbc.Diagnostic) bool { return slices.Contains(stricter, d.Code) })
		switch {
		case (opm == nil) == (len(errs) == 0):
			same++
		case opm == nil && len(known) == 0:
			ours++
		case opm != nil && (strings.Contains(opm.Error(), "object ''") || strings.Contains(opm.Error(), "missing root schema") && len(errs) == 0):
			ours++ // a document without content (H19)
		default:
			t.Errorf("opm returns %v, olmkit %v; in\n%s", opm, errs, text)
		}
	}
	t.Logf("%d catalogs: %d verdicts agree, %d differ on purpose", tries, same, ours)
}

// smallYAML returns the texts of YAML files of at most 10 kB.
func smallYAML(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		f, err := tree.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if len(text) <= 10_000 {
			out = append(out, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
