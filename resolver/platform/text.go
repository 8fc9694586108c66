package platform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
)

// String returns the plan as text, without breaking lines.
func (p *Plan) String() string { return p.Text(0) }

// Text returns the plan as text, with lines of at most width characters (0 means no limit).
func (p *Plan) Text(width int) string {
	t := text{Writer: prose.NewWriter(width, nil)}
	platform, operators := 0, 0
	for _, s := range p.Steps {
		switch {
		case s.Next != "":
			platform++
		case s.Operator != nil:
			operators++
		}
	}
	switch {
	case p.OK && p.From == p.To:
		t.write("", "Platform %s: %s.", p.From, phrase.Count(operators, "operator upgrade"))
	case p.OK:
		t.write("", "Platform %s to %s: %s, %s.", p.From, p.To, phrase.Count(platform, "platform upgrade"), phrase.Count(operators, "operator upgrade"))
	default:
		t.write("", "Platform %s to %s: blocked at %s.", p.From, p.To, p.Reached)
	}
	for i, w := range p.Warnings {
		if p.Unchecked[i].Requires == "" { // which is among the needs
			t.write("", "warning: %s", w)
		}
	}
	t.title("What needs you:", len(p.Needs))
	for i, n := range p.Needs {
		when := "on " + n.Platform
		if n.Before != "" {
			when += ", before " + n.Before
		}
		if n.After != "" {
			when += ", once " + n.After + " is installed"
		}
		t.write(fmt.Sprintf("%3d. ", i+1), "%s: %s: %s", when, n.who(), n.Action)
		t.write("       ", "because %s", n.Reason)
		if n.Risk != "" {
			t.write("       ", "Risk: %s", n.Risk)
		}
		for _, c := range n.Commands {
			t.Verbatim(c, "       ")
		}
	}
	t.title("Steps:", len(p.Steps))
	for i := 0; i < len(p.Steps); {
		s, n := &p.Steps[i], p.run(i)
		if all, ends := p.alike(i); len(ends) > fewOperators {
			n = all
			t.write(fmt.Sprintf("%3d to %d. ", i+1, i+n), "on %s: %d operators upgrade within their channels: %s", s.Platform, len(ends), phrase.And(ends))
		} else if n < 2 {
			n = 1
			t.write(fmt.Sprintf("%3d. ", i+1), "on %s: %s", s.Platform, s.text())
		} else {
			t.write(fmt.Sprintf("%3d to %d. ", i+1, i+n), "on %s: %s: %s", s.Platform, s.who(), chain(p.Steps[i:i+n]))
		}
		i += n
	}
	p.writeBlockers(t)
	p.writeOperators(t)
	return t.String()
}

// A text is a text of paragraphs with titles.
type text struct{ *prose.Writer }

// title writes a title if something follows.
func (t text) title(title string, n int) {
	if n > 0 {
		t.Blank()
		t.Line(nil, title, "", "")
	}
}

// write writes a line below a title. If it is broken, the rest is indented further.
func (t text) write(first, format string, args ...any) {
	t.Line(nil, fmt.Sprintf(format, args...), first, strings.Repeat(" ", len(first)+2))
}

// short returns the version of a node, or its name if it has none.
func short(n graph.Node) string { return cmp.Or(n.Version, n.Name) }

// run returns how many upgrades of one operator on one version of the platform begin at step i.
func (p *Plan) run(i int) int {
	first, n := &p.Steps[i], 0
	for _, s := range p.Steps[i:] {
		if s.Operator == nil || s.who() != first.who() || s.Platform != first.Platform {
			break
		}
		n++
	}
	return n
}

// fewOperators is how many operators that upgrade in a row have a line each.
const fewOperators = 5

// alike returns how many upgrades of operators in a row begin at step i on one version of the platform, and where each
// operator ends.
func (p *Plan) alike(i int) (n int, ends []string) {
	for k := i; k < len(p.Steps) && p.Steps[k].Platform == p.Steps[i].Platform; k = i + n {
		row := p.run(k)
		if row == 0 {
			break
		}
		n += row
		last := &p.Steps[k+row-1]
		ends = append(ends, last.who().String()+" to "+short(last.Operator.To))
	}
	return n, ends
}

// chain returns upgrades of one operator in a row as text. It leaves out what is between many.
func chain(steps []Step) string {
	text, last := short(steps[0].Operator.From), short(steps[len(steps)-1].Operator.To)
	if len(steps) > 3 {
		return fmt.Sprintf("%s -> %s, in %d upgrades", text, last, len(steps))
	}
	for _, s := range steps {
		text += " -> " + short(s.Operator.To)
	}
	return text
}

// text returns the step without its version of the platform.
func (s *Step) text() string {
	switch {
	case s.Next != "":
		return "upgrade the platform to " + s.Next
	case s.Operator != nil:
		return fmt.Sprintf("%s: %s -> %s (%s)", s.who(), short(s.Operator.From), short(s.Operator.To), s.Operator.Why())
	case s.Hold != nil:
		return fmt.Sprintf("%s: %s", s.who(), s.Hold.text())
	case s.Switch == nil:
		return fmt.Sprintf("%s: %s", s.who(), resumeText)
	}
	return fmt.Sprintf("%s: %s", s.who(), s.Switch.text())
}

func (c *ChannelSwitch) text() string {
	switch {
	case c.To == "":
		return "follow all channels"
	case c.From == "":
		return "switch to channel " + c.To
	}
	return fmt.Sprintf("switch from channel %s to channel %s", c.From, c.To)
}

// resumeText is the text of a step that ends a hold.
const resumeText = "let OLM upgrade it again"

func (h *Hold) text() string {
	if h.Reading == graph.V1 {
		return fmt.Sprintf("allow only version %s", h.Bundle.Version)
	}
	return fmt.Sprintf("approve install plans by hand, and nothing beyond %s", h.Bundle)
}

// writeBlockers writes the blockers, but not those that a change of channels resolves: the reason is
// among the needs.
func (p *Plan) writeBlockers(t text) {
	for _, part := range []struct {
		title string
		of    func(*Blocker) bool
	}{
		{"Blocks the platform:", func(x *Blocker) bool { return x.Fatal }},
		{"Leaves an operator behind or waiting:", func(x *Blocker) bool { return !x.Fatal && !x.resolved() }},
		{"Resolved by the plan:", func(x *Blocker) bool { return !x.Fatal && x.resolved() && x.Switch == nil }},
	} {
		var list []*Blocker
		for i := range p.Blockers {
			if x := &p.Blockers[i]; part.of(x) {
				list = append(list, x)
			}
		}
		t.title(part.title, len(list))
		for len(list) > 0 {
			x := list[0]
			at := []string{x.Platform}
			list = list[1:]
			for len(list) > 0 && !x.resolved() && list[0].who() == x.who() && list[0].Kind == x.Kind && list[0].Bundle == x.Bundle {
				at = append(at, list[0].Platform)
				list = list[1:]
			}
			reason := x.Reason
			if i := slices.IndexFunc(p.Needs, func(n Need) bool { return n.who() == x.who() && n.Reason == x.Reason }); i >= 0 {
				reason = fmt.Sprintf("see %d above", i+1)
			} else if x.Temporary {
				reason += "; that changes on " + x.Until
				if x.Kind == BlockerNoPackage {
					reason += ", whose catalog has it"
				}
			} else if x.Action != "" {
				reason += "; " + x.Action
			}
			t.write("  ", "%s at %s: %s", x.who(), versions(at), reason)
		}
	}
}

func (p *Plan) writeOperators(t text) {
	t.title("Operators:", len(p.Operators))
	for _, o := range p.Operators {
		line := fmt.Sprintf("%s: %s", o.who(), short(o.From))
		if o.To != o.From {
			line += " to " + short(o.To)
		}
		switch {
		case o.AtHead && o.Versions != "":
			line += fmt.Sprintf(", the newest version in the range %q", o.Versions)
		case o.AtHead && o.Channel != "":
			line += ", the head of channel " + o.Channel
		case o.AtHead:
			line += ", at the head"
		}
		switch {
		case !o.Checked:
			line += "; safe versions were not checked"
		case len(o.SafeOn) == 0 && slices.ContainsFunc(p.Blockers, func(x Blocker) bool { return x.who() == o.who() && x.endangers() }):
			line += "; not safe on any version"
		case len(o.SafeOn) == 0:
			line += "; blocks nothing, but gets no updates"
		default:
			line += "; safe on " + versions(o.SafeOn)
		}
		if slices.ContainsFunc(p.Unchecked, func(u Unchecked) bool { return u.Requires != "" && u.who() == o.who() }) {
			line += "; if its requirements are met"
		}
		if o.ActBefore != "" {
			line += "; act before " + o.ActBefore
		}
		t.write("  ", "%s", line)
		if o.Outlook != nil {
			t.write("    ", "on %s: %s", p.Reached, onward(o.Outlook))
		}
		for _, s := range o.Support {
			line := "version " + s.Lifecycle.Name
			if p.On != "" {
				line += " on " + string(p.On)
			}
			line += ": " + s.period(p.On)
			if list := openShift(&s.Lifecycle); list != "" {
				line += "; compatible with OpenShift " + list
			}
			t.write("    ", "%s", line)
		}
	}
}

// versions lists sorted versions of a platform, and runs of three or more as a range.
func versions(list []string) string {
	var out []string
	for len(list) > 0 {
		n := 1
		for v, err := property.ParseMinorVersion(list[0]); err == nil && n < len(list); n++ {
			if v = v.Next(); v.String() != list[n] {
				break
			}
		}
		if n > 2 {
			out = append(out, list[0]+" to "+list[n-1])
		} else {
			out = append(out, list[:n]...)
		}
		list = list[n:]
	}
	return phrase.And(out)
}

// openShift lists the versions of OpenShift that a version is compatible with.
func openShift(v *lifecycle.Version) string {
	var out []string
	for _, p := range v.Platforms {
		if p.Name == lifecycle.OpenShift {
			out = append(out, p.Versions...)
		}
	}
	return versions(out)
}

// period returns when a version is supported on a day or, without a day, at all.
func (s *Support) period(on lifecycle.Date) string {
	phases := s.Lifecycle.Phases
	if len(phases) == 0 {
		return "no dates of support are stated"
	}
	first, last := phases[0], phases[len(phases)-1]
	switch {
	case on == "":
		var list []string
		for _, p := range phases {
			list = append(list, fmt.Sprintf("%s from %s to %s", p.Name, p.Start, p.End))
		}
		return phrase.And(list)
	case s.Phase != "":
		for _, p := range phases {
			if p.Name == s.Phase && p.Start <= on && on <= p.End {
				text := fmt.Sprintf("%s until %s", p.Name, p.End)
				if p != last {
					text += fmt.Sprintf(", all support until %s", last.End)
				}
				return text
			}
		}
	case on < first.Start:
		return "support starts on " + string(first.Start)
	case on > last.End:
		return "support ended on " + string(last.End)
	}
	return "no support on that day, between two phases"
}

// onward returns how to get further as the end of a sentence.
func onward(o *graph.Outlook) string {
	text := prose.Onward(o)
	return strings.ToLower(text[:1]) + text[1:]
}
