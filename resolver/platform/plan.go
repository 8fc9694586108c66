package platform

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/property"
)

// A Plan is an ordered upgrade of a platform and its operators.
type Plan struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from"`
	To   string `json:"to"`
	// On is the day for which support is reported; see [Problem.On].
	On lifecycle.Date `json:"on,omitzero"`
	// Reached is the version that the platform reaches. It is To if nothing blocks the
	// upgrade.
	Reached string `json:"reached"`
	// OK reports whether the platform can be upgraded to To.
	OK bool `json:"ok"`
	// Warnings state what was not checked: catalogs that are missing or could not be fully
	// read, by version of the platform, then installed bundles that are not in any
	// catalog, by package and name, then requirements, by step.
	Warnings []string `json:"warnings,omitempty"`
	// Unchecked has the data of each warning.
	Unchecked []Unchecked `json:"unchecked,omitempty"`
	// Needs are the things that a person has to do or to decide, in order. Those that are
	// steps of the plan are among Steps too. Those on a version after Reached follow once nothing
	// blocks the platform at Reached.
	Needs []Need `json:"needs"`
	// Steps are in order. At one version of the platform, operators are sorted by package
	// and name.
	Steps []Step `json:"steps"`
	// Blockers are sorted by operator, then version of the platform. They include those
	// that the plan resolves, and those that only leave an operator behind. Those at a version after
	// Reached remain if nothing else blocks the platform.
	Blockers []Blocker `json:"blockers"`
	// Operators are the installed operators, by package and name.
	Operators []OperatorPlan `json:"operators"`
}

// MarshalJSON returns the plan as an object. Lists that it always has are never null.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	return json.Marshal(plain(p), json.Deterministic(true))
}

// An Unchecked is something that the plan did not check: a version of the platform without
// a catalog, a catalog that cannot be fully read, an installed bundle that is not in any
// catalog, or a requirement that no given catalog satisfies.
type Unchecked struct {
	// Platform is the version of the platform, empty for a bundle.
	Platform string `json:"platform,omitempty"`
	// Catalog is the name of the catalog, or empty if there is none. Errors is the number
	// of errors in it that may concern an installed operator.
	Catalog string `json:"catalog,omitempty"`
	Errors  int    `json:"errors,omitzero"`
	// Reason is why the lifecycle data of a package cannot be used, why the support of a bundle is unknown, or why nothing
	// in the catalogs that satisfies Requires can be installed.
	Reason string `json:"reason,omitempty"`
	// Requires is a requirement of a bundle in a step that no catalog given for Platform satisfies, or not next to the
	// installed operators. It is unknown whether OLM takes this step.
	Requires string `json:"requires,omitempty"`
	// InTheWay are the installed bundles that keep what satisfies Requires in the catalogs from being installed: each one
	// does or, if none does on its own, all of them. It is empty if no catalog satisfies Requires. Instead is the bundle that
	// satisfies Requires in the place of one of them.
	InTheWay []string `json:"inTheWay,omitempty"`
	Instead  string   `json:"instead,omitempty"`
	// Package and Bundle are those of an installed operator.
	Package  string      `json:"package,omitempty"`
	Instance string      `json:"instance,omitempty"` // see [OperatorPlan.Instance]
	Bundle   *graph.Node `json:"bundle,omitzero"`
}

// String returns the warning.
func (u Unchecked) String() string {
	switch {
	case len(u.InTheWay) > 0:
		return fmt.Sprintf("OLM upgrades package %s to %s on %s only if it satisfies the requirement %s, which it cannot next to the installed %s", u.who(), u.Bundle, u.Platform, u.Requires, phrase.And(u.InTheWay))
	case u.Requires != "" && u.Reason != "":
		return fmt.Sprintf("OLM upgrades package %s to %s on %s only if something provides %s: %s", u.who(), u.Bundle, u.Platform, u.Requires, u.Reason)
	case u.Requires != "":
		return fmt.Sprintf("OLM upgrades package %s to %s on %s only if something provides %s, which no given catalog has", u.who(), u.Bundle, u.Platform, u.Requires)
	case u.Reason != "" && u.Bundle != nil:
		return fmt.Sprintf("the support of %s of package %s is unknown: %s", u.Bundle, u.who(), u.Reason)
	case u.Reason != "":
		return fmt.Sprintf("catalog %q for %s: the lifecycle data of package %s were not checked: %s", u.Catalog, u.Platform, u.Package, u.Reason)
	case u.Bundle != nil:
		return fmt.Sprintf("no catalog has %s of package %s; not checked: whether it blocks the platform", u.Bundle, u.who())
	case u.Errors > 0:
		return fmt.Sprintf("catalog %q for %s has %s; the parts with errors were not checked", u.Catalog, u.Platform, phrase.Count(u.Errors, "error"))
	}
	return fmt.Sprintf("no catalog was given for %s; operators were not checked at that version", u.Platform)
}

// A Step is an upgrade of the platform or of an operator, a change of an operator's channel,
// a bundle to keep, or the end of that. One of Next, Operator, Switch, Hold and Resume is set, or Switch and Resume.
type Step struct {
	// Platform is the version of the platform at which the step is taken.
	Platform string `json:"platform"`
	// Next is the version that the platform is upgraded to.
	Next     string `json:"next,omitempty"`
	Package  string `json:"package,omitempty"`
	Instance string `json:"instance,omitempty"` // see [OperatorPlan.Instance]
	Catalog  string `json:"catalog,omitempty"`
	// Operator is the upgrade of an operator.
	Operator *graph.Step    `json:"operator,omitzero"`
	Switch   *ChannelSwitch `json:"switch,omitzero"`
	Hold     *Hold          `json:"hold,omitzero"`
	// Approval reports whether the upgrade waits for a person to approve its install plan; see [Operator.Manual].
	Approval bool `json:"approval,omitzero"`
	// Resume ends a Hold. It can be set together with Switch.
	Resume bool `json:"resume,omitzero"`
	// Reason is why the operator needs another channel or must not be upgraded further, or what the
	// upgrade of the operator breaks.
	Reason string `json:"reason,omitempty"`
	// Before is the version of the platform on which the step is too late. It is empty if the step can
	// be taken on any version.
	Before string `json:"before,omitempty"`
	// Commands take the step, if a person does that. There is one for each of [Operator.Objects], or
	// none if an earlier step did the same.
	Commands []string `json:"commands,omitempty"`
	prepare  []string // the commands that prepare for an upgrade that breaks something
	pause    *Hold    // what keeps OLM from it until then, or nil if it waits for approval
}

// A ChannelSwitch changes the channel of an operator. In v1, no channel means all.
type ChannelSwitch struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// A Hold keeps OLM from upgrading an operator beyond a bundle, until the next step of the
// operator with Hold or Resume: in classic, approve nothing further; in v1, allow only its version.
type Hold struct {
	Bundle  graph.Node    `json:"bundle"`
	Reading graph.Reading `json:"reading,omitzero"`
}

// A Switch is the change of channels that resolves a blocker. It is part of the plan.
type Switch struct {
	// Platform is the last version of the platform at which the change is possible.
	Platform string `json:"platform"`
	// Channel is the channel to follow afterwards.
	Channel string `json:"channel,omitempty"`
}

// A Need is something that a person has to do or to decide.
type Need struct {
	// Platform is the version of the platform at which to act.
	Platform string `json:"platform"`
	// Before is the version that the platform must not be upgraded to earlier, because that
	// makes the action impossible or leaves the operator behind. It may be empty.
	Before string `json:"before,omitempty"`
	// After is the bundle that must be installed first. It is empty if that is the bundle with which the
	// plan begins.
	After    string `json:"after,omitempty"`
	Package  string `json:"package"`
	Instance string `json:"instance,omitempty"` // see [OperatorPlan.Instance]
	// Action is an imperative, and Reason why it is needed.
	Action string `json:"action"`
	Reason string `json:"reason"`
	// Risk is what may be lost, if anything.
	Risk string `json:"risk,omitempty"`
	// Commands do that, if commands can.
	Commands []string `json:"commands,omitempty"`
	hold     bool     // the need is a hold
}

// A BlockerKind is a kind of blocker.
type BlockerKind string

const (
	// BlockerMaxOpenShift: olm.maxOpenShiftVersion of the bundle is below the next minor
	// version of the platform, or cannot be read.
	BlockerMaxOpenShift BlockerKind = "max-openshift-version"
	BlockerMinKube      BlockerKind = "min-kube-version" // the bundle needs a newer Kubernetes than the platform runs
	BlockerNoPackage    BlockerKind = "no-package"       // the catalog of that version that the operator follows does not have the package
	BlockerNoChannel    BlockerKind = "no-channel"       // the catalog of that version does not have the channel
	BlockerNoPath       BlockerKind = "no-path"          // there is no path from the installed bundle to the head of its channel
	BlockerExcluded     BlockerKind = "excluded"         // each path to the head takes an excluded upgrade; see [Operator.Excluded]
	BlockerRefused      BlockerKind = "refused"          // each path to the head takes an upgrade that OLM v1 refuses; see [Operator.Refused]
	// BlockerRemovedAPI: the bundle uses a native API that the platform's Kubernetes does not
	// serve.
	BlockerRemovedAPI BlockerKind = "removed-api"
	// BlockerCompatibility: the lifecycle data in a catalog do not list the version of the
	// platform, or OLM v1 installs a bundle that needs a newer Kubernetes, which it does not check.
	BlockerCompatibility BlockerKind = "platform-compatibility"
)

// A Blocker is a reason why the platform or an operator cannot be upgraded.
type Blocker struct {
	Package  string      `json:"package"`
	Instance string      `json:"instance,omitempty"` // see [OperatorPlan.Instance]
	Bundle   string      `json:"bundle"`
	Kind     BlockerKind `json:"kind"`
	// Platform is the version of the platform at which the blocker applies.
	Platform string `json:"platform"`
	// Fatal reports that the platform cannot continue. Otherwise the plan resolves the
	// blocker, or the blocker only leaves the operator behind.
	Fatal  bool   `json:"fatal"`
	Reason string `json:"reason"`
	// Action is what a person can do if the plan does not resolve the blocker.
	Action string `json:"action,omitempty"`
	// Temporary reports that the operator is not left behind for good: it gets to the head
	// of its channel at a later version.
	Temporary bool `json:"temporary,omitzero"`
	// Until is that version of the platform.
	Until string `json:"until,omitempty"`
	// Lift lists upgrades of the operator that resolve the blocker, and Switch the change of
	// channels that they need. They are part of the plan.
	Lift   []graph.Step `json:"lift,omitempty"`
	Switch *Switch      `json:"switch,omitzero"`
	// there reports that Action is only possible at Platform, not before. commands take the action, risk is what
	// may be lost then, and restores undo, when bundle installs is there, what commands have set to install it.
	there              bool
	depends            bool // OLM v1 refuses a bundle because it declares dependencies
	risk, installs     string
	commands, restores []string
}

// resolved reports whether the plan resolves the blocker.
func (b *Blocker) resolved() bool { return len(b.Lift) > 0 || b.Switch != nil }

// endangers reports whether the blocker is more than a lack of updates.
func (b *Blocker) endangers() bool {
	return b.Fatal || b.Kind == BlockerRemovedAPI || b.Kind == BlockerCompatibility
}

// An OperatorPlan is the result for an operator.
type OperatorPlan struct {
	Package string `json:"package"`
	// Instance says in words which operator of its package this is, such as "namespace a". It is empty if the
	// package has one operator with one object.
	Instance string `json:"instance,omitempty"`
	// Installed is the place of the operator in [Problem.Installed].
	Installed int        `json:"-"`
	From      graph.Node `json:"from"`
	To        graph.Node `json:"to"`
	// Channel is the channel that the operator follows at the end. In v1, it may be empty: all.
	Channel string `json:"channel,omitempty"`
	// Versions is the version range of the operator; see [Operator.Versions].
	Versions string `json:"versions,omitempty"`
	// AtHead is set if To is the head of its channel in the last catalog of the plan.
	AtHead bool `json:"atHead"`
	// Outlook is how to get further than To in the last catalog of the plan. It is nil if To is the
	// newest head.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
	// LastSafe is the last version of the platform, at most the plan's To, that the
	// operator supports: the operator blocks no upgrade up to that version, runs on each, and
	// each catalog up to that version has a path to the head of its channel. LastSafe is a
	// version with a catalog, or empty if there is none.
	LastSafe string `json:"lastSafe"`
	// SafeOn are all versions with a catalog on which the operator, upgraded as planned, has
	// a path to the head of its channel.
	SafeOn []string `json:"safeOn,omitempty"`
	// ActBefore is the first version that the platform must not be upgraded to before a
	// person acts on the operator; see [Plan.Needs]. It is empty if there is none.
	ActBefore string `json:"actBefore,omitempty"`
	// Support is what catalogs state about the versions From and To, if they do.
	Support []Support `json:"support,omitempty"`
	// Supported are the versions with support on the day of the problem, if To has none.
	Supported []string `json:"supported,omitempty"`
	// Checked reports whether a catalog for any version that the operator reaches has its
	// package. Without one, it is unknown where the operator is safe.
	Checked bool `json:"checked"`
	// LeftBehind reports whether the platform reaches a version that the operator
	// does not; see [Plan.LeftBehind].
	LeftBehind bool `json:"leftBehind"`
}

// A Support is what the lifecycle data in a catalog state about a bundle.
type Support struct {
	Bundle graph.Node `json:"bundle"`
	// Platform is the version of the platform whose catalog has the data.
	Platform string `json:"platform"`
	// Lifecycle is that of the minor version of the bundle.
	Lifecycle lifecycle.Version `json:"lifecycle"`
	// Phase is the phase on the day of the problem. It is empty if the problem has no day,
	// or there is no support on that day.
	Phase string `json:"phase,omitempty"`
}

// A who identifies an operator of a plan.
type who struct{ pkg, instance string }

// String returns the package and, in parentheses, which of its operators it is.
func (w who) String() string {
	if w.instance == "" {
		return w.pkg
	}
	return fmt.Sprintf("%s (%s)", w.pkg, w.instance)
}

func (s *Step) who() who         { return who{s.Package, s.Instance} }
func (n *Need) who() who         { return who{n.Package, n.Instance} }
func (b *Blocker) who() who      { return who{b.Package, b.Instance} }
func (u *Unchecked) who() who    { return who{u.Package, u.Instance} }
func (o *OperatorPlan) who() who { return who{o.Package, o.Instance} }

// LeftBehind returns the blockers that the platform passes and an operator does not: its
// package, channel or path is missing at some version. An operator that waits for a newer
// Kubernetes counts only if it does not reach its head.
func (p *Plan) LeftBehind() []Blocker {
	var out []Blocker
	for _, x := range p.Blockers {
		arrives := (x.Kind == BlockerMinKube || x.Kind == BlockerRemovedAPI && x.there) && !slices.ContainsFunc(p.Operators, func(o OperatorPlan) bool { return o.who() == x.who() && !o.AtHead })
		if !x.Fatal && !x.resolved() && !arrives && !p.beyond(x.Platform) {
			out = append(out, x)
		}
	}
	return out
}

// beyond reports whether the platform does not reach a version.
func (p *Plan) beyond(version string) bool {
	at, err := property.ParseMinorVersion(version)
	reached, failed := property.ParseMinorVersion(p.Reached)
	return err == nil && failed == nil && at.Compare(reached) > 0
}

// supportOf returns the support of a bundle, or nil.
func (o *OperatorPlan) supportOf(n graph.Node) *Support {
	for i := range o.Support {
		if o.Support[i].Bundle == n {
			return &o.Support[i]
		}
	}
	return nil
}
