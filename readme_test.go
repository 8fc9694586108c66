package repo_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the output that README.md shows")

// console matches a block of the README that shows a command and its output.
var console = regexp.MustCompile("(?s)```console\n\\$ (.*?)\n(.*?)```\n")

// TestReadmeShowsRealOutput runs every command of the README's console blocks
// and compares what it prints with what the README says that it prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "olmkit"), "./cmd/olmkit").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	blocks := console.FindAllSubmatchIndex(text, -1)
	if len(blocks) < 5 {
		t.Fatalf("README.md has %d console blocks; does the pattern still match them?", len(blocks))
	}
	var fresh []byte
	end := 0
	for _, b := range blocks {
		command, shown := string(text[b[2]:b[3]]), string(text[b[4]:b[5]])
		printed := shell(t, command)
		if diff := cmp.Diff(shown, printed); diff != "" && !*update {
			t.Errorf("README.md is out of date (go test -run Readme -update . mends it):\n$ %s\n%s", command, diff)
		}
		fresh = append(append(fresh, text[end:b[4]]...), printed...)
		end = b[5]
	}
	if *update {
		fresh = append(fresh, text[end:]...)
		if err := os.WriteFile("README.md", fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shell returns what a command line prints, whatever its exit code: a conflict
// exits with 1 and is worth showing.
func shell(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) || stderr.Len() > 0 {
		t.Fatalf("$ %s\n%v\n%s", command, err, &stderr)
	}
	return stdout.String()
}

// TestReadmeSetUp checks that the set-up is two commands, and that what CI runs
// is the second of them.
func TestReadmeSetUp(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, setUp, _ := strings.Cut(string(text), "## Set-up\n")
	setUp, _, _ = strings.Cut(setUp, "\n## ")
	commands := regexp.MustCompile("(?s)```sh\n\\s*(.*?)\n\\s*```").FindAllStringSubmatch(setUp, -1)
	if len(commands) != 2 {
		t.Fatalf("the set-up has %d commands, want 2: %q", len(commands), commands)
	}
	if out := shell(t, commands[0][1]); !strings.Contains(out, "vault-operator.v0.1.9") {
		t.Errorf("$ %s\nprints %q", commands[0][1], out)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(ci), "\nexec "+commands[1][1]+" ") {
		t.Errorf(".ci/run does not run %q", commands[1][1])
	}
}

// TestReadmeCode compiles the Go code of the README.
func TestReadmeCode(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go code")
	}
	for _, b := range blocks {
		source := `package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

func main() { fmt.Println(run(context.Background())) }

func run(ctx context.Context) error {
` + string(b[1]) + "return nil\n}\n"
		file := filepath.Join(t.TempDir(), "readme.go")
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
			t.Errorf("the Go code of README.md does not compile: %v\n%s", err, out)
		}
	}
}
