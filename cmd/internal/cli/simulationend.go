package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
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
	// Needs is what a person has to do first. It is empty if nothing has to be done.
	Needs string `json:"needs,omitempty"`
	// Commands do that, if commands can.
	Commands []string `json:"commands,omitempty"`
	// Obstacles are what keeps bundles from running.
	Obstacles []reconcile.Obstacle `json:"obstacles,omitempty"`
	// RefusedWrites lists the writes that the cluster permanently refused.
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

func (s *simulation) end(ctx context.Context) (*simulationEnd, error) {
	r := s.result
	early := slices.DeleteFunc(slices.Clone(s.notes), func(n reconcile.Note) bool { return slices.Contains(r.Plan.Notes, n) })
	var pending []string
	var failed []*olm.InstallPlan
	var created []string // the CSVs of the install plans that only the simulation has
	d := &simulationEnd{
		Namespace: s.namespace, Passes: s.rounds, Refused: refusal(r.Plan), Notes: slices.Concat(s.inferred, early, r.Plan.Notes),
		Operators: []endOfCSV{}, Subscriptions: []endOfSubscription{},
	}
	var err error
	if d.Report, err = conflictReport(ctx, r.Plan); err != nil {
		return nil, err
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
			if st.InstallPlanRef != nil && st.CurrentCSV != st.InstalledCSV {
				pending = append(pending, st.InstallPlanRef.Name)
			}
			d.Subscriptions = append(d.Subscriptions, endOfSubscription{sub.Metadata.Name, sub.Spec.Package, st.State, st.InstalledCSV, st.CurrentCSV})
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				return nil, err
			}
			if ip.Status.Phase == olm.PlanFailed {
				failed = append(failed, ip)
			}
			if slices.Contains(s.created, ip.Key()) {
				created = append(created, ip.Spec.ClusterServiceVersionNames...)
			}
		}
	}
	for _, k := range s.failed {
		if !slices.ContainsFunc(d.Operators, func(c endOfCSV) bool { return c.Name == k.Name && c.Phase == olm.PhaseFailed }) {
			d.Notes = append(d.Notes, reconcile.Note{Object: k, Message: "has failed in the cluster; this simulation supposes that it recovers"})
		}
	}
	failed = slices.DeleteFunc(failed, func(ip *olm.InstallPlan) bool { return !slices.Contains(pending, ip.Metadata.Name) })
	now, err := s.cluster.Read(ctx, s.namespace)
	if err != nil {
		return nil, err
	}
	if d.Obstacles, err = reconcile.Obstacles(ctx, now, nil); err != nil {
		return nil, err
	}
	for i := range d.Obstacles {
		if o := &d.Obstacles[i]; o.By == resolver.HeldByApproval && slices.Contains(created, o.Bundle) {
			o.Text = fmt.Sprintf("the install plan that OLM creates for %s waits for approval; this command shows its name", o.Bundle)
			o.Commands = []string{kubectl.List("installplans.operators.coreos.com", d.Namespace)}
		}
	}
	if d.Needs, d.Commands = d.needs(failed); d.Needs != "" || r.Plan.Solution == nil {
		return d, nil
	}
	if d.Versions, err = r.Plan.Solution.AdviceWithFixes(ctx); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(d.Versions, resolver.Advice.NeedsAttention); i >= 0 {
		text, fix := d.Versions.SummaryWithFix(i)
		switch a := &d.Versions[i]; {
		case fix != nil:
			d.Needs, d.Commands = text, fix.Commands
		case len(a.Commands) > 0:
			d.Needs, d.Commands = a.String(), a.Commands // the text states their order
		default:
			d.Needs = text
		}
	}
	return d, nil
}

// needs returns what a person has to do first, and the commands that do it. failed are
// the install plans that failed.
func (d *simulationEnd) needs(failed []*olm.InstallPlan) (string, []string) {
	switch {
	case d.Report != nil && len(d.Report.Cores) > 1:
		return fmt.Sprintf("resolve all %d conflicts, which are listed below with fixes", len(d.Report.Cores)), nil
	case d.Report != nil && len(d.Report.Cores[0].Fixes) > 0:
		fix := d.Report.Cores[0].Fixes[0]
		return "resolve the conflict: " + fix.String(), fix.Commands
	case d.Report != nil:
		return "resolve the conflict: " + d.Report.Cores[0].Headline, nil
	case d.Refused != "":
		return "repair what the subscriptions need: " + d.Refused, nil
	case len(d.RefusedWrites) > 0:
		return "allow the refused writes, which are listed below", nil
	case len(failed) > 0:
		return fmt.Sprintf("install plan %s failed: %s", failed[0].Metadata.Name, reconcile.PlanFailure(failed[0])), nil
	}
	if len(d.Obstacles) > 0 {
		return d.Obstacles[0].Text, d.Obstacles[0].Commands
	}
	for _, c := range d.Operators {
		if c.Phase != olm.PhaseSucceeded {
			return fmt.Sprintf("repair %s, which is %s: %s", c.Name, c.Phase, phrase.Clause(c.Message)), nil
		}
	}
	return "", nil
}

func (d *simulationEnd) text(w io.Writer) error {
	if _, err := visible.Fprintf(w, "Namespace %s is stable after %s.\n", d.Namespace, phrase.Count(d.Passes, "round")); err != nil {
		return err
	}
	if d.Needs != "" {
		lines := proseWriter(w)
		lines.Line(nil, "Needs a person: "+visible.Words(d.Needs)+".", "", "  ")
		for _, c := range d.Commands {
			lines.Verbatim(c, "  ")
		}
		if _, err := io.WriteString(w, lines.String()); err != nil {
			return err
		}
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
	if err := writeRefusal(w, d.Refused, d.Report); err != nil {
		return err
	}
	for _, text := range d.RefusedWrites {
		if _, err := visible.Fprintf(w, "The cluster would refuse to %s\n", text); err != nil {
			return err
		}
	}
	if err := writeNotes(w, "note: ", d.Notes, reconcile.Note.String); err != nil {
		return err
	}
	return writeNotes(w, "note: ", calm(d.Versions), resolver.Advice.Summary)
}
