package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// libsolv runs the community catalog through the SAT solver of Linux distributions: bundles are packages, and APIs are
// capabilities that packages provide and conflict over. Only solving is measured, not loading.
func (r *run) libsolv(ctx context.Context) error {
	skip := func(why string) error {
		r.add(Row{Group: "libsolv", Case: "not measured", Note: why})
		return nil
	}
	dir, err := r.catalog("community")
	if errors.Is(err, errAbsent) {
		return skip(err.Error())
	} else if err != nil {
		return err
	}
	program := filepath.Join(r.tmp, "universe")
	build := exec.CommandContext(ctx, "cc", "-O2", "-o", program, filepath.Join("libsolv", "universe.c"), "-lsolvext", "-lsolv")
	if text, err := build.CombinedOutput(); errors.Is(err, exec.ErrNotFound) || libsolvMissing(text) {
		return skip("needs a C compiler and Debian's libsolv-dev and libsolvext-dev")
	} else if err != nil {
		return fmt.Errorf("building libsolv/universe.c: %w\n%s", err, text)
	}
	c, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	requests, err := generate.NewRequests(ctx, resolver.Catalog{Name: "community", Namespace: "olm", Graph: c})
	if err != nil {
		return err
	}
	for _, t := range []struct {
		label string
		resolver.Problem
	}{
		{"install 10", requests.Fresh(ctx, 10)}, {"install 30", requests.Fresh(ctx, 30)}, {"install 100", requests.Fresh(ctx, 100)},
		{"install those with dependencies", requests.Dependent(ctx)},
	} {
		label := fmt.Sprintf("%s (%d), community", t.label, len(t.Subscriptions))
		same := func(chosen []string, out solved) error { return sameWork(&t.Problem, chosen, out) }
		if err := r.againstLibsolv(ctx, program, label, t.Problem, universe(ctx, c, &t.Problem), same); err != nil {
			return err
		}
	}
	return r.debian(ctx, program)
}

// debian runs the archive of the Debian release that the machine runs, as apt knows it, which is what libsolv was made
// for. The two may choose different alternatives, but both answers must be valid.
func (r *run) debian(ctx context.Context, program string) error {
	index, err := exec.CommandContext(ctx, "apt-cache", "dumpavail").Output()
	if errors.Is(err, exec.ErrNotFound) || err == nil && len(index) == 0 {
		r.add(Row{Group: "libsolv", Case: "Debian", Note: "not measured: needs apt and the index of an archive (apt-get update)"})
		return nil
	} else if err != nil {
		return fmt.Errorf("apt-cache dumpavail: %w", err)
	}
	u, err := generate.Debian(bytes.NewReader(index))
	if err != nil {
		return err
	}
	var catalog, solvables bytes.Buffer
	if err := errors.Join(u.Catalog(&catalog), u.Solvables(&solvables)); err != nil {
		return err
	}
	blobs, err := fbc.LoadReader(ctx, &catalog, "debian.json", nil)
	if err != nil {
		return err
	}
	c, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		return err
	}
	for _, names := range [][]string{
		{"texlive-full"}, {"gnome"}, {"kde-full"},
		{"apache2", "default-jdk", "gnome", "kde-full", "libreoffice", "postgresql", "texlive-full", "xfce4"},
	} {
		p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "debian", Namespace: "olm", Graph: c}}}
		text := bytes.NewBuffer(bytes.Clone(solvables.Bytes()))
		for _, name := range names {
			p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Name: name, Package: name})
			fmt.Fprintf(text, "j %s\n", name)
		}
		same := func(chosen []string, out solved) error {
			return errors.Join(u.Check(names, chosen), u.Check(names, out.installed))
		}
		label := fmt.Sprintf("install %s, of %d Debian packages", strings.Join(names, ", "), len(u))
		if err := r.againstLibsolv(ctx, program, label, p, text.Bytes(), same); err != nil {
			return err
		}
	}
	return nil
}

// againstLibsolv adds a row for a problem and the same universe for libsolv. An answer is the installed packages of both
// sides.
func (r *run) againstLibsolv(ctx context.Context, program, label string, p resolver.Problem, universe []byte, same func([]string, solved) error) error {
	file := filepath.Join(r.tmp, "universe.txt")
	if err := os.WriteFile(file, universe, 0o644); err != nil {
		return err
	}
	sol, err := resolver.Resolve(ctx, p)
	if err != nil {
		return err
	}
	var chosen []string
	for _, x := range sol.Selected {
		chosen = append(chosen, x.Package)
	}
	row := Row{Group: "libsolv", Case: label, Peer: "libsolv", Unit: "ms"}
	// The program measures its own solving time, so that its start and its loading do not count.
	var ours, peer, ratios []float64
	const runs = 5 // each side is the median of as many
	for range 9 {
		var times []float64
		for range runs {
			ms, err := once(func() error { _, err := resolver.Resolve(ctx, p); return err })
			if err != nil {
				return err
			}
			times = append(times, ms)
		}
		out, err := solve(ctx, program, file, runs)
		if err != nil {
			return err
		}
		if err := same(chosen, out); err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		ms, m := median(times), median(out.times)
		ours, peer, ratios = append(ours, ms), append(peer, m), append(ratios, m/ms)
		row.Note = fmt.Sprintf("%d packages installed by olmkit, %d by libsolv", len(chosen), len(out.installed))
	}
	row.Ours, row.Theirs, row.Ratio, row.Pairs = median(ours), median(peer), median(ratios), len(ratios)
	row.Low, row.High = slices.Min(ratios), slices.Max(ratios)
	r.add(row)
	return nil
}

// universe writes the catalog and the problem for libsolv/universe.c. For each requirement there is a separate
// capability, which its candidates provide, so that version ranges have the same meaning.
func universe(ctx context.Context, c *graph.Catalog, p *resolver.Problem) []byte {
	eval := constraints.NewEvaluator(constraints.Cluster{}, nil)
	meets := map[int]map[graph.Bundle]bool{} // requirement, bundle
	for b := range c.Bundles() {
		for q := range b.Requirements() {
			if meets[q.ID] != nil {
				continue
			}
			meets[q.ID] = map[graph.Bundle]bool{}
			for x := range c.Bundles() {
				if ok, err := eval.Satisfies(ctx, q.Expr, x); err == nil && ok.OK {
					meets[q.ID][x] = true
				}
			}
		}
	}
	var out bytes.Buffer
	for b := range c.Bundles() {
		if b.IsProhibited() || b.Err() != nil {
			continue
		}
		fmt.Fprintf(&out, "s %s %s-1\n", b.Package().Name(), strings.ReplaceAll(b.Version().String(), "-", "~"))
		for g := range b.APIs() {
			fmt.Fprintf(&out, "p gvk(%s)\nc gvk(%s)\n", g, g)
		}
		for id := range len(meets) {
			if meets[id][b] {
				fmt.Fprintf(&out, "p requirement(%d)\n", id)
			}
		}
		for q := range b.Requirements() {
			fmt.Fprintf(&out, "r requirement(%d)\n", q.ID)
		}
	}
	for _, s := range p.Subscriptions {
		fmt.Fprintf(&out, "j %s\n", s.Package)
	}
	return out.Bytes()
}

// libsolvMissing reports whether the output of a compiler shows that libsolv is not installed.
func libsolvMissing(text []byte) bool {
	return bytes.Contains(text, []byte("solv/pool.h: No such file")) || bytes.Contains(text, []byte("cannot find -lsolv"))
}

// A solved is the result of libsolv.
type solved struct {
	problems  int
	installed []string
	times     []float64 // milliseconds per round
}

// sameWork returns an error unless both sides installed the same number of packages, including all requested ones.
func sameWork(p *resolver.Problem, ours []string, theirs solved) error {
	if theirs.problems > 0 {
		return fmt.Errorf("libsolv finds %d problems and no solution", theirs.problems)
	}
	for _, s := range p.Subscriptions {
		if !slices.Contains(ours, s.Package) {
			return fmt.Errorf("olmkit did not install package %q", s.Package)
		}
		if !slices.Contains(theirs.installed, s.Package) {
			return fmt.Errorf("libsolv did not install package %q", s.Package)
		}
	}
	if len(ours) != len(theirs.installed) {
		return fmt.Errorf("olmkit installed %d packages (%s), libsolv %d (%s)", len(ours), strings.Join(ours, ", "), len(theirs.installed), strings.Join(theirs.installed, ", "))
	}
	return nil
}

// solve runs the program.
func solve(ctx context.Context, program, file string, rounds int) (solved, error) {
	text, err := exec.CommandContext(ctx, program, file, strconv.Itoa(rounds)).Output()
	if err != nil {
		return solved{}, fmt.Errorf("libsolv: %w", err)
	}
	out, err := parseSolved(text)
	if err != nil {
		return solved{}, fmt.Errorf("libsolv: %w", err)
	}
	return out, nil
}

// parseSolved parses the output of the program.
func parseSolved(text []byte) (out solved, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	if !lines.Scan() {
		return out, errors.New("no output")
	}
	if out.problems, err = strconv.Atoi(lines.Text()); err != nil {
		return out, err
	}
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "i "); ok {
			out.installed = append(out.installed, name)
			continue
		}
		ms, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			return out, err
		}
		out.times = append(out.times, ms)
	}
	if len(out.times) == 0 {
		return out, errors.New("no times")
	}
	return out, nil
}
