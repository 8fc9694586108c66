package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// crdInvariant: no update of a CRD removes a version that an operator uses, unless the
// operator is being replaced, or a version in which objects are stored.
func crdInvariant(c reconcile.Change, before []olm.Object) error {
	if c.Op != reconcile.Update || c.Object.Kind != olm.KindCRD {
		return nil
	}
	var old *olm.CustomResourceDefinition
	var csvs []*olm.ClusterServiceVersion
	replaced := map[string]bool{}
	for _, o := range before {
		switch o.Kind {
		case olm.KindCRD:
			if o.Key() == c.Key() {
				old, _ = olm.As[olm.CustomResourceDefinition](o)
			}
		case olm.KindClusterServiceVersion:
			if csv, err := olm.As[olm.ClusterServiceVersion](o); err == nil && !olm.IsCopied(csv) {
				csvs = append(csvs, csv)
				replaced[csv.Metadata.Namespace+"/"+csv.Spec.Replaces] = true
			}
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				return err
			}
			for _, s := range ip.Status.Plan {
				var csv olm.ClusterServiceVersion
				if s.Resource.Kind == olm.KindClusterServiceVersion && csv.UnmarshalJSON([]byte(s.Resource.Manifest)) == nil {
					replaced[ip.Metadata.Namespace+"/"+csv.Spec.Replaces] = true
				}
			}
		}
	}
	now, err := olm.As[olm.CustomResourceDefinition](c.Object)
	if err != nil || old == nil {
		return fmt.Errorf("update of %s: %v", c.Key(), err)
	}
	serves := func(crd *olm.CustomResourceDefinition, name string) bool {
		return slices.ContainsFunc(crd.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == name && v.Served })
	}
	for _, csv := range csvs {
		if replaced[csv.Metadata.Namespace+"/"+csv.Metadata.Name] {
			continue
		}
		for _, d := range slices.Concat(csv.Spec.CRDs.Owned, csv.Spec.CRDs.Required) {
			if d.Name == now.Metadata.Name && serves(old, d.Version) && !serves(now, d.Version) {
				return fmt.Errorf("%s lost version %s, which %s uses", d.Name, d.Version, csv.Metadata.Name)
			}
		}
	}
	for _, name := range old.Status.StoredVersions {
		if !slices.ContainsFunc(now.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == name }) {
			return fmt.Errorf("%s lost version %s, which is stored", now.Metadata.Name, name)
		}
	}
	return nil
}

// E7: every update of a CRD in every scenario satisfies the invariant.
func TestCRDWrites(t *testing.T) {
	updates := 0
	each(t, func(t *testing.T, _ string, a *txtar.Archive) {
		w := newWorld(t, a)
		w.Intercept = func(c reconcile.Change, apply func() error) error {
			if err := crdInvariant(c, w.List()); err != nil {
				t.Error(err)
			}
			if c.Op == reconcile.Update && c.Object.Kind == olm.KindCRD {
				updates++
			}
			return apply()
		}
		w.script(t, func(*strings.Builder) {
			if _, err := w.loop().Run(context.Background(), testNamespace); err != nil {
				t.Log(err)
			}
		})
	})
	if updates < 4 {
		t.Errorf("only %d updates of CRDs in all scenarios", updates)
	}
}

// E7: the obstacles to the upgrade of a CRD, and the message if there are none.
func TestCRDStep(t *testing.T) {
	const old = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec: {group: x.io, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true}, {name: v2, served: true, storage: true}]}
status: {storedVersions: [v2], conditions: [{type: Established, status: "True"}, {type: NamesAccepted, status: "True"}]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v0, namespace: ops}
spec: {install: {strategy: deployment}, customresourcedefinitions: {owned: [{name: things.x.io, version: v1, kind: Thing}]}}
status: {phase: Succeeded}
`
	user := func(member, version string) string {
		return `
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: user.v1, namespace: tenant}
spec: {install: {strategy: deployment}, customresourcedefinitions: {` + member + `: [{name: things.x.io, version: ` + version + `, kind: Thing}]}}
status: {phase: Succeeded}
`
	}
	const thing = `
---
apiVersion: x.io/v2
kind: Thing
metadata: {name: mine, namespace: tenant}
spec: {url: "https://example.com"}
`
	manifest := func(versions string) string {
		return strings.ReplaceAll(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Namespaced","names":{"kind":"Thing","plural":"things"},"versions":[`+versions+`]}}`, "'", `"`)
	}
	const v2 = `{'name':'v2','served':true,'storage':true}`
	const v2rule = `{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{'url':{'type':'string','x-kubernetes-validations':[{'rule':'isURL(self)'}]}}}}}}}`
	const large = `
---
apiVersion: x.io/v2
kind: Thing
metadata: {name: mine, namespace: tenant}
spec: {size: 99}
`
	unserved := manifest(`{'name':'v1','served':false},` + v2)
	shared := &reconcile.Options{CRDs: reconcile.CheckShared, CheckResources: checkSizes}
	without := &reconcile.Options{}
	const v2size = `{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object','properties':{'size':{'type':'integer','maximum':10}}}}}}}`
	limited := manifest(`{'name':'v1','served':true},` + v2size)
	webhook := strings.Replace(limited, `"scope":`, `"conversion":{"strategy":"Webhook"},"scope":`, 1)
	csv := strings.Replace(thingsCSV, `"spec":{`, `"spec":{"replaces":"a.v0",`, 1)
	for _, c := range []struct {
		name, crd, more string
		read            []olm.GroupKind
		reason          string // of the update
		problem         string // or this
		note            string
		options         *reconcile.Options
	}{
		{name: "nobody else", crd: unserved, reason: "no other operator owns it; it has no custom resources"},
		{name: "nobody else, a version gone", crd: manifest(v2), reason: "no other operator owns it; it has no custom resources"},
		{name: "nobody else, with custom resources", crd: unserved, more: thing, reason: "no other operator owns it; the new schema accepts all of its custom resources"},
		{name: "nobody else, with custom resources that are not valid", crd: limited, more: large, problem: "CustomResourceDefinition things.x.io cannot be upgraded: Thing tenant/mine (v2): spec.size: Invalid value: 99: spec.size in body should be less than 10"},
		{name: "nobody else, with custom resources that a webhook may convert", crd: webhook, more: large, reason: "no other operator owns it; as far as could be checked, the new schema accepts all of its custom resources",
			note: "cannot be checked: Thing tenant/mine (v2): spec.size: "},
		{name: "nobody else, and only shared ones are checked", crd: limited, more: large, options: shared, reason: "no other operator owns it"},
		{name: "another one requires the version", crd: unserved, more: user("required", "v1"), problem: "CustomResourceDefinition things.x.io cannot be upgraded: version v1: is served, but not by the new definition, and used by tenant/user.v1"},
		{name: "another one requires the version, and it is gone", crd: manifest(v2), more: user("required", "v1"), problem: "cannot be upgraded: version v1: is served, but missing from the new definition, and used by tenant/user.v1"},
		{name: "another one requires another version", crd: unserved, more: user("required", "v2"), reason: "no other operator owns it; it has no custom resources"},
		{name: "another one owns the version", crd: unserved, more: user("owned", "v1"), problem: "CustomResourceDefinition things.x.io, which also belongs to tenant/user.v1, cannot be upgraded: version v1: is served, but not by the new definition, and used by tenant/user.v1"},
		{name: "shared, without custom resources", crd: unserved, more: user("owned", "v2"), reason: "all versions stay because it also belongs to tenant/user.v1; it has no custom resources"},
		{name: "shared, with custom resources", crd: unserved, more: user("owned", "v2") + thing, reason: "the new schema accepts all of its custom resources"},
		{name: "shared, and not read", crd: unserved, more: user("owned", "v2"), read: reconcile.PlannedKinds(), reason: "its custom resources were not read, so they were not checked against the new schema",
			note: "its custom resources were not read; check that the schema of a.v1 accepts all of them"},
		{name: "shared, and looked at", crd: unserved, more: user("owned", "v2"), read: append(reconcile.PlannedKinds(), olm.GroupKind{Group: "x.io", Kind: "Thing"}), reason: "it has no custom resources"},
		{name: "shared, with a rule that cannot be evaluated", crd: manifest(`{'name':'v1','served':true},` + v2rule), more: user("owned", "v2") + thing, reason: "as far as could be checked, the new schema accepts all of its custom resources",
			note: "cannot be checked: version v2: its rules are not known"},
		{name: "shared, with custom resources, and no checker", crd: unserved, more: user("owned", "v2") + thing, options: without, problem: "CustomResourceDefinition things.x.io, which also belongs to tenant/user.v1, cannot be upgraded: its custom resources (1) were not checked against the new schema"},
		{name: "shared, without custom resources, and no checker", crd: unserved, more: user("owned", "v2"), options: without, reason: "it has no custom resources"},
		{name: "nobody else, with custom resources, and no checker", crd: unserved, more: thing, options: without, reason: "no other operator owns it, and its custom resources were not checked",
			note: "its custom resources (1) were not checked against the new schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &memcluster.Cluster{GlobalNamespace: "olm", Known: c.read}
			const group = "apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: global, namespace: ops}\nspec: {}\nstatus: {namespaces: [\"\"]}\n---\n"
			plan := planYAML(t, "", stepText{olm.KindCRD, "things.x.io", "Unknown", c.crd}, stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", csv})
			for _, o := range objects(t, []byte(group+plan+old+c.more)) {
				if err := cluster.Put(&o); err != nil {
					t.Fatal(err)
				}
			}
			s, err := cluster.Read(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if c.options == nil {
				c.options = &reconcile.Options{CheckResources: checkSizes}
			}
			got, err := reconcile.Decide(t.Context(), s, nil, c.options)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(got.Changes, func(c reconcile.Change) bool { return c.Object.Kind == olm.KindCRD })
			j := slices.IndexFunc(got.Changes, func(c reconcile.Change) bool { return c.Object.Kind == olm.KindInstallPlan })
			switch {
			case c.reason != "" && (i < 0 || got.Changes[i].Rule != "E7" || !strings.HasSuffix(got.Changes[i].Reason, c.reason)):
				t.Errorf("planned %v, want an update with the reason %q", got.Changes, c.reason)
			case c.reason != "" && (len(got.Changes[i].If) != 1 || got.Changes[i].If[0].Key.Name != "install-1"):
				t.Errorf("the update depends on %v, want the install plan", got.Changes[i].If)
			case c.problem != "" && (i >= 0 || j < 0 || !strings.Contains(got.Changes[j].Reason, c.problem+"; to continue, ")):
				t.Errorf("planned %v, want the problem %q", got.Changes, c.problem)
			}
			if c.note != "" {
				noted(t, got, "things.x.io", c.note)
			}
		})
	}
}

// E37: a CRD names the CSVs with which it was installed: the one that created it, each that
// upgrades it, and one for which nothing changes if OLM named its predecessor. Names of CSVs
// that are gone are removed.
func TestInstalledAlongside(t *testing.T) {
	const prefix = "operatorframework.io/installed-alongside-"
	w := worldOf(t, "upgrade-walk")
	undisturbed(t, w)
	var csv, definition olm.Object
	for _, o := range w.List() {
		switch {
		case o.Kind == olm.KindCRD:
			definition = o
		case o.Kind == olm.KindClusterServiceVersion && o.Metadata.Namespace == testNamespace:
			csv = o
		}
	}
	named := func() (names []string) {
		o, err := w.Get(definition.Key())
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range o.Metadata.Annotations {
			if strings.HasPrefix(k, prefix) {
				names = append(names, v)
			}
		}
		slices.Sort(names)
		return names
	}
	want := "ops/" + csv.Metadata.Name
	if got := named(); len(got) != 1 {
		t.Fatalf("the CRD names %q, want the CSV that created it", got)
	}
	// As OLM leaves it before an upgrade: it names a predecessor and one that is gone.
	for _, o := range w.List() {
		if o.Kind != olm.KindInstallPlan {
			continue
		}
		ip, err := olm.As[olm.InstallPlan](o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(ip.Spec.ClusterServiceVersionNames, csv.Metadata.Name) {
			continue
		}
		ip.Status.Phase = olm.PlanInstalling
		for i := range ip.Status.Plan {
			ip.Status.Plan[i].Status = olm.StepUnknown
		}
		w.put(t, ip)
	}
	before, err := w.Get(definition.Key())
	if err != nil {
		t.Fatal(err)
	}
	before.Metadata.Annotations = map[string]string{prefix + "1": "ops/gone.v1", prefix + "2": "elsewhere/gone.v2"}
	w.put(t, &before)
	undisturbed(t, w)
	if got := named(); !slices.Equal(got, []string{want}) {
		t.Errorf("the CRD names %q, want only %s", got, want)
	}
}

// E7: the custom resources of a CRD are needed only if a step changes it. The API server's
// defaults, and what other writers added, do not count.
func TestChangesCRD(t *testing.T) {
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ks.x.io%s}, spec: {group: x.io, scope: Namespaced, names: {kind: K, plural: ks%s}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: %s}}}]%s}}`
	have := fromYAML[olm.CustomResourceDefinition](t, fmt.Sprintf(definition, ", labels: {olm.managed: 'true', team: a}", ", singular: k, listKind: KList", "object", ", conversion: {strategy: None}"))
	for _, tt := range []struct {
		name, step string
		want       bool
	}{
		{"the same definition", fmt.Sprintf(definition, "", "", "object", ""), false},
		{"in a namespace, by mistake", fmt.Sprintf(definition, ", namespace: ops", "", "object", ""), false},
		{"another schema", fmt.Sprintf(definition, "", "", "string", ""), true},
		{"another label", fmt.Sprintf(definition, ", labels: {team: b}", "", "object", ""), true},
		{"another conversion", fmt.Sprintf(definition, "", "", "object", ", conversion: {strategy: Webhook}"), true},
	} {
		if got := reconcile.ChangesCRD(have, *fromYAML[olm.Object](t, tt.step)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
