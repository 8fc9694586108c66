package resolver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// hostileWords are parts of names that break a program that parses or splits its own text.
var hostileWords = []string{
	"/", "a/b/", " ", "=", `"`, "'", "(", ")", "a)", ", ", ", and ", " or ", "\u202e", `\`, "<nil>", "; ", ".", "..", "//",
	" / ", " (no such)", ", on d", ", in both ", " to ", "(b", "= ",
}

// tameWord returns a hostile word in which each byte that is not a letter is replaced by a letter that no hostile word
// has. Tame names are thus as similar to each other as hostile ones.
var tameWord = strings.NewReplacer(
	"/", "e", " ", "f", "=", "g", `"`, "j", "'", "k", "(", "m", ")", "p", ",", "q", "<", "v", ">", "w", `\`, "x", ";", "y", ".", "z",
	"\u202e", "\u1e01",
).Replace

// A renaming replaces all names in a problem and keeps their order.
type renaming struct {
	names    []string // the old names, in order
	new, old map[string]string
}

// nameFields are the members of problems and catalogs that hold names. Names of APIs are not
// replaced: a group or kind may contain only letters, digits, '-' and '.'.
var nameFields = map[string]bool{
	"name": true, "package": true, "packageName": true, "defaultChannel": true, "replaces": true, "skips": true,
	"namespace": true, "globalNamespace": true, "channel": true, "catalog": true, "catalogNamespace": true,
	"startingCSV": true, "installedCSV": true, "targetNamespaces": true,
}

// walkNames replaces the names in a JSON value with what f returns. For the members of
// policies that hold a name or a version, sure is false.
func walkNames(v any, isName bool, f func(name string, sure bool) string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if text, ok := x.(string); ok && (key == "pin" || key == "exclude") {
				v[key] = f(text, false)
				continue
			}
			v[key] = walkNames(x, nameFields[key], f)
		}
	case []any:
		for i := range v {
			v[i] = walkNames(v[i], isName, f)
		}
	case string:
		if isName && v != "" {
			return f(v, true)
		}
	}
	return v
}

// plainProblem returns a problem as a JSON value, with the blobs of its catalogs. ok is false
// if a catalog cannot be split into blobs.
func plainProblem(t *testing.T, p resolver.Problem) (problem any, blobs [][]any, ok bool) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &problem); err != nil {
		t.Fatal(err)
	}
	blobs = make([][]any, len(p.Catalogs))
	for i, c := range p.Catalogs {
		if c.FBC == nil {
			continue
		}
		text := []byte(*c.FBC)
		if !bytes.HasPrefix(text, []byte("{")) {
			text = nil
			for part := range strings.SplitSeq(*c.FBC, "\n---\n") {
				blob, err := yamljson.JSON(context.Background(), []byte(part), nil)
				if err != nil {
					return nil, nil, false
				}
				text = append(text, blob...)
			}
		}
		for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
			var b map[string]any
			if d.Decode(&b) != nil {
				return nil, nil, false
			}
			blobs[i] = append(blobs[i], b)
		}
	}
	return problem, blobs, true
}

// rename returns the problem with other names. word makes a name from the position of the
// old one.
func rename(t *testing.T, p resolver.Problem, word func(i int) string) (resolver.Problem, *renaming, bool) {
	t.Helper()
	if p.GlobalNamespace == "" {
		p.GlobalNamespace = resolver.DefaultGlobalNamespace
	}
	problem, blobs, ok := plainProblem(t, p)
	if !ok {
		return p, nil, false
	}
	r := &renaming{new: map[string]string{}, old: map[string]string{}}
	collect := func(name string, sure bool) string {
		if sure {
			r.names = append(r.names, name)
		}
		return name
	}
	walkNames(problem, false, collect)
	for _, list := range blobs {
		walkNames(list, false, collect)
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	for i, name := range r.names {
		to := fmt.Sprintf("%03d%s", i, word(i))
		r.new[name], r.old[to] = to, name
	}
	replace := func(name string, _ bool) string {
		if to, ok := r.new[name]; ok {
			return to
		}
		return name
	}
	text, err := json.Marshal(walkNames(problem, false, replace))
	if err != nil {
		t.Fatal(err)
	}
	var out resolver.Problem
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	for i, list := range blobs {
		if p.Catalogs[i].FBC == nil {
			continue
		}
		var fbc bytes.Buffer
		enc := json.NewEncoder(&fbc)
		for _, b := range list {
			if err := enc.Encode(walkNames(b, false, replace)); err != nil {
				t.Fatal(err)
			}
		}
		text := fbc.String()
		out.Catalogs[i].FBC = &text
	}
	return out, r, true
}

// texts are members of answers that hold sentences.
var texts = []string{"text", "headline", "requirement", "requires", "api", "error", "advice", "rule", "notes", "decided", "commands"}

// outline returns the data of an answer, without sentences, and with the old names.
func (r *renaming) outline(t *testing.T, what string, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range texts {
				delete(v, key)
			}
			if v["missing"] == "catalog" {
				delete(v, "known")
			}
			if kind := v["kind"]; kind == "change-catalog" || kind == "lift-policy" || kind == "change-pin" {
				delete(v, "to") // a catalog or a policy as text
				delete(v, "policy")
			}
			for key, x := range v {
				v[key] = walk(x)
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case string:
			if old, ok := r.old[v]; ok {
				return old
			}
		}
		return v
	}
	text, err = json.MarshalIndent(walk(plain), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return what + " " + string(text) + "\n"
}

// requirement returns a constraint with the old names.
func (r *renaming) requirement(t *testing.T, x constraints.Expr) string {
	t.Helper()
	p, err := constraints.ToProperty(x)
	if err != nil {
		return err.Error()
	}
	var v any
	if err := json.Unmarshal(p.Value, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(walkNames(v, false, func(name string, _ bool) string { return r.old[name] }))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer resolves a renamed problem, and returns its solution with the reason for
// each bundle, or its cores with their requirements, derivations and fixes.
func (r *renaming) answer(t *testing.T, p resolver.Problem) string {
	t.Helper()
	ctx := context.Background()
	if err := p.Open(ctx, nil); err != nil {
		return "not loaded"
	}
	sol, err := resolver.Resolve(ctx, p)
	var no *resolver.Conflict
	var out strings.Builder
	switch {
	case errors.As(err, &no):
		for _, c := range no.Cores {
			for _, f := range c.Facts {
				if q, ok := f.(*fact.Requires); ok {
					fmt.Fprintln(&out, "requirement", r.requirement(t, q.Requirement))
				}
			}
		}
		report, err := no.Report(ctx)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(r.outline(t, "report", report))
	case err != nil:
		return fmt.Sprintf("%T", err)
	default:
		out.WriteString(r.outline(t, "solution", sol))
		for _, s := range sol.Selected {
			why, err := sol.Why(ctx, s.Name)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(r.outline(t, "why "+r.old[s.Name], why[0].Reasons))
		}
	}
	return out.String()
}

// mentionsNames reports whether a CEL rule of a problem uses names: the renaming does not
// change rules.
func mentionsNames(p resolver.Problem) bool {
	named := func(text string) bool {
		return strings.Contains(text, `"rule"`) && (strings.Contains(text, "packageName ") || strings.Contains(text, ".kind") || strings.Contains(text, ".group") || strings.Contains(text, ".name"))
	}
	for _, c := range p.Catalogs {
		if c.FBC != nil && named(*c.FBC) {
			return true
		}
	}
	return slices.ContainsFunc(p.Installed, func(in resolver.Installed) bool {
		return slices.ContainsFunc(in.Properties, func(q property.Property) bool { return named(string(q.Value)) })
	})
}

// TestHostileNames checks that answers do not depend on names, except on their order and
// similarity: names that look like parts of sentences, or like separators, do not change any
// solution, core, fix or derivation (D15).
func TestHostileNames(t *testing.T) {
	checked := 0
	check := func(t *testing.T, name string, p resolver.Problem) {
		t.Helper()
		if mentionsNames(p) {
			return
		}
		word := func(i int) string {
			n := len(hostileWords)
			return hostileWords[i%n] + "/" + hostileWords[(i/n+i*7+len(name))%n] // most code joins names with slashes
		}
		hostile, bad, ok := rename(t, p, word)
		if !ok {
			return
		}
		tame, good, _ := rename(t, p, func(i int) string { return tameWord(word(i)) })
		checked++
		want, got := good.answer(t, tame), bad.answer(t, hostile)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-tame +hostile):\n%s", name, diff)
		}
	}
	for _, c := range conformanceCases(t) {
		if c.Problem != nil {
			check(t, c.Name, *c.Problem)
		}
	}
	if checked < 250 {
		t.Errorf("only %d cases were checked", checked)
	}
	seeds(t, func(t *testing.T, seed uint64) { check(t, fmt.Sprint("seed ", seed), randomProblem(seed)) })
}
