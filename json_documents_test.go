package repo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"reflect"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
	"github.com/olmkit/olmkit/resolver/subset"
)

const smallCatalog = `
{"schema":"olm.package","name":"a","defaultChannel":"<stable>"}
{"schema":"olm.channel","package":"a","name":"<stable>","entries":[{"name":"a.v1"},{"name":"a.v2","replaces":"a.v1"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1","image":"img/a1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v2","image":"img/a2","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}},
 {"type":"olm.constraint","value":{"failureMessage":"needs b & c","package":{"packageName":"b","versionRange":">=1.0.0"}}}]}`

// fullProblem returns a problem in which each field is set.
func fullProblem() *resolver.Problem {
	text, none := smallCatalog, ""
	return &resolver.Problem{
		ID: "1", Namespace: "ns", GlobalNamespace: "olm",
		Catalogs: []resolver.Catalog{
			{Name: "c", Namespace: "olm", Priority: -1, FBC: &text}, {Name: "empty", Namespace: "ns", FBC: &none},
			{Name: "far", Namespace: "elsewhere", Dir: "d", Digest: "x"}, {Name: "sick", Namespace: "olm", Unhealthy: "down"},
		},
		Subscriptions: []resolver.Subscription{{Name: "s", Package: "a", Channel: "<stable>", Catalog: "c", CatalogNamespace: "olm", StartingCSV: "a.v2", InstalledCSV: "none"}},
		Installed:     []resolver.Installed{{Name: "x.v1", Version: "1.0.0", Package: "x", Properties: []property.Property{{Type: "t", Value: []byte(`{"a":null}`)}}}, {Name: "y", Properties: []property.Property{}}},
		Policies:      []resolver.Policy{{Package: "a", Pin: "1.0.0", Reason: "why"}, {Package: "b", Hold: true}, {Package: "d", Exclude: "<1.0.0"}},
		OperatorGroup: &resolver.OperatorGroup{TargetNamespaces: []string{"ns"}},
		Options: resolver.Options{
			Semantics: resolver.PerBundle, SubscriptionOrder: resolver.AsGiven, OtherSources: true, IgnoreUnhealthy: true, Partial: true,
			Cluster: constraints.Cluster{KubeVersion: "1.30.0", Facts: map[string]string{"b": "1", "a": "2"}},
		},
	}
}

func fullRequest() *olmv1.Request {
	text, none := smallCatalog, ""
	return &olmv1.Request{
		ID: "1", Package: "a", Version: ">1", Channels: []string{"<stable>"}, Policy: olmv1.SelfCertified, Installed: &olmv1.Installed{Name: "a.v1", Version: "1.0.0"},
		Catalogs: []olmv1.Catalog{{Name: "c", Priority: 1, Labels: map[string]string{"b": "1", "a": "2"}, FBC: &text}, {Name: "none", FBC: &none, Labels: map[string]string{"a": "2"}}, {Name: "off", Unavailable: true, Dir: "d"}},
		Selector: &olmv1.LabelSelector{},
		Options:  olmv1.Options{OtherEdges: true, Semver: olmv1.SemverAlso, OtherInstalled: []resolver.Installed{{Name: "x"}}},
	}
}

// TestDocuments checks that every document has the same JSON in both versions of encoding/json, that empty lists are
// never null, and that a boolean that is not set is left out.
func TestDocuments(t *testing.T) {
	ctx := t.Context()
	p := *fullProblem()
	p.Policies, p.OperatorGroup, p.Installed = nil, nil, nil
	if err := p.Open(ctx, nil); err != nil {
		t.Fatal(err)
	}
	_, err := resolver.Resolve(ctx, resolver.Problem{Namespace: "ns", Catalogs: p.Catalogs[:2], Subscriptions: p.Subscriptions})
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		t.Fatalf("got %v, want a conflict", err)
	}
	report, err := no.Report(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fresh := p
	fresh.Catalogs, fresh.Options = p.Catalogs[:2], resolver.Options{}
	fresh.Subscriptions = []resolver.Subscription{{Package: "a", StartingCSV: "a.v1"}}
	solution, err := resolver.Resolve(ctx, fresh)
	if err != nil {
		t.Fatal(err)
	}
	record, err := fresh.Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	bad := fresh
	bad.Subscriptions = p.Subscriptions
	refused, err := bad.Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := *fullRequest()
	r.Version, r.Installed, r.Options, r.Channels = "<2", nil, olmv1.Options{}, nil
	if err := r.Open(ctx, nil); err != nil {
		t.Fatal(err)
	}
	selection, err := olmv1.Select(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Version = ">=2"
	_, err = olmv1.Select(ctx, r)
	var refusal *olmv1.Refusal
	if !errors.As(err, &refusal) || refusal.Dependencies == nil {
		t.Fatalf("got %v, want a refusal for dependencies", err)
	}
	index, err := graph.LoadReader(ctx, strings.NewReader(smallCatalog), "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	cut := subset.Request{Packages: []subset.Want{{Package: "a", Channels: []string{"<stable>"}, Versions: "<2"}}, Installed: []subset.Installed{{Package: "a", Name: "a.v1", Version: "1.0.0", Channel: "<stable>"}}, KeepInstalled: true, NoDependencies: true, Reading: graph.V1}
	part, err := subset.Cut(ctx, index, cut)
	if err != nil {
		t.Fatal(err)
	}
	text := smallCatalog
	upgrade := platform.Problem{ID: "u", From: "4.12", To: "4.14", Catalogs: []platform.Catalog{{Platform: "4.13", Name: "c", FBC: &text}}, Installed: []platform.Operator{{Name: "a.v1", Version: "1.0.0", Package: "a", Annotations: map[string]string{"b": "c"}}}, Strategy: platform.Latest}
	open := upgrade
	if err := open.Open(ctx, nil); err != nil {
		t.Fatal(err)
	}
	steps, err := platform.Upgrade(ctx, open)
	if err != nil {
		t.Fatal(err)
	}
	changes := &reconcile.Plan{Namespace: "ns", Due: time.Unix(1, 0).UTC(), Solution: solution, Notes: []reconcile.Note{{Message: "m", Rule: "E3"}}, Changes: []reconcile.Change{{
		Op: reconcile.Create, Rule: "E3", Object: olm.Object{Header: olm.Header{Kind: "Role", Metadata: olm.Metadata{Name: "r", Rest: olm.Members{"x": []byte(`1`)}}}, Rest: olm.Members{"rules": []byte(`[]`)}},
		If: []reconcile.Version{{Key: olm.Key{Kind: "CSV"}}}, Event: &reconcile.Event{},
	}}}

	for name, v := range map[string]any{
		"conflict": no, "core": no.Cores[0], "report": report, "solution": solution, "selection": selection, "refusal": refusal,
		"closure": refusal.Dependencies, "part": part, "platform plan": steps, "plan": changes,
		"zero report": resolver.Report{}, "zero solution": resolver.Solution{}, "zero selection": olmv1.Selection{}, "zero refusal": olmv1.Refusal{},
		"zero part": subset.Subset{}, "zero platform plan": platform.Plan{}, "zero plan": reconcile.Plan{}, "zero conflict": resolver.Conflict{},
		"zero core": resolver.Core{}, "zero closure": resolver.Closure{},
	} {
		sameJSON(t, name, v)
	}
	for name, v := range map[string]any{
		"problem": fullProblem(), "request": fullRequest(), "record": record, "refused record": refused, "subset request": &cut, "platform problem": &upgrade,
		"zero problem": &resolver.Problem{}, "zero request": &olmv1.Request{}, "zero record": &resolver.Record{},
		"zero subset request": &subset.Request{}, "zero platform problem": &platform.Problem{},
	} {
		text := sameJSON(t, name, v)
		if !strings.Contains(text, `"formatVersion":1`) {
			t.Errorf("%s has no version: %s", name, text)
		}
		one, two := reflect.New(reflect.TypeOf(v).Elem()), reflect.New(reflect.TypeOf(v).Elem())
		if err := json.Unmarshal([]byte(text), one.Interface()); err != nil {
			t.Errorf("%s: encoding/json: %v", name, err)
		}
		if err := jsonv2.Unmarshal([]byte(text), two.Interface(), jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(one.Interface(), two.Interface()) {
			t.Errorf("%s is decoded as\n%+v\nand\n%+v", name, one, two)
		}
		if again := sameJSON(t, name, two.Interface()); again != text {
			t.Errorf("%s, decoded and encoded again (-first +again):\n%s", name, cmp.Diff(text, again))
		}
	}
}

// sameJSON returns the canonical JSON of v. It checks that both versions of encoding/json write it, and that a pointer
// has the same JSON as the value that it points to.
func sameJSON(t *testing.T, name string, v any) string {
	t.Helper()
	one, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: encoding/json: %v", name, err)
	}
	two, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer {
		if copied, err := json.Marshal(rv.Elem().Interface()); err != nil || !bytes.Equal(one, copied) {
			t.Errorf("%s and its value are\n%s\n%s (%v)", name, one, copied, err)
		}
	}
	x, y := jsontext.Value(one), jsontext.Value(two)
	for _, text := range []*jsontext.Value{&x, &y} {
		if err := text.Canonicalize(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, *text)
		}
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s (-encoding/json +its second version):\n%s", name, cmp.Diff(string(x), string(y)))
	}
	if hasNull(x) && name != "problem" { // a problem may have a property whose value is null
		t.Errorf("%s has a null: %s", name, x)
	}
	return string(x)
}

// TestOmitempty checks the uses of omitempty: one version of encoding/json leaves out values with empty JSON, the
// other empty Go values. They agree only for strings, slices and maps.
func TestOmitempty(t *testing.T) {
	walkGo(t, ".", true, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Tag == nil || !strings.Contains(f.Tag.Value, ",omitempty") || strings.HasSuffix(name, "_test.go") {
				return true
			}
			switch x := f.Type.(type) {
			case *ast.MapType:
			case *ast.ArrayType:
				if x.Len != nil {
					t.Errorf("%s: %v is an array: want omitzero, not omitempty", name, f.Names)
				}
			case *ast.Ident:
				if x.Name != "string" {
					t.Errorf("%s: %v is a %s: want omitzero, not omitempty", name, f.Names, x.Name)
				}
			default:
				t.Errorf("%s: %v: want omitzero, not omitempty", name, f.Names)
			}
			return true
		})
	})
}

// TestDocumentVersion checks that a document of another version is refused, with an error that names the supported
// version.
func TestDocumentVersion(t *testing.T) {
	for text, want := range map[string]string{
		`{"formatVersion":1,"subscriptions":[]}`: "",
		`{"formatVersion":2,"subscriptions":[]}`: `problem: document 1: /formatVersion: want 1, found 2; use the release of olmkit that the document was written for`,
		`{"formatVersion":"1"}`:                  `problem: document 1: /formatVersion: want 1, found "1"; use the release of olmkit that the document was written for`,
		`{"formatversion":1}`:                    `problem: document 1: /formatversion: unknown field; did you mean formatVersion?`,
	} {
		for kind, read := range map[string]func() error{
			"problem":          func() error { _, err := document.ReadOne[resolver.Problem](strings.NewReader(text)); return err },
			"record":           func() error { _, err := document.ReadOne[resolver.Record](strings.NewReader(text)); return err },
			"request":          func() error { _, err := document.ReadOne[olmv1.Request](strings.NewReader(text)); return err },
			"platform problem": func() error { _, err := document.ReadOne[platform.Problem](strings.NewReader(text)); return err },
			"subset request":   func() error { _, err := document.ReadOne[subset.Request](strings.NewReader(text)); return err },
		} {
			text := text
			if kind != "problem" && want == "" {
				continue
			}
			if err := read(); (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("%s %s: got %v\nwant %s", kind, text, err, want)
			}
		}
	}
}

// hasNull reports whether a value in a JSON text is null. The word null within a string does not count.
func hasNull(text []byte) bool {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		switch t, err := d.Token(); {
		case err != nil:
			return false
		case t == nil:
			return true
		}
	}
}
