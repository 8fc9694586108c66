package repo_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Statements are counted by the go command's own instrumentation for coverage: this
// test binary is built once more with counters, and a workload played in it. What
// the standard library does is not counted, except that its callers are.
const counted = "github.com/olmkit/olmkit/...,github.com/go-air/gini/..."

var (
	workName = flag.String("work", "", "the workload that TestWork plays")
	workRuns = flag.Int("runs", 1, "how often")
)

// TestWork plays a workload for who counts its statements.
func TestWork(t *testing.T) {
	if *workName == "" {
		t.Skip("for TestCosts, which says what to play")
	}
	for _, w := range workloads(t) {
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

// statements returns a function that returns how many statements a workload
// executes, each time that it is played.
func statements(t *testing.T) func(workload string) uint64 {
	dir := t.TempDir()
	bin := filepath.Join(dir, "counting.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-covermode=count", "-coverpkg="+counted, "-o", bin, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("building with counters: %v\n%s", err, out)
	}
	count := func(workload string, runs int) uint64 {
		profile := filepath.Join(dir, "profile")
		out, err := exec.CommandContext(t.Context(), bin, "-test.run=^TestWork$", "-work="+workload, fmt.Sprint("-runs=", runs), "-test.coverprofile="+profile).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", workload, err, out)
		}
		n, err := executed(profile)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
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
// was executed.
func executed(profile string) (uint64, error) {
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
		sum += size * times
	}
	return sum, lines.Err()
}
