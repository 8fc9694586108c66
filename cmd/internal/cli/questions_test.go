package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/golden"
)

// minQuestions is the number of questions below which the corpus is too small.
const minQuestions = 120

// A question is a command line and what a person should learn from its answer.
type question struct{ command, lesson string }

// readQuestions reads testdata/questions/questions.txt: a command per line, and below it,
// indented, the lesson.
func readQuestions(t *testing.T) []question {
	t.Helper()
	text, err := os.ReadFile("testdata/questions/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if lesson, ok := strings.CutPrefix(line, "\t"); ok && len(list) > 0 && list[len(list)-1].lesson == "" {
			list[len(list)-1].lesson = lesson
			continue
		}
		list = append(list, question{command: line})
	}
	return list
}

// TestQuestions compares the answers to questions of administrators with
// testdata/questions/answers.txtar, as text and JSON (H40, D16, G3). The catalogs have the
// packages, channels and requirements of community catalogs.
func TestQuestions(t *testing.T) {
	list := readQuestions(t)
	if len(list) < minQuestions {
		t.Errorf("%d questions, want at least %d", len(list), minQuestions)
	}
	path, err := filepath.Abs("testdata/questions/answers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want, err := txtar.ParseFile(path)
	if err != nil && !golden.Update() {
		t.Fatal(err)
	}
	t.Chdir("testdata/questions")
	got := &txtar.Archive{}
	for _, q := range list {
		if q.lesson == "" {
			t.Errorf("%q has no lesson", q.command)
		}
		for _, command := range []string{q.command, q.command + " -o json"} {
			var out bytes.Buffer
			code := cli.Run(context.Background(), strings.Fields(command), strings.NewReader(""), &out, &out)
			answer := fmt.Sprintf("%s[exit code %d]\n", out.Bytes(), code)
			got.Files = append(got.Files, txtar.File{Name: command, Data: []byte(answer)})
			if code > 3 {
				t.Errorf("%s ends with %d", command, code)
			}
		}
	}
	if golden.Update() {
		if err := os.WriteFile(path, txtar.Format(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range got.Files {
		i := slices.IndexFunc(want.Files, func(w txtar.File) bool { return w.Name == f.Name })
		if i < 0 {
			t.Errorf("%s has no answer; -update adds it", f.Name)
		} else if diff := cmp.Diff(string(want.Files[i].Data), string(f.Data)); diff != "" {
			t.Errorf("%s (-want +got; -update rewrites it):\n%s", f.Name, diff)
		}
	}
	if len(want.Files) != len(got.Files) {
		t.Errorf("%d answers for %d questions", len(want.Files), len(got.Files)/2)
	}
}
