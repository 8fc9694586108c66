package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/olmkit/olmkit/internal/golden"
)

// An action holds the fields of action.yml that the tests read.
type action struct {
	Inputs map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, Uses, Run, Shell string
			Directory                  string `yaml:"working-directory"`
			Env, With                  map[string]string
		}
	}
}

func readAction(t *testing.T) *action {
	t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// TestActionIsSound checks what GitHub would only complain about when it is used:
// inputs and outputs that do not exist, and expressions in scripts, through which
// a pull request could run code.
func TestActionIsSound(t *testing.T) {
	a := readAction(t)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("the action is %+v", a.Runs)
	}
	script, err := os.ReadFile("cmd/internal/action/check.sh")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("action.yml uses the input %s, which it does not have", m[1])
		}
	}
	for name, o := range a.Outputs {
		if o.Value != "${{ steps.check.outputs."+name+" }}" || !strings.Contains(string(script), `"`+name+"=$") {
			t.Errorf("output %s is %s; the script does not write it", name, o.Value)
		}
	}
	for _, m := range regexp.MustCompile(`steps\.([a-z]+)\.outputs\.([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "check" || !strings.Contains(string(script), `"`+m[2]+"=$") {
			t.Errorf("action.yml uses the output %s of step %s, which nobody writes", m[2], m[1])
		}
	}
	for _, s := range a.Runs.Steps {
		if (s.Uses == "") == (s.Run == "") || s.Run != "" && s.Shell != "bash" {
			t.Errorf("step %q either uses something or runs bash", s.Name)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %q has an expression in its script; pass it in env", s.Name)
		}
		for name := range s.Env {
			if !strings.Contains(s.Run+string(script), "$"+name) && !strings.Contains(string(script), "{"+name) {
				t.Errorf("step %q sets %s for nobody", s.Name, name)
			}
		}
	}
}

// TestAction runs the steps of action.yml as GitHub does, in a repository with a
// base and a head: each script in testdata/action is one pull request.
func TestAction(t *testing.T) {
	for _, tool := range []string{"bash", "git", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s on this machine", tool)
		}
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	a := readAction(t)
	temp := t.TempDir()
	for _, s := range a.Runs.Steps {
		if s.Directory != "" && s.Run != "" {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", s.Run)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("step %q: %v\n%s", s.Name, err, out)
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/action",
		UpdateScripts: golden.Update(),
		Setup: func(env *testscript.Env) error {
			dir := filepath.Join(env.WorkDir, ".runner")
			if err := os.MkdirAll(filepath.Join(dir, "olmkit-action"), 0o777); err != nil {
				return err
			}
			if err := os.Link(filepath.Join(temp, "olmkit-action", "olmkit"), filepath.Join(dir, "olmkit-action", "olmkit")); err != nil {
				return err
			}
			env.Setenv("RUNNER_TEMP", dir)
			env.Setenv("HOME", dir)
			env.Setenv("GITHUB_OUTPUT", filepath.Join(dir, "output"))
			env.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(dir, "step-summary"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"commit": func(ts *testscript.TestScript, _ bool, args []string) { commit(ts, args) },
			"pull":   func(ts *testscript.TestScript, _ bool, _ []string) { pull(ts) },
			"step":   func(ts *testscript.TestScript, neg bool, args []string) { step(ts, a, root, neg, args) },
		},
	})
}

// commit implements the script command "commit DIR": it commits the content of DIR as the new
// content of the repository r.
func commit(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: commit DIR")
	}
	repo := ts.MkAbs("r")
	git := func(args ...string) {
		ts.Check(ts.Exec("git", append([]string{"-C", repo, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...))
	}
	if _, err := os.Stat(repo); err != nil {
		ts.Check(os.MkdirAll(repo, 0o777))
		git("init", "-q")
	}
	names, err := os.ReadDir(repo)
	ts.Check(err)
	for _, n := range names {
		if n.Name() != ".git" {
			ts.Check(os.RemoveAll(filepath.Join(repo, n.Name())))
		}
	}
	ts.Check(os.CopyFS(repo, os.DirFS(ts.MkAbs(args[0]))))
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", args[0])
}

// pull implements the script command "pull": it turns the last commit of the repository r into
// a pull request against the commit before it. Then r is replaced by what actions/checkout
// leaves: a clone of the merge commit alone. $BASE_SHA is set to the base commit, which only
// the server has.
func pull(ts *testscript.TestScript) {
	repo, server := ts.MkAbs("r"), ts.MkAbs("server")
	git := func(dir string, args ...string) {
		ts.Check(ts.Exec("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...))
	}
	git(repo, "branch", "topic")
	git(repo, "checkout", "-q", "--detach", "HEAD~1")
	git(repo, "rev-parse", "HEAD")
	ts.Setenv("BASE_SHA", strings.TrimSpace(ts.ReadFile("stdout")))
	git(repo, "merge", "-q", "--no-ff", "-m", "merge", "topic")
	git(repo, "update-ref", "refs/pull/1/merge", "HEAD")
	git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
	ts.Check(os.Rename(repo, server))
	ts.Check(os.Mkdir(repo, 0o777))
	git(repo, "init", "-q")
	git(repo, "remote", "add", "origin", "file://"+filepath.ToSlash(server))
	git(repo, "fetch", "-q", "--no-tags", "--depth=1", "origin", "+refs/pull/1/merge:refs/remotes/pull/1/merge")
	git(repo, "checkout", "-q", "--force", "refs/remotes/pull/1/merge")
	if ts.Exec("git", "-C", repo, "cat-file", "-e", ts.Getenv("BASE_SHA")) == nil {
		ts.Fatalf("the clone has the base, and the action need not fetch it")
	}
}

// step implements the script command "step INPUT=VALUE...": it runs the action's step that
// checks the catalog, with these inputs and the defaults of the others. The base is the commit
// before the last, if there is one.
func step(ts *testscript.TestScript, a *action, root string, neg bool, args []string) {
	values := map[string]string{"github.action_path": root, "github.event.pull_request.base.sha": ""}
	if ts.Exec("git", "-C", ts.MkAbs("r"), "rev-parse", "-q", "--verify", "HEAD~1") == nil {
		values["github.event.pull_request.base.sha"] = "HEAD~1"
	}
	expand := func(text string) string {
		return regexp.MustCompile(`\$\{\{ *([a-z._-]+) *\}\}`).ReplaceAllStringFunc(text, func(m string) string {
			v, ok := values[strings.Trim(m, "${} ")]
			if !ok {
				ts.Fatalf("nothing is known of %s", m)
			}
			return v
		})
	}
	for name, in := range a.Inputs {
		values["inputs."+name] = expand(in.Default)
	}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if _, ok := a.Inputs[name]; !ok {
			ts.Fatalf("the action has no input %s", name)
		}
		values["inputs."+name] = value
	}
	for _, s := range a.Runs.Steps {
		if s.ID != "check" {
			continue
		}
		for name, value := range s.Env {
			ts.Setenv(name, expand(value))
		}
		ts.Check(ts.Chdir("r"))
		err := ts.Exec("bash", "-c", s.Run)
		ts.Check(ts.Chdir(".."))
		if (err != nil) != neg {
			ts.Fatalf("the step ends with %v", err)
		}
	}
}
