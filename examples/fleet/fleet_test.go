package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// TestMain is also the worker.
func TestMain(m *testing.M) {
	filesystem.Register("mortal", func(ctx context.Context) filesystem.Interface { return mortal{local.New(ctx)} })
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		main()
		return
	}
	os.Exit(m.Run())
}

const clusters, namespaces = 12, 50

// newFleet writes an index and the problems of a fleet to a directory.
func newFleet(t *testing.T) string {
	t.Helper()
	ctx, root := t.Context(), t.TempDir()
	c, err := graph.Load(ctx, testcatalog.Sized(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(ctx, &index, c, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sized.index"), index.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	g := generator{index: "sized.index", clusters: clusters, namespaces: namespaces, subscriptions: 5, seed: 1}
	if err := g.write(ctx, root, filepath.Join(root, "problems")); err != nil {
		t.Fatal(err)
	}
	return root
}

// checkAnswers compares the answers with those of this process, and expects no other file.
func checkAnswers(t *testing.T, root, wantTotal string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "problems", "*"))
	if err != nil || len(files) != clusters {
		t.Fatalf("%d files of problems (%v), want %d", len(files), err, clusters)
	}
	here := indexes{root: root}
	for _, file := range files {
		documents, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(answerName(filepath.Join(root, "answers"), file, documents))
		if err != nil {
			t.Error(err)
			continue
		}
		var want bytes.Buffer
		if _, err := here.answerAll(t.Context(), documents, &want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: the answers differ from those in one process", file)
		}
	}
	written, err := os.ReadDir(filepath.Join(root, "answers"))
	if err != nil {
		t.Fatal(err)
	}
	if len(written) != clusters+1 {
		t.Errorf("%d files in the directory of answers, want %d and the total", len(written), clusters)
	}
	total, err := os.ReadFile(filepath.Join(root, "answers", totalFile))
	if err != nil || !strings.HasPrefix(string(total), wantTotal) {
		t.Errorf("total %q (%v), want %q", total, err, wantTotal)
	}
}

func TestRun(t *testing.T) {
	root := newFleet(t)
	j := job{Root: root, Problems: filepath.Join(root, "problems", "*.jsonl"), Answers: filepath.Join(root, "answers")}
	if err := run(t.Context(), j, 1); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, root, "12 files answered, 0 kept: ")
	if err := run(t.Context(), j, 1); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, root, "0 files answered, 12 kept: ")
}

// TestRunKilledWorker kills the worker while its fifth file has its answers, but not yet its name.
func TestRunKilledWorker(t *testing.T) {
	root := newFleet(t)
	j := job{Root: root, Problems: filepath.Join(root, "problems", "*.jsonl"), Answers: "mortal://" + filepath.Join(root, "answers")}
	t.Setenv(killAt, "5")
	if err := run(t.Context(), j, 1); err == nil {
		t.Fatal("no error although the worker was killed")
	}
	before, err := filepath.Glob(filepath.Join(root, "answers", "*.jsonl"))
	if err != nil || len(before) != 4 {
		t.Fatalf("%d complete files (%v), want 4", len(before), err)
	}
	// The next worker is killed, too, and the one after it finishes the job.
	t.Setenv(killAt, "2")
	t.Setenv(killOnce, filepath.Join(root, "killed"))
	if err := run(t.Context(), j, 2); err != nil {
		t.Fatal(err)
	}
	checkAnswers(t, root, "7 files answered, 5 kept: ")
}

// TestAnswerAll checks the answers, their order, and that an invalid document affects no other.
func TestAnswerAll(t *testing.T) {
	root := newFleet(t)
	documents, err := os.ReadFile(filepath.Join(root, "problems", "cluster-0000.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	x := indexes{root: root}
	var problems []resolver.Problem
	for p, err := range document.Read[resolver.Problem](bytes.NewReader(documents)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Open(t.Context(), x.open); err != nil {
			t.Fatal(err)
		}
		problems = append(problems, p)
	}
	lines := bytes.SplitAfter(documents, []byte("\n"))
	lines[3] = []byte(`{"id":"odd","namespaces":[]}` + "\n")
	lines[4] = bytes.Replace(lines[4], []byte("sized.index"), []byte("other.index"), 1)
	lines[5] = bytes.ReplaceAll(lines[5], []byte(`"channel":"stable"`), []byte(`"channel":"missing"`))
	lines[len(lines)-1] = []byte(`{"id":"last","namespaces":[]}` + "\n")
	var out bytes.Buffer
	total, err := x.answerAll(t.Context(), bytes.Join(lines, nil), &out)
	if err != nil {
		t.Fatal(err)
	}
	if sum := total.Solutions + total.Conflicts + total.Errors; total.Errors != 3 || total.Conflicts != 1 || sum != namespaces+1 {
		t.Errorf("%+v", total)
	}
	recounted, err := recount(out.Bytes())
	if recounted.Files, recounted.Kept = 1, 0; err != nil || recounted != total {
		t.Errorf("recounted %+v (%v), want %+v", recounted, err, total)
	}
	got := strings.Split(out.String(), "\n")
	for i, p := range problems {
		if i == 3 || i == 4 {
			if !strings.Contains(got[i], `"error":"`) {
				t.Errorf("answer %d: %s", i, got[i])
			}
			continue
		}
		if i == 5 {
			if !strings.Contains(got[i], `"ok":false,"conflict":{"`) {
				t.Errorf("answer %d: %s", i, got[i])
			}
			continue
		}
		_, err := resolver.Resolve(t.Context(), p)
		if ok := `{"id":"` + p.ID + `","ok":` + map[bool]string{true: "true", false: "false"}[err == nil]; !strings.HasPrefix(got[i], ok) {
			t.Errorf("answer %d: %.80s, want %s", i, got[i], ok)
		}
	}
	if !strings.HasPrefix(got[namespaces], `{"id":"last","ok":false,"error":"`) {
		t.Errorf("last answer: %s", got[namespaces])
	}
}

// These environment variables make a worker kill itself.
const (
	killAt   = "FLEET_TEST_KILL_AT"   // the number of the file that is not renamed
	killOnce = "FLEET_TEST_KILL_ONCE" // unless this file exists
)

// mortal is the local file system, on which a worker dies.
type mortal struct{ filesystem.Interface }

var renamed atomic.Int64

func localPath(name string) string { return strings.TrimPrefix(name, "mortal://") }

func (m mortal) List(ctx context.Context, glob string) ([]string, error) {
	names, err := m.Interface.List(ctx, localPath(glob))
	for i := range names {
		names[i] = "mortal://" + names[i]
	}
	return names, err
}

func (m mortal) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.Interface.OpenRead(ctx, localPath(name))
}

func (m mortal) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	return m.Interface.OpenWrite(ctx, localPath(name))
}

func (m mortal) Remove(_ context.Context, name string) error { return os.Remove(localPath(name)) }

func (m mortal) Rename(_ context.Context, from, to string) error {
	if n := renamed.Add(1); os.Getenv(killAt) == string('0'+rune(n)) {
		_, err := os.Stat(os.Getenv(killOnce))
		if errors.Is(err, os.ErrNotExist) {
			if name := os.Getenv(killOnce); name != "" {
				if err := os.WriteFile(name, nil, 0o666); err != nil {
					return err
				}
			}
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				self.Kill()
			}
			select {}
		}
	}
	return os.Rename(localPath(from), localPath(to))
}
