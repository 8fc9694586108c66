package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// title states what happens.
func (p *extensionPlan) title() string {
	name := "ClusterExtension " + p.Extension
	in := " in namespace " + p.Namespace
	as := ""
	if p.Revision != "" {
		as = " as revision " + p.Revision
	}
	switch {
	case p.deleting:
		return name + ": is being deleted"
	case p.Refused != "":
		return name + ": " + noneSelected(p.Code)
	case p.refused() && p.Installed == nil:
		return fmt.Sprintf("%s: OLM v1 does not install %s%s", name, p.Target, in)
	case p.refused() && p.Installed.Name != p.Target.Name:
		return fmt.Sprintf("%s: OLM v1 does not upgrade %s to %s%s", name, p.Installed, p.Target, in)
	case p.Installed == nil:
		return fmt.Sprintf("%s: install %s%s%s", name, p.Target, in, as)
	case p.Installed.Name != p.Target.Name:
		return fmt.Sprintf("%s: upgrade %s to %s%s%s", name, p.Installed, p.Target, in, as)
	case len(p.Phases) > 0 && p.Revision != "":
		return fmt.Sprintf("%s: roll out %s again%s%s", name, p.Target, in, as)
	case len(p.Phases) > 0:
		return fmt.Sprintf("%s: restore %s%s", name, p.Target, in)
	case len(p.Blocked) > 0 || len(p.Waiting) > 0:
		return fmt.Sprintf("%s: %s%s", name, p.Target, in)
	}
	return fmt.Sprintf("%s: nothing to do; %s is installed%s", name, p.Target, in)
}

// noneSelected states that no bundle can be selected, with the code of the reason if it has one.
func noneSelected(code olmv1.RefusalCode) string {
	if code == "" {
		return "no bundle can be selected"
	}
	return fmt.Sprintf("no bundle can be selected (%s)", code)
}

// refusedV1 returns why no bundle can be selected, and fixes, for an output. The reason of a refusal with a code is one line.
func refusedV1(w io.Writer, code olmv1.RefusalCode, reason string, fixes []*olmv1.Fix) string {
	if reason == "" {
		return ""
	}
	if code != "" {
		reason = visible.Line(reason)
	}
	t := proseWriter(w)
	for text := range strings.SplitSeq(visible.Lines(strings.TrimSpace(reason)), "\n") {
		t.Line(nil, text, "  ", "  ")
	}
	writeFixesV1(t, "", fixes)
	return t.String()
}

// maxFields is the number of fields of an object that text shows.
const maxFields = 20

func (p *extensionPlan) text(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { visible.Fprintf(&b, format+"\n", args...) }
	line("%s", p.title())
	b.WriteString(refusedV1(w, p.Code, p.Refused, p.Fixes))
	if t := p.Target; t != nil && t.Catalog != "" {
		line("  from catalog %s", t.Catalog)
	}
	if p.Impact != nil {
		line("  impact: %s", p.Impact.verdictText())
	}
	t := proseWriter(w)
	writeLost(t, p.Lost)
	b.WriteString(t.String())
	writeBlocks(&b, p.Blocked)
	if len(p.Ways) > 0 {
		b.WriteString("\n")
		t := proseWriter(w)
		writeWays(t, "", p.Ways)
		b.WriteString(t.String())
	}
	if p.Refused != "" && p.Installed != nil && len(p.Phases) > 0 {
		line("\nOLM v1 applies what it has selected before:")
	}
	p.writePhases(line)
	if p.Unchanged > 0 && len(p.Phases) > 0 {
		line("\nUnchanged: %s", phrase.Count(p.Unchanged, "object"))
	}
	writeWaits(&b, p.Waiting)
	t = proseWriter(w)
	writeNotesV1(t, p.Versions)
	b.WriteString(t.String())
	for _, n := range p.Notes {
		line("note: %s", n)
	}
	_, err := visible.Fprintf(w, "%s", visible.Block(b.String()))
	if p.Impact == nil || err != nil {
		return err
	}
	return p.Impact.Avoid.text(w)
}

// writeBlocks prints what blocks a rollout.
func writeBlocks(w io.Writer, list []extensionBlock) {
	if len(list) > 0 {
		visible.Fprintf(w, "\nBlocked:\n")
	}
	for i, x := range list {
		object, message := "", x.Message
		if x.Object != nil {
			object = x.Object.String() + ": "
		}
		if x.path != "" {
			same := func(y extensionBlock) bool { return y.path != "" && *y.Object == *x.Object && y.change == x.change }
			if slices.ContainsFunc(list[:i], same) {
				continue
			}
			var paths []string
			for _, y := range list[i:] {
				if same(y) {
					paths = append(paths, y.path)
				}
			}
			if n := len(paths); n > 1 {
				message = fmt.Sprintf("%s (%d fields, such as %s)", x.change, n, paths[0])
			}
		}
		if x.path == "" && x.Object != nil {
			same := func(y extensionBlock) bool { return y.Object != nil && y.Check == x.Check && y.Message == x.Message }
			if slices.ContainsFunc(list[:i], same) {
				continue
			}
			var others []string
			for _, y := range list[i+1:] {
				if same(y) {
					others = append(others, y.Object.String())
				}
			}
			if n := len(others); n > 0 {
				message += "; the same is true of " + phrase.And(append(others[:min(n, 2):min(n, 2)], more(n-2)...))
			}
		}
		visible.Fprintf(w, "  %s: %s%s\n", x.Check, object, message)
	}
}

// more counts objects that a text does not list.
func more(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{phrase.Count(n, "more object")}
}

// writeWaits prints what a rollout waits for.
func writeWaits(w io.Writer, list []extensionWait) {
	if len(list) > 0 {
		visible.Fprintf(w, "\nWaiting:\n")
	}
	for _, x := range list {
		visible.Fprintf(w, "  %s\n", x)
	}
}

// String returns the change on one line.
func (f extensionField) String() string {
	switch {
	case f.Old == nil && f.New == nil:
		return f.Path + " changes"
	case f.Old == nil:
		return f.Path + ": added " + shortJSON(f.New)
	case f.New == nil:
		return f.Path + ": removed " + shortJSON(f.Old)
	}
	return f.Path + ": " + shortJSON(f.Old) + " -> " + shortJSON(f.New)
}

// String returns the wait on one line.
func (x extensionWait) String() string {
	where := "revision " + x.Revision
	if x.Object != nil {
		where = fmt.Sprintf("%s, phase %s: %s", where, x.Phase, x.Object)
	}
	return where + ": " + visible.Line(x.Message)
}

// shortJSON returns a value for people, truncated if it is long.
func shortJSON(v json.RawMessage) string {
	const limit = 120
	text := visible.Line(string(v))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
