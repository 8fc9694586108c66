package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/graph"
)

// trees lists the catalogs to load.
var trees = []struct {
	label, name string
	tree        *generate.Tree // nil for the unmodified catalog
}{
	{"community", "community", nil},
	{"community-full", "community-full", nil},
	{"community-full, all JSON", "community-full", &generate.Tree{}},
	{"community-full, all YAML", "community-full", &generate.Tree{YAML: true}},
	{"openshift-v4.16 (YAML)", "openshift-v4.16", nil},
	{"openshift-v4.19 (YAML)", "openshift-v4.19", nil},
	{"openshift-v4.19 tenfold (YAML)", "openshift-v4.19", &generate.Tree{YAML: true, Copies: 10}},
}

func (r *run) dir(ctx context.Context, name string, t *generate.Tree) (string, error) {
	if t == nil {
		return r.catalog(name)
	}
	return r.copyOf(ctx, name, *t)
}

// load compares loading with opm. Each loader turns files into a model that can be resolved over: our index, or opm's
// model.
func (r *run) load(ctx context.Context) error {
	for _, t := range trees {
		dir, err := r.dir(ctx, t.name, t.tree)
		if err != nil {
			return r.absent("load", err)
		}
		n, err := size(dir)
		if err != nil {
			return err
		}
		row := Row{Group: "load", Case: t.label, Note: fmt.Sprintf("%.1f MB", float64(n)/1e6), Bound: "reading", bound: func() error { return readAll(dir) }}
		ours := func() error { _, err := graph.Load(ctx, os.DirFS(dir), nil); return err }
		row.Peer = "opm"
		if err := r.pair(ctx, row, ours, func() error { _, err := peer.Load(ctx, os.DirFS(dir)); return err }); err != nil {
			return err
		}
		if t.tree == nil || t.tree.YAML {
			continue
		}
		row.Peer = "skipping values with jsontext, one core"
		if err := r.pair(ctx, row, ours, func() error { return skipValues(dir) }); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads the files of a directory one by one.
func readAll(dir string) error {
	buf := make([]byte, 128<<10)
	return eachFile(dir, func(f *os.File) error {
		for {
			if _, err := f.Read(buf); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

// skipValues reads the tokens of all JSON files of a directory.
func skipValues(dir string) error {
	return eachFile(dir, func(f *os.File) error {
		for d := jsontext.NewDecoder(f); ; {
			if err := d.SkipValue(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

func eachFile(dir string, do func(*os.File) error) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(f)
	})
}

// memory compares the peak resident memory of processes that only load. The memory of the same process loading nothing
// is subtracted.
func (r *run) memory(ctx context.Context) error {
	bare := map[string]float64{}
	for _, child := range []string{"olmkit", "opm"} {
		build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(r.tmp, "child-"+child), "./child/"+child)
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building the child: %w: %s", err, text)
		}
		mib, err := r.peak(ctx, child)
		if err != nil {
			return err
		}
		bare[child] = mib
	}
	for _, t := range trees {
		dir, err := r.dir(ctx, t.name, t.tree)
		if err != nil {
			return r.absent("memory", err)
		}
		row := Row{Group: "memory", Case: t.label, Peer: "opm", Unit: "MiB"}
		row.Note = fmt.Sprintf("peak above the bare binary of %.0f and %.0f MiB", bare["olmkit"], bare["opm"])
		var ours, theirs []float64
		for range 3 {
			a, err := r.peak(ctx, "olmkit", dir)
			if err != nil {
				return err
			}
			b, err := r.peak(ctx, "opm", dir)
			if err != nil {
				return err
			}
			ours, theirs = append(ours, a-bare["olmkit"]), append(theirs, b-bare["opm"])
		}
		row.Ours, row.Theirs = median(ours), median(theirs)
		row.Ratio = row.Theirs / row.Ours
		r.add(row)
	}
	return nil
}

// peak returns the peak resident memory of a child process in MiB.
func (r *run) peak(ctx context.Context, child string, args ...string) (float64, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(r.tmp, "child-"+child), args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", child, err)
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return kib / 1024, err
}
