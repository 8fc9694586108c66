package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// kubectlLine matches the commands that held_back's answers print.
var kubectlLine = regexp.MustCompile(`^kubectl (patch|delete) ([a-z]+)\S* (\S+) -n (\S+)(?: --type merge --patch '(.*)')?$`)

// TestHeldBackCommands applies the commands that status prints for each reason why an operator is
// held back, and checks that the operator then gets to the head of its channel (H40).
func TestHeldBackCommands(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/held_back.txtar")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) []byte {
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no file %s", name)
		}
		return archive.Files[i].Data
	}
	dir := t.TempDir()
	catalog := filepath.Join(dir, "catalog.json")
	if err := os.WriteFile(catalog, file("catalog/catalog.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(state []byte, command string) []byte {
		path := filepath.Join(dir, "state.yaml")
		if err := os.WriteFile(path, state, 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cli.Run(context.Background(), []string{command, "-f", path, "--complete", "--kube-version", "1.30", "--catalog", "community=" + catalog, "-o", "json"}, strings.NewReader(""), &out, &out)
		return out.Bytes()
	}
	for name, head := range map[string]string{"subscription": "lib.v2.0.0", "install-mode": "mode.v1.1.0", "operator": "cond.v1.1.0"} {
		t.Run(name, func(t *testing.T) {
			state := file(name + ".yaml")
			var d struct {
				Operators []struct {
					Moves    string
					Commands []string
					Fixes    []struct{ Commands []string }
				}
			}
			if err := json.Unmarshal(run(state, "status"), &d); err != nil {
				t.Fatal(err)
			}
			var commands []string
			for _, o := range d.Operators {
				commands = append(commands, o.Commands...)
				for _, f := range o.Fixes {
					commands = append(commands, f.Commands...)
				}
			}
			if len(commands) == 0 {
				t.Fatal("no commands")
			}
			if reached(t, run(state, "simulate"), head) {
				t.Fatalf("%s is reached without the commands", head)
			}
			for _, c := range commands {
				state = kubectl(t, state, c)
			}
			if !reached(t, run(state, "simulate"), head) {
				t.Errorf("%s is not reached after %q", head, commands)
			}
		})
	}
}

// reached reports whether a simulation ends with an operator that runs.
func reached(t *testing.T, simulation []byte, name string) bool {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(simulation), []byte("\n"))
	var end struct {
		Operators []struct{ Name, Phase string }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &end); err != nil {
		t.Fatalf("%v:\n%s", err, simulation)
	}
	for _, o := range end.Operators {
		if o.Name == name {
			return o.Phase == "Succeeded"
		}
	}
	return false
}

// kubectl applies a command to objects, which are JSON documents.
func kubectl(t *testing.T, state []byte, command string) []byte {
	t.Helper()
	m := kubectlLine.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("unexpected command: %s", command)
	}
	var out [][]byte
	found := false
	for _, doc := range bytes.Split(state, []byte("\n---\n")) {
		var o struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := json.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		if strings.ToLower(o.Kind) != m[2] || o.Metadata.Name != m[3] || o.Metadata.Namespace != m[4] {
			out = append(out, doc)
			continue
		}
		if found = true; m[1] == "delete" {
			continue
		}
		var object, patch map[string]any
		if err := json.Unmarshal(doc, &object); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(m[5]), &patch); err != nil {
			t.Fatal(err)
		}
		merge(object, patch)
		if m[2] == "operatorgroup" {
			delete(object, "status") // the group determines its targets again
		}
		patched, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, patched)
	}
	if !found {
		t.Fatalf("no object for %s", command)
	}
	return append(bytes.Join(out, []byte("\n---\n")), '\n')
}

// merge applies a JSON merge patch (RFC 7386).
func merge(object, patch map[string]any) {
	for k, v := range patch {
		if part, ok := v.(map[string]any); ok {
			if old, ok := object[k].(map[string]any); ok {
				merge(old, part)
				continue
			}
		}
		if object[k] = v; v == nil {
			delete(object, k)
		}
	}
}
