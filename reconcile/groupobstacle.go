package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// shareGroup puts the names of the bundles before what obstacles state about an operator group, and all names
// where several state the same.
func shareGroup(list []Obstacle) {
	names := map[string][]string{} // by text; never ranged over
	for _, o := range list {
		if o.By == resolver.HeldByInstallMode {
			names[o.String()] = append(names[o.String()], o.Bundle)
		}
	}
	for i := range list {
		if o := &list[i]; o.By == resolver.HeldByInstallMode {
			o.Reason = phrase.And(names[o.String()]) + " " + o.Reason
		}
	}
}

// installModeObstacle reports a bundle that does not support the namespace's operator group
// (F2). The commands change the targets of the group to the fewest that all operators support that are installed or
// will be. shareGroup completes the text.
func installModeObstacle(w *world.World, c coming, present []coming) *Obstacle {
	groups := w.Groups()
	if len(groups) != 1 || !c.stated {
		return nil
	}
	g := groups[0]
	targets := w.Targets(g)
	if len(targets) == 0 {
		return nil // the group has not determined its targets yet
	}
	why := operatorgroup.Supports(c.modes, w.Namespace, targets)
	if why == nil {
		return nil
	}
	o := &Obstacle{By: resolver.HeldByInstallMode, Reason: fmt.Sprintf("cannot run under operator group %s: %s", g.Metadata.Name, why)}
	present = slices.SortedStableFunc(slices.Values(present), func(a, b coming) int { // what is installed is always known
		return cmp.Compare(rank(w, c, a), rank(w, c, b))
	})
	opposed, elsewhere := "", ""
	for _, to := range []string{w.Namespace, operatorgroup.AllNamespaces} {
		if slices.Equal(targets, []string{to}) || operatorgroup.Supports(c.modes, w.Namespace, []string{to}) != nil {
			continue
		}
		lacks := func(x coming) bool {
			return x.stated && operatorgroup.Supports(x.modes, w.Namespace, []string{to}) != nil
		}
		if i := slices.IndexFunc(present, lacks); i >= 0 {
			opposed = cmp.Or(opposed, present[i].name)
			elsewhere = cmp.Or(elsewhere, to)
			continue
		}
		spec := map[string]any{"selector": nil, "targetNamespaces": nil}
		what, effect := "all namespaces", "watch, and may change, all namespaces"
		if to != operatorgroup.AllNamespaces {
			spec["targetNamespaces"] = []string{to}
			what, effect = "only namespace "+to, "ignore resources in other namespaces"
		}
		o.Remedy = "make operator group " + g.Metadata.Name + " select " + what + ", which all operators of the namespace support. Then they " + effect
		o.Commands = []string{kubectl.Patch("operatorgroup."+olm.Group, w.Namespace, g.Metadata.Name, spec)}
		return o
	}
	switch {
	case opposed == "":
	case opposed == c.replaces:
		o.Remedy = fmt.Sprintf("keep %s, or uninstall it and install %s in a namespace whose operator group suits it, because no group suits both", opposed, c.name)
	case !o.move(w, c, opposed, elsewhere):
		o.Remedy = fmt.Sprintf("install %s or %s in another namespace, because no operator group suits both", c.name, opposed)
	}
	return o
}

// rank orders bundles by whether it is known without a solution that they do not suit the operator group of c: first
// the operator that c replaces, then other installed ones, and then bundles to be installed.
func rank(w *world.World, c, x coming) int {
	switch {
	case x.name == c.replaces:
		return 0
	case w.CSV(x.name) != nil:
		return 1
	}
	return 2
}

// move completes an obstacle with the commands that install an operator in a new namespace, whose group has the
// given targets. It returns false if the operator runs, or is not installed by a subscription to a global catalog.
func (o *Obstacle) move(w *world.World, c coming, opposed, targets string) bool {
	csv := w.CSV(c.name)
	if csv == nil {
		csv = w.CSV(c.replaces)
	}
	i := slices.IndexFunc(w.Subscriptions, func(s *olm.Subscription) bool { return csv != nil && s.Status.InstalledCSV == csv.Metadata.Name })
	if i < 0 || !refusesGroup(w, csv) || w.Subscriptions[i].Spec.SourceNamespace != w.GlobalNamespace {
		return false
	}
	s := w.Subscriptions[i]
	ns := s.Spec.Package
	for ns == w.Namespace || slices.ContainsFunc(w.Namespaces, func(n *olm.Namespace) bool { return n.Metadata.Name == ns }) {
		ns += "-operator"
	}
	spec, effect := map[string]any{}, "and it then watches, and may change, all namespaces"
	if targets != operatorgroup.AllNamespaces {
		spec["targetNamespaces"] = []string{ns}
		effect = "but it then ignores those in other namespaces"
	}
	head := func(version, kind, name string) map[string]any {
		return map[string]any{"apiVersion": olm.Group + "/" + version, "kind": kind, "metadata": map[string]any{"name": name, "namespace": ns}}
	}
	group := head("v1", olm.KindOperatorGroup, ns)
	group["spec"] = spec
	o.Remedy = fmt.Sprintf("move %s to a separate namespace, such as %s, because no operator group suits both it and %s. Its custom resources stay, %s", csv.Metadata.Name, ns, opposed, effect)
	commands := []string{
		"kubectl create namespace " + ns,
		kubectl.Apply(group),
		kubectl.Delete("clusterserviceversion."+olm.Group, w.Namespace, csv.Metadata.Name),
		kubectl.Copy("subscription."+olm.Group, w.Namespace, s.Metadata.Name, head("v1alpha1", olm.KindSubscription, s.Metadata.Name)),
		kubectl.Delete("subscription."+olm.Group, w.Namespace, s.Metadata.Name),
	}
	for i, command := range commands {
		o.add(fmt.Sprintf("to move %s, step %d of %d", csv.Metadata.Name, i+1, len(commands)), command)
	}
	return true
}

// refusesGroup reports whether OLM will stop an installed operator: the namespace does not have exactly one operator group,
// or the operator does not support its targets, which were changed.
func refusesGroup(w *world.World, c *olm.ClusterServiceVersion) bool {
	groups := w.Groups()
	if len(groups) != 1 {
		return len(groups) > 0 || w.KnowsGroups()
	}
	if len(w.Targets(groups[0])) == 0 {
		return false
	}
	return operatorgroup.Supports(c.Spec.InstallModes, w.Namespace, w.Targets(groups[0])) != nil
}

// keepObstacles reports that OLM upgrades operators at once to bundles that cannot run, according to other
// obstacles, in the place of some that run. The command makes the namespace wait for approval.
func keepObstacles(w *world.World, list []Obstacle) (out []Obstacle) {
	command := ""
	var names, kept []string
	for _, o := range list {
		i := slices.IndexFunc(w.Subscriptions, func(s *olm.Subscription) bool { return s.Status.InstalledCSV == o.Replaces })
		if slices.ContainsFunc(list, func(x Obstacle) bool { return x.By == resolver.HeldByInstallMode && x.Bundle == o.Replaces }) {
			continue // there is nothing to keep
		}
		if o.By != resolver.HeldByInstallMode || w.CSV(o.Bundle) != nil || w.CSV(o.Replaces) == nil || i < 0 || slices.Contains(names, o.Bundle) {
			continue
		}
		names, kept = append(names, o.Bundle), append(kept, o.Replaces)
		command = cmp.Or(command, kubectl.Patch("subscription."+olm.Group, w.Namespace, w.Subscriptions[i].Metadata.Name, map[string]any{"installPlanApproval": string(olm.Manual)}))
		out = append(out, Obstacle{Bundle: o.Bundle, Replaces: o.Replaces, By: o.By, Keeps: true})
	}
	if slices.ContainsFunc(w.Subscriptions, func(s *olm.Subscription) bool { return s.Spec.InstallPlanApproval == olm.Manual }) {
		return nil
	}
	verb := "is installed at once and fails"
	if len(names) > 1 {
		verb = "are installed at once and fail"
	}
	for i := range out {
		o := &out[i]
		o.Reason = fmt.Sprintf("unless this is changed first, %s %s", phrase.And(names), verb)
		o.Remedy = fmt.Sprintf("to keep %s instead, require approval, which applies to the whole namespace", phrase.And(kept))
		o.add("to keep "+phrase.And(kept)+" instead", command)
	}
	return out
}

// groupObstacle reports that the namespace does not have exactly one operator group (F1). The
// commands create one that the bundles of present support, or keep the one that suits the most of them and that the most
// operators belong to.
func groupObstacle(w *world.World, present []coming) *Obstacle {
	groups := w.Groups()
	succeeded := func(c *olm.ClusterServiceVersion) bool { return c.Status.Phase == olm.PhaseSucceeded }
	if len(groups) == 1 || !w.KnowsGroups() && (len(w.Subscriptions) == 0 || slices.ContainsFunc(w.Own(), succeeded)) {
		return nil
	}
	if len(groups) == 0 {
		noted := func(c *olm.ClusterServiceVersion) bool { return c.Status.Reason == reason.NoOperatorGroup }
		unknown := !w.KnowsGroups() && !slices.ContainsFunc(w.Own(), noted)
		targets, before := newTargets(w, present)
		spec, what := map[string]any{"targetNamespaces": targets}, "only this namespace"
		switch {
		case slices.Equal(targets, []string{operatorgroup.AllNamespaces}):
			if delete(spec, "targetNamespaces"); before {
				what = "all namespaces, which its operators watched before"
			} else {
				what = "all namespaces, which its operators then watch and may change"
			}
		case !slices.Equal(targets, []string{w.Namespace}):
			what = phrase.Plural(len(targets), "namespace") + " " + phrase.And(targets) + ", as before"
		}
		o := &Obstacle{By: resolver.HeldByGroup, Unknown: unknown}
		o.Reason = fmt.Sprintf("nothing can be installed or run in namespace %s, because it has no operator group", w.Namespace)
		o.Remedy = "create an operator group, such as this for " + what
		label := "to let operators run"
		if unknown {
			o.Reason = fmt.Sprintf("no operator group of namespace %s was read, and nothing can be installed or run there without one", w.Namespace)
			o.Remedy, label = "if it has none, "+o.Remedy, "if it has none"
		}
		o.add(label, kubectl.Apply(map[string]any{
			"apiVersion": olm.Group + "/v1", "kind": olm.KindOperatorGroup,
			"metadata": map[string]any{"name": w.Namespace, "namespace": w.Namespace}, "spec": spec,
		}))
		return o
	}
	members := map[string]int{}
	for _, csv := range w.Own() {
		members[csv.Metadata.Annotations[operatorgroup.AnnotationGroup]]++
	}
	unsuited := map[string]int{}
	for _, g := range groups {
		for _, c := range present {
			if targets := w.Targets(g); c.stated && len(targets) > 0 && operatorgroup.Supports(c.modes, w.Namespace, targets) != nil {
				unsuited[g.Metadata.Name]++
			}
		}
	}
	byUse := slices.SortedStableFunc(slices.Values(groups), func(a, b *olm.OperatorGroup) int {
		x, y := a.Metadata.Name, b.Metadata.Name
		return cmp.Or(cmp.Compare(unsuited[x], unsuited[y]), cmp.Compare(members[y], members[x]), cmp.Compare(x, y))
	})
	o := &Obstacle{By: resolver.HeldByGroup}
	var names []string
	for i, g := range byUse {
		names = append(names, g.Metadata.Name)
		if i > 0 {
			o.add("to let operators run", kubectl.Delete("operatorgroup."+olm.Group, w.Namespace, g.Metadata.Name))
		}
	}
	kept := names[0]
	slices.Sort(names)
	o.Reason = fmt.Sprintf("nothing can be installed or run in namespace %s, because it has %d operator groups, %s", w.Namespace, len(names), phrase.And(names))
	o.Remedy = "keep one of the operator groups, such as " + kept
	return o
}

// newTargets returns the targets for the operator group of a namespace that has none, and whether the operators had
// them before: then those, or else the fewest that all bundles of present support.
func newTargets(w *world.World, present []coming) (targets []string, before bool) {
	suits := func(targets []string) bool {
		return !slices.ContainsFunc(present, func(c coming) bool {
			return c.stated && operatorgroup.Supports(c.modes, w.Namespace, targets) != nil
		})
	}
	for _, csv := range w.Own() {
		if list, ok := csv.Metadata.Annotations[operatorgroup.AnnotationTargets]; ok && suits(strings.Split(list, ",")) {
			return strings.Split(list, ","), true
		}
	}
	if own := []string{w.Namespace}; slices.ContainsFunc(present, func(c coming) bool { return c.stated }) && suits(own) {
		return own, false
	}
	return []string{operatorgroup.AllNamespaces}, false
}

// accountObstacle reports that the service account of the operator group does not exist (F10). The command
// creates it.
func accountObstacle(w *world.World, c coming) *Obstacle {
	groups := w.Groups()
	if len(groups) != 1 || w.CSV(c.name) != nil {
		return nil
	}
	name := groups[0].Spec.ServiceAccountName
	if name == "" || w.HasServiceAccount(name) {
		return nil
	}
	return &Obstacle{
		By:     resolver.HeldByAccount,
		Reason: fmt.Sprintf("nothing is installed in namespace %s, because service account %s of operator group %s does not exist", w.Namespace, name, groups[0].Metadata.Name),
		Remedy: "create the service account with the permissions to install operators",
		Commands: []string{kubectl.Apply(map[string]any{
			"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name, "namespace": w.Namespace},
		})},
	}
}
