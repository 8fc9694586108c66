package livetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestFixes runs the commands of fixes. The objects must then be what the data of the fix state,
// and olmkit must resolve the namespace, or select a bundle, as the fix promises (D16, G3).
func TestFixes(t *testing.T) {
	dir := programs(t)
	newCounter(t, dir)
	check(t, os.Symlink("/bin/sh", filepath.Join(dir, "sh")))
	check(t, os.WriteFile(filepath.Join(dir, "main.yaml"), []byte(fixMain), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "spare.yaml"), []byte(fixSpare), 0o600))
	c, err := client.New(env.Config, client.Options{})
	check(t, err)
	t.Cleanup(func() { clearOLM(t, c) }) // TestFleet counts operators
	check(t, create(t.Context(), c, fixCatalogs))
	catalogs := []string{"--catalog", "main=main.yaml,namespace=fix-global", "--catalog", "spare=spare.yaml,namespace=fix-global",
		"--catalog", "extra=spare.yaml,namespace=fix-elsewhere", "--global-namespace", "fix-global"}

	all := testsize.Of(false, true, true) // or the first fix of each kind
	seen := map[resolver.ChangeKind]bool{}
	cases := map[string]string{
		"channel": fixSub("db", "db", "main", "channel: gone, startingCSV: db.v1", ""),
		"package": fixSub("dbx", "dbx", "main", "channel: stable", ""),
		"start":   fixSub("db", "db", "main", "channel: stable, startingCSV: db.v9", ""),
		"catalog": fixSub("tool", "tool", "main", "channel: stable", ""),
		"visible": fixSub("tool", "tool", "main", "channel: fast", ""),
		"adopt":   fixCSV("db.v1", "1.0.0", fixDB) + fixSub("app", "app", "main", "channel: stable", ""),
		"own":     fixCSV("db.v1", "1.0.0", fixDB) + fixSub("app", "app", "main", "channel: stable", "") + fixSub("db", "db", "main", "channel: stable", ""),
		"remove":  fixCSV("old.v1", "1.0.0", fixOld) + fixSub("old", "old", "main", "channel: stable", "old.v1") + fixSub("new", "new", "main", "channel: stable", ""),
		"targets": fixSub("single", "single", "main", "channel: stable", ""),
		"stuck":   fixCSV("db.v0", "0.1.0", fixDB) + fixSub("db", "db", "main", "channel: stable", "db.v0"),
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		var fixes []*resolver.Fix
		for i := 0; i == 0 || i < len(fixes); i++ {
			if i > 0 && !all && !slices.ContainsFunc(fixes[i].Changes, func(ch resolver.Change) bool { return !seen[ch.Kind] }) {
				continue
			}
			namespace := fmt.Sprintf("fix-%s-%d", name, i)
			check(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
			check(t, create(t.Context(), c, strings.ReplaceAll(strings.TrimPrefix(fixGroup+cases[name], "---\n"), "NAMESPACE", namespace)))
			ask := func(command string) string {
				args := append([]string{command, "-o", "json", "-n", namespace, "--cluster"}, catalogs...)
				switch name { // resolving a cluster ignores groups and the catalogs of other namespaces
				case "targets":
					args = []string{command, "-o", "json", "--problem", "problem.json"}
					check(t, os.WriteFile(filepath.Join(dir, "problem.json"), fixState(t, c, namespace).problem(namespace), 0o600))
				case "visible":
					in := "fix-elsewhere"
					if fixState(t, c, namespace)["CatalogSource extra"] != nil {
						in = namespace
					}
					args = []string{command, "-o", "json", "-n", namespace, "-p", "tool:fast", "--catalog", "main=main.yaml,namespace=fix-global",
						"--catalog", "extra=spare.yaml,namespace=" + in, "--global-namespace", "fix-global"}
				}
				out, _ := program(t, dir, "olmkit", args...)
				return out
			}
			out := ask("explain")
			fixes = offered(t, out)
			if i >= len(fixes) {
				t.Fatalf("%s: no fix in the output:\n%s", name, out)
			}
			f := fixes[i]
			want := fixState(t, c, namespace)
			for _, ch := range f.Changes {
				if ch.Kind == resolver.AddCatalog && ch.Catalog == (resolver.CatalogID{}) || ch.Kind == resolver.RelaxRequirement {
					want = nil // nothing in the cluster
					break
				}
				seen[ch.Kind] = true
				want.change(t, namespace, &ch)
			}
			if want == nil {
				continue
			}
			if len(f.Commands) == 0 {
				t.Errorf("%s: %q has no command", name, f)
			}
			for _, command := range f.Commands {
				if _, code := program(t, dir, "sh", "-c", command); code != 0 {
					t.Errorf("%s: exit code %d: %s", name, code, command)
				}
			}
			if got := fixState(t, c, namespace); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: after %q the objects are\n%v, want\n%v", name, f, got, want)
			}
			if len(f.Selected) == 0 {
				continue // maybe nothing is left to resolve
			}
			out = ask("resolve")
			var answer struct{ Selected []resolver.Selected }
			check(t, json.Unmarshal([]byte(out), &answer))
			if got, want := bundles(answer.Selected), bundles(f.Selected); !slices.Equal(got, want) {
				t.Errorf("%s: %q promises %v, the answer is\n%s", name, f, want, out)
			}
		}
	}
	for _, kind := range []resolver.ChangeKind{
		resolver.AddCatalog, resolver.ChangePackage, resolver.ChangeStartingCSV, resolver.ClearStartingCSV, resolver.ChangeChannel, resolver.ChangeCatalog,
		resolver.AdoptOperator, resolver.ChangeTargets, resolver.DropSubscription, resolver.RemoveSubscribed, resolver.RemoveOperator, resolver.Reinstall,
	} {
		if !seen[kind] {
			t.Errorf("no fix of kind %s was tried", kind)
		}
	}
}

// offered returns the fixes in an explanation of a conflict or of a solution.
func offered(t *testing.T, explanation string) (fixes []*resolver.Fix) {
	t.Helper()
	var report struct {
		Cores []struct{ Fixes []*resolver.Fix }
	}
	if strings.HasPrefix(explanation, "[") {
		var list []struct {
			Advice struct{ Fixes []*resolver.Fix }
		}
		check(t, json.Unmarshal([]byte(explanation), &list))
		for _, x := range list {
			fixes = append(fixes, x.Advice.Fixes...)
		}
		return fixes
	}
	if err := json.Unmarshal([]byte(explanation), &report); err != nil {
		t.Fatalf("%v: %s", err, explanation)
	}
	for _, core := range report.Cores {
		fixes = append(fixes, core.Fixes...)
	}
	return fixes
}

// clearOLM deletes the objects of OLM in namespaces of TestFixes.
func clearOLM(t *testing.T, c client.Client) {
	t.Helper()
	for kind, version := range map[string]string{"Subscription": "v1alpha1", "ClusterServiceVersion": "v1alpha1", "CatalogSource": "v1alpha1", "OperatorGroup": "v1"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: version, Kind: kind + "List"})
		check(t, c.List(context.Background(), list))
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].GetNamespace(), "fix-") {
				check(t, c.Delete(context.Background(), &list.Items[i]))
			}
		}
	}
}

// bundles returns the names of selected bundles with their catalogs.
func bundles(list []resolver.Selected) (out []string) {
	for _, s := range list {
		out = append(out, s.Catalog+"/"+s.Name)
	}
	return out
}

// A state has the spec of each object of a namespace that fixes change, by kind and name, and the
// installedCSV of subscriptions.
type state map[string]map[string]any

func fixState(t *testing.T, c client.Client, namespace string) state {
	t.Helper()
	out := state{}
	for _, kind := range []string{"v1alpha1/Subscription", "v1alpha1/ClusterServiceVersion", "v1alpha1/CatalogSource", "v1/OperatorGroup"} {
		version, kind, _ := strings.Cut(kind, "/")
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("operators.coreos.com/" + version)
		list.SetKind(kind + "List")
		check(t, c.List(t.Context(), list, client.InNamespace(namespace)))
		for _, o := range list.Items {
			spec, _, _ := unstructured.NestedMap(o.Object, "spec")
			if spec == nil {
				spec = map[string]any{}
			}
			if csv, ok, _ := unstructured.NestedString(o.Object, "status", "installedCSV"); ok {
				spec["installedCSV"] = csv
			}
			out[kind+" "+o.GetName()] = spec
		}
	}
	return out
}

// problem returns the problem of a subscription to package single with the operator group.
func (s state) problem(namespace string) []byte {
	targets, ok := s["OperatorGroup own"]["targetNamespaces"]
	if !ok {
		targets = []string{""}
	}
	text, _ := json.Marshal(map[string]any{
		"namespace": namespace, "globalNamespace": "fix-global", "operatorGroup": map[string]any{"targetNamespaces": targets},
		"catalogs":      []any{map[string]any{"name": "main", "namespace": "fix-global", "dir": "main.yaml"}},
		"subscriptions": []any{map[string]any{"name": "single", "package": "single", "channel": "stable"}},
	})
	return text
}

// change makes a change by its data.
func (s state) change(t *testing.T, namespace string, c *resolver.Change) {
	sub := s["Subscription "+c.Subscription]
	switch c.Kind {
	case resolver.AddCatalog:
		if c.To != namespace {
			t.Errorf("the catalog is added to namespace %s", c.To)
		}
		s["CatalogSource "+c.Catalog.Name] = map[string]any{"sourceType": "grpc", "image": "example.com/extra:v1"}
	case resolver.ChangePackage:
		sub["name"] = c.To
	case resolver.ChangeStartingCSV:
		sub["startingCSV"] = c.To
	case resolver.ClearStartingCSV:
		delete(sub, "startingCSV")
	case resolver.ChangeChannel:
		if sub["channel"] = c.To; c.DropStartingCSV {
			delete(sub, "startingCSV")
		}
	case resolver.ChangeCatalog:
		sub["source"], sub["sourceNamespace"] = c.Catalog.Name, c.Catalog.Namespace
		if c.Channel != "" {
			sub["channel"] = c.Channel
		}
	case resolver.AdoptOperator:
		if c.To != "" {
			sub = map[string]any{"name": c.To, "source": c.Catalog.Name, "sourceNamespace": c.Catalog.Namespace}
			s["Subscription "+c.Subscription] = sub
		}
		sub["installedCSV"] = c.Operator
	case resolver.ChangeTargets:
		group := s["OperatorGroup own"]
		if delete(group, "targetNamespaces"); c.To != "" {
			group["targetNamespaces"] = []any{c.To}
		}
	case resolver.DropSubscription, resolver.RemoveSubscribed, resolver.RemoveOperator:
		delete(s, "Subscription "+c.Subscription)
		delete(s, "ClusterServiceVersion "+c.Operator)
	case resolver.Reinstall:
		sub["channel"] = c.Channel
		delete(sub, "installedCSV")
		delete(s, "ClusterServiceVersion "+c.Operator)
	default:
		t.Errorf("what is %s?", c.Kind)
	}
}

// TestFixesV1 does the same for ClusterExtensions.
func TestFixesV1(t *testing.T) {
	dir := programs(t)
	newCounter(t, dir)
	check(t, os.Symlink("/bin/sh", filepath.Join(dir, "sh")))
	check(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(fixMain), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "b.yaml"), []byte(fixSpare), 0o600))
	c, err := client.New(env.Config, client.Options{})
	check(t, err)
	all := testsize.Of(false, true, true)
	seen := map[olmv1.FixKind]bool{}
	for _, tt := range []struct{ pkg, filter, installed string }{
		{"dbx", "selector: {matchLabels: {pick: fix-a}}", ""},
		{"db", "version: '>5', selector: {matchLabels: {pick: fix-a}}", ""},
		{"db", "channels: [gone], selector: {matchLabels: {pick: fix-a}}", ""},
		{"tool", "selector: {matchLabels: {pick: fix-z}}", ""},
		{"old", "", ""},
		{"db", "version: 3.x, selector: {matchLabels: {pick: fix-a}}", "1.0.0"},
	} {
		var fixes []*olmv1.Fix
		for i := 0; i == 0 || i < len(fixes); i++ {
			if i > 0 && !all && seen[fixes[i].Kind] {
				continue
			}
			objects := fixCatalogV1("fix-a") + "\n---\n" + fixCatalogV1("fix-b") + "\n---\n" + fixExtension(tt.pkg, tt.filter, tt.installed)
			check(t, create(t.Context(), c, objects))
			pkg := tt.pkg
			ask := func() (answer struct {
				Bundle, Catalog string
				Fixes           []*olmv1.Fix
			}, out string) {
				out, _ = program(t, dir, "olmkit", "select", "--cluster", "-o", "json", "-p", pkg, "--catalog", "fix-a=a.yaml", "--catalog", "fix-b=b.yaml")
				check(t, json.Unmarshal([]byte(out), &answer))
				return answer, out
			}
			refused, out := ask()
			if fixes = refused.Fixes; i >= len(fixes) {
				t.Fatalf("%s %s: no fix in the output:\n%s", tt.pkg, tt.filter, out)
			}
			f := fixes[i]
			if seen[f.Kind] = true; f.Package != "" {
				pkg = f.Package
			}
			if _, code := program(t, dir, "sh", "-c", f.Command); code != 0 {
				t.Errorf("exit code %d: %s", code, f.Command)
			}
			if got, out := ask(); got.Bundle != f.Selected.Name || got.Catalog != f.Catalog {
				t.Errorf("%s: the answer is %s", f, out)
			}
			for doc := range strings.SplitSeq(objects, "\n---\n") {
				o := &unstructured.Unstructured{}
				check(t, yaml.Unmarshal([]byte(doc), &o.Object))
				check(t, c.Delete(t.Context(), o))
			}
		}
	}
	for _, kind := range []olmv1.FixKind{
		olmv1.FixPackage, olmv1.FixVersion, olmv1.FixChannels, olmv1.FixSelector, olmv1.FixCatalog, olmv1.FixPriority, olmv1.FixUncertified,
	} {
		if !seen[kind] {
			t.Errorf("no fix of kind %s was tried", kind)
		}
	}
}

// fixMain has two packages that depend on versions of db, two that exclude each other, and one whose
// bundle supports only its own namespace.
const fixMain = `---
{schema: olm.package, name: db, defaultChannel: stable}
---
{schema: olm.channel, package: db, name: stable, entries: [{name: db.v1}, {name: db.v2, replaces: db.v1}]}
---
{schema: olm.channel, package: db, name: next, entries: [{name: db.v3}]}
---
{schema: olm.bundle, package: db, name: db.v1, image: "x/db:1", properties: [{type: olm.package, value: {packageName: db, version: 1.0.0}}]}
---
{schema: olm.bundle, package: db, name: db.v2, image: "x/db:2", properties: [{type: olm.package, value: {packageName: db, version: 2.0.0}}]}
---
{schema: olm.bundle, package: db, name: db.v3, image: "x/db:3", properties: [{type: olm.package, value: {packageName: db, version: 3.0.0}}]}
---
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1}]}
---
{schema: olm.bundle, package: app, name: app.v1, image: "x/app:1", properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}, {type: olm.package.required, value: {packageName: db, versionRange: ">=2.0.0"}}]}
---
{schema: olm.package, name: tool, defaultChannel: stable}
---
{schema: olm.channel, package: tool, name: stable, entries: []}
---
{schema: olm.package, name: old, defaultChannel: stable}
---
{schema: olm.channel, package: old, name: stable, entries: [{name: old.v1}]}
---
{schema: olm.bundle, package: old, name: old.v1, image: "x/old:1", properties: [{type: olm.package, value: {packageName: old, version: 1.0.0}}, {type: olm.gvk, value: {group: x.io, version: v1, kind: X}}]}
---
{schema: olm.package, name: new, defaultChannel: stable}
---
{schema: olm.channel, package: new, name: stable, entries: [{name: new.v1}]}
---
{schema: olm.bundle, package: new, name: new.v1, image: "x/new:1", properties: [{type: olm.package, value: {packageName: new, version: 1.0.0}}, {type: olm.gvk, value: {group: x.io, version: v1, kind: X}}]}
---
{schema: olm.package, name: single, defaultChannel: stable}
---
{schema: olm.channel, package: single, name: stable, entries: [{name: single.v1}]}
---
{schema: olm.bundle, package: single, name: single.v1, image: "x/single:1", properties: [{type: olm.package, value: {packageName: single, version: 1.0.0}}, {type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace, supported: true}, {type: AllNamespaces, supported: true}, {type: MultiNamespace, supported: false}, {type: SingleNamespace, supported: true}]}}]}
`

const fixSpare = `---
{schema: olm.package, name: old, defaultChannel: stable}
---
{schema: olm.channel, package: old, name: stable, entries: [{name: old.v1}]}
---
{schema: olm.bundle, package: old, name: old.v1, image: "x/old:1", properties: [{type: olm.package, value: {packageName: old, version: 1.0.0}}, {type: olm.gvk, value: {group: x.io, version: v1, kind: X}}]}
---
{schema: olm.package, name: tool, defaultChannel: fast}
---
{schema: olm.channel, package: tool, name: fast, entries: [{name: tool.v1}]}
---
{schema: olm.bundle, package: tool, name: tool.v1, image: "x/tool:1", properties: [{type: olm.package, value: {packageName: tool, version: 1.0.0}}]}
`

const fixCatalogs = `apiVersion: v1
kind: Namespace
metadata: {name: fix-global}
---
apiVersion: v1
kind: Namespace
metadata: {name: fix-elsewhere}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: main, namespace: fix-global}
spec: {sourceType: grpc, image: "example.com/main:v1"}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: spare, namespace: fix-global}
spec: {sourceType: grpc, image: "example.com/spare:v1"}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: extra, namespace: fix-elsewhere}
spec: {sourceType: grpc, image: "example.com/extra:v1"}
status: {connectionState: {lastObservedState: READY}}`

const fixGroup = `---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: own, namespace: NAMESPACE}
spec: {targetNamespaces: [NAMESPACE, default]}
status: {lastUpdated: "2026-01-01T00:00:00Z", namespaces: [NAMESPACE, default]}`

// fixSub returns a subscription, to follow another object.
func fixSub(name, pkg, catalog, spec, installed string) string {
	text := fmt.Sprintf(`
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: %s, namespace: NAMESPACE}
spec: {name: %s, source: %s, sourceNamespace: fix-global, %s}`, name, pkg, catalog, spec)
	if installed != "" {
		text += fmt.Sprintf(`
status: {lastUpdated: "2026-01-01T00:00:00Z", state: AtLatestKnown, installedCSV: %s, currentCSV: %[1]s}`, installed)
	}
	return text
}

// The properties of installed operators.
const (
	fixDB  = `{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}}`
	fixOld = `{"type":"olm.package","value":{"packageName":"old","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"x.io","version":"v1","kind":"X"}}`
)

// fixCSV returns an installed operator, to follow another object.
func fixCSV(name, version, properties string) string {
	return fmt.Sprintf(`
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: %s
  namespace: NAMESPACE
  annotations: {operatorframework.io/properties: '{"properties":[%[3]s]}'}
spec:
  displayName: %[1]s
  version: %s
  installModes: [{type: OwnNamespace, supported: true}, {type: MultiNamespace, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
status: {phase: Succeeded, reason: InstallSucceeded}`, name, version, properties)
}

func fixCatalogV1(name string) string {
	return fmt.Sprintf(`apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: %s, labels: {pick: %[1]s}}
spec: {source: {type: Image, image: {ref: "example.com/%[1]s:v1"}}}`, name)
}

func fixExtension(pkg, filter, installed string) string {
	if filter != "" {
		filter = ", " + filter
	}
	text := fmt.Sprintf(`apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: fix-ext}
spec:
  namespace: default
  serviceAccount: {name: unused}
  source: {sourceType: Catalog, catalog: {packageName: %s%s}}`, pkg, filter)
	if installed != "" {
		text += fmt.Sprintf("\nstatus: {install: {bundle: {name: %s.v%s, version: %s}}}", pkg, installed[:1], installed)
	}
	return text
}
