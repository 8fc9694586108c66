package crdsafety

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestConformance compares verdicts with operator-controller's (K54 to K62). If
// its verdict is random, the recorded one counts.
func TestConformance(t *testing.T) {
	file, err := os.Open("../../../shared/conformance/crdsafety.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there are no recorded verdicts here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct {
			ID       string
			Old, New map[string]any
			Verdict  Verdict
			Fails    [][4]string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) {
			r, err := Compare(t.Context(), decode(t, c.Old), decode(t, c.New), &Options{AsUpstream: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != c.Verdict {
				t.Errorf("got %s, want %s", r.Verdict, c.Verdict)
			}
			if diff := cmp.Diff(c.Fails, r.Fails()); diff != "" {
				t.Errorf("fails differ (-want +got):\n%s", diff)
			}
			ours, err := Compare(t.Context(), decode(t, c.Old), decode(t, c.New), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict == Unsafe && r.FalseAlarm != (ours.Verdict == Safe) {
				t.Errorf("false alarm is %t, and the default verdict %s", r.FalseAlarm, ours.Verdict)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func decode(t testing.TB, manifest map[string]any) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}
