package prose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Outlook returns how far OLM upgrades an operator without intervention, in one or more
// sentences without the last full stop. It never has a line break.
func Outlook(o *graph.Outlook) string {
	text, onward := Situation(o), Onward(o)
	if onward == "" {
		return text
	}
	return text + ". " + onward
}

// Assumed is Outlook for an operator of which it is unknown whether it follows the channels of the outlook, so no way leads
// back to one.
func Assumed(o *graph.Outlook) string {
	text := Situation(o)
	if more := onward(o, ""); more != "" {
		text += ". " + more
	}
	return text
}

// Standing returns the outlook of an operator without its way, which a version range or a choice between catalogs may
// prevent.
func Standing(o *graph.Outlook) string {
	if o.Way != nil {
		return Situation(o)
	}
	return Outlook(o)
}

// Situation returns where the operator is, and what keeps it from getting further.
func Situation(o *graph.Outlook) string {
	parts := []string{standing(o)}
	if o.Gap != nil {
		parts = append(parts, gap(o))
	}
	if o.Downgrade != nil {
		parts = append(parts, downgrade(o))
	}
	if i := slices.IndexFunc(o.Steps, func(s graph.Step) bool { return s.Rebuilds() }); i >= 0 {
		from, to := version(o.Steps[i].From), version(o.Steps[i].To)
		parts = append(parts, fmt.Sprintf("%s replaces %s, so it is probably a newer build, although it counts as an older version because of its prerelease", to, from))
	}
	return strings.Join(parts, ". ")
}

// downgrade states that an upgrade leads to an older version, and why.
func downgrade(o *graph.Outlook) string {
	d := o.Downgrade
	text := fmt.Sprintf("OLM takes %s back to the older %s, ", d.From.Name, version(d.To))
	return text + through(d)
}

// Downgrade states that an upgrade of an outlook leads to an older version, and how to prevent that.
func Downgrade(o *graph.Outlook) string { return downgrade(o) + ". " + Onward(o) }

// Summary returns where the operator is in one short line, and whether other channels lead
// further.
func Summary(o *graph.Outlook) string {
	switch {
	case o.Downgrade != nil && o.Way != nil:
		instead := " instead"
		for _, x := range o.Way.Steps() {
			if x.From == o.Downgrade.From && x.To == o.Downgrade.To {
				instead = "" // the way has the same downgrade
			}
		}
		return fmt.Sprintf("%s. To get to %s%s, %s", downgrade(o), version(o.Way.End()), instead, legs(o, o.Way, strings.Join(o.Channels, ",")))
	case o.Downgrade != nil:
		return Downgrade(o)
	case o.Closes != nil:
		return fmt.Sprintf("upgrading %s to %s closes the way to %s", o.Closes.From.Name, version(o.Closes.To), version(o.Way.End()))
	case o.Way == nil && o.Keep != nil && (o.Newest == nil || o.EndsEarly()):
		return standing(o) + ", but it is the head of " + place(o, o.Keep)
	case o.Way == nil && o.Newest == nil && !o.EndsEarly():
		return standing(o)
	case o.Way == nil && o.EndsEarly():
		return standing(o) + ", and no other channel leads further"
	case o.Way == nil && o.Fresh && o.Newest.Channel != "":
		return fmt.Sprintf("%s; %s has the newer %s, to which no upgrade leads from there: to get it, follow that channel from the start", standing(o), place(o, o.Newest), version(o.Newest.Node))
	case o.Way == nil:
		return standing(o) + ", and nothing leads on to " + target(o.Newest)
	}
	if l := o.Way.Legs[0]; l.Channel != "" && len(o.Way.Legs) == 1 {
		return standing(o) + ", but " + place(o, &graph.Target{Catalog: l.Catalog, Channel: l.Channel}) + " leads to " + version(o.Way.End())
	}
	return standing(o) + ", but other channels lead to " + version(o.Way.End())
}

// standing returns where the operator is, and how far OLM upgrades it.
func standing(o *graph.Outlook) string {
	name, in := o.From.Name, follows(o)
	switch n := len(o.Steps); {
	case o.Kind == graph.OutlookAtHead && o.Reading == graph.V1:
		return name + " is the newest bundle of " + in
	case o.Kind == graph.OutlookAtHead:
		return name + " is at the head of " + in
	case o.Kind == graph.OutlookStepsAway && o.Reading == graph.V1:
		return fmt.Sprintf("%s is %s from the newest bundle of %s: %s", name, stepsAway(n), in, stops(o.Steps))
	case o.Kind == graph.OutlookStepsAway:
		return fmt.Sprintf("%s is %s from the head of %s: %s", name, stepsAway(n), in, stops(o.Steps))
	case o.Kind == graph.OutlookNoChannel && len(o.Channels) == 0:
		return name + " cannot be upgraded: no catalog has a channel of its package that can be used"
	case o.Kind == graph.OutlookNoChannel:
		return name + " cannot be upgraded: no catalog has " + in + ", or it cannot be used"
	case o.Kind == graph.OutlookAhead && n == 0:
		return fmt.Sprintf("%s gets no updates, because it is newer than %s, the head of %s", name, version(o.Head.Node), in)
	case o.Kind == graph.OutlookLoops:
		return fmt.Sprintf("%s moves back and forth in %s: %s", name, in, stops(o.Steps))
	case o.Lower != nil && n > 0:
		return fmt.Sprintf("%s is upgraded only to %s, and stays there: %s", name, o.End().Name, lower(o))
	case o.Lower != nil:
		return name + " stays: " + lower(o)
	case n > 0:
		return fmt.Sprintf("%s is upgraded only to %s: no entry of %s accepts an upgrade from there", name, o.End().Name, in)
	}
	return fmt.Sprintf("%s is stuck: no entry of %s accepts an upgrade from it", name, in)
}

// lower states why OLM v1 does not take the upgrade to a lower version or a deprecated bundle.
func lower(o *graph.Outlook) string {
	if o.Kind == graph.OutlookDeprecated {
		return fmt.Sprintf("%s, %s, is deprecated, and OLM v1 prefers a bundle that is not", version(o.Lower.To), through(o.Lower))
	}
	return fmt.Sprintf("%s, %s, has a lower version, and OLM v1 prefers the highest", version(o.Lower.To), through(o.Lower))
}

// through states how the bundle that a step leads to follows the one before it.
func through(x *graph.Step) string {
	switch x.Reasons[0].Edge {
	case graph.SkipRange:
		return "whose skipRange includes it"
	case graph.Skips:
		return "which skips it"
	}
	return "which replaces it"
}

// follows names the channels that the operator follows.
func follows(o *graph.Outlook) string {
	switch len(o.Channels) {
	case 0:
		if o.Reading == graph.Classic && o.Head != nil && !o.EndsEarly() {
			return "channel " + o.Head.Channel
		}
		if o.Reading == graph.V1 && o.Catalog != "" {
			return "its package in catalog " + o.Catalog
		}
		return "its package"
	case 1:
		return "channel " + o.Channels[0]
	}
	return "channels " + phrase.And(o.Channels)
}

// stepsAway counts steps. Small numbers are spelled out.
func stepsAway(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n < len(words) {
		return words[n] + " " + phrase.Plural(n, "step")
	}
	return phrase.Count(n, "step")
}

// maxStops is the number of steps that a sentence names.
const maxStops = 4

// stops names the bundles that steps lead to, in order.
func stops(steps []graph.Step) string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = version(s.To)
	}
	switch n := len(names); {
	case n == 1:
		return names[0]
	case n > maxStops:
		return names[0] + " first, " + names[n-1] + " last"
	default:
		return names[0] + " first, then " + phrase.Join(names[1:], "and")
	}
}

// version returns the version of a node, or its name if it has none.
func version(n graph.Node) string {
	if n.Version == "" {
		return n.Name
	}
	return n.Version
}

// gap names the first entry beyond a gap, and the versions over which that entry can be
// installed.
func gap(o *graph.Outlook) string {
	g := o.Gap
	if g.Replaced {
		text := g.Entry.Name + ", which it replaces, has a higher version"
		if from := o.End().Version; strings.HasPrefix(from, g.Entry.Version+"-") {
			text += fmt.Sprintf(", because %s is a prerelease of %s", from, g.Entry.Version)
		}
		return text
	}
	entry := g.Entry.Name
	if at := followed(o); o.Way != nil && slices.ContainsFunc(o.Way.Legs, func(l graph.Leg) bool { return l.Catalog != at }) {
		entry += " of catalog " + g.Catalog // not of another one on the way
	}
	text := entry + ", the first newer entry, "
	if g.Skipped != nil {
		text = fmt.Sprintf("%s would, but is never offered, because %s skips it. %s, the first newer entry that is offered, ", version(*g.Skipped), version(*g.By), entry)
	}
	names := make([]string, len(g.Over))
	var known []string // a range needs versions, which unknown bundles do not have
	for i, n := range g.Over {
		names[i] = version(n)
		if n.Version != "" {
			known = append(known, n.Version)
		}
	}
	switch n := len(names); {
	case n == 0 && g.SkipRange != "":
		return text + fmt.Sprintf("can be installed only over versions in its skipRange %q", g.SkipRange)
	case n == 0:
		return text + "cannot be installed over any version"
	case n > maxStops && len(known) == 0:
		return text + fmt.Sprintf("can be installed only over %d versions, such as %s", n, names[0])
	case n > maxStops:
		return text + fmt.Sprintf("can be installed only over %d versions, %s to %s", n, known[0], known[len(known)-1])
	}
	if n := len(names) - len(known); n > 0 && len(known) > 0 {
		names = append(known, phrase.Count(n, "bundle")+" that no catalog has")
	}
	return text + "can be installed only over " + phrase.Join(names, "or")
}

// Onward returns how to get further, or "" for an operator at the newest head.
func Onward(o *graph.Outlook) string { return onward(o, strings.Join(o.Channels, ",")) }

// onward is Onward for an operator that follows a channel, or "" if that is unknown.
func onward(o *graph.Outlook, channel string) string {
	legs := func(w *graph.Way) string { return legs(o, w, channel) }
	switch {
	case o.Way == nil && o.Reading == graph.Classic && o.Downgrade != nil:
		return keep(o)
	case o.Way == nil && o.Keep != nil && o.EndsEarly():
		return "No channel in any given catalog leads further. To get versions that are published later, switch to " + place(o, o.Keep) + ", whose head it is"
	case o.Way == nil && o.Keep != nil:
		return "To get later versions, switch to " + place(o, o.Keep) + ", whose head it is"
	case o.Way == nil && o.EndsEarly():
		return "No channel in any given catalog leads further"
	case o.Way == nil && o.Newest == nil && o.Kind == graph.OutlookAhead:
		return "No channel in any given catalog ends at a newer release, so it stays until one does"
	case o.Way == nil && o.Newest == nil:
		return ""
	case o.Way == nil && o.Started && o.Newest.Channel != "":
		return fmt.Sprintf("Channel %s has the newer %s, to which no channel in any given catalog leads from %s. To get it, follow that channel without the startingCSV",
			o.Newest.Channel, version(o.Newest.Node), version(o.End()))
	case o.Way == nil && o.Fresh && o.Newest.Channel != "":
		return fmt.Sprintf("Channel %s has the newer %s, to which no channel in any given catalog leads from %s. To get it, follow that channel from the start",
			o.Newest.Channel, version(o.Newest.Node), version(o.End()))
	case o.Way == nil:
		return fmt.Sprintf("No channel in any given catalog leads on to %s", target(o.Newest))
	}
	text := "To get to " + version(o.Way.End()) + ", " + legs(o.Way)
	switch {
	case !o.Way.AtHead:
		text = fmt.Sprintf("To get as far as %s, %s; no channel in any given catalog leads on from there", version(o.Way.End()), legs(o.Way))
		if o.Newest != nil {
			text += " to " + target(o.Newest)
		}
	case o.Way.Strands:
		text += "; no channel in any given catalog leads on from there to " + target(o.Newest)
	case o.Newest != nil && older(o.Way.End(), o.Newest.Node):
		text += "; other channels lead on from there to " + target(o.Newest)
	}
	if o.Closes != nil {
		text += fmt.Sprintf(". That is possible only before %s is installed", version(o.Closes.To))
	}
	if ch := otherPlatform(o); ch != "" {
		text += fmt.Sprintf(". Channel %s may be for another version of the platform; check that first", ch)
	}
	if o.Nearer != nil {
		text += fmt.Sprintf(". To get only to %s, %s; no channel leads on from there to %s", version(o.Nearer.End()), legs(o.Nearer), version(o.Way.End()))
	}
	return text
}

// otherPlatform returns the first channel on the way of an outlook that is named for another version of OpenShift than the
// channel that the operator follows, or "". Operators with versions like those of OpenShift have channels for their versions.
func otherPlatform(o *graph.Outlook) string {
	split := func(channel string) (name, platform string) {
		i := strings.LastIndexByte(channel, '-') + 1
		if minor, ok := strings.CutPrefix(channel[i:], "4."); !ok || minor == "" || strings.Trim(minor, "0123456789") != "" {
			return "", ""
		}
		return channel[:i], channel[i:]
	}
	if len(o.Channels) != 1 || strings.HasPrefix(o.From.Version, "4.") {
		return ""
	}
	name, platform := split(o.Channels[0])
	for _, l := range o.Way.Legs {
		if n, at := split(l.Channel); platform != "" && n == name && at != "" && at != platform {
			return l.Channel
		}
	}
	return ""
}

// Alone returns that the way of an outlook keeps other operators of the namespace waiting, or "" if
// it needs no approval.
func Alone(o *graph.Outlook) string {
	stops := func(l graph.Leg) bool { return l.Stop }
	if o == nil || o.Reading != graph.Classic || o.Way == nil || !slices.ContainsFunc(o.Way.Legs, stops) {
		return ""
	}
	return ". Install plans have all upgrades of their namespace, so its other operators wait as well"
}

// older reports whether both versions are valid and the first is lower.
func older(a, b graph.Node) bool {
	v, err := semver.Parse(a.Version)
	w, failed := semver.Parse(b.Version)
	return err == nil && failed == nil && v.LT(w)
}

// keep returns how to prevent the downgrade of an outlook.
func keep(o *graph.Outlook) string {
	if o.LeadsOn() {
		return fmt.Sprintf("%s leads on to %s: back up the resources of the operator and let OLM take it, or keep %s with installPlanApproval Manual and get nothing newer",
			version(o.Downgrade.To), version(o.End()), version(o.Downgrade.From))
	}
	text := fmt.Sprintf("To keep %s, ", version(o.Downgrade.From))
	if o.Keep != nil {
		text += "switch to " + place(o, o.Keep)
	} else {
		text += fmt.Sprintf("make sure that installPlanApproval is Manual, and do not approve %s", version(o.Downgrade.To))
	}
	if o.Downgrade.From != o.From {
		return text + " once it is installed"
	}
	return text
}

// place names the channel of a head, and its catalog unless the operator follows it.
func place(o *graph.Outlook, t *graph.Target) string {
	if catalog := followed(o); catalog != "" && t.Catalog != catalog {
		return "channel " + t.Channel + " of catalog " + t.Catalog
	}
	return "channel " + t.Channel
}

// target names a head.
func target(t *graph.Target) string {
	if t.Channel == "" {
		return version(t.Node)
	}
	return version(t.Node) + " in channel " + t.Channel
}

// legs returns a way of an outlook as an instruction for an operator that follows a channel, or "" if that is unknown.
func legs(o *graph.Outlook, w *graph.Way, channel string) string {
	catalog := cmp.Or(followed(o), w.Legs[0].Catalog)
	if o.Several && o.Reading == graph.Classic {
		catalog = ""
	}
	text := Way(w, o.Reading, catalog, channel)
	if o.Reading == graph.V1 && o.Returns(w) {
		text += ", then switch back to channel " + o.Channels[0]
	}
	return text
}

// followed returns the catalog that the operator follows, or "".
func followed(o *graph.Outlook) string {
	if o.Catalog == "" && o.Head != nil {
		return o.Head.Catalog
	}
	return o.Catalog
}

// Way returns a way as an instruction. catalog and channel are those that the operator
// follows; either may be empty. Channels of other catalogs are named with these.
func Way(w *graph.Way, reading graph.Reading, catalog, channel string) string {
	var parts []string
	current := channel
	for i, l := range w.Legs {
		same := reading == graph.V1 && (l.Stays || l.Channel == current && (catalog == "" || l.Catalog == catalog))
		current = l.Channel
		to := "channel " + l.Channel
		if l.Channel == "" {
			to = "all channels"
		}
		if l.Catalog != catalog {
			to += " of catalog " + l.Catalog
		}
		catalog = l.Catalog
		verb := "switch to "
		switch {
		case l.Channel == channel && reading == graph.V1:
			verb = "follow "
		case l.Channel == "":
			verb = "allow "
		case l.Stays:
			verb = "stay in "
		case l.Channel == channel && i > 0:
			verb = "switch back to "
		}
		end := version(l.End())
		last := i == len(w.Legs)-1
		switch {
		case same && l.Stop:
			parts = append(parts, "set the version to "+end+" until it is installed")
		case same && i == 0 && !last:
			parts = append(parts, "wait until "+end+" is installed")
		case same && i > 0 && last:
			parts = append(parts, "remove the version")
		case same && i > 0:
			parts = append(parts, "remove the version and wait until "+end+" is installed")
		case l.Stop && reading == graph.V1:
			parts = append(parts, fmt.Sprintf("%s%s and allow only version %s until it is installed", verb, to, end))
		case last && !l.Stop:
			parts = append(parts, verb+to)
		case l.Stop:
			parts = append(parts, fmt.Sprintf("%s%s until %s is installed, and approve nothing further", verb, to, end))
		default:
			parts = append(parts, fmt.Sprintf("%s%s until %s is installed", verb, to, end))
		}
	}
	return strings.Join(parts, ", then ")
}

// WayTo returns a way in one catalog as an instruction, with where it leads. channel is that which the
// operator is to follow, or "".
func WayTo(w *graph.Way, reading graph.Reading, channel string) string {
	if reading == graph.Classic {
		channel = "" // it need not have followed that before
	}
	return fmt.Sprintf("To get to %s, %s", version(w.End()), Way(w, reading, w.Legs[0].Catalog, channel))
}

// AwayFrom explains why a bundle is not the direct successor of an operator: it is several
// steps away, the steps pass over it, or only another way leads there, or none. See Outlook.
func AwayFrom(o *graph.Outlook, to graph.Node, way *graph.Way, passed *graph.Step) string {
	for i, s := range o.Steps {
		if s.To.Name == to.Name {
			return fmt.Sprintf("is %s from the installed %s: %s", stepsAway(i+1), o.From.Name, stops(o.Steps[:i+1]))
		}
	}
	text := "does not follow the installed " + o.From.Name
	switch {
	case passed != nil:
		text = fmt.Sprintf("is passed over: from %s, OLM goes straight to %s", version(passed.From), version(passed.To))
	case way == nil && (o.Newest == nil || o.Newest.Name != to.Name): // which the outlook states
		text += ", and no channel in any given catalog leads to it"
	}
	if way == nil || o.Way != nil && o.Way.End() == to {
		return text + ". " + Outlook(o)
	}
	return fmt.Sprintf("%s. To get to %s, %s", text, version(to), legs(o, way, strings.Join(o.Channels, ",")))
}

// Rejected explains in one line why a bundle was chosen although others were preferred, or
// why the installed one stays.
func Rejected(chosen fact.Ref, upgrade bool, list []*fact.Step) string {
	text := chosen.Name + " was chosen because preferred versions are not possible: "
	switch {
	case chosen.Installed():
		text = chosen.Name + " stays because its successors are not possible: "
	case upgrade:
		text = "the upgrade goes only to " + chosen.Name + " because preferred versions are not possible: "
	}
	first := list[0]
	if first.Folded == nil && len(first.Because) > 0 {
		first = first.Because[0]
	}
	text += first.Shown().Text
	if n := len(list) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s)", phrase.Count(n, "more reason"))
	}
	return text
}
