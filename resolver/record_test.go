package resolver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// TestRecord writes every conflict situation and many generated problems as one document each, and replays them (G2).
func TestRecord(t *testing.T) {
	paths, err := filepath.Glob("testdata/conflicts/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		replay(t, path, readCase(t, a))
	}
	for seed := range uint64(200) {
		replay(t, "generated", open(t, randomProblem(seed+1)))
	}
}

// replay records a problem with inline catalogs, checks that the answer is the same, and
// replays the record from its text.
func replay(t *testing.T, name string, p resolver.Problem) {
	t.Helper()
	ctx := context.Background()
	before, err := p.Record(ctx)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	small, err := p.Inline(ctx)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r, err := small.Record(ctx)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	was, is := before.Answer, r.Answer
	// Inlined catalogs have different file names, and the digest covers the whole catalog.
	was.Digest, is.Digest = "", ""
	was.Explanation, is.Explanation = places.ReplaceAllString(was.Explanation, ""), places.ReplaceAllString(is.Explanation, "")
	if diff := cmp.Diff(indented(t, was), indented(t, is)); diff != "" {
		t.Errorf("%s: inlined (-want +got):\n%s", name, diff)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for again, err := range document.Read[resolver.Record](bytes.NewReader(text)) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n++
		diff, err := again.Replay(ctx, nil)
		if err != nil || len(diff) > 0 {
			t.Errorf("%s: replayed: %v, %q", name, err, diff)
		}
		again.Answer.OK = !again.Answer.OK
		diff, err = again.Replay(ctx, nil)
		if err != nil || len(diff) == 0 {
			t.Errorf("%s: a different answer went unnoticed: %v", name, err)
		}
	}
	if n != 1 {
		t.Errorf("%s: read %d records, want 1", name, n)
	}
}

// TestRefer checks that a replay notices a catalog that has changed.
func TestRefer(t *testing.T) {
	a, err := txtar.ParseFile("testdata/conflicts/issue-example.txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := readCase(t, a)
	p = p.Refer()
	if p.Catalogs[0].Dir != "community" || len(p.Catalogs[0].Digest) != 64 {
		t.Errorf("got %+v, want a reference with directory and hash", p.Catalogs[0])
	}
	p.Catalogs[0].Graph, p.Catalogs[0].Dir = nil, ""
	other := `{"schema":"olm.package","name":"a","defaultChannel":"c"}`
	p.Catalogs[0].FBC = &other
	if err := p.Open(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got the error %v, want that the catalog has changed", err)
	}
}

// places matches the positions in explanations, and the counts of those left out.
var places = regexp.MustCompile(`(?m)^ *at .*\n|\([a-z0-9]+ [a-z0-9./]+:\d+(, property \d+)?\)`)
