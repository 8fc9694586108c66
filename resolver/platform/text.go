package platform

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/property"
)

// String returns the plan as text.
func (p *Plan) String() string {
	var b strings.Builder
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
		visible.Fprintf(&b, "Platform %s: %s.\n", p.From, phrase.Count(operators, "operator upgrade"))
	case p.OK:
		visible.Fprintf(&b, "Platform %s to %s: %s, %s.\n", p.From, p.To, phrase.Count(platform, "platform upgrade"), phrase.Count(operators, "operator upgrade"))
	default:
		visible.Fprintf(&b, "Platform %s to %s: blocked at %s.\n", p.From, p.To, p.Reached)
	}
	for _, w := range p.Warnings {
		visible.Fprintf(&b, "warning: %s\n", w)
	}
	if len(p.Needs) > 0 {
		b.WriteString("\nWhat needs you:\n")
	}
	for i, n := range p.Needs {
		when := "on " + n.Platform
		if n.Before != "" {
			when += ", before " + n.Before
		}
		visible.Fprintf(&b, "%3d. %s: %s: %s\n       because %s\n", i+1, when, n.Package, n.Action, n.Reason)
	}
	if len(p.Steps) > 0 {
		b.WriteString("\nSteps:\n")
	}
	for i := 0; i < len(p.Steps); {
		n := p.run(i)
		if s := &p.Steps[i]; n < minRun {
			n = 1
			visible.Fprintf(&b, "%3d. on %s: %s\n", i+1, s.Platform, s.text())
		} else {
			last := p.Steps[i+n-1].Operator
			visible.Fprintf(&b, "%3d to %d. on %s: %s: %s -> %s, in %d upgrades\n", i+1, i+n, s.Platform, s.Package, s.Operator.From, last.To, n)
		}
		i += n
	}
	p.writeBlockers(&b)
	p.writeOperators(&b)
	return b.String()
}

// minRun is the number of upgrades of one operator in a row that share a line.
const minRun = 3

// run returns how many upgrades of one operator on one version of the platform begin at step i.
func (p *Plan) run(i int) int {
	first, n := &p.Steps[i], 0
	for _, s := range p.Steps[i:] {
		if s.Operator == nil || s.Package != first.Package || s.Platform != first.Platform {
			break
		}
		n++
	}
	return n
}

// text returns the step without its version of the platform.
func (s *Step) text() string {
	switch {
	case s.Next != "":
		return "upgrade the platform to " + s.Next
	case s.Operator != nil:
		return fmt.Sprintf("%s: %s -> %s (%s)", s.Package, s.Operator.From, s.Operator.To, s.Operator.Why())
	case s.Hold != nil:
		return fmt.Sprintf("%s: %s", s.Package, s.Hold.text())
	}
	return fmt.Sprintf("%s: %s", s.Package, s.Switch.text())
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

func (h *Hold) text() string {
	if h.Reading == graph.V1 {
		return fmt.Sprintf("allow only version %s", h.Bundle.Version)
	}
	return fmt.Sprintf("approve install plans by hand, and nothing beyond %s", h.Bundle)
}

func (p *Plan) writeBlockers(b *strings.Builder) {
	for _, part := range []struct {
		title string
		of    func(*Blocker) bool
	}{
		{"Blocks the platform:", func(x *Blocker) bool { return x.Fatal }},
		{"Leaves an operator behind or waiting:", func(x *Blocker) bool { return !x.Fatal && !x.resolved() }},
		{"Resolved by the plan:", func(x *Blocker) bool { return !x.Fatal && x.resolved() }},
	} {
		var list []*Blocker
		for i := range p.Blockers {
			if x := &p.Blockers[i]; part.of(x) {
				list = append(list, x)
			}
		}
		if len(list) > 0 {
			visible.Fprintf(b, "\n%s\n", part.title)
		}
		for len(list) > 0 {
			x := list[0]
			at := []string{x.Platform}
			list = list[1:]
			for len(list) > 0 && !x.resolved() && list[0].Package == x.Package && list[0].Kind == x.Kind && list[0].Bundle == x.Bundle {
				at = append(at, list[0].Platform)
				list = list[1:]
			}
			visible.Fprintf(b, "  %s at %s: %s", x.Package, versions(at), x.Reason)
			switch {
			case x.Switch != nil:
				visible.Fprintf(b, "; the plan switches to channel %s", x.Switch.Channel)
			case x.Temporary:
				b.WriteString("; that changes at a later version")
			case x.Action != "":
				visible.Fprintf(b, "; %s", x.Action)
			}
			b.WriteString("\n")
		}
	}
}

func (p *Plan) writeOperators(b *strings.Builder) {
	if len(p.Operators) > 0 {
		b.WriteString("\nOperators:\n")
	}
	for _, o := range p.Operators {
		visible.Fprintf(b, "  %s: %s", o.Package, o.From)
		if o.To != o.From {
			visible.Fprintf(b, " to %s", o.To)
		}
		if o.AtHead {
			b.WriteString(", at the head")
		}
		switch {
		case !o.Checked:
			b.WriteString("; safe versions were not checked")
		case len(o.SafeOn) == 0:
			b.WriteString("; not safe on any version")
		default:
			visible.Fprintf(b, "; safe on %s", versions(o.SafeOn))
		}
		if o.ActBefore != "" {
			visible.Fprintf(b, "; act before %s", o.ActBefore)
		}
		b.WriteString("\n")
		for _, s := range o.Support {
			visible.Fprintf(b, "    version %s", s.Lifecycle.Name)
			if p.On != "" {
				visible.Fprintf(b, " on %s", p.On)
			}
			visible.Fprintf(b, ": %s", s.period(p.On))
			if list := openShift(&s.Lifecycle); list != "" {
				visible.Fprintf(b, "; compatible with OpenShift %s", list)
			}
			b.WriteString("\n")
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
