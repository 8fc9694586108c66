package resolver

import (
	"fmt"
	"slices"
	"strings"
)

// An Explanation tells about the facts, or the steps of derivations, of one
// code.
type Explanation struct {
	Code Code
	// Title says in one line what it is, Text what it means, and Mend what is
	// usually done about it.
	Title, Text, Mend string
	// Rules are the rules of resolution behind it, such as "D10".
	Rules string
	// Example is an explanation in which it appears; it may be empty.
	Example string
}

// Explain returns the explanation of a code; false when there is no such code.
func Explain(code Code) (Explanation, bool) {
	all := Explanations()
	i := slices.IndexFunc(all, func(e Explanation) bool { return e.Code == code })
	if i < 0 {
		return Explanation{}, false
	}
	return all[i], true
}

// Explanations returns the explanations of all codes: of facts, then of the
// steps that apply none.
func Explanations() []Explanation { return slices.Clone(factExplanations) }

// Markdown returns the page of the code in the documentation.
func (e Explanation) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# `%s`: %s\n\n*Rules: %s.*\n\n%s\n", e.Code, e.Title, e.Rules, e.Text)
	if e.Example != "" {
		fmt.Fprintf(&b, "\n## Example\n\n```text\n%s\n```\n", e.Example)
	}
	fmt.Fprintf(&b, "\n## Usual fix\n\n%s\n", e.Mend)
	return b.String()
}

var factExplanations = []Explanation{
	{
		Code: CodeSubscribed, Title: "a subscription needs one of its versions", Rules: "D9",
		Text: "A subscription asks for a package: one of the versions that its channel offers has to be installed, or, when an operator is installed already, one of its successors, or the operator as it is.",
		Mend: "Look at what stands against each version. Another channel, no startingCSV, or a second catalog widens the choice; deleting the subscription ends the request.",
		Example: `subscription q cannot be met: all 4 versions in channel stable of package q conflict with one of 4
versions of p (1.0.0 to 1.3.0): all provide Broker (g.io/v1)
  - one of 4 versions of p (1.0.0 to 1.3.0) is what subscription p asks for in channel stable of
    package p
what would help, the least disturbing first:
  1. delete subscription p; then q.v2.3.0 is installed
  2. delete subscription q; then p.v1.3.0 is installed`,
	},
	{
		Code: CodeUnavailable, Title: "a subscription names what no catalog has", Rules: "H5, D9",
		Text: "The catalog, package, channel or startingCSV of a subscription does not exist, or the channel is broken. The running OLM then refuses the whole namespace, even though an installed operator keeps running.",
		Mend: "Take one of the names that the message lists, or add the catalog that has the package. A broken channel is fixed by its author: exactly one entry may be left that no other replaces or skips.",
		Example: `subscription db cannot be met: no catalog has channel v1 of package db; there is fast or stable; the
installed db.v1.0.0 keeps running, without updates
what would help, the least disturbing first:
  1. set the channel of subscription db to stable; then db.v2.0.0 is installed
  2. set the channel of subscription db to fast; then nothing has to be installed
  3. delete subscription db and its operator db.v1.0.0`,
	},
	{
		Code: CodeMustStay, Title: "an orphan: installed without a subscription", Rules: "D11",
		Text: "A ClusterServiceVersion that no subscription owns is fixed: it is never upgraded, replaced or removed. Often it is left over from a deleted subscription.",
		Mend: "Adopt it, by a subscription to its package whose installedCSV it is, so that it can be upgraded; or uninstall it.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app,
conflicts with the installed old.v0.9.0: both provide Db (g.io/v1)
  - the installed old.v0.9.0 is an orphan: it is installed without a subscription and must stay as
    it is
what would help, the least disturbing first:
  1. delete subscription app
  2. uninstall old.v0.9.0; then app.v1.0.0 is installed`,
	},
	{
		Code: CodeRequires, Title: "a bundle requires what its property asks for", Rules: "D2, D3, D5",
		Text: "A bundle with olm.gvk.required, olm.package.required, olm.label.required or olm.constraint can only be installed where the resulting set meets it. What is installed already counts; by default (documented semantics) different bundles may meet the parts of an all, and a not rules bundles out.",
		Mend: "Add the catalog that has what is missing, or choose another version. Authors publish what is missing, or widen the range at the file, line and property that the message names.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app,
requires package db >=2.0.0, but the catalogs only have db 1.0.0
  the author says: app needs a database operator; subscribe to db 2 or later
  at community catalog.json:3, property 1
what would help, the least disturbing first:
  1. delete subscription app
  2. upstream: publish a version >=2.0.0 of package db that fits, or have app drop or widen that
     requirement (community catalog.json:3, property 1); then app.v1.0.0 is installed`,
	},
	{
		Code: CodeOnePerPackage, Title: "a namespace holds one version of a package", Rules: "D10",
		Text: "Two bundles of one package cannot be installed in one namespace, also not from two catalogs.",
		Mend: "Let both sides agree on one version: another channel of one of them, or two namespaces.",
		Example: `subscription web cannot be met: web.v1.0.0, the only version in channel stable of package web,
requires package db 2.0.0, which only db.v2.0.0 could meet
  at community catalog.json:6, property 1
  - db.v2.0.0 conflicts with db.v1.0.0: a namespace holds one version of package db
    - db.v1.0.0 is all that can meet package db 1.0.0, which app.v1.0.0 requires
      at community catalog.json:3, property 1
      - app.v1.0.0 is what subscription app asks for in channel stable of package app
what would help, the least disturbing first:
  1. delete subscription app; then db.v2.0.0 and web.v1.0.0 are installed
  2. delete subscription web; then app.v1.0.0 and db.v1.0.0 are installed
  3. upstream: have app no longer require package db 1.0.0 (community catalog.json:3, property 1);
     then app.v1.0.0, db.v2.0.0 and web.v1.0.0 are installed
  4. upstream: have web no longer require package db 2.0.0 (community catalog.json:6, property 1);
     then app.v1.0.0, db.v1.0.0 and web.v1.0.0 are installed`,
	},
	{
		Code: CodeOneProvider, Title: "a namespace holds one provider of an API", Rules: "D10",
		Text: "Two operators that provide the same API (group, version and kind) would fight over its objects.",
		Mend: "Keep one of them, or install them in namespaces whose operator groups do not intersect.",
		Example: `subscription other cannot be met: both versions in channel stable of package other conflict with
app.v1.1.0 or app.v1.0.0: all provide Db (g.io/v1)
  - app.v1.1.0 or app.v1.0.0 is what subscription app asks for in channel stable of package app
what would help, the least disturbing first:
  1. delete subscription app; then other.v2.1.0 is installed
  2. delete subscription other; then app.v1.1.0 is installed`,
	},
	{
		Code: CodeReplaced, Title: "an upgrade takes the place of what it upgrades", Rules: "D9, H14",
		Text: "The candidate of a subscription that owns an installed operator replaces that operator, also where the operator says to be of another package.",
		Mend: "Whatever needs the installed operator has to accept its successor.",
	},
	{
		Code: CodeProhibited, Title: "a bundle is deprecated by the property olm.deprecated", Rules: "D12, H12",
		Text: "The property olm.deprecated forbids choosing a bundle, even one that is installed. Messages of olm.deprecations alone forbid nothing; where there is one, it is shown.",
		Mend: "Choose another channel or catalog, or upgrade away from it. Often the author's message names the successor.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app, is
deprecated: its property olm.deprecated forbids choosing it
  the author says: app 1 is no longer maintained; use app 2 of catalog certified
  at community catalog.json:3
what would help: delete subscription app`,
	},
	{
		Code: CodeUnusable, Title: "a bundle cannot be read", Rules: "H7, H26, A8",
		Text: "The bundle has no valid version, or a requirement that does not parse. It is left out, and nothing else with it; the running OLM fails the whole resolution. Where constraints are tested per bundle, a bundle that lists an API twice is left out too, as the running OLM takes it for two providers.",
		Mend: "Authors fix the property that the message names; `olmkit validate` finds them all. Meanwhile choose another version.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app,
cannot be read: /properties/1/value: olm.package.required: /versionRange: invalid range "^1.0": the
operator "^" belongs to another syntax, that of version ranges in OLM v1: write ">=1.0.0 <2.0.0"
  at community catalog.json:3
what would help: delete subscription app`,
	},
	{
		Code: CodeRuled, Title: "a policy of the problem forbids a bundle", Rules: "G8",
		Text: "A pin allows one version of a package, a hold none that is not installed, an exclusion forbids bundles by name or range. The reason that was given for it is shown.",
		Mend: "Lift or change the policy, if its reason is gone.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app,
requires package db >=2.0.0, and what could meet it is not allowed: package db is pinned to
db.v1.0.0 (2.0 lost data in test, see OPS-12)
  at community catalog.json:3, property 1
  - db.v2.0.0 is not allowed: package db is pinned to db.v1.0.0 (2.0 lost data in test, see OPS-12)
what would help, the least disturbing first:
  1. lift the policy: package db is pinned to db.v1.0.0 (2.0 lost data in test, see OPS-12); then
     app.v1.0.0 and db.v2.0.0 are installed
  2. delete subscription app`,
	},
	{
		Code: CodeInstallMode, Title: "an operator cannot serve the targets of the operator group", Rules: "G7, F2",
		Text: "The operator group of the namespace selects namespaces that the install modes of the bundle do not support: OwnNamespace for its own namespace, SingleNamespace for one other, MultiNamespace for several, AllNamespaces for all. OLM would install it and then fail it with UnsupportedOperatorGroup. A bundle that does not tell its modes is not held back.",
		Mend: "Change the targets of the operator group, or install the operator in another namespace.",
		Example: `subscription app cannot be met: both versions in channel stable of package app cannot run here:
install mode AllNamespaces is not supported: the operator cannot watch all namespaces
  at community catalog.json:3 and 1 more place
what would help, the least disturbing first:
  1. let the operator group select namespace operators alone; then app.v1.1.0 is installed
  2. delete subscription app`,
	},
	{
		Code: CodeUnmetPart, Title: "a part of a requirement is met by nothing", Rules: "D5",
		Text: "Of a requirement with several parts, the part that no bundle of any catalog meets.",
		Mend: "As for requires, for this part.",
		Example: `subscription app cannot be met: app.v1.0.0, the only version in channel stable of package app,
requires all of (package db >=1.0.0; API Cache (g.io/v1)), and nothing is left to meet it
  the author says: needs a database and a cache
  at community catalog.json:3, property 1
  - it includes API Cache (g.io/v1), which no bundle of any catalog provides
what would help, the least disturbing first:
  1. delete subscription app
  2. upstream: have app no longer require all of (package db >=1.0.0; API Cache (g.io/v1))
     (community catalog.json:3, property 1); then app.v1.0.0 is installed`,
	},
	{
		Code: CodeCrowded, Title: "more is asked for than there is room for", Rules: "D10, D16",
		Text: "Each of several subscriptions or requirements needs a bundle of its own, whatever is chosen, and what they can choose from has room for fewer: a namespace holds one provider of an API and one version of a package.",
		Mend: "Give up one of the requests, or install it in another namespace.",
		Example: `subscriptions x, y and z ask for 3 bundles, and there is room for 2: each provides A (g.io/v1) or B
(g.io/v1), and a namespace holds one provider of an API
  - x.v2.0.0 or x.v1.0.0 is what subscription x asks for in channel stable of package x
  - y.v2.0.0 or y.v1.0.0 is what subscription y asks for in channel stable of package y
  - z.v2.0.0 or z.v1.0.0 is what subscription z asks for in channel stable of package z
what would help, the least disturbing first:
  1. delete subscription y; then x.v2.0.0 and z.v1.0.0 are installed
  2. delete subscription z; then x.v2.0.0 and y.v1.0.0 are installed`,
	},
	{
		Code: CodeSupposed, Title: "a way that was tried and does not help", Rules: "D16",
		Text: "No fact forces the next step, so one of the ways that are open is supposed, and refuted by the steps below it.",
		Mend: "Nothing by itself: look at the facts under it.",
		Example: `subscription app cannot be met: none of the 2 versions in channel stable of package app can be
chosen
  - app.v2.0.0 would not help
    - agent.v1.0.0 requires package app <2.0.0, which only app.v1.0.0 could meet
      at community catalog.json:7, property 1
      - agent.v1.0.0 is all that can meet package agent <2.0.0, which app.v2.0.0 requires
        at community catalog.json:4, property 1
      - app.v1.0.0 requires package agent >=2.0.0, which only agent.v2.0.0 could meet
        at community catalog.json:3, property 1
        - agent.v2.0.0 conflicts with agent.v1.0.0: a namespace holds one version of package agent
          - agent.v1.0.0 is all that can meet package agent <2.0.0, which app.v2.0.0 requires
            at community catalog.json:4, property 1
  - app.v1.0.0 requires package agent >=2.0.0, which only agent.v2.0.0 could meet
    at community catalog.json:3, property 1
    - agent.v2.0.0 requires package app >=2.0.0, which only app.v2.0.0 could meet
      at community catalog.json:8, property 1
      - app.v2.0.0 would not help (as said above)
what would help, the least disturbing first:
  1. delete subscription app
  2. upstream: have agent no longer require package app <2.0.0 (community catalog.json:7, property
     1); then agent.v1.0.0 and app.v2.0.0 are installed
  3. upstream: have agent no longer require package app >=2.0.0 (community catalog.json:8, property
     1); then agent.v2.0.0 and app.v1.0.0 are installed
  4. upstream: have app no longer require package agent >=2.0.0 (community catalog.json:3, property
     1); then app.v1.0.0 is installed
  5. upstream: have app no longer require package agent <2.0.0 (community catalog.json:4, property
     1); then app.v2.0.0 is installed`,
	},
	{
		Code: CodePreferred, Title: "a bundle was chosen before", Rules: "D8, D17",
		Text: "In the explanation of a plan: earlier subscriptions and dependencies choose first, and what they chose stands against later preferences.",
		Mend: "Let another subscription choose first (the order of subscriptions is an option), or pin the package.",
	},
	{
		Code: CodeContradiction, Title: "the facts cannot all hold", Rules: "D16",
		Text: "The derivation would be longer than anybody would read; the facts of the minimal conflict are listed instead. Without any one of them the others can hold.",
		Mend: "Give up one of the requests, and resolve again; `olmkit shrink` cuts the problem down to its smallest form.",
	},
}
