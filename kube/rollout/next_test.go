package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// The writes of the passes that begin a revision: its Secrets exist before it and always have
// an owner.
func TestBegin(t *testing.T) { // K65, K70, K72, K76
	c := newCluster(t)
	c.target(first)
	for _, want := range []string{"add finalizer", "create Secret by ClusterExtension, create revision etcd-1", "set owners Secret by ClusterObjectSet", ""} {
		writes, err := rollout.Next(c.snapshot(), *c.want)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range writes {
			text := string(w.Op)
			switch {
			case w.Object != nil:
				text += " " + w.Object.GetKind() + " by " + w.Object.GetOwnerReferences()[0].Kind
			case w.Revision != "":
				text += " " + w.Revision
			}
			got = append(got, text)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		c.write(writes)
	}
	r := c.revisions["etcd-1"]
	if r.Owner != "etcd" || r.Number != 1 || r.Archived || r.Collision != rollout.Prevent || len(r.Phases) != len(r.Refs) || r.Phases[0].Objects[0] != nil {
		t.Errorf("%+v", r)
	}
	for _, s := range c.secrets {
		if s.Type != "olm.operatorframework.io/object-data" || s.Immutable == nil || !*s.Immutable || s.Labels["olm.operatorframework.io/revision-name"] != "etcd-1" {
			t.Errorf("%+v", s)
		}
	}
	c.settle()
	for key, o := range c.objects {
		if o.GetLabels()["olm.operatorframework.io/owner-name"] != "etcd" || o.GetAnnotations()["olm.operatorframework.io/bundle-version"] != "1.0.0" || o.GetAnnotations()["olm.operatorframework.io/revision"] != "1" {
			t.Errorf("%s: %v %v", key, o.GetLabels(), o.GetAnnotations())
		}
	}
}

// Settings change in place. Another version of the bundle is another revision, because it is
// in the annotations of every object.
func TestSettings(t *testing.T) { // K71, K74
	for name, test := range map[string]struct {
		change    func(*rollout.Revision)
		revisions int
	}{
		"nothing":    {func(*rollout.Revision) {}, 1},
		"deadline":   {func(r *rollout.Revision) { r.Deadline = time.Hour }, 1},
		"probes":     {func(r *rollout.Revision) { r.Probes = nil }, 1},
		"image":      {func(r *rollout.Revision) { r.Bundle.Image = "registry.example/etcd:2" }, 1},
		"properties": {func(r *rollout.Revision) { r.Bundle.Properties = "[]" }, 1},
		"version":    {func(r *rollout.Revision) { r.Bundle.Version = "1.0.1" }, 2},
		"objects":    {func(r *rollout.Revision) { r.Phases = r.Phases[1:] }, 2},
		"archived":   {func(*rollout.Revision) {}, 2},
	} {
		c := newCluster(t)
		c.begin(first)
		c.settle()
		if name == "archived" {
			c.archive("etcd-1")
		}
		test.change(c.want)
		c.settle()
		if len(c.revisions) != test.revisions {
			t.Errorf("%s: %s", name, c.state())
		}
		last := c.revisions["etcd-"+string('0'+rune(test.revisions))]
		settings := func(r rollout.Revision) []any { return []any{r.Bundle, r.Deadline, r.Probes} }
		if diff := cmp.Diff(settings(*c.want), settings(last)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A revision that somebody deletes is created again under its own name, when it is gone. An
// upgrade does not wait for that.
func TestDeletedRevision(t *testing.T) { // K72
	for _, test := range []struct{ name, target, want string }{
		{"same bundle", first, "etcd-1"},
		{"upgrade", second, "etcd-2"},
	} {
		c := newCluster(t)
		c.begin(first)
		c.settle()
		r := c.revisions["etcd-1"]
		r.Deleting = true
		c.revisions["etcd-1"] = r
		c.target(test.target)
		writes, err := rollout.Next(c.snapshot(), *c.want)
		if err != nil {
			t.Fatal(err)
		}
		if wait := test.target == first; wait != (len(writes) == 0) {
			t.Errorf("%s: %v", test.name, writes)
		}
		c.settle()
		if len(c.revisions) != 1 || c.revisions[test.want].Deleting || c.message(test.want, rollout.Succeeded) == "" {
			t.Errorf("%s: %s", test.name, c.state())
		}
	}
}

// A Secret that somebody deletes is recreated, and one that no revision needs is deleted.
func TestSecrets(t *testing.T) { // K72, K76
	c := newCluster(t)
	c.begin(first)
	c.settle()
	var name string
	for name = range c.secrets {
	}
	stray := c.secrets[name]
	stray.Name, stray.UID = "etcd-1-0000", "stray"
	foreign := stray
	foreign.Name, foreign.Labels = "other", nil
	delete(c.secrets, name)
	c.secrets[stray.Name], c.secrets[foreign.Name] = stray, foreign
	c.write(rollout.Decide(c.snapshot()).Writes)
	if got, want := c.message("etcd-1", rollout.Progressing), "Retrying: Secrets that hold objects of the revision do not exist: "+system+"/"+name; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.settle()
	if len(c.secrets) != 2 || c.secrets[name].UID == "" || c.secrets["other"].UID == "" {
		t.Errorf("%v", c.secrets)
	}
	if got := c.message("etcd-1", rollout.Progressing); got != "Succeeded: Revision 1.0.0 has rolled out." {
		t.Error(got)
	}
}

// A revision whose content cannot be trusted stops, and goes on when it is restored.
func TestBlocked(t *testing.T) { // K88, K89, K90, K96, K97, K98
	secret := func(c *cluster, change func(*corev1.Secret)) {
		for name, s := range c.secrets {
			s = *s.DeepCopy()
			change(&s)
			c.secrets[name] = s
		}
	}
	repeat := func(c *cluster) {
		r := c.revisions["etcd-1"]
		r.Phases, r.Refs = append(slices.Clone(r.Phases), registryv1.Phase{Name: "again", Objects: []*unstructured.Unstructured{nil}}), append(slices.Clone(r.Refs), r.Refs[0])
		r.Observed = nil
		c.revisions["etcd-1"] = r
	}
	for _, test := range []struct {
		change func(c *cluster)
		want   string
	}{
		{func(c *cluster) { secret(c, func(s *corev1.Secret) { s.Immutable = nil }) }, "False Blocked: the following secrets are not immutable (referenced secrets must have immutable set to true): olmv1-system/SECRET"},
		{func(c *cluster) {
			secret(c, func(s *corev1.Secret) {
				for k, v := range s.Data {
					if strings.Contains(string(v), "ServiceAccount") {
						s.Data[k] = []byte(strings.Replace(string(v), `"content":"1"`, `"content":"2"`, 1))
					}
				}
			})
		}, `False Blocked: resolved content of 1 phase(s) has changed: phase "identity" (expected digest sha256:`},
		{func(c *cluster) {
			r := c.revisions["etcd-1"]
			r.Observed = r.Observed[1:]
			c.revisions["etcd-1"] = r
		}, "False Blocked: number of phases has changed (expected 2 phases, got 3)"},
		{func(c *cluster) { secret(c, func(s *corev1.Secret) { clear(s.Data) }) }, "False Blocked: Secret olmv1-system/SECRET: missing key "},
		{func(c *cluster) {
			secret(c, func(s *corev1.Secret) {
				for k := range s.Data {
					s.Data[k] = []byte{0x1f, 0x8b, 0}
				}
			})
		}, "False Blocked: Secret olmv1-system/SECRET: key "},
		{func(c *cluster) { clear(c.secrets) }, "True Retrying: Secrets that hold objects of the revision do not exist: olmv1-system/SECRET"},
		{func(c *cluster) { clear(c.secrets); c.now = c.now.Add(time.Hour) }, "True Retrying: Secrets that hold"},
		{repeat, "True Retrying: revision validation error: duplicate object found in phases: v1/ServiceAccount/ops/etcd"},
	} {
		c := newCluster(t)
		c.begin(first)
		c.settle()
		before, secrets := c.revisions["etcd-1"], map[string]corev1.Secret{}
		want := test.want
		for name, s := range c.secrets {
			secrets[name] = s
			want = strings.Replace(want, "SECRET", name, 1)
		}
		test.change(c)
		p := rollout.Decide(c.snapshot())
		for _, w := range p.Writes {
			if w.Op != rollout.SetStatus {
				t.Errorf("%s: %s", test.want, w.Op)
			}
		}
		c.write(p.Writes)
		x := meta.FindStatusCondition(c.revisions["etcd-1"].Conditions, rollout.Progressing)
		if got := string(x.Status) + " " + x.Reason + ": " + x.Message; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if x := c.message("etcd-1", rollout.Available); !strings.HasPrefix(x, "Reconciling: ") {
			t.Error(x)
		}
		c.secrets = secrets
		r := c.revisions["etcd-1"]
		r.Observed, r.Phases, r.Refs = before.Observed, before.Phases, before.Refs
		c.revisions["etcd-1"] = r
		c.settle()
		if got := c.message("etcd-1", rollout.Progressing); got != "Succeeded: Revision 1.0.0 has rolled out." {
			t.Error(got)
		}
	}
}

// What a write that failed reports.
func TestFailed(t *testing.T) { // K97, K98
	c := newCluster(t)
	c.begin(first)
	c.settle()
	clear(c.objects)
	s := c.snapshot()
	s.Failed = map[string]string{"etcd-1": `namespaces "ops" not found`}
	for _, w := range rollout.Decide(s).Writes {
		if w.Op == rollout.SetStatus {
			c.write([]rollout.Write{w})
		}
	}
	for _, typ := range []string{rollout.Progressing, rollout.Available} {
		if got, want := c.message("etcd-1", typ), map[string]string{rollout.Progressing: "Retrying", rollout.Available: "Reconciling"}[typ]+`: namespaces "ops" not found`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The latest revision that has rolled out is installed, and others that are active roll out.
func TestInstalled(t *testing.T) { // K66
	c := newCluster(t)
	expect := func(want string) {
		t.Helper()
		installed, rolling := c.snapshot().Installed()
		got := "none"
		if installed != nil {
			got = installed.Name
		}
		for _, r := range rolling {
			got += " " + r.Name
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect("none")
	c.broken = true
	c.begin(first)
	expect("none etcd-1")
	c.broken = false
	c.settle()
	expect("etcd-1")
	c.broken = true
	c.begin(second)
	c.begin(second + " Deployment/third/1")
	expect("etcd-1 etcd-2 etcd-3")
	c.broken = false
	c.settle()
	expect("etcd-3")
}

// Deleting an extension removes its objects in the reverse order of the phases, and only then
// the extension. What cannot be read any more is left to the garbage collector.
func TestUninstall(t *testing.T) { // K65, K94, K103
	for _, lost := range []bool{false, true} {
		for _, recorded := range []bool{false, true} {
			c := newCluster(t)
			c.recorded = recorded
			c.begin("ServiceAccount/etcd/1 Deployment/etcd/1")
			c.settle()
			c.extension.Deleting = true
			if lost {
				clear(c.secrets)
			}
			var got []string
			for range 10 {
				p := rollout.Decide(c.snapshot())
				for _, w := range p.Writes {
					if w.Op == rollout.Delete {
						got = append(got, w.Object.GetKind())
					}
				}
				c.write(p.Writes)
			}
			want := []string{"Deployment", "ServiceAccount"}
			if lost {
				want = nil
			}
			if !slices.Equal(got, want) || c.state() != "" || len(c.secrets) != 0 {
				t.Errorf("lost %t, recorded %t: deleted %q\n%s", lost, recorded, got, c.state())
			}
		}
	}
}

// If all revisions of an extension are lost, the next one adopts the objects of the last.
func TestLost(t *testing.T) { // K83, K84
	c := newCluster(t)
	c.recorded = true
	for _, text := range []string{first, second, first} {
		c.begin(text)
		c.settle()
	}
	clear(c.revisions)
	c.collect()
	c.settle()
	c.expect(`apps/v1/Deployment/ops/etcd by etcd-1
apps/v1/Deployment/ops/extra by etcd-1
etcd-1 Progressing=True/Succeeded Available=True/ProbesSucceeded Succeeded=True/Succeeded
v1/ConfigMap/ops/old by etcd-1
v1/ServiceAccount/ops/etcd by etcd-1`)
}

// What is torn down needs no Secrets, and is not read again.
func TestDone(t *testing.T) { // K89, K94
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.begin(second)
	c.settle()
	for name, s := range c.secrets {
		if s.Labels["olm.operatorframework.io/revision-name"] == "etcd-1" {
			delete(c.secrets, name)
		}
	}
	if p := rollout.Decide(c.snapshot()); len(p.Writes) != 0 {
		t.Errorf("%+v", p.Writes)
	}
	for _, o := range c.snapshot().Named() {
		if o.GetName() == "old" {
			t.Error("an object of the first revision is read")
		}
	}
}

// What a Helm release has installed is installed before anything is adopted, and its objects go
// with the revision, also those that it has not adopted.
func TestMigrated(t *testing.T) { // K77
	for _, recorded := range []bool{true, false} {
		c := newCluster(t)
		c.recorded = recorded
		yes := true
		for _, o := range []*unstructured.Unstructured{object("ConfigMap", "old", "1"), object("Deployment", "etcd", "1")} {
			o.SetUID(types.UID("uid-" + o.GetName()))
			o.SetResourceVersion(c.next())
			o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "ClusterExtension", Name: "etcd", UID: c.extension.UID, Controller: &yes}})
			c.objects[registryv1.Key(o)] = o
		}
		c.target("ConfigMap/old/1 Deployment/etcd/1")
		c.want.Migrated, c.want.Collision = true, rollout.None
		for range 3 {
			writes, err := rollout.Next(c.snapshot(), *c.want)
			if err != nil {
				t.Fatal(err)
			}
			c.write(writes)
		}
		if installed, rolling := c.snapshot().Installed(); installed == nil || installed.Name != "etcd-1" || len(rolling) > 0 {
			t.Errorf("recorded %t: installed %v, rolling %v", recorded, installed, rolling)
		}
		c.wantOps() // the revision has no finalizer yet
		c.want = nil
		c.write(rollout.Decide(c.snapshot()).Writes)
		c.wantOps("etcd-1 apply ConfigMap old")
		c.archive("etcd-1")
		c.wantOps("etcd-1 delete Deployment etcd")
		c.settle()
		if len(c.objects) > 0 {
			t.Errorf("recorded %t: left %s", recorded, c.state())
		}
	}
}
