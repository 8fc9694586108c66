package memcluster_test

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

func object(t *testing.T, text string) *olm.Object {
	t.Helper()
	o := new(olm.Object)
	if err := yaml.Unmarshal([]byte(text), o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// Objects that an API server would reject are rejected, with the path of the fault.
func TestInvalidCreation(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{`{kind: ServiceAccount, metadata: {name: a, namespace: ns}}`, "no apiVersion or kind"},
		{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: A, namespace: ns}}`, `/metadata/name: "A" is not a DNS subdomain`},
		{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: a.b, namespace: n.s}}`, `/metadata/namespace: "n.s" is not a DNS label`},
		{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`, "/metadata/namespace: is required: this kind is namespaced"},
		{`{apiVersion: v1, kind: Service, metadata: {name: a.b, namespace: ns}}`, `/metadata/name: "a.b" is not a DNS label`},
		{`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "a:B", namespace: ns}}`, "/metadata/namespace: must be empty: this kind is cluster-scoped"},
		{`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "a/b"}}`, `/metadata/name: "a/b": must not be`},
		{`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "a:B"}}`, ""},
		{`{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, labels: {a/b/c: d}}}`, `/metadata/labels: "a/b/c" is not a qualified name`},
		{`{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, labels: {x.io/a: "-d"}}}`, `/metadata/labels/x.io/a: "-d": want at most 63 letters`},
		{`{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, annotations: {_a: d}}}`, `/metadata/annotations: "_a" is not a qualified name`},
		{`{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, ownerReferences: [{kind: A, name: a, uid: u}]}}`, "/metadata/ownerReferences/0: want apiVersion, kind, name and uid"},
		{`{apiVersion: x.io/v1, kind: Thing, metadata: {name: a, labels: {x.io/A: d_1, b: ""}, annotations: {Some.Io/thing: "any thing"}}}`, ""},
		{`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.y.io}, spec: {group: x.io, names: {plural: as}, versions: [{name: v1, storage: true}]}}`, `/metadata/name: want /spec/names/plural and /spec/group: "as.x.io"`},
		{`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {group: x.io, names: {plural: as}, versions: [{name: v1, storage: true}, {name: v1}]}}`, `/spec/versions: version "v1" occurs twice`},
		{`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {group: x.io, names: {plural: as}, versions: [{name: v1}]}}`, `/spec/versions: want exactly one version with storage: true, not 0`},
	} {
		err := apply(t, new(memcluster.Cluster), reconcile.Create, object(t, c.object))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.object, err)
			}
			continue
		}
		if !errors.Is(err, memcluster.ErrInvalid) || !strings.Contains(err.Error(), c.want) || errors.Is(err, reconcile.ErrConflict) {
			t.Errorf("%s: got error %v, want %s", c.object, err, c.want)
		}
	}
}

// E7: an update must not lose a version in which objects are stored, or change the names of
// the kind. Other kinds also have immutable fields.
func TestInvalidUpdate(t *testing.T) {
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {group: x.io, scope: Namespaced, names: {plural: as, kind: A}, versions: [{name: v1, served: true, storage: true}]}}`
	const binding = `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: ns}, roleRef: {kind: Role, name: a}}`
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ns}, spec: {selector: {matchLabels: {a: b}}, template: {}}}`
	for _, c := range []struct{ object, old, new, want string }{
		{crd, "name: v1", "name: v2", "/status/storedVersions/0: v1 was a storage version"},
		{crd, "scope: Namespaced", "scope: Cluster", "/spec: scope and names.kind are immutable once the API is served"},
		{crd, "kind: A", "kind: B", "/spec: scope and names.kind are immutable once the API is served"},
		{crd, "[{name: v1, served: true, storage: true}]", "[{name: v1, served: false}, {name: v2, served: true, storage: true}]", ""},
		{binding, "name: a}}", "name: b}}", "/roleRef: field is immutable"},
		{binding, "{kind: Role, name: a}", "{name: a, kind: Role}", ""},
		{deployment, "a: b", "a: c", "/spec/selector: field is immutable"},
		{deployment, "template: {}", "template: {spec: {}}", ""},
	} {
		cluster := &memcluster.Cluster{Controllers: true}
		if err := apply(t, cluster, reconcile.Create, object(t, c.object)); err != nil {
			t.Fatal(err)
		}
		o := object(t, strings.Replace(c.object, c.old, c.new, 1))
		was, err := cluster.Get(o.Key())
		if err != nil {
			t.Fatal(err)
		}
		o.Metadata.ResourceVersion = was.Metadata.ResourceVersion
		err = apply(t, cluster, reconcile.Update, o)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.new, err)
			}
			continue
		}
		if !errors.Is(err, memcluster.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", c.new, err, c.want)
		}
	}
	// A new storage version is stored from then on.
	cluster := &memcluster.Cluster{Controllers: true}
	if err := apply(t, cluster, reconcile.Create, object(t, crd)); err != nil {
		t.Fatal(err)
	}
	o := object(t, strings.Replace(crd, "[{name: v1, served: true, storage: true}]", "[{name: v1}, {name: v2, served: true, storage: true}]", 1))
	was, err := cluster.Get(o.Key())
	if err != nil {
		t.Fatal(err)
	}
	o.Metadata.ResourceVersion = was.Metadata.ResourceVersion
	if err := apply(t, cluster, reconcile.Update, o); err != nil {
		t.Fatal(err)
	}
	s, err := cluster.Read(t.Context(), "ns")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.CRDs[0].Status.StoredVersions, " "); got != "v1 v2" {
		t.Errorf("stored versions are %q, want v1 v2", got)
	}
}
