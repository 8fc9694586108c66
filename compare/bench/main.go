// Bench measures olmkit and its peers, on the same input, in one run, and
// prints a table. See docs/performance.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	var r run
	out := flag.String("json", "", "write the results as JSON to this `file`")
	chart := flag.String("chart", "", "write the chart of cost against size to this `file`")
	only := flag.String("only", "", "run only the groups whose names contain this `text`")
	flag.StringVar(&r.shared, "catalogs", filepath.Join("..", "..", "shared", "catalogs"), "the `directory` of the real catalogs")
	flag.DurationVar(&r.budget, "time", 6*time.Second, "how long to repeat each pair")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.all(ctx, *only, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	r.print(os.Stdout)
	if *out != "" {
		if err := r.writeJSON(*out); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if *chart != "" && len(r.points) > 0 {
		if err := os.WriteFile(*chart, []byte(drawChart(r.points)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

// A run is all measurements of one run.
type run struct {
	shared string
	budget time.Duration
	tmp    string
	rows   []Row
	points []point
}

// A Row is one line of the table. It compares the same work done by both sides.
type Row struct {
	Group string `json:"group"`
	Case  string `json:"case"`
	Peer  string `json:"peer,omitempty"`
	Unit  string `json:"unit"`
	// Ours and Theirs are the medians of the two sides, or zero for a side that did not run.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs,omitempty"`
	// Ratio is the median of the ratios of the pairs, theirs to ours. Low and High are the smallest and the largest
	// ratio.
	Ratio float64 `json:"ratio,omitempty"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	// CPU is the median of the ratios of processor time, which varies less on a busy machine.
	CPU   float64 `json:"cpu,omitempty"`
	Pairs int     `json:"pairs,omitempty"`
	// OurCPU is the median processor time of olmkit.
	OurCPU float64 `json:"ourCPU,omitempty"`
	// Bound is work that no program that gives the answer can avoid, such as reading the files. Least is its median
	// time, and Distance the median of the ratios of ours to it.
	Bound    string  `json:"bound,omitempty"`
	Least    float64 `json:"least,omitempty"`
	Distance float64 `json:"distance,omitempty"`
	Note     string  `json:"note,omitempty"`

	bound job
}

func (r *run) add(row Row) { r.rows = append(r.rows, row) }

// A group is a set of related rows.
type group struct {
	name string
	run  func(context.Context) error
}

func (r *run) groups() []group {
	return []group{
		{"load", r.load}, {"memory", r.memory}, {"resolve", r.resolve},
		{"constraints", r.constraints}, {"libsolv", r.libsolv}, {"index", r.index}, {"batch", r.batch}, {"scale", r.scale},
		{"process", r.processes}, {"pull", r.pull}, {"crds", r.crds}, {"impact", r.impacts},
	}
}

// all runs every group whose name contains the text only.
func (r *run) all(ctx context.Context, only string, log io.Writer) error {
	groups := r.groups()
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	if !slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, only) }) {
		return fmt.Errorf("no group has %q in its name; the groups are %s", only, strings.Join(names, ", "))
	}
	var err error
	if r.tmp, err = os.MkdirTemp("", "olmkit-compare-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.tmp)
	for _, g := range groups {
		if !strings.Contains(g.name, only) {
			continue
		}
		start := time.Now()
		fmt.Fprintf(log, "%s…", g.name)
		if err := g.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintf(log, " %.0f s\n", time.Since(start).Seconds())
	}
	return nil
}

func (r *run) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "group\tcase\tolmkit\tCPU time\tpeer\t\tratio\tof pairs\tof CPU time\tbound\tdistance\tnote")
	for _, x := range r.rows {
		ratio, spread, theirs := "", "", ""
		if x.Theirs > 0 {
			theirs = fmt.Sprintf("%s %s", short(x.Theirs), x.Unit)
			ratio = short(x.Ratio) + "x"
		}
		if x.Pairs > 1 {
			spread = fmt.Sprintf("%s–%s (%d)", short(x.Low), short(x.High), x.Pairs)
		}
		cpu, own, bound, distance := "", "", "", ""
		if x.CPU > 0 {
			cpu = short(x.CPU) + "x"
		}
		if x.OurCPU > 0 {
			own = short(x.OurCPU) + " ms"
		}
		if x.Least > 0 {
			bound, distance = fmt.Sprintf("%s ms %s", short(x.Least), x.Bound), short(x.Distance)+"x"
		}
		fmt.Fprintln(t, strings.Join([]string{
			x.Group, x.Case, short(x.Ours) + " " + x.Unit, own, theirs, x.Peer, ratio, spread, cpu, bound, distance, x.Note,
		}, "\t"))
	}
	t.Flush()
}

// short formats a number with three significant digits, or with all digits before the point.
func short(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func (r *run) writeJSON(name string) error {
	text, err := json.MarshalIndent(struct {
		Go   string `json:"go"`
		CPUs int    `json:"cpus"`
		Rows []Row  `json:"rows"`
	}{runtime.Version(), runtime.NumCPU(), r.rows}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
