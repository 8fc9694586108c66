package graph_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
)

// TestIndexRaw reads the text of a bundle from the files that an index was compiled from.
func TestIndexRaw(t *testing.T) {
	ctx := context.Background()
	files := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(indexed)}}
	cat, err := graph.Load(ctx, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := graph.WriteIndex(ctx, &file, cat, ""); err != nil {
		t.Fatal(err)
	}
	open := func(opts *graph.Options) graph.Bundle {
		t.Helper()
		c, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), opts)
		if err != nil {
			t.Fatal(err)
		}
		return version2(c)
	}
	if _, err := open(nil).Raw(ctx); !errors.Is(err, fbc.ErrNoSource) {
		t.Errorf("without a source: %v", err)
	}
	want, err := version2(cat).Raw(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := open(&graph.Options{Source: files}).Raw(ctx)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	// Read the text of the package, too.
	pkg := func(b graph.Bundle) (string, error) {
		text, err := b.Package().Raw(ctx)
		return string(text), err
	}
	if text, err := pkg(version2(cat)); err != nil || !strings.Contains(text, `"schema":"olm.package"`) {
		t.Errorf("of the package it returns %s, %v", text, err)
	} else if again, err := pkg(open(&graph.Options{Source: files})); err != nil || again != text {
		t.Errorf("of the package in an index it returns %s, %v", again, err)
	}
	if _, err := pkg(open(nil)); !errors.Is(err, fbc.ErrNoSource) {
		t.Errorf("of the package, without a source: %v", err)
	}
	for _, tt := range []struct {
		files fstest.MapFS
		want  string
	}{
		{fstest.MapFS{"etcd/catalog.yaml": {Data: []byte("\n" + indexed)}}, `etcd/catalog.yaml:22: bundle "etcd.v2" is missing`},
		{fstest.MapFS{}, `bundle "etcd.v2": open etcd/catalog.yaml: file does not exist`},
		{fstest.MapFS{"etcd/catalog.yaml": {Data: []byte("{")}}, "etcd/catalog.yaml:1"},
	} {
		if _, err := open(&graph.Options{Source: tt.files}).Raw(ctx); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func version2(c *graph.Catalog) graph.Bundle {
	p, _ := c.Package("etcd")
	b, _ := p.Bundle("etcd.v2")
	return b
}

// TestIndexInstallModes checks that an index contains the install modes in the files, which
// operator groups need (G7).
func TestIndexInstallModes(t *testing.T) {
	ctx := context.Background()
	csv := base64.StdEncoding.EncodeToString([]byte("kind: ClusterServiceVersion\nspec: {installModes: [{type: OwnNamespace, supported: true}]}"))
	files := fstest.MapFS{"c.yaml": {Data: []byte(`
{schema: olm.package, name: etcd, defaultChannel: stable}
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: a, replaces: b}, {name: b, replaces: c}, {name: c, replaces: d}, {name: d}]
---
{schema: olm.bundle, package: etcd, name: a, image: i, properties: [
  {type: olm.package, value: {packageName: etcd, version: 4.0.0}},
  {type: olm.csv.metadata, value: {installModes: [{type: AllNamespaces, supported: true}, {type: AllNamespaces, supported: false}]}}]}
---
{schema: olm.bundle, package: etcd, name: b, image: i, properties: [
  {type: olm.package, value: {packageName: etcd, version: 3.0.0}},
  {type: olm.bundle.object, value: {data: bm9uZQ==}}, {type: olm.bundle.object, value: {data: ` + csv + `}}]}
---
{schema: olm.bundle, package: etcd, name: c, image: i, properties: [
  {type: olm.package, value: {packageName: etcd, version: 2.0.0}}, {type: olm.csv.metadata, value: {}}]}
---
{schema: olm.bundle, package: etcd, name: d, image: i, properties: [
  {type: olm.package, value: {packageName: etcd, version: 1.0.0}}]}
`)}}
	loaded, err := graph.Load(ctx, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := fbc.LoadReader(ctx, io.MultiReader(bytes.NewReader(files["c.yaml"].Data)), "c.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := graph.Build(ctx, streamed, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := graph.Load(ctx, files, &graph.Options{InstallModes: true})
	if err != nil {
		t.Fatal(err)
	}
	stated := []string{"a true [{AllNamespaces true} {AllNamespaces false}]", "b true [{OwnNamespace true}]", "c false []", "d false []"}
	for _, tt := range []struct {
		name string
		c    *graph.Catalog
		want []string
	}{
		{"loaded", loaded, stated},
		{"with the rest", whole, stated},
		{"gone", gone, []string{
			`install modes: olm.bundle "a": the text was not kept, and its source cannot be read again`,
			`install modes: olm.bundle "b": the text was not kept, and its source cannot be read again`,
			`install modes: olm.bundle "c": the text was not kept, and its source cannot be read again`, "d false []",
		}},
	} {
		opened, err := read(write(t, tt.c, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*graph.Catalog{tt.c, opened} {
			p, _ := c.Package("etcd")
			var got []string
			for b := range p.Bundles() {
				if list, told, err := b.InstallModes(ctx); err != nil {
					got = append(got, strings.TrimSuffix(strings.Replace(err.Error(), "modes: bundle", "modes: olm.bundle", 1), "; open the index with the files that it was built from"))
				} else {
					got = append(got, fmt.Sprint(b.Name(), " ", told, " ", list))
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
		}
	}
}

// TestIndexInstallModesAlong checks that reading the install modes along with the rest of a
// catalog changes neither its index nor what loads.
func TestIndexInstallModesAlong(t *testing.T) {
	ctx := context.Background()
	const head = "{schema: olm.package, name: p, defaultChannel: c}\n---\n{schema: olm.channel, package: p, name: c, entries: [{name: b}]}\n---\n"
	bundle := func(properties string) string {
		return head + "{schema: olm.bundle, package: p, name: b, image: i, properties: [{type: olm.package, value: {packageName: p, version: 1.0.0}}, " + properties + "]}\n"
	}
	for name, text := range map[string]string{
		"modes":            bundle("{type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace, supported: true}]}}"),
		"two, one without": bundle("{type: olm.csv.metadata, value: {}}, {type: olm.csv.metadata, value: {installModes: []}}"),
		"null, then modes": bundle("{type: olm.csv.metadata, value: null}, {type: olm.csv.metadata, value: {installModes: [{type: AllNamespaces}]}}"),
		"modes, then null": bundle("{type: olm.csv.metadata, value: {installModes: [{type: AllNamespaces}]}}, {type: olm.csv.metadata, value: null}"),
		"no value":         bundle("{type: olm.csv.metadata}"),
		"another type":     bundle("{type: olm.csv.metadata, value: [1]}, {type: olm.bundle.object, value: 3}"),
		"invalid YAML":     head + "schema: olm.bundle\npackage: p\nname: b\nimage: i\nproperties:\n- type: olm.package\n  value: {packageName: p, version: 1.0.0}\n- type: olm.csv.metadata\n  value:\n    installModes: []\n    a: b: c\n",
	} {
		files := fstest.MapFS{"c.yaml": {Data: []byte(text)}}
		plain, plainErr := graph.Load(ctx, files, nil)
		along, err := graph.Load(ctx, files, &graph.Options{InstallModes: true})
		if fmt.Sprint(err) != fmt.Sprint(plainErr) {
			t.Errorf("%s: error %v, want %v", name, err, plainErr)
		}
		if err != nil {
			continue
		}
		if got, want := fmt.Sprint(along.Findings()), fmt.Sprint(plain.Findings()); got != want {
			t.Errorf("%s: findings %s, want %s", name, got, want)
		}
		var got, want bytes.Buffer
		gotErr, wantErr := graph.WriteIndex(ctx, &got, along, ""), graph.WriteIndex(ctx, &want, plain, "")
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: an index of %d bytes (%v), want one of %d (%v)", name, got.Len(), gotErr, want.Len(), wantErr)
		}
	}
}

// TestIndexLimits opens an index with lower limits than it was written with: a requirement
// that exceeds them must not be ignored.
func TestIndexLimits(t *testing.T) {
	text := strings.Replace(indexed, "failureMessage: no", "failureMessage: "+strings.Repeat("x", 70_000), 1)
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "c.yaml", &graph.Options{ConstraintLimits: &constraints.Limits{MaxSize: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if err := version2(c).Err(); err != nil {
		t.Fatal(err)
	}
	opened, err := read(write(t, c, ""))
	if err != nil {
		t.Fatal(err)
	}
	var d *fbc.Diagnostic
	if err := version2(opened).Err(); !errors.As(err, &d) || d.Code != codes.Constraint || d.Path != "/properties/3/value" {
		t.Errorf("got %v", err)
	}
}

// TestRequirementsLimit checks that bundles with too many requirements are refused.
func TestRequirementsLimit(t *testing.T) {
	c, err := graph.LoadReader(context.Background(), strings.NewReader(strings.ReplaceAll(indexed, "- {type: olm.label, value: {label: gold}}", `- {type: olm.gvk.required, value: {group: a.io, version: v1, kind: A}}
- {type: olm.gvk.required, value: {group: a.io, version: v1, kind: B}}`)), "c.yaml", &graph.Options{ConstraintLimits: &constraints.Limits{MaxPerBundle: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.Package("etcd")
	for b := range p.Bundles() {
		if b.Err() == nil {
			t.Errorf("%s states %d requirements and is fine", b.Name(), len(slices.Collect(b.Requirements())))
		}
	}
}

// TestIndexForm fails if the format of an index changes. If the records change, the layout
// hash changes too and old files are refused. If only the file changes, check whether old
// files would be misread: then increment indexVersion.
func TestIndexForm(t *testing.T) {
	golden.File(t, "index-form.txt", graph.IndexForm())
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		golden.File(t, "sample.index", string(write(t, parseIndexed(t), "source")))
	}
}
