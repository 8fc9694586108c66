package reconcile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// C7, E6, F6, F7, F9: a plan contains advice for administrators in addition to the next
// changes.
func TestAdvise(t *testing.T) {
	files, err := filepath.Glob("testdata/advice/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cluster := &memcluster.Cluster{Controllers: true}
			if err := cluster.Put(resources(objects(t, a.Files[0].Data))...); err != nil {
				t.Fatal(err)
			}
			s, err := cluster.Read(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			advice, err := reconcile.Advise(s, nil)
			if err != nil {
				out.WriteString("error: " + err.Error() + "\n")
			} else {
				text, err := json.MarshalIndent(advice, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				out.Write(append(text, '\n'))
			}
			plan, err := reconcile.Decide(t.Context(), s, &reconcile.Catalogs{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := reconcile.Decide(t.Context(), s, &reconcile.Catalogs{}, &reconcile.Options{NoAdvice: true})
			if err != nil {
				t.Fatal(err)
			}
			if plain.Hash() != plan.Hash() || slices.ContainsFunc(plain.Notes, func(n reconcile.Note) bool { return !slices.Contains(plan.Notes, n) }) {
				t.Errorf("without advice the plan is another one:\n%v\n%v", plain.Changes, plain.Notes)
			}
			for _, n := range plan.Notes {
				kind := "note: "
				if n.Code == reconcile.NoteAdvice {
					kind = "advice: "
				}
				out.WriteString(kind + n.String() + "\n")
			}
			if golden.Update() {
				a.Files = append(a.Files[:1], txtar.File{Name: "want", Data: []byte(out.String())})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(string(a.Files[1].Data), out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", a.Comment, diff)
			}
		})
	}
}
