package olmv1

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
)

// TestCourses applies the commands of all fixes and notes of generated requests, and then walks OLM v1 step by step to its
// end: what it installs, the error at the end, and whether that is a prerelease or in another channel must be what the
// data and the text of the fix or the note state (G3, H40).
func TestCourses(t *testing.T) {
	n := testsize.Of(300, 2000, 20000)
	seen := map[string]int{}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 11))
		q := Request{Package: "p"}
		for i := range 1 + r.IntN(3) {
			q.Catalogs = append(q.Catalogs, Catalog{
				Name: string(rune('x' + i)), Graph: randomCatalog(t, r), Priority: r.IntN(2), Labels: map[string]string{"tier": string(rune('a' + r.IntN(2)))},
			})
		}
		q.Version = []string{"", "", ">1.3.0", "1.2.0 - 1.9.0", "1.5.0", "<1.4", "~1.12", ">=1.6.0-0"}[r.IntN(8)]
		q.Channels = [][]string{nil, {"a"}, {"b"}, {"a", "b"}, {"c"}, {"a,b"}}[r.IntN(6)]
		q.Policy = []UpgradePolicy{CatalogProvided, SelfCertified}[r.IntN(8)/7]
		if r.IntN(4) == 0 {
			q.Selector = &LabelSelector{MatchLabels: map[string]string{"tier": "a"}}
		}
		if r.IntN(4) > 0 {
			x := q.Catalogs[0].Graph
			p, _ := x.Package("p")
			list := slices.Collect(p.Bundles())
			b := list[r.IntN(len(list))]
			q.Installed = &Installed{Name: b.Name(), Version: b.Version().String()}
		}
		sel, err := Select(t.Context(), q)
		var no *Refusal
		switch {
		case errors.As(err, &no):
			for _, f := range no.Fixes {
				if f.Kind == FixClassic {
					continue
				}
				seen[string(f.Kind)]++
				checkCourse(t, fmt.Sprintf("seed %d, fix %s", seed, f), q, []string{f.Command}, f.Course, f.Text, true)
			}
		case err != nil:
			t.Fatal(err)
		default:
			for _, n := range sel.Notes {
				if n.Course == nil || strings.HasPrefix(n.Text, "once ") {
					continue
				}
				var commands []string
				for _, c := range n.Commands {
					commands = append(commands, c.Line)
				}
				seen[string(n.Code)]++
				checkCourse(t, fmt.Sprintf("seed %d, note %s", seed, n.Text), q, commands, *n.Course, n.Text, false)
			}
		}
	}
	for _, kind := range []FixKind{FixVersion, FixChannels, FixBoth, FixSelector, FixCatalog, FixPriority, FixCertified, FixUncertified, "held-back"} {
		if seen[string(kind)] == 0 {
			t.Errorf("no %s was tried", kind)
		}
	}
	t.Log(seen)
}

// checkCourse applies commands to a request and compares what follows with a course.
func checkCourse(t *testing.T, name string, q Request, commands []string, want Course, text string, isFix bool) {
	t.Helper()
	first := q
	for _, list := range commands {
		for c := range strings.SplitSeq(list, " && ") {
			q = patched(t, q, c)
		}
	}
	got, installed := Course{}, q.Installed
	at := q
	for i := 0; ; i++ {
		sel, err := Select(t.Context(), at)
		var no *Refusal
		if errors.As(err, &no) {
			if got.Refusal = no.Code; no.chosen.Bundle != (graph.Bundle{}) {
				got.Refused = no.chosen.Node()
			}
			break
		} else if err != nil {
			t.Fatal(name, err)
		}
		node := graph.Node{Name: sel.Bundle, Version: sel.Version}
		if i == 0 {
			got.Catalog, got.Selected = sel.Catalog, node
			got.stays = q.Installed != nil && node.Name == q.Installed.Name
		} else if node == got.End() || installed != nil && node.Name == installed.Name || slices.Contains(got.Later, node) || node == got.Selected {
			break
		} else {
			got.Later = append(got.Later, node)
		}
		got.Prerelease, got.Channel = !got.stays && isPre(first, sel.Graph), ""
		if !got.stays && len(first.Channels) > 0 && len(q.Channels) == 0 && !slices.ContainsFunc(slices.Collect(sel.Graph.Entries()), func(e graph.Entry) bool { return slices.Contains(first.Channels, e.Channel().Name()) }) {
			got.Channel = "other"
		}
		got.stays = got.stays && isFix
		at.Installed = &Installed{Name: node.Name, Version: node.Version}
	}
	if want.Channel != "" {
		want.Channel = "other"
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: after %q\ngot  %+v\nwant %+v", name, commands, got, want)
	}
	for part, holds := range map[string]bool{
		"stays, without an error":                        got.stays,
		"the prerelease " + got.End().Name:               got.Prerelease,
		" of channel ":                                   got.Channel != "",
		fmt.Sprintf(", in %d more step", len(got.Later)): len(got.Later) > 0,
		"selects " + got.Refused.Name + " and refuses":   got.Refused.Name != "",
		"selects nothing":                                got.Refusal != "" && got.Refused.Name == "",
	} {
		if holds && !strings.Contains(text, part) {
			t.Errorf("%s: the text lacks %q", name, part)
		}
	}
	if !got.Prerelease && strings.Contains(text, "; then the prerelease ") || len(got.Later) == 0 && strings.Contains(text, "more step") {
		t.Errorf("%s: the text states more than %+v", name, got)
	}
}

// isPre reports whether a bundle is a prerelease, unlike the installed one or the head of the default channel.
func isPre(q Request, b graph.Bundle) bool {
	if len(b.Version().Pre) == 0 {
		return false
	}
	if q.Installed != nil {
		v, err := semver.Parse(q.Installed.Version)
		return err == nil && len(v.Pre) == 0
	}
	ch, _ := b.Package().DefaultChannel()
	e, ok := ch.Head()
	if !ok {
		return false
	}
	h, ok := e.Bundle()
	return ok && len(h.Version().Pre) == 0
}

// patched returns a request after a command with a merge patch.
func patched(t *testing.T, q Request, command string) Request {
	t.Helper()
	words := strings.Fields(command)
	_, text, ok := strings.Cut(command, "--patch '")
	if !ok {
		t.Fatalf("%s: no patch", command)
	}
	text, _, _ = strings.Cut(text, "'")
	var spec struct {
		Spec struct {
			Priority int
			Source   struct{ Catalog map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	if words[2] == "clustercatalog" {
		q.Catalogs = slices.Clone(q.Catalogs)
		for i := range q.Catalogs {
			if q.Catalogs[i].Name == words[3] {
				q.Catalogs[i].Priority = spec.Spec.Priority
			}
		}
		return q
	}
	for key, value := range spec.Spec.Source.Catalog {
		null := string(value) == "null"
		var err error
		switch key {
		case "version":
			q.Version = ""
			if !null {
				err = json.Unmarshal(value, &q.Version)
			}
		case "channels":
			q.Channels = nil
			if !null {
				err = json.Unmarshal(value, &q.Channels)
			}
		case "upgradeConstraintPolicy":
			err = json.Unmarshal(value, &q.Policy)
		case "packageName":
			err = json.Unmarshal(value, &q.Package)
		case "selector":
			old := cmp.Or(q.Selector, &LabelSelector{})
			if q.Selector = nil; null {
				break
			}
			var change struct {
				MatchLabels      map[string]*string
				MatchExpressions json.RawMessage
			}
			err = json.Unmarshal(value, &change)
			s := &LabelSelector{MatchLabels: map[string]string{}}
			for k, v := range old.MatchLabels {
				s.MatchLabels[k] = v
			}
			for k, v := range change.MatchLabels {
				if v == nil {
					delete(s.MatchLabels, k)
				} else {
					s.MatchLabels[k] = *v
				}
			}
			if change.MatchExpressions == nil {
				s.MatchExpressions = old.MatchExpressions
			}
			q.Selector = s
		default:
			t.Fatalf("%s: what is %s?", command, key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return q
}
