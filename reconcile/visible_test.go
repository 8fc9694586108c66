package reconcile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// S8: text from a catalog or the cluster is escaped in all fields of statuses, and a plan
// does not try to write the original.
func TestVisibleStatus(t *testing.T) {
	a, err := txtar.ParseFile("testdata/scenario/deprecations.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.Files {
		if f.Name == "old.yaml" {
			a.Files[i].Data = bytes.ReplaceAll(f.Data, []byte("message: use channel fast"), []byte(`message: "use\n\u202etsaf\u200b"`))
			a.Files[i].Name = "catalog/olm/community.yaml"
		} else if f.Name == "catalog/olm/community.yaml" {
			a.Files[i].Name = "young.yaml"
		}
	}
	refuse := func(kind string) func(w *world) {
		return func(w *world) {
			w.Intercept = func(c reconcile.Change, apply func() error) error {
				if c.Object.Kind == kind && c.Op == reconcile.Create {
					return errors.New("no\n\u202etsaf\u200b\x1b[1m\r")
				}
				return apply()
			}
		}
	}
	for name, tt := range map[string]struct {
		world *world
		set   func(*world)
	}{
		"deprecation":             {newWorld(t, a), func(*world) {}},
		"refused by the operator": {worldOf(t, "drift"), refuse("Deployment")},
		"refused in a plan":       {worldOf(t, "drift"), refuse(olm.KindCRD)},
	} {
		tt.set(tt.world)
		for range 2 {
			// A refused change is an error, but the run still ends.
			if _, err := tt.world.loop().Run(t.Context(), testNamespace); errors.Is(err, reconcile.ErrUnsettled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		seen := false
		for _, o := range tt.world.List() {
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			var tree struct {
				Status any `json:"status"`
			}
			if err := json.Unmarshal(text, &tree); err != nil {
				t.Fatal(err)
			}
			for _, s := range texts(tree.Status) {
				if s != visible.Lines(s) {
					t.Errorf("%s: the status of %s holds %q", name, o.Key(), s)
				}
				seen = seen || strings.Contains(s, "\n"+`\u202etsaf\u200b`)
			}
		}
		if !seen {
			t.Errorf("%s: no status repeats it", name)
		}
	}
}

// texts returns the strings of a JSON value.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			list = append(list, texts(x)...)
		}
	case map[string]any:
		for _, x := range v {
			list = append(list, texts(x)...)
		}
	}
	return list
}
