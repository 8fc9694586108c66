package fbc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/internal/regular"
	"github.com/olmkit/olmkit/internal/testsize"
)

// kept returns the files that a walk finds.
func kept(t testing.TB, tree fstest.MapFS) []string {
	t.Helper()
	limits := (*Limits)(nil).WithDefaults()
	l := listFiles(t.Context(), tree, &limits)
	if len(l.faults) > 0 {
		t.Fatal(l.faults)
	}
	var names []string
	for _, f := range l.files {
		names = append(names, f.name)
	}
	return names
}

// TestIgnore checks the rules of .indexignore (A2): for each ignore file, it compares the
// files that are not ignored.
func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		name, ignore, tree, want string
	}{
		{"nothing", "", "a b/c", "a b/c"},
		{"comments-and-blanks", "# a\n\n   \n", "a #", "# a"},
		{"name-anywhere", "a", "a b/a a/x c", "c"},
		{"anchored", "/a", "a b/a", "b/a"},
		{"anchored-by-a-slash-inside", "b/a", "b/a c/b/a", "c/b/a"},
		{"directory-only", "a/", "a b/a/x c/a", "a c/a"},
		{"star", "*.md", "README.md x/y.md md .md", "md"},
		{"star-stops-at-slash", "/a*c", "abc a/c ac.d", "a/c ac.d"},
		{"question", "a?c", "abc ac a/c", "a/c ac"},
		{"class", "[ab]x", "ax bx cx", "cx"},
		{"class-not", "[!ab]x", "ax bx cx", "ax bx"},
		{"class-not-by-caret", "[^ab]x", "ax bx cx", "ax bx"},
		{"class-range", "v[0-9].json", "v1.json v10.json vx.json", "v10.json vx.json"},
		{"class-with-bracket", "[]x]", "] x y", "y"},
		{"class-named", "[[:digit:][:upper:]]", "1 A a", "a"},
		{"class-never-a-slash", "/a[!x]b", "a/b aqb", "a/b"},
		{"class-with-escape", "[\\]\\-]", "] - \\", "\\"},
		{"braces-are-plain", "{a,b}", "a b {a,b}", "a b"},
		{"two-stars-before", "**/a", "a b/a b/c/a ab", "ab"},
		{"two-stars-before-two-names", "**/a/b", "a/b a/x/a/b a/x/b", "a/x/b"},
		{"two-stars-after", "a/**", "a/b a/c/d b", "b"},
		{"two-stars-after-not-itself", "x/a/**", "x/a", "x/a"},
		{"two-stars-between", "a/**/b", "a/b a/x/b a/x/y/b a/xb b", "a/xb b"},
		{"two-stars-in-a-word", "a**b", "ab axb a/b", "a/b"},
		{"negated", "*.json\n!b.json", "a.json b.json", "b.json"},
		{"later-line-wins", "!b.json\n*.json", "a.json b.json", ""},
		{"escaped", "\\#a\n\\!b\nc\\ \n\\*", "#a !b c * d", "c d"},
		{"spaces-at-the-end", "a  ", "a b", "b"},
		{"crlf", "a\r\n/b\r\n", "a b c", "c"},
		{"bom", decode.BOM + "a", "a b", "b"},
		{"documentation", "# Ignore everything except non-object .json and .yaml files\n**/*\n!*.json\n!*.yaml\n**/objects/*.json\n**/objects/*.yaml\n",
			"packageA/index.yaml packageB/index.yaml packageB/objects/packageB.v0.1.0.clusterserviceversion.yaml packageC/index.json packageC/deprecations.yaml README.md packageC/x.txt",
			"packageA/index.yaml packageB/index.yaml packageC/deprecations.yaml packageC/index.json"},
		{"taken-back-from-an-excluded-directory", "a/\n!a/b", "a/b a/c", "a/b"}, // the only difference from git
		{"not-taken-back-by-an-earlier-line", "!*.json\na/", "a/b.json b.json", "b.json"},
		{"directory-taken-back-but-not-its-files", "*\n!a/", "a/b c", ""},
		{"directory-taken-back-with-its-files", "/a/b\n!/a/b/c/", "a/b/c/d a/b/e", "a/b/c/d"},
		{"matches-nothing", "/\n!\n[a\nb\\\n[[:nope:]]", "a b [a", "[a a b"},
	} {
		tree := fstest.MapFS{ignoreFile: {Data: []byte(c.ignore)}}
		for _, f := range strings.Fields(c.tree) {
			tree[f] = &fstest.MapFile{}
		}
		if c.name == "escaped" {
			tree["c "] = &fstest.MapFile{}
		}
		if got := strings.Join(kept(t, tree), " "); got != c.want {
			t.Errorf("%s: %q of %s keeps %s, want %s", c.name, c.ignore, c.tree, got, c.want)
		}
	}
}

// TestIgnoreNested checks that a deeper ignore file takes precedence, but only in its
// directory (A2).
func TestIgnoreNested(t *testing.T) {
	tree := files(
		ignoreFile, "*.md\n/x/secret\n",
		"a.md", "", "x/a.md", "", "x/secret", "", "x/y/a.md", "", "y/keep", "", "y/z", "",
		"x/"+ignoreFile, "!a.md\n/only\n",
		"x/only", "", "x/y/only", "",
		"y/"+ignoreFile, "z",
		"z", "",
	)
	want := "x/a.md x/y/a.md x/y/only y/keep z"
	if got := strings.Join(kept(t, tree), " "); got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

// TestIgnoreFindings checks the warnings about patterns that match nothing, with their
// lines.
func TestIgnoreFindings(t *testing.T) {
	c, err := Load(t.Context(), files("a.json", pkgA, "p/"+ignoreFile, "# x\n/\n[a\nok\nb\\\n[[:nope:]]\n[/]\n\xff\n", "p/b.json", channel), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := golden.Archive{File: "ignore.txtar"}
	g.Add("findings", describe(c, nil))
	g.Check(t)
}

// TestIgnoreGit compares the results with git's on random ignore files and trees. They
// differ on purpose if a line includes a file again below an excluded directory, which git
// does not read.
func TestIgnoreGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "b", "ab", "a.b", "c]", "*", "a*", "*b", "?", "[ab]", "[!a]", "[^b]*", "[a-c]b", "[]c]", "[[:alpha:]]", "**", "a**", "\\a", "\\*", "{a,b}", "a?b", "[a"}
	names := []string{"a", "b", "ab", "a.b", "c]", "axb", "*", "{a,b}", "c"}
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	pattern := func() string {
		p := pick(words)
		for rng.IntN(2) == 0 {
			p += "/" + pick(words)
		}
		if rng.IntN(4) == 0 {
			p = "/" + p
		}
		if rng.IntN(4) == 0 {
			p += "/"
		}
		if rng.IntN(4) == 0 {
			p = "!" + p
		}
		if rng.IntN(10) == 0 {
			p += " "
		}
		return p
	}
	trees, asked, differ := testsize.Of(10, 60, 600), 0, 0
	dir := t.TempDir()
	run(t, git, dir, nil, "init", "-q")
	run(t, git, dir, nil, "config", "core.excludesFile", "/dev/null")
	for n := range trees {
		root := fmt.Sprintf("t%d", n)
		tree := fstest.MapFS{}
		ignore := func(in string) {
			var lines []string
			for range 1 + rng.IntN(5) {
				lines = append(lines, pattern())
			}
			tree[path.Join(in, ignoreFile)] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
		}
		ignore(".")
		var all []string
		for range 40 {
			name := pick(names)
			for rng.IntN(3) > 0 && strings.Count(name, "/") < 4 {
				name += "/" + pick(names)
			}
			if clash(tree, name) {
				continue
			}
			tree[name] = &fstest.MapFile{}
			all = append(all, name)
			if d := path.Dir(name); d != "." && rng.IntN(8) == 0 && tree[path.Join(d, ignoreFile)] == nil {
				ignore(d)
			}
		}
		var stdin strings.Builder
		for name, f := range tree {
			if path.Base(name) == ignoreFile {
				name = path.Join(path.Dir(name), ".gitignore")
			}
			at := filepath.Join(dir, root, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range all {
			stdin.WriteString(root + "/" + name + "\x00")
		}
		ignored := map[string]bool{}
		for name := range strings.SplitSeq(run(t, git, dir, strings.NewReader(stdin.String()), "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
			ignored[strings.TrimPrefix(name, root+"/")] = true
		}
		keeps := kept(t, tree)
		for _, name := range all {
			asked++
			if ours := !slices.Contains(keeps, name); ours != ignored[name] {
				if !ours && takenBack(tree, name) {
					differ++
					continue
				}
				t.Errorf("%s: ignored: %v, by git: %v; ignore files:\n%s", name, ours, ignored[name], ignoreFiles(tree))
			}
		}
	}
	t.Logf("%d files: the same as git, except for %d that a later line includes again below an excluded directory", asked, differ)
}

// takenBack reports whether a parent directory of the file is excluded by our rules.
func takenBack(tree fstest.MapFS, name string) bool {
	limits := (*Limits)(nil).WithDefaults()
	var g ignorer
	for dir := range dirs(name) {
		if f := path.Join(dir, ignoreFile); tree[f] != nil {
			g.read(tree, f, limits.IgnoreSize)
		}
	}
	for dir := range dirs(name) {
		if dir == "." {
			continue
		}
		for i := range g.patterns {
			if p := &g.patterns[i]; !p.negated && p.matches(dir, true) {
				return true
			}
		}
	}
	return false
}

// dirs yields the directories of a file, the root first.
func dirs(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(".") {
			return
		}
		for i, c := range name {
			if c == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

func clash(tree fstest.MapFS, name string) bool {
	for other := range tree {
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return true
		}
	}
	return false
}

func ignoreFiles(tree fstest.MapFS) string {
	var b strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range tree {
			if path.Base(name) == ignoreFile && !yield(name) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "%s:\n%s", name, tree[name].Data)
	}
	return b.String()
}

func run(t *testing.T, git, dir string, stdin *strings.Reader, args ...string) string {
	t.Helper()
	cmd := exec.Command(git, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1 && stderr.Len() == 0) {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// TestTemporaryFiles checks that temporary files of interrupted writes are reported and not
// read, and that other files and directories with similar names are part of the catalog
// (S6).
func TestTemporaryFiles(t *testing.T) {
	const left = regular.TemporaryPrefix + "ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"
	tree := files("a.json", pkgA, left, "{", "p/"+left, pkgA, left+"x/b.json", channel, ignoreFile, "/q/",
		"q/"+left, "{", regular.TemporaryPrefix+"d/"+regular.TemporaryPrefix+"x.tmp", strings.Replace(pkgA, `"a"`, `"b"`, 1), "d/"+left+"/c.json", bundle)
	c, err := Load(t.Context(), tree, nil)
	if err != nil || len(c.Packages) != 2 || len(c.Channels) != 1 || len(c.Bundles) != 1 {
		t.Fatalf("got %+v, %v; want two packages, a channel and a bundle", c, err)
	}
	want := Diagnostics{{Code: codes.Leftover, Severity: Warning, Pos: Pos{File: left}}, {Code: codes.Leftover, Severity: Warning, Pos: Pos{File: "p/" + left}}}
	if diff := cmp.Diff(want, c.Findings, cmpopts.IgnoreFields(Diagnostic{}, "Err")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if names, err := Files(t.Context(), tree, nil); err != nil || len(names) != 5 {
		t.Errorf("Files returns %q, %v", names, err)
	}
	tree[left].Mode = fs.ModeNamedPipe
	if _, err := Load(t.Context(), tree, nil); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("a pipe of such a name gives the error %v", err)
	}
}

// FuzzIgnore checks that no ignore file causes a panic, and that the effect of a pattern
// does not depend on other lines that match nothing.
func FuzzIgnore(f *testing.F) {
	f.Add("**/*\n!*.json\n", "a/b.json")
	f.Add("[[:alpha:]\\]-z]*\n/a/**/b/", "a/x/b/c")
	f.Add("\\", "a")
	f.Add("{a,\\{b}**\\ ", "a")
	f.Fuzz(func(t *testing.T, ignore, name string) {
		if !fsValid(name) {
			t.Skip()
		}
		tree := fstest.MapFS{ignoreFile: {Data: []byte(ignore)}, name: {}}
		limits := (*Limits)(nil).WithDefaults()
		l := listFiles(t.Context(), tree, &limits)
		if len(l.faults) > 0 {
			t.Fatal(l.faults)
		}
		if !strings.HasPrefix(ignore, decode.BOM) && !strings.HasSuffix(ignore, "\\") && !strings.HasSuffix(ignore, "\r") {
			tree[ignoreFile] = &fstest.MapFile{Data: []byte("#\n\n" + ignore + "\n/\n[\n")}
			if again := listFiles(t.Context(), tree, &limits); len(again.files) != len(l.files) {
				t.Errorf("%d files, and %d with idle lines", len(l.files), len(again.files))
			}
		}
	})
}

func fsValid(name string) bool {
	if !fs.ValidPath(name) || path.Clean(name) != name || name[0] == '/' || strings.HasPrefix(name, "..") || strings.ContainsRune(name, '\\') {
		return false
	}
	return path.Base(name) != ignoreFile && name != "." && !strings.Contains("/"+name+"/", "/"+ignoreFile+"/")
}

// TestFiles checks the list of files that a load reads, which is in the order of a walk.
func TestFiles(t *testing.T) {
	tree := files("b.json", "{}", "a/z", "{}", "a.json", "{}", "a/.indexignore", "*.md\n", "a/y.md", "", ".indexignore", "/c\n", "c/.indexignore", "!x\n", "c/x", "{}", "c/y", "{}")
	got, err := Files(t.Context(), tree, nil)
	want := []string{".indexignore", "a/.indexignore", "a/z", "a.json", "b.json", "c/.indexignore", "c/x"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := Files(t.Context(), tree, &Limits{Files: 2}); err == nil || !strings.Contains(err.Error(), "limit Files=2") {
		t.Errorf("got %v, want the limit", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Files(ctx, tree, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
