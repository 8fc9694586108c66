package registryv1

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const sharedDir = "../../../shared/conformance/v1render"

// A sharedCase is a case of the conformance set: a bundle and what operator-controller
// renders from it.
type sharedCase struct {
	ID, Bundle, InstallNamespace, CertProvider string
	Config                                     json.RawMessage
	OK                                         bool
	Objects                                    []json.RawMessage
	Phases                                     []json.RawMessage
	Error                                      struct {
		Stage string
		Codes [][2]string
		Peer  string
	}
	Secrets []struct {
		Name             string
		Keys, Size, Gzip int
	}
}

func (c *sharedCase) options() RenderOptions {
	p, _ := ParseCertProvider(c.CertProvider)
	config := c.Config
	if string(config) == "null" {
		config = nil
	}
	return RenderOptions{Namespace: c.InstallNamespace, Config: config, Certificates: p, AsUpstream: true}
}

func sharedCases(t testing.TB, name string) (out []sharedCase) {
	f, err := os.Open(filepath.Join(sharedDir, name))
	if err != nil {
		t.Skip("the conformance set is not here")
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var c sharedCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return out
}

func sharedBundle(name string) (*Bundle, error) {
	return Read(context.Background(), os.DirFS(filepath.Join(sharedDir, "bundles", name)), nil)
}

// TestShared renders the bundles of the conformance set as operator-controller does
// (K1 to K50, K73).
func TestShared(t *testing.T) {
	refs := sharedRefs{}
	bundles := map[string]*Bundle{}
	errs := map[string]error{}
	for _, c := range sharedCases(t, "cases.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			if bundles[c.Bundle] == nil && errs[c.Bundle] == nil {
				bundles[c.Bundle], errs[c.Bundle] = sharedBundle(c.Bundle)
			}
			b, err := bundles[c.Bundle], errs[c.Bundle]
			var got *Manifests
			if err != nil {
				err = AsUpstream(err)
			} else {
				got, err = b.Render(t.Context(), c.options())
			}
			if c.OK {
				if err != nil {
					t.Fatalf("error %v", err)
				}
				compareShared(t, &c, got, refs)
				return
			}
			e, ok := err.(*Error)
			if !ok {
				t.Fatalf("error %v; want %v", err, c.Error)
			}
			codes := [][2]string{}
			for _, p := range e.Problems {
				codes = append(codes, [2]string{p.Code, p.Subject})
			}
			if string(e.Stage()) != c.Error.Stage || !slices.Equal(codes, c.Error.Codes) {
				t.Errorf("%s %q; want %s %q", e.Stage(), codes, c.Error.Stage, c.Error.Codes)
			}
			peer, have := strings.Split(c.Error.Peer, "\n"), strings.Split(e.Error(), "\n")
			if c.Error.Stage == "config" { // the order of its lines is random
				slices.Sort(peer)
				slices.Sort(have)
			}
			if c.Error.Stage != "read" && !slices.Equal(peer, have) {
				t.Errorf("text\n%s\nwant\n%s", e.Error(), c.Error.Peer)
			}
		})
	}
}

func compareShared(t *testing.T, c *sharedCase, got *Manifests, refs sharedRefs) {
	t.Helper()
	byKey := func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	}
	objects := got.Objects()
	slices.SortStableFunc(objects, byKey)
	if len(objects) != len(c.Objects) {
		t.Errorf("%d objects; want %d", len(objects), len(c.Objects))
		return
	}
	for i, o := range objects {
		have, want := canonical(t, o.Object), refs.object(t, c.Objects[i])
		if have != want {
			t.Errorf("object %s (-want +got):\n%s", Key(o), gocmp.Diff(roundTrip(t, json.RawMessage(want)), roundTrip(t, o.Object)))
		}
	}
	var phases []any
	for _, p := range got.Phases {
		keys := []any{}
		for _, o := range p.Objects {
			keys = append(keys, Key(o))
		}
		phases = append(phases, []any{p.Name, keys})
	}
	if d := gocmp.Diff(roundTrip(t, c.Phases), roundTrip(t, phases)); d != "" {
		t.Errorf("phases (-want +got):\n%s", d)
	}
}

// sharedRefs holds the large objects of the set as canonical JSON, by name.
type sharedRefs map[string]string

// object returns an object of a case as canonical JSON.
func (r sharedRefs) object(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var ref struct {
		Ref string `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &ref); err != nil {
		t.Fatal(err)
	}
	if ref.Ref == "" {
		return canonical(t, raw)
	}
	if r[ref.Ref] == "" {
		text, err := os.ReadFile(filepath.Join(sharedDir, ref.Ref))
		if err != nil {
			t.Fatal(err)
		}
		r[ref.Ref] = canonical(t, json.RawMessage(text))
	}
	return r[ref.Ref]
}

// canonical returns JSON with sorted keys.
func canonical(t *testing.T, v any) string {
	t.Helper()
	if raw, ok := v.(json.RawMessage); ok {
		v = roundTrip(t, raw)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func roundTrip(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSharedPacking packs the bundles of the conformance set into Secrets (K76).
func TestSharedPacking(t *testing.T) {
	for _, c := range sharedCases(t, "packing.jsonl") {
		t.Run(c.ID, func(t *testing.T) {
			b, err := sharedBundle(c.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			m, err := b.Render(t.Context(), c.options())
			if err != nil {
				t.Fatal(err)
			}
			phases := Own(m.Phases, Owner{Name: "ext", Package: "b", Version: "1.2.3"})
			p, err := Pack(phases, "ext-1", "olmv1-system", "ext")
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.Secrets {
				if i >= len(p.Secrets) {
					t.Fatalf("%d secrets; want %d", len(p.Secrets), len(c.Secrets))
				}
				s := p.Secrets[i]
				size, zipped := 0, 0
				for _, v := range s.Data {
					size += len(v)
					if v[0] == 0x1f {
						zipped++
					}
				}
				if s.Name != want.Name || len(s.Data) != want.Keys || size != want.Size || zipped != want.Gzip {
					t.Errorf("secret %s with %d keys, %d bytes, %d compressed; want %+v", s.Name, len(s.Data), size, zipped, want)
				}
			}
			n := 0
			for i, phase := range phases {
				for j, o := range phase.Objects {
					ref := p.Refs[i][j]
					var want [4]string
					if err := json.Unmarshal(c.Objects[n], &want); err != nil {
						t.Fatal(err)
					}
					if got := [4]string{phase.Name, Key(o), ref.Name, ref.Key}; got != want {
						t.Errorf("object %d: %q; want %q", n, got, want)
					}
					n++
				}
			}
			if n != len(c.Objects) || len(p.Secrets) != len(c.Secrets) {
				t.Errorf("%d objects in %d secrets; want %d in %d", n, len(p.Secrets), len(c.Objects), len(c.Secrets))
			}
		})
	}
}

// sharedNames returns the names of the bundles of the conformance set.
func sharedNames(t testing.TB) (out []string) {
	entries, err := os.ReadDir(filepath.Join(sharedDir, "bundles"))
	if err != nil {
		t.Skip("the conformance set is not here")
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestSharedTwice renders each bundle twice, with and without AsUpstream and in several
// namespaces. The results are equal, and none has a duplicate object or too many objects in
// a phase (K209, K210).
func TestSharedTwice(t *testing.T) {
	for _, name := range sharedNames(t) {
		b, err := sharedBundle(name)
		if err != nil {
			continue
		}
		for _, config := range []string{"{}", `{"watchNamespace":"apps"}`, `{"watchNamespace":"ops"}`} {
			for _, upstream := range []bool{false, true} {
				opts := RenderOptions{Namespace: "ops", Config: []byte(config), Certificates: CertManager, AsUpstream: upstream}
				one, err := b.Render(t.Context(), opts)
				two, again := b.Render(t.Context(), opts)
				if d := gocmp.Diff(one, two); d != "" || (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
					t.Errorf("%s %s: two results: %s %v %v", name, config, d, err, again)
				}
				if err != nil || upstream {
					continue
				}
				seen := map[string]bool{}
				for _, p := range one.Phases {
					if len(p.Objects) > maxPhaseObjects {
						t.Errorf("%s: phase %s has %d objects", name, p.Name, len(p.Objects))
					}
					for _, o := range p.Objects {
						if seen[Key(o)] {
							t.Errorf("%s: %s twice", name, Key(o))
						}
						seen[Key(o)] = true
					}
				}
			}
		}
	}
}

// BenchmarkShared reads and renders the published bundles of the conformance set.
func BenchmarkShared(b *testing.B) {
	names := slices.DeleteFunc(sharedNames(b), func(name string) bool { return strings.HasPrefix(name, "syn-") })
	for _, upstream := range []bool{false, true} {
		b.Run(fmt.Sprintf("upstream=%t", upstream), func(b *testing.B) {
			for b.Loop() {
				for _, name := range names {
					bundle, err := sharedBundle(name)
					if err != nil {
						continue
					}
					_, err = bundle.Render(b.Context(), RenderOptions{Namespace: "ops", Certificates: CertManager, AsUpstream: upstream})
					if _, refused := err.(*Error); err != nil && !refused {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*len(names)), "ms/bundle")
		})
	}
}
