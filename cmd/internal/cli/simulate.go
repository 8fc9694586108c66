package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

func newSimulate(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate {-f FILE...|--cluster} [CATALOG...]",
		Short: "Simulate a namespace until nothing is left to do",
		Long: `Simulate reads a cluster or its objects, as "olmkit plan" does, and applies one plan
after another in memory until nothing is left to do. It prints each write with its
reason, such as every upgrade on the way to the head of a channel, and the final
state. CRDs are served and deployments run as soon as they are written; those already
in the files keep their recorded status until then.

` + stateHelp + `
The simulation ends at an install plan that needs approval, unless --approve is
given.

If the operator group names a service account, writes that it may not make are
refused, as the API server would, by the roles and bindings in the files. Where those
are not known, nothing is refused, and a note reports it.

Exit codes: 0 the namespace is stable, 1 the subscriptions cannot be
resolved or writes were refused, 2 the input could not be read.`,
		Example: `  olmkit simulate -f state.yaml --catalog community=./catalog
  olmkit simulate -f state.yaml --approve ./catalog -o json`,
	}
	var s clusterState
	var approve bool
	f := addFormat(cmd)
	s.addFlags(cmd)
	cmd.Flags().BoolVar(&approve, "approve", false, "approve every install plan")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		cluster, catalogs, err := s.load(ctx, newLoader(e), args)
		if err != nil {
			return err
		}
		if err := startControllers(cluster); err != nil {
			return err
		}
		sim := &simulation{cluster: cluster, namespace: s.namespace, inferred: s.inferred, out: printer{w: e.stdout, format: *f}}
		cluster.Admit = sim.admit(ctx)
		sim.loop = &reconcile.Loop{Cluster: &attentive{cluster, sim}, Content: catalogs, Progress: sim.progress, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, CheckResources: crd.Check}}
		r, err := sim.run(ctx, approve)
		if err != nil {
			return err
		}
		if r.Plan.Refused != nil || len(r.Refused) > 0 {
			return errNegative
		}
		return nil
	}
	return cmd
}

// startControllers lets the cluster serve CRDs and run deployments from now on. Of
// those that it has, that goes for the ones without a status: that of the others
// is what the cluster said.
func startControllers(c *memcluster.Cluster) error {
	c.Controllers = true
	for _, o := range c.List() {
		k := o.Key()
		if !(k.Group == olm.GroupCRD && k.Kind == olm.KindCRD) && !(k.Group == "apps" && k.Kind == "Deployment") {
			continue
		}
		if _, has := o.Get("status", "conditions"); has {
			continue
		}
		if err := c.Put(&o); err != nil {
			return err
		}
	}
	return nil
}

// A simulation is a loop on a cluster in memory that prints what it does.
type simulation struct {
	cluster   *memcluster.Cluster
	namespace string
	loop      *reconcile.Loop
	out       printer
	passes    int
	err       error
	inferred  []reconcile.Note // from the files
	// bounded: the operator group names a service account.
	bounded bool
	// notes report what the service account of the group may not do, as of the
	// first time that it was known.
	notes []reconcile.Note
}

// admit refuses what a real cluster would: what the service account of the operator
// group may not do (F10).
func (s *simulation) admit(ctx context.Context) func(reconcile.Change) error {
	return func(c reconcile.Change) error {
		if !s.bounded || !c.IsBounded() {
			return nil
		}
		now, err := s.cluster.Read(ctx, s.namespace)
		if err != nil {
			return err
		}
		return reconcile.Forbidden(now, &c)
	}
}

// attentive is the cluster of a simulation, which notes ahead what the service
// account of the group may not do.
type attentive struct {
	*memcluster.Cluster
	sim *simulation
}

// Read reads the cluster.
func (a *attentive) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	s, err := a.Cluster.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	a.sim.bounded = slices.ContainsFunc(s.OperatorGroups, func(g *olm.OperatorGroup) bool {
		return g.Metadata.Namespace == namespace && g.Spec.ServiceAccountName != ""
	})
	for _, n := range reconcile.Attenuation(s) {
		if !slices.ContainsFunc(a.sim.notes, func(old reconcile.Note) bool { return old.Object == n.Object }) {
			a.sim.notes = append(a.sim.notes, n)
		}
	}
	return s, nil
}

// run runs to the end and prints it. What was refused for good belongs to it.
func (s *simulation) run(ctx context.Context, approve bool) (*reconcile.Result, error) {
	for {
		r, err := s.loop.Run(ctx, s.namespace)
		if err != nil && len(r.Refused) > 0 && !errors.Is(err, reconcile.ErrUnsettled) && ctx.Err() == nil {
			err = nil
		}
		if err == nil {
			err = s.err
		}
		if err != nil {
			return nil, err
		}
		s.passes += r.Passes
		if approve {
			again, err := s.approve()
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
		}
		end, err := s.end(r)
		if err != nil {
			return nil, err
		}
		return r, s.out.print(end)
	}
}

// progress prints a write.
func (s *simulation) progress(pass int, c reconcile.Change, err error) {
	step := &simulatedStep{Pass: s.passes + pass, Op: c.Op, Object: c.Key(), Reason: c.Reason}
	if err != nil {
		step.Error = err.Error()
	}
	if s.err == nil {
		s.err = s.out.print(step)
	}
}

// approve approves the install plans that wait for it, and reports whether any
// did.
func (s *simulation) approve() (bool, error) {
	found := false
	for _, o := range s.cluster.List() {
		if o.Kind != olm.KindInstallPlan || o.Metadata.Namespace != s.namespace {
			continue
		}
		ip, err := olm.As[olm.InstallPlan](o)
		if err != nil {
			return false, err
		}
		if ip.Spec.Approved || ip.Status.Phase != olm.PlanRequiresApproval {
			continue
		}
		found = true
		ip.Spec.Approved = true
		if err := s.cluster.Put(ip); err != nil {
			return false, err
		}
	}
	return found, nil
}

// A simulatedStep is a write that was made in memory.
type simulatedStep struct {
	Pass   int          `json:"pass"`
	Op     reconcile.Op `json:"op"`
	Object olm.Key      `json:"object"`
	Reason string       `json:"reason"`
	Error  string       `json:"error,omitzero"`
}

func (s *simulatedStep) text(w io.Writer) error {
	_, err := visible.Fprintf(w, "%3d  %s %s: %s\n", s.Pass, s.Op, s.Object, s.Reason)
	if err == nil && s.Error != "" {
		_, err = visible.Fprintf(w, "     refused: %s\n", s.Error)
	}
	return err
}

// A simulationEnd is how a simulation ends.
type simulationEnd struct {
	Namespace     string              `json:"namespace"`
	Passes        int                 `json:"passes"`
	Operators     []endOfCSV          `json:"operators"`
	Subscriptions []endOfSubscription `json:"subscriptions"`
	Refused       string              `json:"refused,omitzero"`
	// RefusedWrites are the writes that the cluster refused for good.
	RefusedWrites []string         `json:"refusedWrites,omitempty"`
	Notes         []reconcile.Note `json:"notes,omitempty"`
}

type endOfCSV struct {
	Name    string     `json:"name"`
	Version string     `json:"version,omitzero"`
	Phase   olm.Phase  `json:"phase"`
	Reason  olm.Reason `json:"reason"`
	Message string     `json:"message"`
}

type endOfSubscription struct {
	Name         string                `json:"name"`
	Package      string                `json:"package"`
	State        olm.SubscriptionState `json:"state"`
	InstalledCSV string                `json:"installedCSV,omitzero"`
	CurrentCSV   string                `json:"currentCSV,omitzero"`
}

func (s *simulation) end(r *reconcile.Result) (*simulationEnd, error) {
	early := slices.DeleteFunc(slices.Clone(s.notes), func(n reconcile.Note) bool { return slices.Contains(r.Plan.Notes, n) })
	d := &simulationEnd{
		Namespace: s.namespace, Passes: s.passes, Refused: refusal(r.Plan), Notes: slices.Concat(s.inferred, early, r.Plan.Notes),
		Operators: []endOfCSV{}, Subscriptions: []endOfSubscription{},
	}
	for _, e := range r.Refused {
		d.RefusedWrites = append(d.RefusedWrites, e.Error())
	}
	for _, o := range s.cluster.List() {
		if o.Metadata.Namespace != s.namespace {
			continue
		}
		switch o.Kind {
		case olm.KindClusterServiceVersion:
			c, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				return nil, err
			}
			st := &c.Status
			d.Operators = append(d.Operators, endOfCSV{c.Metadata.Name, c.Spec.Version, st.Phase, st.Reason, st.Message})
		case olm.KindSubscription:
			sub, err := olm.As[olm.Subscription](o)
			if err != nil {
				return nil, err
			}
			st := &sub.Status
			d.Subscriptions = append(d.Subscriptions, endOfSubscription{sub.Metadata.Name, sub.Spec.Package, st.State, st.InstalledCSV, st.CurrentCSV})
		}
	}
	return d, nil
}

func (d *simulationEnd) text(w io.Writer) error {
	if _, err := visible.Fprintf(w, "\nNamespace %s is stable after %s.\n", d.Namespace, phrase.Count(d.Passes, "round")); err != nil {
		return err
	}
	subs := table{header: []string{"SUBSCRIPTION", "PACKAGE", "STATE", "INSTALLED", "CURRENT"}}
	for _, s := range d.Subscriptions {
		subs.add(s.Name, s.Package, string(s.State), s.InstalledCSV, s.CurrentCSV)
	}
	if err := subs.text(w); err != nil {
		return err
	}
	csvs := table{header: []string{"OPERATOR", "VERSION", "PHASE", "REASON", "MESSAGE"}}
	for _, c := range d.Operators {
		csvs.add(c.Name, c.Version, string(c.Phase), string(c.Reason), c.Message)
	}
	if err := csvs.text(w); err != nil {
		return err
	}
	if d.Refused != "" {
		if _, err := visible.Fprintf(w, "The subscriptions cannot be resolved: %s\n", d.Refused); err != nil {
			return err
		}
	}
	for _, text := range d.RefusedWrites {
		if _, err := visible.Fprintf(w, "The cluster would refuse to %s\n", text); err != nil {
			return err
		}
	}
	for _, n := range d.Notes {
		if _, err := visible.Fprintf(w, "note: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}
