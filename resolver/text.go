package resolver

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns the derivation as lines of at most width characters, 0 for no
// limit: the headline, then the steps behind it, indented under what they
// support.
func (d *Derivation) Text(width int) string {
	var b strings.Builder
	wrap(&b, d.Conclusion.Text, "", "", width)
	told := map[string]bool{}
	writeSteps(&b, d.Conclusion, "  ", width, told)
	return b.String()
}

// Text returns the explanation of a whole conflict: each core with its
// derivation and fixes, then what can be planned all the same. Lines have at
// most width characters, 0 for no limit. The error is the context's.
func (c *Conflict) Text(ctx context.Context, width int) (string, error) {
	var b strings.Builder
	for i, core := range c.Cores {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(core.Derive().Text(width))
		fixes, err := core.Fixes(ctx, 0)
		if err != nil {
			return "", err
		}
		if len(fixes) == 0 {
			wrap(&b, "no change to one or two things resolves this; cut the problem down to see what does", "", "", width)
			continue
		}
		b.WriteString("what would help:\n")
		for n, f := range fixes {
			first := "  " + strconv.Itoa(n+1) + ". "
			wrap(&b, f.String(), first, strings.Repeat(" ", len(first)), width)
		}
	}
	if len(c.planned) > 0 {
		b.WriteByte('\n')
		all := len(c.planned) + len(c.refused)
		text := strconv.Itoa(len(c.planned)) + " of " + plural(all, "subscription") + " can be planned without " + andList(c.refused)
		if p := c.Planned(); p != nil && len(p.Selected) > 0 {
			names := make([]string, len(p.Selected))
			for i, s := range p.Selected {
				names[i] = s.Name
			}
			text += ": " + andList(names)
		}
		wrap(&b, text, "", "", width)
	}
	return b.String(), nil
}

// andList joins words with commas and "and", and counts what is too many.
func andList(words []string) string {
	switch n := len(words); {
	case n == 0:
		return "nothing"
	case n == 1:
		return words[0]
	case n > 6:
		return strings.Join(words[:5], ", ") + " and " + strconv.Itoa(n-5) + " others"
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// maxSteps is how many steps stand under one; the rest is counted.
const maxSteps = 12

func writeSteps(b *strings.Builder, s *Step, indent string, width int, told map[string]bool) {
	writeNotes(b, s, indent, width)
	for i, c := range s.Because {
		if i == maxSteps {
			wrap(b, "and "+plural(len(s.Because)-i, "more reason")+" of this kind", indent+"- ", indent+"  ", width)
			return
		}
		text := c.Text
		if len(c.Because) > 0 && told[text] {
			text += " (as said above)"
			wrap(b, text, indent+"- ", indent+"  ", width)
			continue
		}
		told[text] = true
		wrap(b, text, indent+"- ", indent+"  ", width)
		writeSteps(b, c, indent+"  ", width, told)
	}
}

// writeNotes writes where the catalog says so, and the author's own words.
func writeNotes(b *strings.Builder, s *Step, indent string, width int) {
	for _, m := range s.Messages {
		wrap(b, "the author says: "+m, indent, indent, width)
	}
	if len(s.Places) > 0 {
		at := "at " + s.Places[0].String()
		if n := len(s.Places) - 1; n > 0 {
			at += " and " + plural(n, "more place")
		}
		wrap(b, at, indent, indent, width)
	}
}

// wrap writes text in lines of at most width characters; a longer word gets a
// line of its own.
func wrap(b *strings.Builder, text, first, indent string, width int) {
	b.WriteString(first)
	col := utf8.RuneCountInString(first)
	start := true
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if !start && width > 0 && col+1+n > width {
			b.WriteString("\n" + indent)
			col, start = utf8.RuneCountInString(indent), true
		}
		if !start {
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col, start = col+n, false
	}
	b.WriteByte('\n')
}

func plural(n int, noun string) string {
	s := strconv.Itoa(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}
