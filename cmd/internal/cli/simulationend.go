package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// A simulationEnd is the result of a simulation.
type simulationEnd struct {
	Namespace     string              `json:"namespace"`
	Passes        int                 `json:"passes"`
	Operators     []endOfCSV          `json:"operators"`
	Subscriptions []endOfSubscription `json:"subscriptions"`
	Refused       string              `json:"refused,omitzero"`
	// Report is the full explanation of Refused, with fixes.
	Report *resolver.Report `json:"report,omitzero"`
	// Versions explains why operators get no newer version, with fixes.
	Versions resolver.AdviceList `json:"versions,omitempty"`
	// Warnings are the bundles that were passed over, and why.
	Warnings []string `json:"warnings,omitempty"`
	// Needs lists what a person has to do, in order.
	Needs []simulationNeed `json:"needs,omitempty"`
	// Obstacles are what keeps bundles from running.
	Obstacles []reconcile.Obstacle `json:"obstacles,omitempty"`
	// RefusedWrites lists the writes that the cluster permanently refused.
	RefusedWrites []string         `json:"refusedWrites,omitempty"`
	Notes         []reconcile.Note `json:"notes,omitempty"`

	averted  []string                  // the bundles with which the needs avert trouble
	refusals []*reconcile.RefusedError // of RefusedWrites
}

// A simulationNeed is something that a person has to do.
type simulationNeed struct {
	Text string `json:"text"`
	// Commands do that, if commands can.
	Commands []string `json:"commands,omitempty"`
	// legs is the advice whose way the commands follow, if they do.
	legs *resolver.Advice
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

func (s *simulation) end(ctx context.Context) (*simulationEnd, error) {
	r := s.result
	early := slices.DeleteFunc(slices.Clone(s.notes), func(n reconcile.Note) bool { return slices.Contains(r.Plan.Notes, n) })
	var pending []string
	var failed, retried []*olm.InstallPlan
	var created []string // the CSVs of install plans that wait for approval and that only the simulation has
	d := &simulationEnd{
		Namespace: s.namespace, Passes: s.rounds, Refused: refusal(r.Plan), Notes: slices.Concat(s.inferred, s.replaced, early, r.Plan.Notes),
		Operators: []endOfCSV{}, Subscriptions: []endOfSubscription{},
	}
	var err error
	if d.Report, err = conflictReport(ctx, r.Plan); err != nil {
		return nil, err
	}
	d.refusals = r.Refused
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
			if st.InstallPlanRef != nil && st.CurrentCSV != st.InstalledCSV {
				pending = append(pending, st.InstallPlanRef.Name)
			}
			d.Subscriptions = append(d.Subscriptions, endOfSubscription{sub.Metadata.Name, sub.Spec.Package, st.State, st.InstalledCSV, st.CurrentCSV})
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				return nil, err
			}
			switch {
			case ip.Status.Phase == olm.PlanFailed:
				failed = append(failed, ip)
			case ip.Status.Phase == olm.PlanInstalling && ip.Status.Message != "":
				retried = append(retried, ip)
			}
			if slices.Contains(s.created, ip.Key()) && ip.Status.Phase == olm.PlanRequiresApproval && !ip.Spec.Approved {
				created = append(created, ip.Spec.ClusterServiceVersionNames...)
			}
		}
	}
	for _, c := range s.unready {
		if slices.ContainsFunc(d.Operators, func(x endOfCSV) bool { return x.Name == c.Metadata.Name && x.Phase == c.Status.Phase }) {
			continue
		}
		text := "has failed in the cluster; this simulation supposes that it recovers"
		if failure(c) == "" {
			text = "is being installed in the cluster" + waitsFor(c) + "; this simulation supposes that it succeeds"
		}
		d.Notes = append(d.Notes, reconcile.Note{Object: c.Key(), Message: text, Code: noteSupposed})
	}
	failed = slices.DeleteFunc(failed, func(ip *olm.InstallPlan) bool { return !slices.Contains(pending, ip.Metadata.Name) })
	now, err := s.cluster.Read(ctx, s.namespace)
	if err != nil {
		return nil, err
	}
	sol := r.Plan.Solution
	if sol == nil && r.Plan.Refused == nil { // an install plan waits
		if sol, err = s.solution(ctx, now); err != nil {
			return nil, err
		}
	}
	if d.Obstacles, err = obstacles(ctx, now, sol, s.loop.Content); err != nil {
		return nil, err
	}
	d.Obstacles = slices.Concat(s.early, slices.DeleteFunc(d.Obstacles, func(o reconcile.Obstacle) bool {
		own := func(k olm.Key) bool { return k.Namespace == s.namespace && k.Name == o.InstallPlan } // the simulation has deleted it
		return o.By == resolver.HeldByDifference && slices.ContainsFunc(s.created, own) || slices.ContainsFunc(s.early, func(x reconcile.Obstacle) bool {
			return x.Bundle == o.Bundle && (x.By == o.By || x.By == resolver.HeldByUnpacking && o.By == resolver.HeldByInstallPlan)
		})
	}))
	if len(created) > 0 {
		text := fmt.Sprintf("the install plan that OLM creates for %s waits for approval", phrase.And(created))
		for i := range d.Obstacles {
			if o := &d.Obstacles[i]; o.By == resolver.HeldByApproval && slices.Contains(created, o.Bundle) {
				o.Reason, o.Commands = text, []string{d.approve(o.Bundle)}
			} else if o.By == resolver.HeldByInstallPlan && o.InstallPlan != "" && slices.Contains(created, o.Bundle) {
				o.Reason = fmt.Sprintf("the install plan that OLM creates for %s takes %s back to %s", phrase.And(created), o.Replaces, o.Bundle)
				o.Remedy = "do not approve the install plan"
			}
		}
	}
	if sol != nil {
		if d.Versions, err = sol.AdviceWithFixes(ctx); err != nil {
			return nil, err
		}
		d.Warnings = sol.Warnings()
		unsettled(d.Versions, d.Obstacles)
		if err := adapt(ctx, d.Versions, now, s.created); err != nil {
			return nil, err
		}
	}
	for _, a := range s.closing { // and nobody was asked
		if !slices.ContainsFunc(d.Versions, func(x resolver.Advice) bool { return x.Kind == a.Kind && x.Subscription == a.Subscription }) {
			d.Needs = append(d.Needs, simulationNeed{"before OLM goes on: " + a.String(), a.Commands, &a})
			d.avert(&a)
		}
	}
	for _, a := range s.passed {
		if !slices.ContainsFunc(d.Versions, func(x resolver.Advice) bool { return x.Package == a.Package }) {
			d.Versions = append(d.Versions, a)
		}
	}
	d.needs(failed, retried)
	return d, nil
}

// avert records the bundles between which an advice keeps OLM from moving back and forth.
func (d *simulationEnd) avert(a *resolver.Advice) {
	if a.Kind != resolver.AdviceKind(graph.OutlookLoops) || len(a.Commands) == 0 {
		return
	}
	d.averted = append(d.averted, a.Outlook.From.Name)
	for _, s := range a.Outlook.Steps {
		d.averted = append(d.averted, s.To.Name)
	}
}

// averts reports whether an earlier need prevents trouble with all of some operators.
func (d *simulationEnd) averts(bundles ...string) bool {
	return !slices.ContainsFunc(bundles, func(b string) bool { return !slices.Contains(d.averted, b) })
}

// look sets what only the first resolution knows: the bundles that it passes over, the ways that its
// upgrades close, and what it installs in the place of deleted operators.
func (s *simulation) look(ctx context.Context) error {
	now, err := s.cluster.Read(ctx, s.namespace)
	if err != nil {
		return err
	}
	sol, err := s.solution(ctx, now)
	if err != nil || sol == nil {
		return err
	}
	for _, x := range reconcile.DeletedOperators(now, sol) {
		if x.Next != "" {
			s.replaced = append(s.replaced, reconcile.Note{Object: x.Subscription, Message: x.Text})
		}
	}
	if s.early, err = obstacles(ctx, now, sol, s.loop.Content); err != nil {
		return err
	}
	s.early = slices.DeleteFunc(s.early, func(o reconcile.Obstacle) bool {
		failed := o.By == resolver.HeldByUnready && len(o.Commands) > 0 && slices.ContainsFunc(now.CSVs, func(c *olm.ClusterServiceVersion) bool { return c.Metadata.Name == o.Bundle && failure(c) != "" })
		return !differs(o) && !failed && o.By != resolver.HeldByUnpacking && o.By != resolver.HeldByInstallMode
	})
	list, err := sol.AdviceWithFixes(ctx)
	only := func(kinds ...resolver.AdviceKind) resolver.AdviceList {
		return slices.DeleteFunc(slices.Clone(list), func(a resolver.Advice) bool { return !slices.Contains(kinds, a.Kind) })
	}
	s.passed, s.closing = only(resolver.AdvicePassedOver), only(resolver.AdviceCloses, resolver.AdviceDowngrade, resolver.AdviceKind(graph.OutlookLoops))
	return err
}

// solution returns what the namespace resolves to, or nil if it cannot be resolved.
func (s *simulation) solution(ctx context.Context, now *reconcile.Snapshot) (*resolver.Solution, error) {
	return solution(ctx, now, s.loop.Content)
}

// approve returns the command that approves the install plan of the subscription that is upgraded to a bundle.
func (d *simulationEnd) approve(bundle string) string {
	i := slices.IndexFunc(d.Subscriptions, func(s endOfSubscription) bool { return s.CurrentCSV == bundle })
	if i < 0 {
		return kubectl.List("installplans.operators.coreos.com", d.Namespace)
	}
	return kubectl.Operator{Namespace: d.Namespace, Name: d.Subscriptions[i].Name}.Approve()
}

// needs sets what a person has to do. failed are the install plans that failed, and retried those
// whose steps fail again and again.
func (d *simulationEnd) needs(failed, retried []*olm.InstallPlan) {
	add := func(text string, commands ...string) {
		d.Needs = append(d.Needs, simulationNeed{Text: text, Commands: commands})
	}
	follow := func(text string, a *resolver.Advice) { d.Needs = append(d.Needs, simulationNeed{text, a.Commands, a}) }
	asked := d.Needs // before OLM goes on
	d.Needs = nil
	for _, o := range d.Obstacles {
		if ofOLM(o) {
			add(o.String(), o.Commands...)
		}
	}
	if len(d.Needs) > 0 {
		d.Needs[len(d.Needs)-1].Text += ". The following is what olmkit-controller does"
	}
	d.Needs = append(d.Needs, asked...)
	switch {
	case d.Report != nil && !slices.ContainsFunc(d.Report.Cores, func(c resolver.CoreReport) bool { return !d.averts(c.Requests...) }):
	case d.Report != nil && len(d.Report.Cores) > 1:
		add(fmt.Sprintf("resolve all %d conflicts, which are listed below with fixes", len(d.Report.Cores)))
	case d.Report != nil && len(d.Report.Cores[0].Fixes) > 0:
		list := d.Report.Cores[0].Fixes
		fix := list[max(0, slices.IndexFunc(list, func(f *resolver.Fix) bool { return f.Changes[0].Kind != resolver.RelaxRequirement }))]
		add("resolve the conflict: "+fix.String(), fix.Commands...)
	case d.Report != nil:
		add("resolve the conflict: " + d.Report.Cores[0].Headline)
	case d.Refused != "" && !slices.ContainsFunc(d.Obstacles, unready): // which have commands
		add("repair what the subscriptions need: " + d.Refused)
	}
	crd := func(o reconcile.Obstacle) bool { return o.By == resolver.HeldByCRD } // it has the commands
	refused := slices.DeleteFunc(slices.Clone(d.refusals), func(e *reconcile.RefusedError) bool {
		return e.Change.Key().Kind == olm.KindCRD && slices.ContainsFunc(d.Obstacles, crd)
	})
	switch n := len(refused) - 1; {
	case n == 0:
		add(fmt.Sprintf("correct %s, which the cluster refuses: %s", refused[0].Change.Key(), refused[0].Err))
	case n > 0:
		add(fmt.Sprintf("correct %s and %s, which the cluster refuses, see below: %s", refused[0].Change.Key(), phrase.Count(n, "other object"), refused[0].Err))
	}
	planFailed := func(o reconcile.Obstacle) bool {
		return o.By == resolver.HeldByInstallPlan || o.By == resolver.HeldByUnpacking && o.InstallPlan != ""
	}
	for _, ip := range failed {
		if slices.ContainsFunc(d.Obstacles, planFailed) {
			break // they have the commands
		}
		add(fmt.Sprintf("install plan %s failed: %s", ip.Metadata.Name, phrase.Clause(reconcile.PlanFailure(ip))))
	}
	for _, ip := range retried {
		gate := func(o reconcile.Obstacle) bool { return o.By == resolver.HeldByAccount || o.By == resolver.HeldByGroup }
		if len(d.RefusedWrites) > 0 || slices.ContainsFunc(d.Obstacles, gate) {
			break // they are why
		}
		if !slices.ContainsFunc(d.Obstacles, crd) {
			add(fmt.Sprintf("install plan %s for %s makes no progress: %s", ip.Metadata.Name, phrase.And(ip.Spec.ClusterServiceVersionNames), phrase.Clause(ip.Status.Message)))
		}
		d.Notes = slices.DeleteFunc(d.Notes, func(n reconcile.Note) bool { return n.Object == ip.Key() })
	}
	waits := func(o reconcile.Obstacle) bool { return o.By == resolver.HeldByApproval }
	var risks []string
	for _, a := range d.Versions {
		if r := risk(a.Package, a.Outlook); r != "" {
			risks = append(risks, r)
		}
	}
	approval := slices.ContainsFunc(d.Obstacles, waits)
	early := func(a *resolver.Advice) bool { // the approval would do what it warns of
		return approval && (a.Kind == resolver.AdviceCloses || a.Kind == resolver.AdviceDowngrade)
	}
	for i := range d.Versions {
		if a := &d.Versions[i]; early(a) {
			follow("before you approve the install plan: "+a.String(), a)
		}
	}
	first := slices.DeleteFunc(slices.Clone(d.Obstacles), waits) // to be removed before the approval
	last := risky(slices.DeleteFunc(slices.Clone(d.Obstacles), func(o reconcile.Obstacle) bool { return !waits(o) }), risks)
	for i := range last {
		if len(risks) > 0 {
			last[i].Reason = "or instead: " + last[i].Reason
		}
	}
	obstacles := slices.Concat(first, last)
	for i, o := range obstacles {
		if ofOLM(o) {
			continue // which is first
		}
		averted := o.Bundle != "" && d.averts(o.Bundle)
		if !averted && !slices.ContainsFunc(obstacles[:i], func(x reconcile.Obstacle) bool { return holdsAlike(x, o) }) {
			add(o.String(), o.Commands...)
		}
	}
	for _, c := range d.Operators {
		if c.Phase != olm.PhaseSucceeded && !d.explained(c.Name) {
			add(fmt.Sprintf("repair %s, which is %s: %s", c.Name, c.Phase, phrase.Clause(c.Message)))
		}
	}
	for i := range d.Versions {
		a := &d.Versions[i]
		if !a.NeedsAttention() || early(a) {
			continue
		}
		text, fix := d.Versions.SummaryWithFix(i)
		switch {
		case fix != nil:
			add(text, fix.Commands...)
		case len(a.Commands) > 0:
			follow(a.String(), a)
		default:
			add(text)
		}
	}
}

// explained reports whether an obstacle is the reason why an operator does not run.
func (d *simulationEnd) explained(csv string) bool {
	return slices.ContainsFunc(d.Obstacles, func(o reconcile.Obstacle) bool {
		return o.Bundle == csv || o.Replaces == csv || o.By == resolver.HeldByGroup
	})
}

func (d *simulationEnd) text(w io.Writer) error {
	if _, err := visible.Fprintf(w, "Namespace %s is stable after %s.\n", d.Namespace, phrase.Count(d.Passes, "round")); err != nil {
		return err
	}
	lines := proseWriter(w)
	writeNeeds(lines, d.Needs)
	if _, err := io.WriteString(w, lines.String()); err != nil {
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
	if len(csvs.rows) > 0 {
		if err := csvs.text(w); err != nil {
			return err
		}
	}
	if err := writeRefusal(w, d.Refused, d.Report, d.Obstacles); err != nil {
		return err
	}
	for _, text := range d.RefusedWrites {
		if _, err := visible.Fprintf(w, "The cluster would refuse to %s\n", text); err != nil {
			return err
		}
	}
	for _, a := range d.Versions {
		if a.Kind == resolver.AdvicePassedOver {
			d.Warnings = append(d.Warnings, a.Summary())
		}
	}
	if err := writeNotes(w, "warning: ", d.Warnings, func(s string) string { return s }); err != nil {
		return err
	}
	if err := writeClusterNotes(w, slices.DeleteFunc(slices.Clone(d.Notes), d.stated)); err != nil {
		return err
	}
	for _, a := range calm(d.Versions) {
		if err := writeNotes(w, "note: ", []resolver.Advice{a}, fullAdvice); err != nil {
			return err
		}
		if _, err := io.WriteString(w, adviceHelp(w, a)); err != nil {
			return err
		}
	}
	return nil
}

// writeNeeds prints what a person has to do.
func writeNeeds(lines *prose.Writer, needs []simulationNeed) {
	if len(needs) > 1 {
		lines.Line(nil, "Needs a person, in this order:", "", "")
	}
	for i, n := range needs {
		first, rest, text := "", "  ", "Needs a person: "+visible.Words(n.Text)
		if len(needs) > 1 {
			first, rest, text = fmt.Sprintf("%3d. ", i+1), "     ", visible.Words(n.Text)
		}
		lines.Line(nil, phrase.Clause(text)+".", first, rest)
		for i, c := range n.Commands {
			if n.legs != nil && installedBefore(*n.legs, i) != "" {
				lines.Line(nil, "when "+visible.Words(installedBefore(*n.legs, i))+" is installed:", rest, rest)
			}
			lines.Verbatim(c, rest)
		}
	}
}

// noteSupposed is the code of notes about what a simulation supposes.
const noteSupposed reconcile.NoteCode = "supposed"

// stated reports whether a need states what a note does.
func (d *simulationEnd) stated(n reconcile.Note) bool {
	k := n.Object
	if n.Code == noteSupposed {
		return false
	}
	if n.Code == reconcile.NoteRefused && d.Report != nil { // which has the reason
		return true
	}
	if n.Code == reconcile.NoteVersion && slices.ContainsFunc(d.Versions, func(a resolver.Advice) bool { return a.NeedsAttention() && a.For(k.Name) }) {
		return true
	}
	runs := slices.ContainsFunc(d.Operators, func(c endOfCSV) bool { return c.Name == k.Name && c.Phase == olm.PhaseSucceeded })
	return slices.ContainsFunc(d.Obstacles, func(o reconcile.Obstacle) bool {
		group := o.By == resolver.HeldByGroup
		switch k.Kind {
		case olm.KindInstallPlan:
			return group || o.States(n)
		case olm.KindClusterServiceVersion:
			return !runs && (group || o.Bundle == k.Name)
		case olm.KindSubscription:
			return group || o.States(n) || o.InstallPlan != "" || slices.ContainsFunc(d.Subscriptions, func(s endOfSubscription) bool {
				return s.Name == k.Name && (s.CurrentCSV == o.Bundle || s.InstalledCSV == o.Bundle)
			})
		}
		return o.States(n)
	})
}
