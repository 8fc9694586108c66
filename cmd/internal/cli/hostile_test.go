package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
	utilyaml "sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/testsize"
)

// The endings that make names hostile. The loader refuses most names with the second one.
const (
	soft = "\u202e\u200bFORGED"
	hard = "\nFORGED\x1b[2J\r\u202e"
)

// TestHostileText runs the commands of all scripts on files with hostile names, paths and texts. Whatever the result,
// no printed text contains a character that a terminal interprets or hides, and no name begins a line (S8).
func TestHostileText(t *testing.T) {
	t.Setenv("COLUMNS", "100000") // so that lines are not wrapped
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	var parsed []*script
	for _, name := range scripts {
		parsed = append(parsed, readScript(t, name))
	}
	runs, printed := 0, 0
	for _, s := range parsed {
		for seed := range testsize.Of(3, 6, 60) {
			h := &hostile{arguments: seed%3 == 2, rand: rand.New(rand.NewPCG(8, uint64(seed))), ending: []string{soft, hard}[seed%2], names: map[string]string{}}
			dir := t.TempDir()
			t.Chdir(dir)
			for _, f := range s.files {
				h.write(t, f.Name, f.Data)
			}
			for _, c := range s.commands {
				n, found := h.run(c)
				runs++
				printed += n
				if found != "" {
					t.Errorf("%s, seed %d: olmkit %q\n%s", s.name, seed, c.args, found)
				}
			}
		}
	}
	t.Logf("%d commands printed %d hostile texts", runs, printed)
	if printed < runs/2 {
		t.Errorf("only %d hostile texts in %d commands, want more", printed, runs)
	}
}

type script struct {
	name     string
	files    []txtar.File
	commands []command
}

type command struct {
	args  []string
	stdin string // a file
}

// readScript returns the files of a script and its command lines.
func readScript(t *testing.T, name string) *script {
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{name: filepath.Base(name), files: a.Files}
	stdin := ""
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		if file, ok := strings.CutPrefix(line, "stdin "); ok {
			stdin = file
			continue
		}
		_, args, ok := strings.Cut(line, "olmkit ")
		if !ok || !regexp.MustCompile(`^(!? ?exec|exitcode \d+) olmkit `).MatchString(line) || strings.Contains(line, "--serve") || strings.Contains(line, "$") {
			continue
		}
		var words []string
		for i, part := range strings.Split(args, "'") {
			if i%2 == 1 {
				words = append(words, part)
			} else {
				words = append(words, strings.Fields(part)...)
			}
		}
		s.commands = append(s.commands, command{words, stdin})
		stdin = ""
	}
	return s
}

// A hostile replaces texts with hostile ones. It replaces equal texts with equal ones.
type hostile struct {
	rand      *rand.Rand
	ending    string
	arguments bool // also replace those in command lines, most of which then fail
	names     map[string]string
}

// kept are the keys whose values determine the kind of a document.
var kept = regexp.MustCompile(`^(schema|kind|apiVersion|type|operator|Operator|version|semantics|strategy|op)$`)

var keptValue = regexp.MustCompile(`^(olm\.|[<>=!~^]*v?\d)`)

// name returns the replacement of a text.
func (h *hostile) name(s string) string {
	if s == "" || keptValue.MatchString(s) {
		return s
	}
	out, ok := h.names[s]
	if !ok {
		out = s
		if h.rand.IntN(4) == 0 {
			out += h.ending
		}
		h.names[s] = out
	}
	return out
}

func (h *hostile) value(v any, key string) any {
	switch v := v.(type) {
	case string:
		if docs := documents([]byte(v)); strings.HasPrefix(v, "{") && docs != nil {
			return string(h.encode(docs))
		}
		if kept.MatchString(key) {
			return v
		}
		return h.name(v)
	case []any:
		for i := range v {
			v[i] = h.value(v[i], key)
		}
	case map[string]any:
		for _, k := range keysOf(v) {
			v[k] = h.value(v[k], k)
		}
		if h.rand.IntN(40) == 0 {
			v["x"+h.ending] = "x" + h.ending
		}
		if key == "labels" || key == "annotations" {
			v["y"+h.ending] = "y"
		}
	}
	return v
}

func keysOf(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// documents returns the documents of a JSON or YAML file, or nil if it is neither.
func documents(text []byte) []any {
	var out []any
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			break
		}
		out = append(out, v)
	}
	out = nil
	for part := range strings.SplitSeq("\n"+string(text), "\n---\n") {
		var v any
		if err := utilyaml.Unmarshal([]byte(part), &v); err != nil {
			return nil
		}
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (h *hostile) encode(docs []any) []byte {
	var b bytes.Buffer
	for _, doc := range docs {
		text, err := json.Marshal(h.value(doc, ""))
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes()
}

// write writes a file with hostile content, and sometimes an additional file with a hostile name, which becomes part
// of the catalog.
func (h *hostile) write(t *testing.T, name string, text []byte) {
	yaml := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if docs := documents(text); docs != nil && (yaml || strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")) {
		text = h.encode(docs)
		if yaml && len(docs) > 1 {
			text = bytes.ReplaceAll(text, []byte("}\n{"), []byte("}\n---\n{"))
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(name) != "." && h.rand.IntN(3) == 0 {
		name = strings.TrimSuffix(name, filepath.Ext(name)) + h.ending + filepath.Ext(name)
	}
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs a command. It returns the number of hostile texts that it printed, and what is wrong with the output.
func (h *hostile) run(c command) (printed int, found string) {
	args := slices.Clone(c.args)
	for i, a := range args {
		switch {
		case h.names[a] != "":
			args[i] = h.names[a]
		case h.arguments && h.rand.IntN(6) == 0 && !strings.HasPrefix(a, "-") && i > 0:
			args[i] += h.ending
		}
	}
	var stdin io.Reader = strings.NewReader("")
	if text, err := os.ReadFile(c.stdin); err == nil {
		stdin = bytes.NewReader(text)
	}
	var stdout, stderr bytes.Buffer
	cli.Run(context.Background(), args, stdin, &stdout, &stderr)
	outputs := []string{stderr.String()}
	if forPeople(args) {
		outputs = append(outputs, stdout.String())
	}
	for _, text := range outputs {
		text = colors.ReplaceAllString(text, "")
		printed += strings.Count(text, "FORGED")
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(strings.TrimLeft(line, " \t-*>#|"), "FORGED") {
				found += "a line is forged: " + line + "\n"
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				found += "not printable: " + line + "\n"
			}
		}
	}
	if found != "" {
		found += strings.Join(outputs, "--\n")
	}
	return printed, found
}

// colors are the escape sequences of --color always.
var colors = regexp.MustCompile("\x1b\\[([012]|3[123])m")

// forPeople reports whether a command line prints text for people, and not a document in a format with its own
// escapes.
func forPeople(args []string) bool {
	switch args[0] {
	case "fmt", "render", "merge", "extract", "subset", "shrink", "snapshot", "index", "view", "manifests", "completion", "__complete", "__completeNoDesc":
		return false
	}
	for _, a := range args {
		for _, f := range []string{"json", "yaml", "sarif", "svg"} {
			if a == f || strings.HasSuffix(a, "="+f) || a == "-o"+f {
				return false
			}
		}
	}
	return true
}

// TestMachinesReadExactText checks that documents for machines have the exact text of the catalog (S8).
func TestMachinesReadExactText(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "a\u202eb\u200b"
	catalog := `{"schema":"olm.package","name":"` + name + `","defaultChannel":"s"}
{"schema":"olm.channel","package":"` + name + `","name":"s","entries":[{"name":"x"}]}
{"schema":"olm.bundle","package":"` + name + `","name":"x","image":"r.io/x:1","properties":[{"type":"olm.package","value":{"packageName":"` + name + `","version":"1.0.0"}}]}
`
	if err := os.WriteFile("c.json", []byte(catalog), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args  []string
		exact bool
	}{
		{[]string{"list", "packages", "c.json"}, false},
		{[]string{"list", "packages", "c.json", "-o", "json"}, true},
		{[]string{"list", "packages", "c.json", "-o", "yaml"}, true},
		{[]string{"fmt", "c.json"}, true},
		{[]string{"render", "c.json", "-o", "yaml"}, true},
		{[]string{"graph", "c.json", name, "-o", "dot"}, false},
	} {
		var stdout, stderr bytes.Buffer
		if code := cli.Run(context.Background(), tt.args, strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%q: %d %s", tt.args, code, &stderr)
		}
		if got := strings.Contains(stdout.String(), name); got != tt.exact {
			t.Errorf("%q holds the exact name: %v, want %v\n%s", tt.args, got, tt.exact, &stdout)
		}
	}
}

// TestOnePrinter checks that the command line prints through visible.Fprintf, except for trusted pages (S8).
func TestOnePrinter(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && name != "explaincode.go" && bytes.Contains(text, []byte("fmt.Fprintf(")) {
			t.Errorf("%s prints with fmt.Fprintf; use visible.Fprintf", name)
		}
	}
}
