package takeover_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// upgrades are snapshots before and after OLM installed or upgraded an operator.
var upgrades = [][2]string{
	{"manual/1-pending", "manual/2-upgrade-pending"},
	{"manual/2-upgrade-pending", "manual/3-end"},
	{"all_ns/1-installed", "all_ns/2-upgraded"},
	{"opcondition/1-blocked", "opcondition/2-overridden"},
	{"webhook/1-installed", "webhook/2-upgraded"},
	{"conversion/1-installed", "conversion/2-upgraded"},
}

// E12, E21, E22, E23: wherever OLM was in the middle of an upgrade when it was stopped, the
// upgrade goes on. It ends as under OLM: the new version has succeeded, the old one is gone, and
// a deployment was written at most once, with the pods that OLM gives it.
func TestMidway(t *testing.T) {
	r := recorded(t)
	for _, u := range upgrades {
		t.Run(u[1], func(t *testing.T) {
			m := newMidway(t, r.Snapshots[u[0]], r.Snapshots[u[1]])
			for n := range len(m.writes) + 1 {
				name := "before it begins"
				if n > 0 {
					name = m.writes[n-1].what
				}
				t.Run(fmt.Sprintf("%02d %s", n, name), func(t *testing.T) { m.takeOver(t, n) })
			}
		})
	}
}

// A midway is an upgrade by OLM, write by write.
type midway struct {
	before, after []olm.Object
	namespaces    []string
	csv, old      olm.Key // what is installed, and what it replaces, if anything
	plan          string
	writes        []write
	deployed      int // how many writes OLM needs for the new deployment
}

// A write is one that OLM makes during an upgrade.
type write struct {
	what   string
	object olm.Object
	delete bool
}

// newMidway returns the writes that lead from one snapshot to another, in the order in
// which OLM makes them. The statuses of the operator are those in its history.
func newMidway(t *testing.T, before, after []olm.Object) *midway {
	t.Helper()
	m := &midway{before: before, after: after}
	was := byKey(before)
	var csv, old *olm.ClusterServiceVersion
	var pending, done *olm.InstallPlan
	var rest []olm.Object
	var sub olm.Object
	for _, o := range after {
		switch have, existed := was[o.Key()]; o.Kind {
		case "Namespace":
			m.namespaces = append(m.namespaces, o.Metadata.Name)
		case olm.KindClusterServiceVersion:
			if c := as[olm.ClusterServiceVersion](t, o); !olm.IsCopied(c) {
				csv = c
			}
		case olm.KindInstallPlan:
			ip := as[olm.InstallPlan](t, o)
			if existed && ip.Status.Phase == olm.PlanComplete && as[olm.InstallPlan](t, have).Status.Phase != olm.PlanComplete {
				pending, done = as[olm.InstallPlan](t, have), ip
			}
		case olm.KindSubscription:
			sub = o
		case olm.KindOperator:
		default:
			if !existed || !olm.Equal(&have, &o) {
				rest = append(rest, o)
			}
		}
	}
	for _, o := range before {
		if o.Kind != olm.KindClusterServiceVersion || o.Metadata.Name == csv.Metadata.Name {
			continue
		}
		if c := as[olm.ClusterServiceVersion](t, o); !olm.IsCopied(c) {
			old, m.old = c, c.Key()
		}
	}
	slices.Sort(m.namespaces)
	slices.SortStableFunc(rest, func(a, b olm.Object) int { // with the certificates that it uses
		return cmp.Compare(strings.Index(a.Kind, "Deployment"), strings.Index(b.Kind, "Deployment"))
	})
	m.csv = csv.Key()
	history := csv.Status
	if have, ok := was[m.csv]; ok {
		history.Conditions = history.Conditions[len(as[olm.ClusterServiceVersion](t, have).Status.Conditions):]
	}
	if done != nil {
		m.plan = done.Metadata.Name
		m.execute(t, pending, done, csv)
	}
	at := func(c *olm.ClusterServiceVersion, phase olm.Phase, reason olm.Reason, message string) *olm.ClusterServiceVersion {
		out := *c
		out.Status.Phase, out.Status.Reason, out.Status.Message = phase, reason, message
		return &out
	}
	for i, c := range history.Conditions {
		if c.Phase == olm.PhaseInstalling && m.deployed == 0 {
			for _, o := range rest {
				m.put(t, "makes "+o.Kind+" "+o.Metadata.Name, &o)
				if o.Kind == "Deployment" {
					m.deployed = len(m.writes)
				}
			}
		}
		now := at(csv, c.Phase, c.Reason, c.Message)
		now.Status.Conditions = csv.Status.Conditions[:len(csv.Status.Conditions)-len(history.Conditions)+i+1]
		now.Status.LastTransitionTime, now.Status.LastUpdateTime = c.LastTransitionTime, c.LastUpdateTime
		m.put(t, fmt.Sprintf("is %s, %s", c.Phase, c.Reason), now)
		if i == 0 && old != nil && old.Status.Phase == olm.PhaseSucceeded {
			m.put(t, "the old one is Replacing", at(old, olm.PhaseReplacing, "BeingReplaced", "being replaced by csv: "+csv.Metadata.Name))
		}
	}
	if as[olm.Subscription](t, sub).Status.CurrentCSV == csv.Metadata.Name {
		m.put(t, "the subscription names it", &sub)
	}
	if old != nil {
		last := at(old, olm.PhaseDeleting, "Replaced", "has been replaced by a newer ClusterServiceVersion that has successfully installed.")
		m.put(t, "the old one is Deleting", last)
		o, err := olm.ToObject(last)
		must(t, err)
		m.writes = append(m.writes, write{"the old one is being deleted", o, true})
	}
	return m
}

// execute adds the writes of an install plan: each step, and that it was done.
func (m *midway) execute(t *testing.T, pending, done *olm.InstallPlan, csv *olm.ClusterServiceVersion) {
	t.Helper()
	is := byKey(m.after)
	now := *pending
	now.Status.Plan = slices.Clone(pending.Status.Plan)
	complete(t, &now, map[string]json.RawMessage{csv.Metadata.Name: is[m.csv].Rest["spec"]})
	now.Spec.Approved = true
	m.put(t, "the plan is approved", &now)
	now.Status.Phase, now.Status.Conditions = olm.PlanInstalling, nil
	m.put(t, "the plan is Installing", &now)
	for i := range now.Status.Plan {
		s := &now.Status.Plan[i]
		o, err := s.Resource.Object()
		must(t, err)
		o.Metadata.Namespace = done.Metadata.Namespace
		if o.Kind == olm.KindClusterServiceVersion {
			o.Metadata.UID, o.Metadata.CreationTimestamp = csv.Metadata.UID, csv.Metadata.CreationTimestamp
			delete(o.Rest, "status")
			m.put(t, "creates the CSV", &o)
		} else if k := o.Key(); is[k].Kind != "" {
			full := is[k]
			m.put(t, "makes "+k.Kind+" "+k.Name, &full)
		} else if k.Namespace = ""; is[k].Kind != "" {
			full := is[k]
			m.put(t, "makes "+k.Kind+" "+k.Name, &full)
		}
		s.Status = done.Status.Plan[i].Status
		m.put(t, "reports step "+fmt.Sprint(i+1), &now)
	}
	m.put(t, "the plan is Complete", done)
}

func (m *midway) put(t *testing.T, what string, r olm.Resource) {
	t.Helper()
	o, err := olm.ToObject(r)
	must(t, err)
	m.writes = append(m.writes, write{what: what, object: o})
}

// takeOver lets OLM make the first n writes, and olmkit the rest.
func (m *midway) takeOver(t *testing.T, n int) {
	c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "1.36.3", Now: recordedAt}
	for _, o := range m.after {
		if o.Kind == "Namespace" { // which a person made meanwhile
			must(t, c.Put(&o))
		}
	}
	for i := range m.before {
		must(t, c.Put(&m.before[i]))
	}
	for _, w := range m.writes[:n] {
		if w.delete {
			must(t, c.Delete(w.object.Key()))
			continue
		}
		must(t, c.Put(&w.object))
	}
	if n == 0 && m.plan != "" { // which a person approves later
		must(t, c.Put(&m.writes[0].object))
	}
	for _, o := range m.before {
		if n == 0 && o.Kind == olm.KindOperatorCondition && m.plan == "" { // which a person overrides later
			cond := as[olm.OperatorCondition](t, o)
			cond.Spec.Overrides = []olm.Condition{{Type: "Upgradeable", Status: olm.ConditionTrue, Reason: "Forced"}}
			must(t, c.Put(cond))
		}
	}
	c.Controllers = true
	writes := map[string]int{}
	c.Intercept = func(change reconcile.Change, apply func() error) error {
		if k := change.Key(); k.Kind == "Deployment" && !sameSpec(c, change.Object) {
			writes[k.Name]++
		}
		return apply()
	}
	run := func() (changes int) {
		for _, ns := range m.namespaces {
			l := &reconcile.Loop{Cluster: c, MaxPasses: 60, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, NoAdvice: true}}
			l.Progress = func(_ int, change reconcile.Change, err error) { t.Logf("%s %v", &change, err) }
			r, err := l.Run(t.Context(), ns)
			if err != nil {
				t.Fatalf("namespace %s: %v", ns, err)
			}
			changes += r.Changes
		}
		return changes
	}
	run()
	for _, o := range c.List() {
		if o.Kind == "Deployment" { // its controller continues
			must(t, c.Put(&o))
		}
	}
	run()
	if more := run(); more > 0 {
		t.Errorf("%d changes after it had come to rest", more)
	}
	m.check(t, c)
	want := 0
	if n < m.deployed {
		want = 1
	}
	if len(writes) > 1 || writes["widget-controller"] != want {
		t.Errorf("deployments were written so often: %v, want %d times", writes, want)
	}
}

// check compares a cluster with what OLM left.
func (m *midway) check(t *testing.T, c *memcluster.Cluster) {
	t.Helper()
	o, err := c.Get(m.csv)
	must(t, err)
	if csv := as[olm.ClusterServiceVersion](t, o); csv.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("%s is %s, %s: %s", m.csv, csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
	if _, err := c.Get(m.old); m.old != (olm.Key{}) && err == nil {
		t.Errorf("%s is still there", m.old)
	}
	for _, o := range m.after {
		k := o.Key()
		got, err := c.Get(k)
		if err != nil {
			if o.Metadata.Labels["webhookDescriptionGenerateName"] == "" && o.Metadata.GenerateName == "" { // its name has random letters
				t.Errorf("%s is missing", k)
			}
			continue
		}
		switch o.Kind {
		case olm.KindSubscription:
			s := as[olm.Subscription](t, got)
			if s.Status.InstalledCSV != m.csv.Name || s.Status.State != olm.StateAtLatestKnown { // no catalog has a later one
				t.Errorf("%s is %s with %s", k, s.Status.State, s.Status.InstalledCSV)
			}
		case olm.KindInstallPlan:
			if p := as[olm.InstallPlan](t, got); k.Name == m.plan && p.Status.Phase != olm.PlanComplete {
				t.Errorf("%s is %s: %s", k, p.Status.Phase, p.Status.Message)
			}
		case "Deployment":
			for _, d := range differences(&o, &got) {
				if !strings.HasPrefix(d, "owners ") { // the garbage collector removes former ones
					t.Errorf("%s: %s", k, d)
				}
			}
			if want, is := image(o), image(got); want != is {
				t.Errorf("%s has the image %s, want %s", k, is, want)
			}
		}
	}
}

// image returns the image that a deployment with one container runs.
func image(o olm.Object) string {
	var spec struct {
		Template struct {
			Spec struct{ Containers []struct{ Image string } }
		}
	}
	if json.Unmarshal(o.Rest["spec"], &spec) != nil || len(spec.Template.Spec.Containers) != 1 {
		return ""
	}
	return spec.Template.Spec.Containers[0].Image
}

func byKey(list []olm.Object) map[olm.Key]olm.Object {
	out := map[olm.Key]olm.Object{}
	for _, o := range list {
		out[o.Key()] = o
	}
	return out
}

func as[T any, P interface {
	*T
	olm.Resource
}](t *testing.T, o olm.Object) *T {
	t.Helper()
	v, err := olm.As[T, P](o)
	must(t, err)
	return v
}
