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
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// libsolv puts the community catalog before the SAT solver of Linux
// distributions: bundles are packages, APIs are what they provide and conflict
// over. Only solving is measured, over universes that are ready.
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
	if _, err := build.CombinedOutput(); err != nil {
		return skip("needs a C compiler and Debian's libsolv-dev and libsolvext-dev")
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
		file := filepath.Join(r.tmp, "universe.txt")
		if err := os.WriteFile(file, universe(ctx, c, &t.Problem), 0o644); err != nil {
			return err
		}
		problems := 0
		row := Row{Group: "libsolv", Case: fmt.Sprintf("%s (%d), community", t.label, len(t.Subscriptions)), Peer: "libsolv"}
		// The program measures itself: its start and its reading do not count.
		var ours, peer, ratios []float64
		for range 9 {
			ms, err := once(func() error { _, err := resolver.Resolve(ctx, t.Problem); return err })
			if err != nil {
				return err
			}
			n, times, err := solve(ctx, program, file, 5)
			if err != nil {
				return err
			}
			problems = n
			m := median(times)
			ours, peer, ratios = append(ours, ms), append(peer, m), append(ratios, m/ms)
		}
		row.Unit, row.Ours, row.Theirs, row.Ratio, row.Pairs = "ms", median(ours), median(peer), median(ratios), len(ratios)
		row.Low, row.High = ratios[0], ratios[0]
		for _, x := range ratios {
			row.Low, row.High = min(row.Low, x), max(row.High, x)
		}
		if problems > 0 {
			row.Note = fmt.Sprintf("libsolv finds no solution (%d problems)", problems)
		}
		r.add(row)
	}
	return nil
}

// universe writes the catalog and the problem for libsolv/universe.c. What a
// requirement accepts is a capability of its own, so that ranges mean the same.
func universe(ctx context.Context, c *graph.Catalog, p *resolver.Problem) []byte {
	eval := constraints.NewEvaluator(constraints.Cluster{}, nil)
	meets := map[int]map[int]bool{} // requirement, bundle
	for b := range c.Bundles() {
		for q := range b.Requirements() {
			if meets[q.ID] != nil {
				continue
			}
			meets[q.ID] = map[int]bool{}
			for x := range c.Bundles() {
				if ok, err := eval.Satisfies(ctx, q.Expr, x); err == nil && ok.OK {
					meets[q.ID][x.Index()] = true
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
			if meets[id][b.Index()] {
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

// solve runs the program and returns the milliseconds of each round.
func solve(ctx context.Context, program, file string, rounds int) (problems int, times []float64, err error) {
	text, err := exec.CommandContext(ctx, program, file, strconv.Itoa(rounds)).Output()
	if err != nil {
		return 0, nil, fmt.Errorf("libsolv: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	if !lines.Scan() {
		return 0, nil, errors.New("libsolv: no output")
	}
	installed := 0
	if _, err := fmt.Sscan(lines.Text(), &problems, &installed); err != nil {
		return 0, nil, fmt.Errorf("libsolv: %w", err)
	}
	for lines.Scan() {
		ms, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			return 0, nil, fmt.Errorf("libsolv: %w", err)
		}
		times = append(times, ms)
	}
	return problems, times, nil
}
