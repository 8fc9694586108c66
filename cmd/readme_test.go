package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeSetUp checks that setting up a clone takes two commands, and that CI runs the
// second one, then the linters and the race detector.
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
	if out := shell(t, ".", commands[0][1]); !strings.Contains(out, "vault-operator.v0.1.9") {
		t.Errorf("$ %s\nprints %q", commands[0][1], out)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n" + commands[1][1] + "\nmake lint\ngo test -race "; !strings.Contains(string(ci), want) {
		t.Errorf(".ci/run does not have %q", want)
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
