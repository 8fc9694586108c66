package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestBadInput runs testdata/badinput.txtar: pairs of files with a stream of problems as JSON and the expected
// results, including the type and position of each error.
func TestBadInput(t *testing.T) {
	const path = "testdata/badinput.txtar"
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		in, want := a.Files[i], a.Files[i+1]
		if want.Name != "want "+in.Name {
			t.Fatalf("%s is followed by %s", in.Name, want.Name)
		}
		t.Run(in.Name, func(t *testing.T) {
			section(t, path, a, want.Name, badAnswer(string(in.Data)))
		})
	}
}

// kinds are the kinds of documents that a user may pass instead of a problem.
var kinds = []document.Kind{
	document.KindOf[resolver.Record](`this is a record of a problem, which "olmkit replay" reads`),
	document.KindOf[olmv1.Request](`this is a request for OLM v1, which "olmkit select" answers`),
}

// badAnswer returns the results for a stream of problems.
func badAnswer(in string) string {
	var b strings.Builder
	n := 0
	for p, err := range document.Read[resolver.Problem](strings.NewReader(in), kinds...) {
		n++
		if err == nil {
			err = p.Open(context.Background(), openBad)
		}
		if err == nil {
			_, err = resolver.Resolve(context.Background(), p)
		}
		fmt.Fprintf(&b, "%d: %s\n", n, typed(err))
	}
	if n == 0 {
		return "no problem\n"
	}
	return b.String()
}

// openBad opens the directories that the problems name.
func openBad(ctx context.Context, name string) (*graph.Catalog, error) {
	fsys := fstest.MapFS{}
	switch name {
	case "bad":
		fsys["a/catalog.yaml"] = &fstest.MapFile{Data: []byte("schema: olm.package\nname: a\n---\n{")}
	case "notcatalog":
		fsys["README.md"] = &fstest.MapFile{Data: []byte("# Hello\n\nThis is not a catalog.\n")}
	}
	return graph.Load(ctx, fsys, nil)
}

// typed returns an error with its type and position.
func typed(err error) string {
	if err == nil {
		return "solved"
	}
	s := fmt.Sprintf("%T", err)
	var p *document.Error
	if errors.As(err, &p) {
		s += fmt.Sprintf(" at %q", p.Path)
	}
	var d *fbc.Diagnostic
	if errors.As(err, &d) {
		s += fmt.Sprintf(", by a %T at %s", d, d.Pos)
	}
	return s + "\n\t" + strings.ReplaceAll(err.Error(), "\n", "\n\t")
}

// TestReadError checks that an error of the reader is returned.
func TestReadError(t *testing.T) {
	cause := errors.New("the disk is gone")
	for _, in := range []string{"", `{"namespace": "ns"`, `{"namespace": "ns"} `} {
		var got error
		for _, err := range document.Read[resolver.Problem](io.MultiReader(strings.NewReader(in), iotest.ErrReader(cause))) {
			got = err
		}
		if !errors.Is(got, cause) {
			t.Errorf("after %q: got the error %v, want %v", in, got, cause)
		}
	}
}

// TestZeroProblem checks that the zero problem has the empty solution.
func TestZeroProblem(t *testing.T) {
	sol, err := resolver.Resolve(context.Background(), resolver.Problem{})
	if err != nil || len(sol.Selected)+len(sol.Stayed)+len(sol.Faults) != 0 {
		t.Errorf("got %v, %v, want the empty solution", sol, err)
	}
}
