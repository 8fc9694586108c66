package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/golden"
)

// documents returns the Markdown files of the repository, slash-separated.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			out = append(out, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("%d documents: %v", len(out), err)
	}
	return out
}

// shown matches the parts of a document that show the output of commands: a console block, in
// which each command is followed by its output, or a block after a comment
// "<!-- $ COMMAND -->".
var shown = regexp.MustCompile("(?ms)^<!-- \\$ (?P<hidden>[^\n]*) -->\n(?P<fence>```\\w+\n).*?^```$|^```console\n(?P<console>.*?)^```$")

// TestReadmeAndDocsShowRealOutput runs every command that the documents show,
// and compares its output with the output shown. The commands of
// docs/NAME.md run one after another in a copy of the directory docs/NAME, if
// there is one, and in the root of the repository otherwise.
func TestReadmeAndDocsShowRealOutput(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "olmkit"), "./cmd/olmkit").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		commands += len(shown.FindAll(text, -1))
		t.Run(doc, func(t *testing.T) { showsRealOutput(t, doc, string(text)) })
	}
	if commands < 30 {
		t.Errorf("the documents show %d blocks of commands; does the pattern still match them?", commands)
	}
}

func showsRealOutput(t *testing.T, doc, text string) {
	dir := workDir(t, doc)
	fresh := shown.ReplaceAllStringFunc(text, func(block string) string {
		m := shown.FindStringSubmatch(block)
		if hidden := m[shown.SubexpIndex("hidden")]; hidden != "" {
			return "<!-- $ " + hidden + " -->\n" + m[shown.SubexpIndex("fence")] + shell(t, dir, hidden) + "```"
		}
		return "```console\n" + replay(t, dir, m[shown.SubexpIndex("console")]) + "```"
	})
	if diff := cmp.Diff(text, fresh); diff != "" && !golden.Update() {
		t.Errorf("%s is out of date (go test ./cmd -run Readme -update updates it):\n%s", doc, diff)
	}
	if golden.Update() && fresh != text {
		if err := os.WriteFile(doc, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// workDir returns the directory in which the commands of a document run.
func workDir(t *testing.T, doc string) string {
	t.Helper()
	files := strings.TrimSuffix(doc, ".md")
	if _, err := os.Stat(files); err != nil || !strings.HasPrefix(doc, "docs/") {
		return "."
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// replay runs the commands of a console block, and returns the block with their actual output.
// A backslash at the end of a line continues the command on the next line.
func replay(t *testing.T, dir, block string) string {
	t.Helper()
	var b strings.Builder
	lines := strings.SplitAfter(block, "\n")
	for i := 0; i < len(lines); i++ {
		first, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			continue // printed by the command before
		}
		command := first
		for strings.HasSuffix(command, "\\\n") && i+1 < len(lines) {
			i++
			command += lines[i]
		}
		b.WriteString("$ " + command)
		b.WriteString(shell(t, dir, command))
	}
	return b.String()
}

// shell returns what a command line prints. The exit code may be other than 0, because the
// documents also show conflicts.
func shell(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) || stderr.Len() > 0 {
		t.Fatalf("$ %s\n%v\n%s", command, err, &stderr)
	}
	return stdout.String()
}

// fence matches a block of code: its language and its text.
var fence = regexp.MustCompile("(?ms)^( *)```([a-z]*)[^\n]*\n(.*?)^ *```$")

// TestCodeInDocuments checks every block of code by its language: Go is part of a file that is
// compiled, data parses, shell commands are shell commands. It skips the Go code of the
// README, which TestReadmeCode compiles, and the examples of docs/codes: many are wrong on
// purpose, and the packages that they come from test them.
func TestCodeInDocuments(t *testing.T) {
	var sources []string
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		sources = append(sources, flat(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range documents(t) {
		if strings.HasPrefix(doc, "docs/codes/") {
			continue
		}
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			language, code := m[2], m[3]
			if err := checkCode(t, doc, language, code, sources); err != nil {
				t.Errorf("%s: a block of %s: %v:\n%s", doc, language, err, code)
			}
		}
	}
}

func checkCode(t *testing.T, doc, language, code string, sources []string) error {
	switch language {
	case "go":
		if doc == "README.md" {
			return nil
		}
		for _, source := range sources {
			if strings.Contains(source, flat(code)) {
				return nil
			}
		}
		return errors.New("no Go file of the repository holds these lines")
	case "yaml":
		d := yaml.NewDecoder(strings.NewReader(code))
		for {
			var v any
			if err := d.Decode(&v); err != nil {
				if err.Error() == "EOF" {
					return nil
				}
				return err
			}
		}
	case "json":
		if !json.Valid([]byte(code)) {
			return errors.New("not valid")
		}
	case "sh":
		cmd := exec.CommandContext(t.Context(), "sh", "-n")
		cmd.Stdin = strings.NewReader(code)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	case "", "console", "mermaid", "text":
	default:
		return errors.New("no test knows this language")
	}
	return nil
}

// flat returns Go code without its indentation and empty lines.
func flat(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

var (
	mdLink  = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?)\s*$`)
)

// TestLinksInDocuments follows the relative links of the documents, to files
// and to headings in them.
func TestLinksInDocuments(t *testing.T) {
	anchors := map[string]map[string]bool{}
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		anchors[doc] = headings(string(text))
	}
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path.Join(path.Dir(doc), file)
			if file == "" {
				target = doc
			}
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", doc, m[1])
			} else if anchor != "" && !anchors[target][anchor] {
				t.Errorf("%s links to %s, and that heading does not exist", doc, m[1])
			}
		}
	}
}

// TestCommandsInDocuments checks that the commands that the documents name in their
// text, and in blocks that are not run, exist, with their flags.
func TestCommandsInDocuments(t *testing.T) {
	inline := regexp.MustCompile("`(olmkit [^`]+)`")
	line := regexp.MustCompile(`(?m)^\s*(olmkit .*)$`)
	seen := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		var commands []string
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "sh" {
				for _, c := range line.FindAllStringSubmatch(m[3], -1) {
					commands = append(commands, c[1])
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			commands = append(commands, strings.ReplaceAll(m[1], "\n", " "))
		}
		for _, c := range commands {
			seen++
			if err := checkCommand(strings.Fields(c)[1:]); err != nil {
				t.Errorf("%s: %s: %v", doc, c, err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("the documents name %d commands; do the patterns still match them?", seen)
	}
}

// checkCommand returns an error if the command or one of its flags does not exist.
func checkCommand(args []string) error {
	root := cli.Command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if strings.ToUpper(args[0]) == args[0] {
		return nil // a placeholder
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd == root {
		return errors.New("there is no such command")
	}
	cmd.InitDefaultHelpFlag()
	for _, arg := range rest {
		arg, _, _ = strings.Cut(arg, "=")
		name, long := strings.CutPrefix(arg, "--")
		switch {
		case long && cmd.Flag(name) == nil:
			return fmt.Errorf("there is no flag %s", arg)
		case !long && len(arg) == 2 && arg[0] == '-' && cmd.Flags().ShorthandLookup(arg[1:]) == nil:
			return fmt.Errorf("there is no flag %s", arg)
		}
	}
	return nil
}

// headings returns the set of anchors that GitHub generates for the headings of a document.
func headings(text string) map[string]bool {
	out, seen := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		anchor := strings.ToLower(mdLink.ReplaceAllString(m[1], ""))
		anchor = strings.ReplaceAll(noAnchor.ReplaceAllString(anchor, ""), " ", "-")
		if n := seen[anchor]; n > 0 {
			out[fmt.Sprintf("%s-%d", anchor, n)] = true
		} else {
			out[anchor] = true
		}
		seen[anchor]++
	}
	return out
}

// noAnchor matches what GitHub drops from a heading.
var noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
