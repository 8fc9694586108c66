package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
)

// questions are command lines that read a compiled index, INDEX.
var questions = []string{
	"list packages INDEX",
	"list channels INDEX db -o json",
	"list bundles INDEX -o yaml",
	"graph INDEX db -o svg",
	"graph INDEX db --reading v1 -i 1.0.0",
	"graph INDEX db -o json",
	"path INDEX db 1.0.0",
	"path INDEX db db.v0 db.v3 --reading v1 -o json",
	"resolve INDEX --package db -o json",
	"resolve INDEX --package db:stable --installed db=1.0.0 --installed disk=1.0.0",
	"explain INDEX --package db:alpha --package disk --why db.v3",
	"select INDEX --package db --installed db=1.0.0",
	"select INDEX -p db --channel alpha --version >=2.0.0 -o json",
	"diff INDEX VALID",
	"diff VALID INDEX --reading v1 -o json",
	"view INDEX --diff VALID -p db:stable -o PAGE",
	"explain VALID --catalog b=INDEX --package db --package disk -o markdown",
	"subset INDEX -p db",
}

// FuzzTamperedIndex runs all questions on compiled indexes with changed records and matching checksums. Any answer
// with a documented exit code is accepted, but no panic; errors are explained, and each command ends in time (S5).
func FuzzTamperedIndex(f *testing.F) {
	catalog, err := graph.LoadReader(f.Context(), strings.NewReader(testcatalog.Mixed), "catalog.yaml", nil)
	if err != nil {
		f.Fatal(err)
	}
	var valid bytes.Buffer
	if err := graph.WriteIndex(f.Context(), &valid, catalog, ""); err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	names := strings.NewReplacer("INDEX", filepath.Join(dir, "tampered"), "VALID", filepath.Join(dir, "valid"), "PAGE", filepath.Join(dir, "page"))
	if err := os.WriteFile(names.Replace("VALID"), valid.Bytes(), 0o666); err != nil {
		f.Fatal(err)
	}
	for i := range questions {
		f.Add([]byte{}, uint8(i))
	}
	for section := range byte(8) {
		f.Add([]byte{section, 1, 0, 1, 3}, section)
	}
	for at := range byte(64) {
		f.Add([]byte{128 + at%2, 5 * at, 0, 1, 4}, at) // of each package
	}
	f.Fuzz(func(t *testing.T, changes []byte, question uint8) {
		text := testcatalog.Tamper(valid.Bytes(), changes)
		if _, err := graph.ReadIndex(bytes.NewReader(text), int64(len(text)), &graph.Options{OnDemand: true}); err != nil {
			return
		}
		if err := os.WriteFile(names.Replace("INDEX"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(names.Replace(questions[int(question)%len(questions)]))
		var out bytes.Buffer
		code := Run(t.Context(), args, strings.NewReader(""), io.Discard, &out)
		documented := []int{exitOK, exitNegative, exitBadInput}
		if len(changes) == 0 && args[0] != "subset" {
			documented = documented[:2]
		}
		if !slices.Contains(documented, code) || code == exitBadInput && !strings.Contains(out.String(), "olmkit: ") {
			t.Errorf("olmkit %s: exit code %d\n%s", strings.Join(args, " "), code, out.Bytes())
		}
	})
}
