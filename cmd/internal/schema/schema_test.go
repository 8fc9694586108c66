package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/conformance"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

const (
	root      = "../../.." // of the repository
	published = root + "/docs/schema"
)

// TestSchemasAreUpToDate checks that the published schemas match the types.
func TestSchemasAreUpToDate(t *testing.T) {
	comments, err := readComments(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(published)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(cli.Documents()); len(files) != n {
		t.Errorf("%s has %d files, want %d", published, len(files), n)
	}
	for _, d := range cli.Documents() {
		want, err := generate(d, comments)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(published, d.Name+".json")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v); run make schema", d.Name, err)
		}
	}
}

func compile(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	out := map[string]*jsonschema.Schema{}
	for _, d := range cli.Documents() {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join(published, d.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		out[d.Name] = s
	}
	return out
}

// read reports whether a text is a document of a kind that programs write.
func read[T any](text []byte) bool {
	_, err := document.ReadOne[T](bytes.NewReader(text))
	return err == nil
}

// kinds recognizes documents by fields that only they have.
var kinds = []struct {
	name string
	keys []string
	read func([]byte) bool
}{
	{"record", []string{"problem", "answer"}, read[resolver.Record]},
	{"problem", []string{"subscriptions"}, read[resolver.Problem]},
	{"platform-problem", []string{"from", "to", "installed"}, read[platform.Problem]},
	{"request", []string{"package", "catalogs"}, read[olmv1.Request]},
	{"platform-plan", []string{"reached", "steps"}, nil},
	{"plan", []string{"changes", "hash"}, nil},
	{"status", []string{"act", "operators"}, nil},
	{"subset", []string{"packages", "of"}, nil},
	{"selection", []string{"funnel", "bundle"}, nil},
	{"refusal", []string{"funnel", "code"}, nil},
	{"report", []string{"namespace", "cores"}, nil},
	{"answer", []string{"ok", "selected"}, nil},
}

func kindOf(members map[string]any) int {
next:
	for i, k := range kinds {
		for _, key := range k.keys {
			if _, ok := members[key]; !ok {
				continue next
			}
		}
		return i
	}
	return -1
}

// values returns the JSON objects in a text: the whole text, one per line, or embedded in other text.
func values(text []byte) (list [][]byte) {
	for len(text) > 0 {
		i := bytes.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		d := json.NewDecoder(bytes.NewReader(text))
		var v json.RawMessage
		if d.Decode(&v) != nil {
			text = text[1:]
			continue
		}
		list = append(list, v)
		text = text[d.InputOffset():]
	}
	return list
}

var (
	example = regexp.MustCompile(`\.(md|json|jsonl|txtar|yaml|golden|txt)$`)
	section = regexp.MustCompile(`(?m)^-- .* --$`)
)

// TestExamples checks each document in the examples of the repository against its schema: in the README and the pages,
// in the scripts of the command line, and in the cases. Documents that programs write are checked only if they can be
// decoded, because some examples are invalid on purpose.
func TestExamples(t *testing.T) {
	schemas := compile(t)
	found := map[string]int{}
	check := func(name string, text []byte) {
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		members, _ := v.(map[string]any)
		i := kindOf(members)
		if i < 0 || kinds[i].read != nil && !kinds[i].read(text) {
			return
		}
		// Readers treat null as unset. The schemas do not allow null, so remove it.
		maps.DeleteFunc(members, func(_ string, v any) bool { return v == nil })
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		k := kinds[i].name
		found[k]++
		t.Run(strings.TrimPrefix(name, root+"/"), func(t *testing.T) { validate(t, schemas[k], text) })
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !example.MatchString(name) {
			if d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "fuzz" || d.Name() == "schema") {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parts := [][]byte{text}
		if strings.HasSuffix(name, ".txtar") {
			parts = nil
			for _, part := range section.Split(string(text), -1) {
				parts = append(parts, []byte(part))
			}
		}
		for _, part := range parts {
			if first := bytes.TrimSpace(part); len(first) > 0 && first[0] != '{' && !strings.HasSuffix(name, ".md") {
				if one, err := yamljson.JSON(context.Background(), part, nil); err == nil {
					check(name, one)
					continue
				}
			}
			for _, v := range values(part) {
				check(name, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("examples: %v", found)
	for _, k := range kinds {
		if found[k.name] == 0 && k.name != "plan" && k.name != "status" { // TestAnswers generates them
			t.Errorf("no example of a %s was found", k.name)
		}
	}
}

// TestAnswers checks the conformance cases, and the answers of the commands to them, against the schemas.
func TestAnswers(t *testing.T) {
	schemas := compile(t)
	cases, err := conformance.Read(root + "/testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	var problems, requests bytes.Buffer
	add := func(out *bytes.Buffer, schema string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, schemas[schema], text)
		out.Write(append(text, '\n'))
	}
	for i, c := range cases {
		switch {
		case i%3 != 0: // a sample, which covers each schema dozens of times
		case c.Problem != nil:
			add(&problems, "problem", c.Problem)
		default:
			add(&requests, "request", c.Request)
		}
	}
	run := func(in []byte, want func(members map[string]any) string, args ...string) (n int) {
		var out, errs bytes.Buffer
		cli.Run(t.Context(), append(args, "-o", "json"), bytes.NewReader(in), &out, &errs)
		for _, text := range values(out.Bytes()) {
			var members map[string]any
			if err := json.Unmarshal(text, &members); err != nil {
				t.Fatal(err)
			}
			if name := want(members); name != "" {
				n++
				validate(t, schemas[name], text)
			}
		}
		return n
	}
	enough := func(command string, n, least int) {
		if n < least {
			t.Errorf("olmkit %s: only %d answers, want %d", command, n, least)
		}
	}
	always := func(name string) func(map[string]any) string { return func(map[string]any) string { return name } }
	enough("resolve", run(problems.Bytes(), always("answer"), "resolve", "--problem", "-"), 50)
	enough("select", run(requests.Bytes(), func(m map[string]any) string {
		switch {
		case m["funnel"] == nil:
			return "" // an error
		case m["ok"] == true:
			return "selection"
		}
		return "refusal"
	}, "select", "--problem", "-"), 10)
	reports := 0
	for problem := range bytes.Lines(problems.Bytes()) {
		reports += run(problem, func(m map[string]any) string {
			if m["cores"] == nil {
				return ""
			}
			return "report"
		}, "explain", "--problem", "-")
	}
	enough("explain", reports, 10)

	filesOf := func(script string) (dir string) {
		a, err := txtar.ParseFile(root + "/cmd/internal/cli/testdata/script/" + script)
		if err != nil {
			t.Fatal(err)
		}
		dir = t.TempDir()
		for _, f := range a.Files {
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.Name)), f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dir := filesOf("plan.txtar")
	enough("plan", run(nil, always("plan"), "plan", "-f", filepath.Join(dir, "state.yaml"), "--complete", "--catalog", "community="+filepath.Join(dir, "catalog.yaml")), 1)
	dir = filesOf("status.txtar")
	enough("status", run(nil, always("status"), "status", "-f", filepath.Join(dir, "state.yaml"), "--catalog", "community="+filepath.Join(dir, "catalog.yaml")), 1)
}

// TestScripts checks the output of the scripts' commands with -o json against the schemas of these commands. Each
// schema of an output must occur at least once.
func TestScripts(t *testing.T) {
	schemas := compile(t)
	command := regexp.MustCompile(`(?m)^(?:exec|! exec|exitcode \d) olmkit (shrink .*|.* -o json\b.*|.* --record .*)$`)
	word := regexp.MustCompile(`'[^']*'|\S+`)
	scripts, err := filepath.Abs(root + "/cmd/internal/cli/testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(scripts + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := command.FindAllString(string(a.Comment), -1)
		if len(lines) == 0 {
			continue
		}
		dir := t.TempDir()
		for _, f := range a.Files {
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
		for _, line := range lines {
			_, rest, _ := strings.Cut(line, "olmkit ")
			var args []string
			for _, w := range word.FindAllString(rest, -1) {
				args = append(args, strings.Trim(w, "'"))
			}
			var documents []cli.Document
			for _, d := range cli.Documents() {
				if slices.Contains(d.By, args[0]) {
					documents = append(documents, d)
				}
			}
			if len(documents) == 0 {
				continue // it prints a catalog
			}
			var out bytes.Buffer
			cli.Run(t.Context(), args, strings.NewReader(""), &out, io.Discard)
			for dec := json.NewDecoder(&out); dec.More(); {
				var v any
				if err := dec.Decode(&v); err != nil {
					break // the command refuses the line
				}
				found := false
				var errs []error
				for _, d := range documents {
					if err := schemas[d.Name].Validate(v); err == nil {
						found, met[d.Name] = true, true
					} else {
						errs = append(errs, err)
					}
				}
				if !found {
					t.Errorf("%s: %s prints what none of its schemas allows: %v", filepath.Base(file), line, errors.Join(errs...))
				}
			}
		}
	}
	for _, d := range cli.Documents() {
		if d.By != nil && !met[d.Name] {
			t.Errorf("no script has a document of %s", d.Name)
		}
	}
}

func validate(t *testing.T, s *jsonschema.Schema, text []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%.500s", err, text)
	}
}
