package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A shellBlock is a block of sh in a document, and how to run it. The script prepare runs
// first, in an empty directory. change replaces the commands that would never end or take too
// long.
type shellBlock struct {
	doc, begins string
	prepare     string
	change      *strings.Replacer
	// prints is a text that the output of the block must contain.
	prints string
	// skip is the reason why the test does not run the block.
	skip string
}

// fakeKubectl creates a script that stands in for kubectl and prints the state of a recipe.
const fakeKubectl = `printf '#!/bin/sh\ncat "%s"\n' "$REPO/docs/recipes/dryrun/state.yaml" > kubectl
chmod +x kubectl
`

// released creates a repository with an origin, from which a release can be pushed.
const released = `
git init -q --bare origin
git clone -q origin work; cd work
git config user.name test; git config user.email test@example.com
git commit -q --allow-empty -m one
`

var shellBlocks = []shellBlock{
	{doc: "README.md", begins: "go run ./cmd/olmkit resolve", prepare: "cd $REPO", prints: "etcd"},
	{doc: "README.md", begins: "make test", skip: "it runs this test"},
	{
		doc: "README.md", begins: "olmkit view",
		prepare: "cp -r $REPO/internal/sample/catalog catalog-4.16; cp -r $REPO/internal/sample/catalog catalog-4.17",
		change:  strings.NewReplacer("--serve", "-o diff.html; ls -s page.html diff.html"), // a server never ends
		prints:  "diff.html",
	},
	{
		doc: "CONTRIBUTING.md", begins: "make ", prepare: "cd $REPO",
		// Do not run the targets and tests, which takes too long: check that they exist.
		change: strings.NewReplacer("make   ", "make -n  ", "go test ./graph -run ", "grep -h 'func TestStranded(' graph/*_test.go; : ",
			"go test ./cmd/internal/cli -run ", "grep -h 'func TestScripts(' cmd/internal/cli/*_test.go; ls cmd/internal/cli/testdata/script/resolve_upgrade.txtar; : "),
		prints: "resolve_upgrade.txtar",
	},
	{
		doc: "CONTRIBUTING.md", begins: "git push --atomic",
		prepare: released + "git tag v0; git push -q origin v0; git commit -q --allow-empty -m two; git tag v0.2.0; git tag cmd/v0.2.0; git tag kube/v0.2.0",
		change:  strings.NewReplacer("push", "push --porcelain"), prints: "+\trefs/tags/v0:refs/tags/v0",
	},
	{
		doc: "docs/recipes/debug.md", begins: "kubectl get", prepare: fakeKubectl + "cp -r $REPO/docs/recipes/dryrun/catalog .",
		prints: "create InstallPlan",
	},
	{
		doc: "docs/recipes/dryrun.md", begins: "kubectl get", prepare: fakeKubectl,
		change: strings.NewReplacer("> state.yaml", "> state.yaml; cat state.yaml"),
		prints: "kind: Subscription",
	},
	{
		doc: "docs/recipes/gate.md", begins: "olmkit validate", prepare: `
git init -q -b main upstream
cd upstream
git config user.name test; git config user.email test@example.com
cp -r $REPO/docs/recipes/gate/old catalog
git add .; git commit -q -m old
cd ..; git clone -q upstream work; cd work
rm -r catalog; cp -r $REPO/docs/recipes/gate/new catalog
`,
		prints: "stranded, no longer with a path to the head: etcd.v0.9.0",
	},
	{
		doc: "docs/recipes/gate.md", begins: "olmkit report", prepare: "cp -r $REPO/docs/recipes/gate/new catalog; mkdir operators",
		change: strings.NewReplacer("> report.html", "> report.html; grep -o '<h1>.*</h1>' report.html"), prints: "<h1>Catalog catalog</h1>",
	},
	{
		doc: "docs/recipes/manifests.md", begins: "olmkit manifests demo-1.0.0",
		prepare: "for v in 1.0.0 1.1.0; do cp -r $REPO/docs/recipes/manifests/demo demo-$v; done\n" +
			"sed -i 's/demo.v1.0.0/demo.v1.1.0/' demo-1.1.0/manifests/*",
		prints: "+  name: demo.v1.1.0-demo-",
	},
	{
		doc: "docs/recipes/manifests.md", begins: "olmkit manifests demo -n operators --create",
		prepare: "cp -r $REPO/docs/recipes/manifests/demo .\nprintf '#!/bin/sh\\ncat \"$4\"\\n' > kubectl; chmod +x kubectl\n",
		prints:  "kind: Namespace",
	},
}

// TestShellBlocksRun runs every block of sh in the documents, as shellBlocks describes.
func TestShellBlocksRun(t *testing.T) {
	repo, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "olmkit"), "./cmd/olmkit")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := make([]bool, len(shellBlocks))
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			if m[2] != "sh" {
				continue
			}
			code := strings.ReplaceAll(m[3], "\n"+m[1], "\n")
			i := findBlock(doc, strings.TrimSpace(code))
			if i < 0 {
				t.Errorf("%s: nothing says how to run this block; add it to shellBlocks:\n%s", doc, code)
				continue
			}
			ran[i] = true
			t.Run(strings.ReplaceAll(doc, "/", "_"), func(t *testing.T) { shellBlocks[i].run(t, repo, bin, code) })
		}
	}
	for i, b := range shellBlocks {
		if !ran[i] {
			t.Errorf("%s has no block that begins with %q", b.doc, b.begins)
		}
	}
}

func findBlock(doc, code string) int {
	for i, b := range shellBlocks {
		if b.doc == doc && strings.HasPrefix(code, b.begins) {
			return i
		}
	}
	return -1
}

// run runs the block. Only its last command may fail, and only with exit code 1, a negative
// answer.
func (b shellBlock) run(t *testing.T, repo, bin, code string) {
	if b.skip != "" {
		t.Skip(b.skip)
	}
	if b.change != nil {
		code = b.change.Replace(code)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "set -e\n"+b.prepare+"\n"+code)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REPO="+repo, "PATH="+dir+string(os.PathListSeparator)+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), b.prints) {
		t.Errorf("%v; it prints\n%s\nwant %q in it", err, out, b.prints)
	}
}

// TestWorkflowsInDocuments checks the workflows in the documents that use this repository's
// action: its inputs must exist, the required ones must be set, and CONTRIBUTING.md must show
// how to create the tag that they use.
func TestWorkflowsInDocuments(t *testing.T) {
	type workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	a := readAction(t)
	releases, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			var w workflow
			if m[2] != "yaml" || !strings.Contains(m[3], "uses: olmkit/olmkit@") {
				continue
			}
			if err := yaml.Unmarshal([]byte(m[3]), &w); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
			for _, job := range w.Jobs {
				for _, step := range job.Steps {
					ref, ours := strings.CutPrefix(step.Uses, "olmkit/olmkit@")
					if !ours {
						continue
					}
					seen++
					if !strings.Contains(string(releases), " git push --force origin "+ref+"\n") {
						t.Errorf("%s uses the action at %s, and CONTRIBUTING.md does not say how a release moves that tag", doc, ref)
					}
					for name := range step.With {
						if _, ok := a.Inputs[name]; !ok {
							t.Errorf("%s gives the action %s, which is no input of action.yml", doc, name)
						}
					}
					for name, in := range a.Inputs {
						if in.Required && step.With[name] == "" {
							t.Errorf("%s does not give the action its input %s", doc, name)
						}
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no document shows how to use the action")
	}
}

// TestInputsInGate compares the table of inputs with action.yml.
func TestInputsInGate(t *testing.T) {
	text, err := os.ReadFile("docs/recipes/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // input to default
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			rows[strings.Trim(cells[1], " `")] = strings.Trim(cells[3], " `")
		}
	}
	for name, in := range readAction(t).Inputs {
		want := in.Default
		switch {
		case in.Required:
			want = "–"
		case strings.HasPrefix(want, "${{"):
			want = "the base of the pull request"
		}
		if got, ok := rows[name]; !ok || got != want {
			t.Errorf("gate.md gives the input %s the default %q, action.yml %q", name, got, want)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("gate.md has an input %s that action.yml does not have", name)
	}
}
