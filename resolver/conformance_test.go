package resolver_test

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// shared is the directory of recorded answers of OLM, next to a checkout.
const shared = "../../shared"

// differ lists the cases in which the answer deliberately differs from that of the running
// OLM, with the reason.
var differ = map[string]string{}

type caseFile struct {
	ID      string          `json:"id"`
	Request json.RawMessage `json:"request"`
	Want    struct {
		OK      bool       `json:"ok"`
		Answers [][]answer `json:"answers"`
		Error   string     `json:"error"`
	} `json:"want"`
}

type answer struct {
	Name             string `json:"name"`
	Channel          string `json:"channel"`
	Package          string `json:"package"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	Replaces         string `json:"replaces"`
}

func (a answer) String() string {
	return fmt.Sprintf("%s/%s/%s/%s/%s replaces %q", a.Package, a.Name, a.Channel, a.Catalog, a.CatalogNamespace, a.Replaces)
}

func compareAnswers(a, b answer) int { return cmp.Compare(a.String(), b.String()) }

func readCases(t testing.TB, name string) []caseFile {
	f, err := os.Open(filepath.Join(shared, "conformance", name))
	if err != nil {
		t.Skip("the recorded answers of the running OLM are not part of the project: ", err)
	}
	defer f.Close()
	var out []caseFile
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var c caseFile
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

var trees = map[string]*graph.Catalog{}

// tree returns the index of a recorded catalog.
func tree(t testing.TB, name string) *graph.Catalog {
	if c := trees[name]; c != nil {
		return c
	}
	f, err := os.Open(filepath.Join(shared, "catalogs", name+".tar.gz"))
	if err != nil {
		t.Skip("the real catalogs are not part of the project: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fsys[strings.TrimPrefix(h.Name, name+"/")] = &fstest.MapFile{Data: data}
	}
	c, err := graph.Load(context.Background(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	trees[name] = c
	return c
}

// problemOf returns the problem of a case, loaded.
func problemOf(t testing.TB, c *caseFile) resolver.Problem {
	for p, err := range document.Read[resolver.Problem](strings.NewReader(string(c.Request))) {
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		err := p.Open(context.Background(), func(_ context.Context, dir string) (*graph.Catalog, error) { return tree(t, dir), nil })
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		p.Options.Semantics = resolver.PerBundle
		return p
	}
	t.Fatalf("%s: no problem", c.ID)
	return resolver.Problem{}
}

// TestConformance compares answers with all recorded answers and refusals of the running
// OLM.
func TestConformance(t *testing.T) {
	for _, name := range []string{
		"classic-simple.jsonl", "classic-upgrade.jsonl", "classic-compound.jsonl",
		"real-community.jsonl", "real-openshift-v4.16.jsonl", "real-openshift-v4.19.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			cases := readCases(t, name)
			agree, deliberate := 0, 0
			for i := range cases {
				c := &cases[i]
				got, want := answerOf(t, c)
				switch {
				case got == "":
					agree++
				case differ[c.ID] != "":
					deliberate++
				default:
					t.Errorf("%s: %s\n%s", c.ID, got, want)
				}
			}
			t.Logf("%s: %d of %d agree (%.1f %%), %d differ deliberately", name, agree, len(cases), 100*float64(agree)/float64(len(cases)), deliberate)
		})
	}
}

// answerOf returns "" if the answer of olmkit is one of the recorded ones, and otherwise that answer.
func answerOf(t *testing.T, c *caseFile) (got, want string) {
	sol, err := resolver.Resolve(context.Background(), problemOf(t, c))
	var no *resolver.Conflict
	if err != nil && !errors.As(err, &no) {
		if !c.Want.OK {
			return fmt.Sprintf("got the error %v", err), "want a refusal: " + c.Want.Error
		}
		return fmt.Sprintf("got the error %v", err), fmt.Sprintf("want %v", c.Want.Answers)
	}
	if !c.Want.OK {
		if err != nil {
			return "", ""
		}
		return fmt.Sprintf("got %v", list(sol)), "want a refusal: " + c.Want.Error
	}
	if err != nil {
		return fmt.Sprintf("got the conflict %v", err), fmt.Sprintf("want one of %v", c.Want.Answers)
	}
	for _, w := range c.Want.Answers {
		slices.SortFunc(w, compareAnswers)
		if slices.Equal(w, list(sol)) {
			return "", ""
		}
	}
	return fmt.Sprintf("got %v", list(sol)), fmt.Sprintf("want one of %v", c.Want.Answers)
}

func list(sol *resolver.Solution) []answer {
	var out []answer
	for _, s := range sol.Selected {
		out = append(out, answer{s.Name, s.Channel, s.Package, s.Catalog, s.CatalogNamespace, s.Replaces})
	}
	slices.SortFunc(out, compareAnswers)
	return out
}
