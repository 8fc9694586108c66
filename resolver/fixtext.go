package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/version"
)

// String returns the fix as an instruction, with the bundles that it adds to the plan.
func (f *Fix) String() string {
	text, then := f.instruction(), f.outcome()
	waits := f.After != "" && slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Kind != AddCatalog && c.Kind != RelaxRequirement })
	if waits {
		text = "once " + f.After + " is installed, " + text
	}
	if then != "" {
		text += "; then " + then
	}
	if then != "" && f.After != "" && !waits {
		text += " after " + f.After
	}
	for _, c := range f.Changes {
		if c.Then != "" {
			text += "; afterwards, " + c.Then
		}
	}
	if f.Next != nil {
		text += "; the upgrade to " + f.Next.Bundle.Name + " then needs " + f.Next.Requires
	}
	for _, m := range f.Misfits {
		text += "; but " + m.Why
	}
	var others []string // which were stuck before
	for _, a := range f.Stuck {
		if slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Subscription == a.Subscription }) {
			text += "; but " + a.Text
		} else if a.Outlook.EndsEarly() && a.Kind != AdviceCloses {
			others = append(others, a.Bundle)
		}
	}
	switch len(others) {
	case 0:
	case 1:
		text += "; " + others[0] + " stays stuck"
	default:
		text += "; " + phrase.And(others) + " stay stuck"
	}
	if risk := f.risk(); risk != "" {
		text += ". Risk: " + risk
	}
	return text
}

// instruction returns what to do.
func (f *Fix) instruction() string {
	if names := f.repeated(); len(names) > 1 {
		return f.Changes[0].instruction("subscriptions " + phrase.And(names))
	}
	var parts []string
	rest := f.Changes
	if gone := f.dropped(); len(gone) > 0 {
		parts = append(parts, "delete "+phrase.Plural(len(gone), "subscription")+" "+phrase.And(gone))
		rest = rest[len(gone):]
	}
	for len(rest) > 0 && rest[0].Requirement == "" {
		parts = append(parts, rest[0].String())
		rest = rest[1:]
	}
	switch {
	case len(rest) == 1 && len(parts) == 0:
		return rest[0].String()
	case len(rest) > 0:
		text := satisfying(rest)
		if by := rest[0].Bundle.Package; len(parts) > 0 && by != "" && !slices.ContainsFunc(rest, func(c Change) bool { return c.Bundle.Package != by }) {
			text += ", which " + by + " requires"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", and ")
}

// dropped returns the subscriptions without an operator that the first changes of the fix delete.
func (f *Fix) dropped() (names []string) {
	for _, c := range f.Changes {
		if c.Kind != DropSubscription || c.Operator != "" {
			break
		}
		names = append(names, c.Subscription)
	}
	return names
}

// satisfying returns the instruction to satisfy the requirements of some changes, all by a new catalog
// or all upstream.
func satisfying(changes []Change) string {
	var missing, who []string
	for _, c := range changes {
		if !slices.Contains(missing, c.Requirement) {
			missing = append(missing, c.Requirement)
		}
		if name := cmp.Or(c.Bundle.Package, c.Bundle.Name); !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	if changes[0].Kind == AddCatalog {
		return "add a catalog that has " + phrase.And(missing)
	}
	text, these := "upstream: publish a compatible bundle that satisfies "+phrase.And(missing), "this requirement"
	if len(missing) > 1 {
		text, these = "upstream: publish compatible bundles that satisfy "+phrase.And(missing), "these requirements"
	}
	if changes[0].Place != nil {
		text += ", or remove " + these + " from " + phrase.And(who)
	}
	return text
}

// repeated returns the names of the subscriptions if the fix makes the same change to each, and nothing else.
func (f *Fix) repeated() (names []string) {
	for _, c := range f.Changes {
		names = append(names, c.Subscription)
		c.Subscription = f.Changes[0].Subscription
		if c.Subscription == "" || c != f.Changes[0] {
			return nil
		}
	}
	return names
}

// outcome returns the bundles that the fix adds to the plan. If there are none, it returns
// those of the plan, which OLM does not make without the fix, or "" if the fix only removes requests.
func (f *Fix) outcome() string {
	var names []string
	rest := f.rest // both are in order
	for _, s := range f.Selected {
		for len(rest) > 0 && rest[0].Compare(s) < 0 {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Compare(s) != 0 {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		if c := f.Changes[0]; f.assumes() && c.Requirement != "" && c.Bundle.Installed() {
			return "what is missing is installed, and " + c.Bundle.Name + " stays"
		}
		if f.removes() || f.assumes() || f.Changes[0].Kind == RelaxRequirement {
			return ""
		}
		for _, s := range f.Selected {
			names = append(names, s.Name)
		}
	}
	switch n := len(names); {
	case n == 1 && slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Kind == RemoveOperator && c.Operator == names[0] }):
		if old := f.upgraded[names[0]]; old != "" {
			return old + " is upgraded to it"
		}
		return "it is installed again"
	case n == 0:
		return "nothing needs to be installed"
	case n == 1:
		return names[0] + " is installed"
	case n <= 4:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are installed"
	default:
		return fmt.Sprintf("%s, %s and %d others are installed", names[0], names[1], n-2)
	}
}

// risk returns what may be lost with the operators that a fix removes, or "".
func (f *Fix) risk() string {
	var alone, again, down, inherited []string
	reinstall := false
	for _, c := range f.Changes {
		if !c.uninstalls() {
			continue
		}
		in, ok := f.removed[c.Operator]
		if !ok {
			continue
		}
		i := slices.IndexFunc(f.Selected, func(s Selected) bool { return slices.Contains(in.pkgs, s.Package) })
		if heir := f.heirs[c.Operator]; i < 0 && heir != "" {
			inherited = append(inherited, heir+" takes the place of "+c.Operator)
			continue
		} else if i < 0 {
			alone = append(alone, c.Operator)
			continue
		}
		switch v, err := version.Parse(f.Selected[i].Version); {
		case err == nil && v.LT(in.version):
			down = append(down, c.Operator+" back to "+f.Selected[i].Version)
		default:
			again, reinstall = append(again, c.Operator), reinstall || c.Kind == Reinstall
		}
	}
	switch {
	case len(down) > 0:
		return "it takes " + phrase.And(down) + ", so it may fail or lose data; back up its resources"
	case len(again) > 0 && !reinstall:
		return "it is installed afresh, not upgraded, so it may fail or lose data; back up its resources"
	case len(again) > 0:
		return "no upgrade leads there, so it may fail or lose data; back up its resources"
	case len(inherited) > 0 && len(alone) == 0:
		return phrase.And(inherited) + " without an upgrade, so it may fail or lose data; back up its resources"
	case len(alone) > 0:
		return "nothing manages the resources of " + phrase.And(alone) + " from then on; back them up"
	}
	return ""
}

// SummaryWithFix returns the summary of an entry, followed by the first fix that an administrator
// can apply, and the fix, or nil if there is none. The text does not repeat that an operator is
// stuck if the list has advice for it.
func (list AdviceList) SummaryWithFix(i int) (string, *Fix) {
	for _, f := range list[i].Fixes {
		if kind := f.Changes[0].Kind; kind == RelaxRequirement || kind == Reinstall && (list[i].Outlook.Way != nil || !list[i].Outlook.EndsEarly()) {
			continue
		}
		short := *f
		short.Stuck = slices.DeleteFunc(slices.Clone(f.Stuck), func(b Advice) bool {
			return slices.ContainsFunc(list, func(a Advice) bool {
				return a.Subscription == b.Subscription && a.Bundle == b.Bundle && a.Outlook.EndsEarly()
			})
		})
		if list[i].Kind == AdviceDuplicate {
			return list[i].Summary() + "; " + short.String(), f
		}
		return list[i].Summary() + "; to change this, " + short.String(), f
	}
	return list[i].Summary(), nil
}
