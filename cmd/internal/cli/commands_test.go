package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls f for each command that can be run.
func everyCommand(t *testing.T, f func(t *testing.T, cmd *cobra.Command)) {
	root := newRoot(&env{stdout: io.Discard, stderr: io.Discard})
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() != "help" && cmd.Runnable() {
			t.Run(cmd.CommandPath(), func(t *testing.T) { f(t, cmd) })
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
}

// TestEveryCommandExplainsItself checks that each command has a help text, and examples that use existing commands and
// flags.
func TestEveryCommandExplainsItself(t *testing.T) {
	flagName := regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`)
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Fatalf("no short text, long text or example")
		}
		for line := range strings.Lines(cmd.Long) {
			if n := len(strings.TrimSpace(line)); n > 86 {
				t.Errorf("a line of the long text has %d characters: %q", n, line)
			}
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("the short text %q ends with a full stop", cmd.Short)
		}
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
			_, rest, ok := strings.Cut(line, "olmkit ")
			if !ok {
				continue // what precedes "olmkit" in the line
			}
			rest, _, _ = strings.Cut(rest, " > ")
			args := strings.Fields(rest)
			target, _, err := cmd.Root().Find(args)
			if err != nil || target == cmd.Root() && !strings.HasPrefix(args[0], "-") {
				t.Errorf("%q: there is no such command", line)
				continue
			}
			for _, m := range flagName.FindAllStringSubmatch(" "+rest, -1) {
				name := strings.TrimLeft(m[1], "-")
				known := target.Flags().Lookup(name) != nil || target.InheritedFlags().Lookup(name) != nil
				if strings.HasPrefix(m[1], "--") && !known || !strings.HasPrefix(m[1], "--") && target.Flags().ShorthandLookup(name) == nil {
					t.Errorf("%q: there is no flag %s", line, m[1])
				}
			}
		}
	})
}

// TestFlagsMeanTheSame checks that flags with the same name have the same shorthand in all commands, and that their
// usage names the value in quotes for help.
func TestFlagsMeanTheSame(t *testing.T) {
	shorthand, owner := map[string]string{}, map[string]string{}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if s, ok := shorthand[f.Name]; ok && s != f.Shorthand {
				t.Errorf("--%s has the shorthand %q, and elsewhere %q", f.Name, f.Shorthand, s)
			}
			if o := owner[f.Shorthand]; f.Shorthand != "" && o != "" && o != f.Name {
				t.Errorf("-%s is --%s, and elsewhere --%s", f.Shorthand, f.Name, o)
			}
			shorthand[f.Name], owner[f.Shorthand] = f.Shorthand, f.Name
			if kind, _ := pflag.UnquoteUsage(f); kind == "string" {
				t.Errorf("--%s has a value without a name; quote one in %q", f.Name, f.Usage)
			}
		})
	})
}

// TestEveryCommandHasAScript checks that each command runs in at least one script.
func TestEveryCommandHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if !regexp.MustCompile(`(?m)^(exec|exitcode \d) ` + cmd.CommandPath() + `\b`).MatchString(all.String()) {
			t.Errorf("no script in testdata/script runs it")
		}
	})
}
