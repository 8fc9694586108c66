package operatorgroup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// A state is the objects of a case.
type state struct {
	namespaces []*olm.Namespace
	groups     []*olm.OperatorGroup
	csvs       []*olm.ClusterServiceVersion
}

func readState(t *testing.T, text []byte) *state {
	t.Helper()
	s := new(state)
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		var o olm.Object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		switch o.Kind {
		case "Namespace":
			s.namespaces = append(s.namespaces, as[olm.Namespace](t, o))
		case olm.KindOperatorGroup:
			s.groups = append(s.groups, as[olm.OperatorGroup](t, o))
		case olm.KindClusterServiceVersion:
			s.csvs = append(s.csvs, as[olm.ClusterServiceVersion](t, o))
		default:
			t.Fatalf("unexpected kind %q in\n%s", o.Kind, doc)
		}
	}
	return s
}

func as[T any, P interface {
	*T
	olm.Resource
}](t *testing.T, o olm.Object) *T {
	t.Helper()
	v, err := olm.As[T, P](o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// compareAll runs a function over the states of testdata/<dir>/*.txtar and compares
// what it prints with the file "want" in each.
func compareAll(t *testing.T, dir string, run func(t *testing.T, s *state, w *strings.Builder)) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, err := txtar.FS(a)
			if err != nil {
				t.Fatal(err)
			}
			text, err := fs.ReadFile(fsys, "state.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var w strings.Builder
			run(t, readState(t, text), &w)
			if golden.Update() {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
				a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(w.String())})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := fs.ReadFile(fsys, "want")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), w.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", a.Comment, diff)
			}
		})
	}
}

// F1, F3: targets and conditions of groups.
func TestTargets(t *testing.T) {
	compareAll(t, "targets", func(t *testing.T, s *state, w *strings.Builder) {
		for _, g := range s.groups {
			targets, err := operatorgroup.Targets(g, s.namespaces)
			if err != nil {
				fmt.Fprintf(w, "error: %v\n", err)
				continue
			}
			fmt.Fprintf(w, "%s: %q\n", g.Key(), targets)
		}
	})
}

// F2 to F6: members, targets and overlapping groups.
func TestJudge(t *testing.T) {
	for _, dir := range []string{"membership", "intersection"} {
		t.Run(dir, func(t *testing.T) {
			compareAll(t, dir, func(t *testing.T, s *state, w *strings.Builder) {
				for _, c := range s.csvs {
					if !olm.IsCopied(c) {
						judge(w, c, s)
					}
				}
				for _, g := range s.groups {
					sync(w, g, s)
				}
			})
		})
	}
}

func judge(w *strings.Builder, c *olm.ClusterServiceVersion, s *state) {
	j := operatorgroup.Judge(c, s.groups)
	fmt.Fprintf(w, "%s: ", c.Key())
	switch {
	case j.Undecided:
		fmt.Fprintln(w, "undecided")
	case j.Failure != nil:
		fmt.Fprintf(w, "Failed, %s\n  %s\n", j.Failure.Reason, j.Failure.Message)
	case j.Recovered:
		fmt.Fprintln(w, "back to Pending")
	default:
		fmt.Fprintln(w, j.Decision.Action)
	}
	if j.Group == nil {
		return
	}
	if j.Failure == nil && j.Decision.Action != operatorgroup.Continue {
		fmt.Fprintf(w, "  %s: olm.providedAPIs becomes %q\n", j.Group.Key(), j.Decision.APIs)
	}
	if annotated, changed := operatorgroup.Annotate(c, j.Group); changed {
		for _, key := range slices.Sorted(maps.Keys(annotated.Metadata.Annotations)) {
			fmt.Fprintf(w, "  %s=%s\n", key, annotated.Metadata.Annotations[key])
		}
	}
}

func sync(w *strings.Builder, g *olm.OperatorGroup, s *state) {
	same := 0
	for _, o := range s.groups {
		if o.Metadata.Namespace == g.Metadata.Namespace {
			same++
		}
	}
	for _, c := range operatorgroup.GroupConditions(g, same, true) {
		fmt.Fprintf(w, "%s: condition %s=%s, %s: %s\n", g.Key(), c.Type, c.Status, c.Reason, c.Message)
	}
	if listed, pruned := operatorgroup.Annotated(g), operatorgroup.Prune(g, s.csvs); listed.String() != pruned.String() {
		fmt.Fprintf(w, "%s: sync prunes olm.providedAPIs from %q to %q\n", g.Key(), listed, pruned)
		for _, c := range s.csvs {
			if own, _ := operatorgroup.OwnAPIs(c); !olm.IsCopied(c) && len(own.Intersect(listed)) > 0 {
				fmt.Fprintf(w, "  then judge %s again\n", c.Key())
			}
		}
	}
}

// F7: the cluster roles of a group.
func TestRBAC(t *testing.T) {
	for dir, naming := range map[string]operatorgroup.Naming{"rbac": operatorgroup.Documented, "rbac-running": operatorgroup.Running} {
		t.Run(dir, func(t *testing.T) {
			compareAll(t, dir, func(t *testing.T, s *state, w *strings.Builder) {
				for _, g := range s.groups {
					print(t, w, operatorgroup.GroupRoles(g, operatorgroup.Provided(g, s.csvs), naming))
					for _, c := range s.csvs {
						if j := operatorgroup.Judge(c, s.groups); j.Group != g && c.Metadata.Namespace != g.Metadata.Namespace {
							continue
						}
						print(t, w, operatorgroup.APIRoles(g, c, naming))
						rbac, err := operatorgroup.TargetRBAC(c, g.Status.Namespaces)
						if err != nil {
							t.Fatal(err)
						}
						print(t, w, rbac.Roles)
						print(t, w, rbac.RoleBindings)
						print(t, w, rbac.ClusterRoles)
						print(t, w, rbac.ClusterRoleBindings)
					}
				}
			})
		})
	}
}

func print[T any](t *testing.T, w *strings.Builder, list []T) {
	t.Helper()
	for _, v := range list {
		text, err := json.Marshal(v)
		if err == nil {
			text, err = yaml.JSONToYAML(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "---\n%s", text)
	}
}

// F4, F8: copies of CSVs, and their annotations.
func TestCopies(t *testing.T) {
	compareAll(t, "copied", func(t *testing.T, s *state, w *strings.Builder) {
		for _, mode := range []operatorgroup.CopyMode{operatorgroup.CopyAll, operatorgroup.CopyNone, operatorgroup.CopyScoped} {
			fmt.Fprintf(w, "# mode %q\n", mode)
			for _, c := range s.csvs {
				if olm.IsCopied(c) {
					if why := operatorgroup.StaleCopy(c, s.csvs, s.groups, mode); why != "" {
						fmt.Fprintf(w, "delete %s: %s\n", c.Key(), why)
					}
					continue
				}
				for _, g := range s.groups {
					copies := operatorgroup.Copies(c, g, s.namespaces, mode)
					if mode == operatorgroup.CopyAll {
						print(t, w, copies)
						continue
					}
					for _, c := range copies {
						fmt.Fprintln(w, c.Key())
					}
				}
			}
		}
	})
}

// F9: versions of an operator whose CRDs differ.
func TestCoTenancy(t *testing.T) {
	compareAll(t, "cotenancy", func(t *testing.T, s *state, w *strings.Builder) {
		var tenants []operatorgroup.Tenant
		for _, c := range s.csvs {
			pkg, _, _ := strings.Cut(c.Metadata.Name, ".")
			tenants = append(tenants, operatorgroup.TenantOf(c, pkg))
		}
		for _, v := range operatorgroup.CoTenancy(tenants) {
			fmt.Fprintln(w, v)
		}
	})
}

// F10: whether the groups of a namespace let install plans run.
func TestGate(t *testing.T) {
	compareAll(t, "gate", func(t *testing.T, s *state, w *strings.Builder) {
		if err := operatorgroup.Gate(s.groups, func(name string) bool { return name == "installer" }); err != nil {
			fmt.Fprintln(w, err)
		} else {
			fmt.Fprintln(w, "open")
		}
	})
}
