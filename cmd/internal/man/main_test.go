package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// pages generates the pages and returns their directory.
func pages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := run([]string{dir}, "1700000000", "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ruleID matches the id of a rule.
var ruleID = regexp.MustCompile(`(?:^|[^"\w])[A-HK]\d{1,3}\b`)

// TestPages checks that each command has a page with its help text and flags.
func TestPages(t *testing.T) {
	dir := pages(t)
	seen := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		seen++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		if cmd.IsAdditionalHelpTopicCommand() {
			name = strings.TrimSuffix(name, "1") + "7"
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		page := plain.Replace(string(text))
		for _, want := range strings.Fields(cmd.Short + " " + cmd.Long + " " + cmd.Example) {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		if id := ruleID.FindString(cmd.Long + cmd.NonInheritedFlags().FlagUsages()); id != "" {
			t.Errorf("%s mentions rule %s, which a reader cannot look up there", name, id)
		}
		// Flags as --help shows them: with placeholder and choices.
		cmd.InitDefaultHelpFlag()
		for line := range strings.Lines(cmd.NonInheritedFlags().FlagUsagesWrapped(72) + cmd.InheritedFlags().FlagUsagesWrapped(72)) {
			if line = strings.TrimSpace(line); !strings.Contains(page, line) && !cmd.IsAdditionalHelpTopicCommand() {
				t.Errorf("%s does not say %q", name, line)
			}
		}
		for _, sub := range cmd.Commands() {
			ref := strings.ReplaceAll(sub.CommandPath(), " ", "-")
			if !sub.Hidden && !strings.Contains(page, ref+"(1)") && !strings.Contains(page, ref+"(7)") {
				t.Errorf("%s does not refer to %s", name, ref)
			}
		}
		if !strings.Contains(page, `"Nov 2023" "olmkit v1.2.3"`) {
			t.Errorf("%s has the wrong date or version: %.200s", name, page)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	root := cli.Command()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	visit(root)
	if seen < 20 {
		t.Errorf("only %d commands", seen)
	}
}

// plain removes the escapes that roff needs before special characters.
var plain = strings.NewReplacer(`\-`, "-", `\&`, "", `\(aq`, "'", `\\`, `\`, `\[rs]`, `\`, `\fB`, "", `\fP`, "", `\fR`, "")

// TestReproducible generates the pages twice and compares them.
func TestReproducible(t *testing.T) {
	one, two := os.DirFS(pages(t)), os.DirFS(pages(t))
	names, err := fs.Glob(one, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		a, err := fs.ReadFile(one, name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(two, name); err != nil || string(a) != string(b) {
			t.Errorf("%s differs the second time: %v", name, err)
		}
	}
}

// TestManReadsThem checks that man renders every page without warnings.
func TestManReadsThem(t *testing.T) {
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("there is no man on this machine")
	}
	dir := pages(t)
	names, err := filepath.Glob(filepath.Join(dir, "*.[17]"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, name := range names {
		cmd := exec.CommandContext(t.Context(), "man", "--warnings", "-l", name)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var warnings strings.Builder
		cmd.Stderr = &warnings
		out, err := cmd.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("man %s: %v\n%s", filepath.Base(name), err, &warnings)
		}
		if !strings.Contains(string(out), "NAME") {
			t.Errorf("man %s prints %q", filepath.Base(name), out)
		}
	}
}

func TestBadArguments(t *testing.T) {
	if err := run(nil, "", ""); err == nil {
		t.Error("no directory, no error")
	}
	if err := run([]string{t.TempDir()}, "yesterday", ""); err == nil || !strings.Contains(err.Error(), `"yesterday"`) {
		t.Errorf("a bad date gives %v", err)
	}
}
