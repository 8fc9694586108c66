// Prose lints the English of documents, comments and messages with vale, by the rules in
// styles/Olmkit, and checks the spelling of documents and comments.
//
//	go run .
//
// Words must be in the dictionary or in styles/Olmkit/words.txt. Prose exits with code 1 if
// it finds anything.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	root := filepath.Join(here, "..", "..", "..")
	files, err := sources(root)
	if err != nil {
		return err
	}
	found, err := lint(here, root, files)
	if err != nil {
		return err
	}
	for _, a := range found {
		fmt.Println(a)
	}
	if len(found) > 0 {
		return fmt.Errorf("%d findings", len(found))
	}
	return nil
}

// An alert is a finding of vale. In a literal, it has no column.
type alert struct {
	file, check, message string
	line, column         int
}

func (a alert) String() string {
	at := fmt.Sprintf("%s:%d", a.file, a.line)
	if a.column > 0 {
		at += fmt.Sprintf(":%d", a.column)
	}
	return fmt.Sprintf("%s: %s [%s]", at, a.message, a.check)
}

// sources returns the repository's own documents and Go files, without testdata, as sorted paths relative to root.
func sources(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var list []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if _, err := os.Stat(filepath.Join(root, name)); err != nil || strings.Contains(name, "testdata/") {
			continue // deleted, or an example
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list, nil
}

// lint runs vale on files, and on the string literals of the Go files among them. The alerts are in the order of
// files, lines and columns.
func lint(here, root string, files []string) ([]alert, error) {
	tmp, err := os.MkdirTemp("", "prose-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	args := slices.Clone(files)
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		text, err := literals(name, source)
		if err != nil {
			return nil, err
		}
		copied := filepath.Join(tmp, name+".txt")
		if err := os.MkdirAll(filepath.Dir(copied), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(copied, text, 0o666); err != nil {
			return nil, err
		}
		args = append(args, copied)
	}
	out, err := vale(here, root, args)
	if err != nil {
		return nil, err
	}
	var list []alert
	for name, alerts := range out {
		rel, err := filepath.Rel(tmp, name)
		literal := err == nil && filepath.IsLocal(rel)
		if literal {
			name = strings.TrimSuffix(rel, ".txt")
		}
		for _, a := range alerts {
			if literal {
				a.Span[0] = 0
			}
			list = append(list, alert{filepath.ToSlash(name), a.Check, a.Message, a.Line, a.Span[0]})
		}
	}
	slices.SortFunc(list, func(a, b alert) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column),
			cmp.Compare(a.check, b.check), cmp.Compare(a.message, b.message))
	})
	return slices.Compact(list), nil
}

// A valeAlert is an alert as vale writes it.
type valeAlert struct {
	Check, Message string
	Line           int
	Span           [2]int
}

// vale runs vale in the directory root and returns its alerts, by file.
func vale(here, root string, files []string) (map[string][]valeAlert, error) {
	tool := exec.Command("go", "tool", "-n", "vale") // builds vale if necessary
	tool.Dir = here
	tool.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O0 -w") // its parsers for other languages are large
	tool.Stderr = os.Stderr
	path, err := tool.Output()
	if err != nil {
		return nil, fmt.Errorf("building vale, which needs a C compiler: %w", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(path)), append([]string{"--no-global", "--output=JSON", "--config=" + filepath.Join(here, "vale.ini")}, files...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // exit code 1 means findings
		return nil, fmt.Errorf("vale: %w\n%s%s", err, out, &stderr)
	}
	found := map[string][]valeAlert{}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("vale: %w in %.200q", err, out)
	}
	return found, nil
}
