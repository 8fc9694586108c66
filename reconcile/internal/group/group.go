package group

import (
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// operatorGroups maintains the status, the annotation and the roles of the
// groups of the namespace (F1, F3, F5, F7).
func (p *planner) operatorGroups() error {
	groups := p.Groups()
	conflicts := operatorgroup.NameConflicts(p.OperatorGroups)
	for _, g := range groups {
		if err := p.groupStatus(g, len(groups)); err != nil {
			return err
		}
		if err := p.groupAnnotation(g); err != nil {
			return err
		}
		if g.Metadata.IsDeleted() {
			continue
		}
		p.sameName(g, conflicts)
		if err := p.labelTargets(g); err != nil {
			return err
		}
		switch u := g.Spec.UpgradeStrategy; u {
		case "", olm.UpgradeDefault, olm.UpgradeFailForward:
		default:
			p.Note(g.Key(), "upgradeStrategy %q is unknown and treated as %s; set it to %s or %s", u, olm.UpgradeDefault, olm.UpgradeDefault, olm.UpgradeFailForward).Rule = "E10"
		}
		apis := operatorgroup.Annotated(g).Union(operatorgroup.Provided(g, p.CSVs))
		for _, r := range operatorgroup.GroupRoles(g, apis, p.Naming) {
			if _, _, err := p.EnsureShared(r, g.Key(), "F7", "grants permissions to users of the group"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *planner) groupStatus(g *olm.OperatorGroup, groups int) error {
	targets, err := operatorgroup.Targets(g, p.Namespaces)
	if err != nil {
		p.Note(g.Key(), "%s", err) // the spec must be fixed
		return nil
	}
	out, rule, why := *g, "", ""
	because := func(changed bool, id, text string) {
		if changed && why == "" {
			rule, why = id, text
		}
	}
	selects := len(g.Spec.TargetNamespaces) == 0 && g.Spec.Selector != nil
	if !sameTargets(g.Status.Namespaces, targets) && (!selects || p.IsRead(world.KindNamespace, "those that operator group "+g.Metadata.Name+" selects")) {
		out.Status.Namespaces, out.Status.LastUpdated = targets, p.Now
		because(true, "F1", "the group targets "+describeTargets(targets))
	}
	account := g.Spec.ServiceAccountName
	exists := account == "" || p.HasServiceAccount(account)
	guessed := exists && account != "" && !p.ReadsServiceAccount(account)
	wanted := operatorgroup.GroupConditions(g, groups, exists)
	for _, typ := range []string{"MultipleOperatorGroup", "OperatorGroupServiceAccount"} {
		if c, ok := olm.FindCondition(wanted, typ); ok {
			because(p.SetCondition(&out.Status.Conditions, c), "", c.Reason+": "+c.Message)
		} else {
			because(change.ClearCondition(&out.Status.Conditions, typ), "", typ+" is over")
		}
	}
	switch ref := g.Status.ServiceAccountRef; {
	case guessed: // it is unknown whether the account exists, so the status stays
	case account != "" && exists && (ref == nil || ref.Name != account):
		out.Status.ServiceAccountRef = &olm.ObjectReference{APIVersion: "v1", Kind: "ServiceAccount", Namespace: p.Namespace, Name: account}
		because(true, "", "installs with the permissions of service account "+account)
	case (account == "" || !exists) && ref != nil:
		out.Status.ServiceAccountRef = nil
		because(true, "", "no service account limits what is installed")
	}
	if why == "" {
		return nil
	}
	return p.Emit(change.UpdateStatus, &out, g.Key(), nil, rule, "%s", why)
}

// sameTargets reports whether two lists contain the same targets in any order.
// Nil (not determined) differs from empty.
func sameTargets(a, b []string) bool {
	set := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return (a == nil) == (b == nil) && slices.Equal(set(a), set(b))
}

func describeTargets(targets []string) string {
	switch {
	case operatorgroup.IsGlobal(targets):
		return "all namespaces"
	case len(targets) == 0:
		return "no namespace"
	}
	return strings.Join(targets, ",")
}

// described returns some APIs, or their number if there are many.
func described(list operatorgroup.APIs) string {
	const few = 2
	if len(list) <= few {
		return strconv.Quote(list.String())
	}
	return "a list of " + phrase.Count(len(list), "API")
}

// groupAnnotation updates the list of provided APIs: members are checked
// against other groups and add or remove their APIs (F6), and APIs that no
// member provides are removed (F5), unless a member is about to add its APIs.
func (p *planner) groupAnnotation(g *olm.OperatorGroup) error {
	listed := operatorgroup.Annotated(g)
	want := listed
	rule, why := "F5", "no active member provides the others"
	settled := true
	var changed []string // the operators whose APIs are added or removed
	out, groups := *g, slices.Clone(p.OperatorGroups)
	at := slices.Index(groups, g)
	for _, c := range p.Own() {
		if c.Metadata.IsDeleted() {
			continue
		}
		j := operatorgroup.Judge(c, groups)
		if j.Group != groups[at] {
			continue
		}
		settled = settled && !j.Recovered
		if j.Failure == nil && j.Decision.Action != operatorgroup.Continue {
			settled = false
			want, changed = j.Decision.APIs, append(changed, c.Metadata.Name)
			out.Metadata.SetAnnotation(operatorgroup.AnnotationProvidedAPIs, want.String())
			groups[at] = &out // so that the next member is checked against it
		}
	}
	if len(changed) > 0 {
		rule, why = "F6", "the APIs of "+phrase.Join(changed, "and")
	}
	if settled {
		want = operatorgroup.Prune(g, p.CSVs)
	}
	if want.String() == listed.String() {
		return nil
	}
	out.Metadata.SetAnnotation(operatorgroup.AnnotationProvidedAPIs, want.String())
	return p.Emit(change.Update, &out, g.Key(), nil, rule, "olm.providedAPIs becomes %s: %s", described(want), why)
}
