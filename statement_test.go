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

// Statements are counted by the go command's own instrumentation for coverage: this
// test binary is built once more with counters, and a workload played in it. Of the
// standard library only the loops of package slices are counted.
const counted = "github.com/olmkit/olmkit/...,github.com/go-air/gini/...,slices"

var (
	workName = flag.String("work", "", "the workload that TestWork plays")
	workRuns = flag.Int("runs", 1, "how often")
)

// TestWork plays a workload for who counts its statements.
func TestWork(t *testing.T) {
	if *workName == "" {
		t.Skip("for TestCosts, which says what to play")
	}
	// What is not played is not set up, which would be counted, too.
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

// A counter plays workloads and counts the statements that they execute.
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

// count plays a workload so many times, and counts statements of files in the
// packages whose paths begin with one of those given, or all.
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

// statements returns a function that returns how many statements a workload
// executes, each time that it is played.
func statements(t *testing.T) func(workload string) uint64 {
	c := newCounter(t)
	count := func(workload string, runs int) uint64 { return c.count(t, workload, runs) }
	return func(workload string) uint64 {
		// What is read and built before is in both counts, and not quite the same in
		// each: the runs have to outweigh it.
		const enough, most = 5_000_000, 100_000
		before := count(workload, 1)
		for runs := uint64(10); runs <= most; runs *= 10 {
			if n := count(workload, 1+int(runs)); n >= before+enough {
				return (n - before) / runs
			}
		}
		t.Errorf("%s executes next to nothing that is counted", workload)
		return 0
	}
}

// executed sums up a coverage profile: the statements of each block, as often as it
// was executed, of the packages whose paths begin with one of those given, or all.
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
