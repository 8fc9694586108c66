package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
)

// TestOnDemand changes the last package of a compiled index. Commands that need only another package answer; those
// that need it fail, whatever they printed before (S5).
func TestOnDemand(t *testing.T) {
	catalog, err := graph.LoadReader(t.Context(), strings.NewReader(testcatalog.Mixed), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(t.Context(), &index, catalog, ""); err != nil {
		t.Fatal(err)
	}
	text := index.Bytes()
	text[len(text)-1] ^= 1
	name := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{
		"list channels INDEX db":                      exitOK,
		"select INDEX --package db --version <=1.0.0": exitOK,
		"resolve INDEX --package db":                  exitBadInput, // it requires disk
		"path INDEX db 1.0.0":                         exitBadInput, // as above
		"resolve INDEX --package disk -o json":        exitBadInput,
		"explain INDEX --package disk":                exitBadInput,
		"select INDEX --package disk":                 exitBadInput,
		"list channels INDEX disk":                    exitBadInput,
		"list packages INDEX":                         exitBadInput,
		"path INDEX disk 1.0.0":                       exitBadInput,
		"graph INDEX disk":                            exitBadInput,
		"resolve INDEX --package nowhere":             exitNegative, // the names of packages are not in the packages
	} {
		var stderr bytes.Buffer
		got := Run(t.Context(), strings.Fields(strings.ReplaceAll(args, "INDEX", name)), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if got != want || want == exitBadInput && !strings.Contains(stderr.String(), "index "+name+`: package "disk": is truncated or damaged; write it again`) {
			t.Errorf("olmkit %s: exit code %d, want %d\n%s", args, got, want, stderr.Bytes())
		}
	}
}
