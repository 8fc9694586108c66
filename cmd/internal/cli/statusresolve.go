package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	csvreason "github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// endsEarly reports whether the channel of the operator has something newer, but no way to it, or only older versions.
func (o *operatorStatus) endsEarly() bool {
	return o.Outlook != nil && (o.Outlook.EndsEarly() || o.Outlook.Kind == graph.OutlookAhead)
}

// resolve completes the status of the operators that OLM has yet to install or upgrade, or that are
// stuck, with what the subscriptions of their namespaces resolve to, and adds the reports of namespaces
// that cannot be resolved.
func (d *statusDocument) resolve(ctx context.Context, t *census, c *memcluster.Cluster, s *clusterState) error {
	for i, first := range d.Operators {
		ns := first.Object.Namespace
		if ns == "" || i > 0 && d.Operators[i-1].Object.Namespace == ns {
			continue
		}
		var all, list []*operatorStatus // those that may be held back, and those to resolve
		for j := i; j < len(d.Operators) && d.Operators[j].Object.Namespace == ns; j++ {
			if o := &d.Operators[j]; o.Moves == movesUnmanaged || o.Object.Kind == olm.KindSubscription && (o.awaited || o.failed || o.endsEarly() || o.unseen(s.global) || o.Moves == movesStuck || o.Moves == movesNow || o.Moves == movesUnknown || o.risk() != "" || o.Moves == movesLatest) {
				all = append(all, o)
			}
		}
		if len(all) == 0 {
			continue
		}
		snapshot, err := c.Read(ctx, ns)
		if err != nil {
			return err
		}
		var content reconcile.Catalogs
		for id, g := range t.content {
			content.AddGraph(id, g)
		}
		unknown := map[resolver.CatalogID]bool{}
		for _, src := range t.sources {
			id := resolver.CatalogID{Name: src.Metadata.Name, Namespace: src.Metadata.Namespace}
			if t.content[id] != nil || isUnhealthy(src) || id.Namespace != ns && id.Namespace != s.global {
				continue
			}
			unknown[id] = true
			if err := content.AddUnknown(ctx, id); err != nil {
				return err
			}
		}
		present, err := obstacles(ctx, snapshot, nil, &content)
		if err != nil {
			return err
		}
		resolves := false // whether the namespace may not be resolvable, which concerns operators at their heads, too
		for _, o := range all {
			resolves = resolves || o.Moves == movesLatest && t.content[o.catalogID()] != nil
			o.hinder(t, present)
			if (o.awaited || o.failed || o.endsEarly() || o.unseen(s.global) || o.recreate != "") && t.content[o.catalogID()] != nil || o.Moves == movesUnknown || o.risk() != "" || o.outdated || o.Moves == movesUnmanaged && len(t.content) > 0 || o.Moves == movesLatest && (t.unavailable(o, s.global) || o.Outlook != nil && o.Outlook.Way != nil) {
				list = append(list, o)
			}
		}
		if len(list) == 0 && !resolves {
			continue
		}
		p, notes, err := reconcile.Problem(ctx, snapshot, &content, nil)
		if err != nil {
			return err
		}
		for _, n := range notes {
			if n.Code == "" { // the others are obstacles
				d.Notes = append(d.Notes, n)
			}
		}
		if slices.ContainsFunc(p.Subscriptions, func(x resolver.Subscription) bool {
			id := x.Source()
			return unknown[id] || s.mayLack(c, id.Namespace) && !slices.ContainsFunc(p.Catalogs, func(c resolver.Catalog) bool { return c.ID() == id })
		}) {
			continue // the answer depends on a catalog that may exist
		}
		sol, err := resolver.Resolve(ctx, *p)
		var no *resolver.Conflict
		var unhealthy *resolver.UnhealthyError
		switch {
		case errors.As(err, &unhealthy): // the answer depends on a catalog whose content is unknown
		case errors.As(err, &no):
			r, err := no.Report(ctx)
			if err != nil {
				return err
			}
			d.Reports = append(d.Reports, r)
			for j := i; j < len(d.Operators) && d.Operators[j].Object.Namespace == ns; j++ {
				d.Operators[j].refuse(r)
			}
		case err != nil:
			return err
		default:
			advice, err := sol.AdviceWithFixes(ctx)
			if err != nil {
				return err
			}
			if err := adapt(ctx, advice, snapshot, nil); err != nil {
				return err
			}
			obstacles, err := obstacles(ctx, snapshot, sol, &content)
			if err != nil {
				return err
			}
			deleted := reconcile.DeletedOperators(snapshot, sol)
			for _, o := range list {
				o.expect(sol, advice, obstacles, deleted)
			}
		}
	}
	return nil
}

// unseen reports whether the namespace of the operator does not see its catalog.
func (o *operatorStatus) unseen(global string) bool {
	ns := o.catalogNamespace
	return ns != "" && ns != global && ns != o.Object.Namespace
}

// unavailable reports whether the catalog of the operator does not exist, or one that its namespace sees is not
// ready: then OLM upgrades nothing.
func (t *census) unavailable(o *operatorStatus, global string) bool {
	ns, exists := o.Object.Namespace, false
	for _, src := range t.sources {
		id := resolver.CatalogID{Name: src.Metadata.Name, Namespace: src.Metadata.Namespace}
		if exists = exists || id == o.catalogID(); isUnhealthy(src) && (id.Namespace == ns || id.Namespace == global) {
			return true
		}
	}
	return !exists
}

// risk returns what the approval of the operator's install plan does that may not be wanted, or "".
func (o *operatorStatus) risk() string {
	if o.approves == "" || o.Outlook == nil {
		return ""
	}
	return risk(o.Package, o.Outlook)
}

// hinder records what keeps the installed operator from being upgraded at all.
func (o *operatorStatus) hinder(t *census, obstacles []reconcile.Obstacle) {
	for _, x := range obstacles {
		switch {
		case x.By == resolver.HeldByUnready && x.Bundle == o.Installed && len(x.Commands) == 0 && o.Moves == movesStuck: // it recovers
			o.Moves, o.Why = movesNow, x.Reason
		case x.By == resolver.HeldByInstallMode && x.Bundle == o.Installed && (o.Moves == movesLatest || o.Moves == movesUnmanaged),
			x.By == resolver.HeldByGroup && !x.Unknown && (o.awaited || o.Moves == movesLatest || o.Moves == movesUnmanaged),
			(x.By == resolver.HeldByCatalog || differs(x) && x.Bundle == "") && (o.awaited || o.Moves == movesLatest):
			o.Moves, o.awaited = movesStuck, true
		case (x.By == resolver.HeldByUnpacking || x.By == resolver.HeldByInstallPlan) && x.Bundle == o.current && !o.outdated:
			o.Moves, o.Why = movesStuck, x.Reason
		case x.Bundle == "" || x.Bundle != o.Installed && x.Bundle != o.current || x.By == resolver.HeldByApproval:
			continue
		case o.Moves == movesUnmanaged: // OLM does not upgrade it
			continue
		case o.awaited && (differs(x) || x.By == resolver.HeldByInstallMode || t.waits(csvKey(o.Object.Namespace, x.Bundle))):
			o.Moves = movesStuck
		}
		if o.awaited && (len(o.HeldBy) == 0 || differs(x)) {
			o.Why = x.Reason
		} else if o.awaited {
			o.Why = phrase.Clause(o.Why) + "; " + x.Reason
		}
		o.awaited = false
		if !slices.Contains(o.HeldBy, x.By) {
			o.HeldBy = append(o.HeldBy, x.By)
			o.help(x)
		}
	}
}

// waits reports whether a CSV needs help: it failed, or its requirements are not met.
func (t *census) waits(key olm.Key) bool {
	c := t.csvs[key]
	return c != nil && (c.Status.Phase == olm.PhaseFailed || c.Status.Phase == olm.PhasePending && c.Status.Reason == csvreason.RequirementsNotMet)
}

// refuse records that the subscriptions of the namespace cannot be resolved.
func (o *operatorStatus) refuse(r *resolver.Report) {
	if o.Object.Kind != olm.KindSubscription || !o.awaited && !o.unoffered && o.Moves != movesUnknown && o.Moves != movesLatest {
		return // the condition has the reason
	}
	for _, core := range r.Cores {
		if slices.Contains(core.Requests, o.Object.Name) {
			o.Moves, o.Why = movesStuck, core.Headline
			return
		}
	}
	if o.awaited {
		o.Moves, o.Why = movesStuck, "waits until the namespace can be resolved"
	}
}

// expect records what a solution installs for the operator, what keeps newer bundles from being
// chosen, and what keeps the chosen one from running.
func (o *operatorStatus) expect(sol *resolver.Solution, advice resolver.AdviceList, obstacles []reconcile.Obstacle, deleted []reconcile.DeletedOperator) {
	if o.recreate != "" {
		o.returns(deleted)
		return
	}
	var differences []string
	for _, x := range obstacles {
		if differs(x) && o.awaited {
			differences = append(differences, x.Reason)
			o.help(x)
		}
	}
	if len(differences) > 0 {
		for _, a := range advice {
			if a.For(o.Object.Name) && slices.Contains(a.HeldBy, resolver.HeldByInvalid) {
				differences = append(differences, a.String()) // which has the error
			}
		}
		o.Moves, o.HeldBy, o.Why = movesStuck, []resolver.Holder{resolver.HeldByDifference}, strings.Join(differences, ". ")
		return
	}
	if !o.awaited {
		for _, a := range advice {
			if a.For(o.Object.Name) && o.outdated && a.Kind == resolver.AdviceDowngrade {
				o.Why, o.advice = phrase.Clause(o.Why)+". "+a.String(), a
				for _, c := range a.Commands {
					o.add("to keep "+o.Installed, c)
				}
			}
			if a.For(o.Object.Name) && o.risk() != "" && (a.Kind == resolver.AdviceCloses || a.Kind == resolver.AdviceDowngrade) {
				o.Why, o.advice = "before you "+o.Why+": "+a.String(), a
				if a.Kind == resolver.AdviceCloses {
					o.Commands = slices.Concat(a.Commands, o.Commands)
				}
			}
			if o.Moves == movesUnmanaged && a.Kind == resolver.AdviceUnmanaged && a.Bundle == o.Installed {
				o.Outlook, o.Why, o.Fixes = a.Outlook, a.Summary(), a.Fixes
			}
			if a.Subscription == o.Object.Name && (o.endsEarly() || o.Moves == movesLatest) {
				o.Commands, o.Fixes, o.advice = append(o.Commands, a.Commands...), a.Fixes, a
			}
		}
		return
	}
	for _, a := range advice {
		switch {
		case !a.For(o.Object.Name):
		case a.Kind == resolver.AdviceDowngrade && a.Outlook.Way == nil && o.Moves == movesApproval: // as the command would have it
			o.Why = a.Summary()
		case a.Kind == resolver.AdviceDowngrade:
			o.Why, o.Commands, o.advice = a.Summary(), append(o.Commands, a.Commands...), a
		case a.Kind == resolver.AdviceKind(graph.OutlookLoops):
			o.Why, o.Commands, o.advice = a.String(), append(o.Commands, a.Commands...), a
		case a.Kind == resolver.AdviceCloses:
			o.Why, o.Commands, o.advice = a.Summary()+". "+a.Onward(), append(o.Commands, a.Commands...), a
		case a.HeldBy == nil && a.Outlook.Way != nil && len(a.Commands) > 0 && (o.Moves == movesNow || o.Moves == movesApproval):
			o.Why, o.Commands, o.advice = o.Why+". "+a.Onward(), append(o.Commands, a.Commands...), a
		case a.HeldBy == nil && len(a.Fixes) > 0 && a.DeadEnd != nil && (o.Moves == movesNow || o.Moves == movesApproval):
			o.Why, o.Fixes, o.advice = o.Why+". Then "+a.DeadEnd.String(), a.Fixes, a
		}
		if !a.For(o.Object.Name) || a.HeldBy == nil {
			continue
		}
		o.HeldBy, o.Why, o.Fixes = a.HeldBy, a.Summary(), a.Fixes
		if o.unusable {
			o.Why = a.String() // which states why
		}
		if a.Kind == resolver.AdviceHeldBack && slices.ContainsFunc(sol.Stayed, func(s resolver.Stay) bool { return s.Subscription == a.Subscription }) {
			o.Moves = movesStuck
		}
		break
	}
	next := slices.IndexFunc(sol.Selected, func(s resolver.Selected) bool {
		return s.Package == o.Package && (o.Installed == "" || s.Replaces == o.Installed)
	})
	if next < 0 {
		return
	}
	var stated []resolver.Holder
	for _, x := range obstacles {
		if x.Bundle != sol.Selected[next].Name || x.By == resolver.HeldByApproval { // which o.Why states
			continue
		}
		if stated == nil && (o.HeldBy == nil || slices.Equal(o.HeldBy, []resolver.Holder{x.By})) {
			o.HeldBy, o.Why = nil, x.Reason // it will not just move to the bundle
		} else {
			o.Why = phrase.Clause(o.Why) + "; " + x.Reason
		}
		if !slices.Contains(stated, x.By) {
			stated, o.HeldBy = append(stated, x.By), append(o.HeldBy, x.By)
		}
		if o.Moves = movesStuck; x.Unknown {
			o.Moves = movesUnknown
		}
		if !x.Keeps { // the commands of an operator are those that upgrade it
			o.help(x)
		}
	}
}

// help adds what to do about an obstacle.
func (o *operatorStatus) help(x reconcile.Obstacle) {
	if x.Remedy != "" && !slices.Contains(o.Remedies, x.Remedy) {
		o.Remedies = append(o.Remedies, x.Remedy)
	}
	for i, c := range x.Commands {
		if !slices.Contains(o.Commands, c) {
			o.add(x.Label(i), c)
		}
	}
}

// returns records what OLM installs in the place of a deleted operator.
func (o *operatorStatus) returns(list []reconcile.DeletedOperator) {
	for _, x := range list {
		if x.Subscription != o.Object || x.Next == "" {
			continue
		}
		o.Commands = slices.DeleteFunc(o.Commands, func(c string) bool { return c == o.recreate })
		o.Moves, o.Why = onward(nil, o.manual)
		if o.Moves == movesNow {
			o.Why = x.Text
		} else {
			o.Why = x.Deleted + " was deleted; " + o.Why
		}
	}
}

// catalogID returns the catalog of a subscription.
func (o *operatorStatus) catalogID() resolver.CatalogID {
	return resolver.CatalogID{Name: o.Catalog, Namespace: o.catalogNamespace}
}
