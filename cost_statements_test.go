package repo_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// counted lists the packages whose statements are counted. The go command's coverage instrumentation counts them: this
// test binary is built again with counters and runs a workload. Of the standard library, only package slices is
// counted.
const counted = "github.com/olmkit/olmkit/...,github.com/go-air/gini/...,slices"

var (
	workName = flag.String("work", "", "the workload that TestWork runs")
	workRuns = flag.Int("runs", 1, "how often")
)

// TestWork runs the workload that -work names. A counter starts it in a separate process, to count the statements.
func TestWork(t *testing.T) {
	if *workName == "" {
		t.Skip("only for TestCosts, which selects the workload")
	}
	// Set up only the selected workload, because setup is counted, too.
	list := slices.Concat(growing(t, *workName), hostile(*workName))
	if len(list) == 0 {
		list = workloads(t)
	}
	for _, w := range list {
		if w.name != *workName {
			continue
		}
		for range *workRuns {
			if err := w.do(); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	t.Fatalf("there is no workload %q", *workName)
}

// A counter runs workloads and counts the statements that they execute.
type counter struct {
	dir, bin string
}

func newCounter(t *testing.T) *counter {
	c := &counter{dir: t.TempDir()}
	c.bin = filepath.Join(c.dir, "counting.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-covermode=count", "-coverpkg="+counted, "-o", c.bin, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("building with counters: %v\n%s", err, out)
	}
	return c
}

// count runs a workload the given number of times and returns the statements executed in packages whose paths begin
// with one of in, or in all packages if in is empty.
func (c *counter) count(t *testing.T, workload string, runs int, in ...string) uint64 {
	t.Helper()
	profile := filepath.Join(c.dir, "profile")
	out, err := exec.CommandContext(t.Context(), c.bin, "-test.run=^TestWork$", "-work="+workload, fmt.Sprint("-runs=", runs), "-test.coverprofile="+profile).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", workload, err, out)
	}
	n, err := executed(profile, in)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// statements returns a function that returns the number of statements that a workload executes in one run.
func statements(t *testing.T) func(workload string) uint64 {
	c := newCounter(t)
	count := func(workload string, runs int) uint64 { return c.count(t, workload, runs) }
	return func(workload string) uint64 {
		// Both counts include the setup, whose cost varies slightly, so there must be enough runs to outweigh it.
		const enough, most = 5_000_000, 100_000
		before := count(workload, 1)
		for runs := uint64(10); runs <= most; runs *= 10 {
			if n := count(workload, 1+int(runs)); n >= before+enough {
				return (n - before) / runs
			}
		}
		t.Errorf("%s executes hardly any counted statements", workload)
		return 0
	}
}

// executed sums up a coverage profile: the number of statements executed in packages whose paths begin with one of in,
// or in all packages if in is empty.
func executed(profile string, in []string) (uint64, error) {
	f, err := os.Open(profile)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var sum uint64
	lines := bufio.NewScanner(f)
	lines.Scan() // mode: count
	for lines.Scan() {
		var block string
		var size, times uint64
		if _, err := fmt.Sscan(lines.Text(), &block, &size, &times); err != nil {
			return 0, fmt.Errorf("%s: %q: %w", profile, lines.Text(), err)
		}
		if len(in) == 0 || slices.ContainsFunc(in, func(p string) bool { return strings.HasPrefix(block, p) }) {
			sum += size * times
		}
	}
	return sum, lines.Err()
}
