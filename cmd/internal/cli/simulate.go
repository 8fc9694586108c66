package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

func newSimulate(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate {-f FILE...|--cluster} [CATALOG...]",
		Short: "Simulate one namespace, or all, until nothing is left to do",
		Long: `Simulate reads a cluster or its objects, as "olmkit plan" does, and applies one plan
after another in memory until nothing is left to do. It prints the final state and
what needs a person and, with --writes, each write with its reason, such as every
upgrade on the way to the head of a channel. JSON always has the writes. CRDs are
served and deployments run as soon as they are written; those already in the files
keep their recorded status until then.

With --all-namespaces, every namespace that has operators, subscriptions, install
plans or an operator group is simulated, in turn, until none changes, and then every
ClusterExtension. With --writes, that is a dry run of olmkit-controller for the whole
cluster, including the statuses of CatalogSources and of the OLMConfig. A catalog that
cannot be read then counts as unhealthy, as for a controller that cannot read it.

` + stateHelp + `
The simulation ends at an install plan that needs approval, unless --approve is
given.

If the operator group names a service account, writes that the account is not allowed
to make are refused, as by the API server, based on the roles and bindings in the
files. If those are not known, nothing is refused, and a note reports it.

` + extensionHelp + `
A simulation of a ClusterExtension also makes all upgrades that follow. Objects are
ready as soon as they are written.

Exit codes: 0 everything is stable, even if an operator needs a person, 1 the
subscriptions of a namespace cannot be resolved, OLM decides otherwise than
olmkit-controller, writes were refused or a ClusterExtension is blocked, 2 the input
could not be read.`,
		Example: `  olmkit simulate -f state.yaml --catalog community=./catalog
  olmkit simulate -f state.yaml --approve ./catalog -o json
  olmkit simulate --cluster --all-namespaces --writes
  olmkit simulate --cluster --extension etcd --writes`,
	}
	var s clusterState
	var approve, writes bool
	var bundles string
	f := addFormat(cmd)
	s.addFlags(cmd)
	cmd.Flags().StringVar(&bundles, "bundles", "", "the `DIR` with bundle directories, PACKAGE/VERSION, for bundles of ClusterExtensions whose manifests are not in the catalog")
	extensions := addExtensions(cmd, e, &s, &bundles)
	cmd.Flags().BoolVar(&approve, "approve", false, "approve every install plan")
	cmd.Flags().BoolVar(&writes, "writes", false, "also print each write")
	s.addAllNamespaces(cmd, "simulate all namespaces that have operators")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		l := newLoader(e)
		l.whole = true // the plan needs the manifests
		if use, err := extensions.wanted(ctx, l); err != nil {
			return err
		} else if use {
			return extensions.simulate(ctx, l, args, &printer{w: e.stdout, format: *f}, writes)
		}
		s.imitates = s.all
		cluster, catalogs, err := s.load(ctx, l, args)
		if err != nil {
			return err
		}
		if err := startControllers(cluster); err != nil {
			return err
		}
		namespaces, v1 := []string{s.namespace}, false
		if s.all {
			namespaces, v1 = inhabited(cluster), hasExtensions(cluster)
			if len(namespaces) == 0 && !v1 {
				return errUninhabited
			}
		}
		w := &rehearsal{cluster: cluster, out: printer{w: e.stdout, format: *f}}
		if s.all {
			w.sources, w.pullSecrets = s.sources, s.pullSecrets
		}
		for _, ns := range namespaces {
			w.add(ns, catalogs)
		}
		if len(namespaces) > 0 {
			w.simulations[0].inferred = s.inferred
		}
		if err := w.run(ctx, approve); err != nil {
			return err
		}
		err = w.print(ctx, writes)
		if !v1 || err != nil && !errors.Is(err, errNegative) {
			return err
		}
		if len(namespaces) > 0 {
			s.inferred = nil // which are printed
		}
		if len(namespaces) > 0 && *f == formatText {
			if _, err := visible.Fprintf(e.stdout, "\n"); err != nil {
				return err
			}
		}
		return cmp.Or(extensions.simulate(ctx, l, args, &w.out, writes), err)
	}
	return cmd
}

// startControllers makes the cluster serve CRDs and run deployments. CRDs and deployments that
// already have a status keep it.
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

// A rehearsal simulates namespaces on one cluster in memory.
type rehearsal struct {
	cluster     *memcluster.Cluster
	simulations []*simulation
	out         printer
	passes      int
	err         error
	steps       []*simulatedStep // the writes, for text
	// sources has the CatalogSources whose statuses are simulated, and whether their
	// catalogs were read. It is nil if only one namespace is simulated.
	sources     map[resolver.CatalogID]bool
	pullSecrets bool // the controller uses pull secrets
	// created are the install plans that only the simulation has.
	created []olm.Key
}

// add adds a namespace.
func (w *rehearsal) add(namespace string, content reconcile.Content) {
	sim := &simulation{rehearsal: w, namespace: namespace}
	sim.loop = &reconcile.Loop{Cluster: &attentive{w.cluster, sim}, Content: content, Progress: sim.progress, Options: reconcile.Options{RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, CheckResources: crd.Check, IgnoreOLM: true}}
	w.simulations = append(w.simulations, sim)
}

// maxSweeps bounds how often all namespaces are simulated.
const maxSweeps = 20

// run simulates all namespaces until none changes.
func (w *rehearsal) run(ctx context.Context, approve bool) error {
	for range maxSweeps {
		changes := 0
		if err := w.catalogStatuses(ctx); err != nil {
			return err
		}
		for _, sim := range w.simulations {
			w.cluster.Admit = sim.admit(ctx)
			n, err := sim.settle(ctx, approve)
			if err != nil {
				return fmt.Errorf("namespace %s: %w", sim.namespace, err)
			}
			changes += n
		}
		if w.sources == nil {
			return nil
		}
		if err := w.configStatus(ctx); err != nil {
			return err
		}
		if changes == 0 {
			return nil
		}
	}
	return fmt.Errorf("the namespaces still changed each other after being simulated %d times; simulate each with --namespace", maxSweeps)
}

// print prints the final state of each namespace and, in text on request, the writes. It
// returns errNegative if a namespace cannot be resolved or writes were refused.
func (w *rehearsal) print(ctx context.Context, writes bool) error {
	negative := false
	for i, sim := range w.simulations {
		end, err := sim.end(ctx)
		if err != nil {
			return err
		}
		if w.out.format == formatText && i > 0 {
			if _, err := visible.Fprintf(w.out.w, "\n"); err != nil {
				return err
			}
		}
		if err := w.out.print(end); err != nil {
			return err
		}
		negative = negative || sim.result.Plan.Refused != nil || len(sim.result.Refused) > 0 || slices.ContainsFunc(end.Obstacles, differs)
	}
	if writes && w.out.format == formatText {
		title := "Writes, by round:"
		if len(w.steps) == 0 {
			title = "No writes."
		}
		if _, err := visible.Fprintf(w.out.w, "\n%s\n", title); err != nil {
			return err
		}
		for _, step := range w.steps {
			if err := w.out.print(step); err != nil {
				return err
			}
		}
	}
	if negative {
		return errNegative
	}
	return nil
}

// A simulation is a loop in a namespace of a rehearsal.
type simulation struct {
	*rehearsal
	namespace string
	loop      *reconcile.Loop
	result    *reconcile.Result // of the last run
	rounds    int
	inferred  []reconcile.Note // from the files
	// bounded is true if the operator group names a service account.
	bounded bool
	// notes reports what the service account of the operator group may not do, as soon as the
	// simulation finds out.
	notes []reconcile.Note
	// replaced reports what is installed in the place of operators that were deleted.
	replaced []reconcile.Note
	// began is true once the cluster was read, and unready are the operators that had failed then, or were
	// being installed.
	began   bool
	unready []*olm.ClusterServiceVersion
	// passed are the bundles that the first resolution passes over, and closing the ways that its
	// upgrades close.
	passed, closing resolver.AdviceList
	// early are the obstacles of the first resolution that a simulation overcomes, although a cluster does not, or
	// that it is too late to avoid at its end.
	early []reconcile.Obstacle
}

// admit returns a function that rejects, as a real cluster would, the writes that the
// service account of the operator group may not make (F10).
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

// attentive is the cluster of a simulation. Each time it is read, it records in sim what the
// service account of the operator group may not do.
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
	for _, c := range s.CSVs {
		if !a.sim.began && c.Metadata.Namespace == namespace && (failure(c) != "" || waitsFor(c) != "" && c.Status.Message != "") {
			a.sim.unready = append(a.sim.unready, c)
		}
	}
	a.sim.began = true
	for _, n := range reconcile.Attenuation(s) {
		if !slices.ContainsFunc(a.sim.notes, func(old reconcile.Note) bool { return old.Object == n.Object }) {
			a.sim.notes = append(a.sim.notes, n)
		}
	}
	return s, nil
}

// settle runs the loop until nothing changes, and returns the number of changes. Permanently
// rejected writes are not an error.
func (s *simulation) settle(ctx context.Context, approve bool) (changes int, err error) {
	if s.result == nil {
		if err := s.look(ctx); err != nil {
			return 0, err
		}
	}
	for again := true; again; {
		r, err := s.loop.Run(ctx, s.namespace)
		if err != nil && len(r.Refused) > 0 && !errors.Is(err, reconcile.ErrUnsettled) && ctx.Err() == nil {
			err = nil
		}
		if err == nil {
			err = s.err
		}
		if err != nil {
			return changes, err
		}
		s.result = r
		s.passes += r.Passes
		s.rounds += r.Passes
		changes += r.Changes
		if again = approve; again {
			if again, err = s.approve(); err != nil {
				return changes, err
			}
		}
	}
	return changes, nil
}

// progress prints a write, or keeps it until the end.
func (w *rehearsal) progress(pass int, c reconcile.Change, err error) {
	if key := c.Key(); err == nil && c.Op == reconcile.Create && key.Kind == olm.KindInstallPlan {
		w.created = append(w.created, key)
	}
	step := &simulatedStep{Pass: w.passes + pass, Op: c.Op, Object: c.Key(), Reason: c.Reason, Rule: c.Rule}
	if err != nil {
		step.Error = err.Error()
	}
	if w.out.format == formatText {
		w.steps = append(w.steps, step)
	} else if w.err == nil {
		w.err = w.out.print(step)
	}
}

// approve approves the install plans that wait for approval. It reports whether there were
// any.
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
	Rule   string       `json:"rule,omitzero"`
	Error  string       `json:"error,omitzero"`
}

func (s *simulatedStep) text(w io.Writer) error {
	_, err := visible.Fprintf(w, "%3d  %s %s: %s\n", s.Pass, s.Op, s.Object, s.Reason)
	if err == nil && s.Error != "" {
		_, err = visible.Fprintf(w, "     refused: %s\n", s.Error)
	}
	return err
}
