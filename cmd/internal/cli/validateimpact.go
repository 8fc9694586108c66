package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
)

// A newEdges judges the upgrades that a catalog has and an older one does not have.
type newEdges struct {
	base, tree string
	reading    graph.Reading
	pull       bool

	blobs         *fbc.Catalog // the catalog, for positions
	found         fbc.Diagnostics
	added, unread int // the numbers of new upgrades, and of those whose manifests are not available
}

// judge returns a finding for each new upgrade and each code of its changes, at the entry of
// its channel. It prints a note about upgrades whose manifests are not available.
func (n *newEdges) judge(ctx context.Context, e *env, path string) (fbc.Diagnostics, error) {
	l := newLoader(e)
	l.silent = true // about templates, which are findings
	created, err := l.wholeIndex(ctx, path)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil // other findings have the reason
	}
	old, err := l.wholeIndex(ctx, n.base)
	if err != nil {
		return nil, err
	}
	run := newImpactRun(e)
	run.tree, run.opts.Classic = n.tree, n.reading == graph.Classic
	for p := range created.Packages() {
		if err := n.pkg(ctx, run, old, p); err != nil {
			return nil, err
		}
	}
	if n.unread > 0 {
		visible.Fprintf(e.stderr, "note: %d of %d new upgrades could not be compared, because the catalog lacks manifests; name the directory of bundles with --bundles, or read images with --pull\n", n.unread, n.added)
	}
	return n.found, nil
}

// pkg judges the new upgrades of a package.
func (n *newEdges) pkg(ctx context.Context, run *impactRun, base *graph.Catalog, p graph.Package) error {
	had := map[[2]string]bool{}
	packages := []graph.Package{p}
	if old, ok := base.Package(p.Name()); ok {
		packages = append(packages, old)
		u := old.Upgrades(n.reading, nil)
		if u.Err() != nil {
			return u.Err()
		}
		for s := range u.AllSteps() {
			had[[2]string{s.From.Name, s.To.Name}] = true
		}
	}
	u := p.Upgrades(n.reading, nil)
	if u.Err() != nil {
		return u.Err()
	}
	judge := run.judgeOf(run.bundlesOf(n.pull, packages...))
	for s := range u.AllSteps() {
		_, known := judge.bundles.find(s.From.Name)
		if had[[2]string{s.From.Name, s.To.Name}] || s.From.Name == s.To.Name || !known {
			continue
		}
		n.added++
		r, err := judge.report(ctx, s.From.Name, s.To.Name)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errNotAvailable):
			n.unread++
		case err != nil:
			n.finding(p.Name(), s, codes.ImpactNotCompared, "it was not compared: "+readErrorText(err))
		default:
			n.changes(s, r)
		}
	}
	return nil
}

// changes adds a finding for each code of the changes of an upgrade.
func (n *newEdges) changes(s graph.Step, r *impact.Report) {
	found := r.Findings()
	for i, d := range found {
		same := func(x *fbc.Diagnostic) bool { return x.Code == d.Code }
		if slices.ContainsFunc(found[:i], same) {
			continue
		}
		text := d.Err.Error()
		if more := len(found) - len(slices.DeleteFunc(slices.Clone(found), same)) - 1; more > 0 {
			text += ", and " + phrase.Count(more, "more change") + " like this"
		}
		n.finding(r.Package, s, d.Code, text)
	}
}

// finding adds a finding at the first entry that admits an upgrade, or else at its bundle.
func (n *newEdges) finding(pkg string, s graph.Step, code fbc.Code, text string) {
	d := &fbc.Diagnostic{Code: code, Severity: code.Severity(), Package: pkg, Err: fmt.Errorf("upgrade from %s to %s: %s", s.From.Name, s.To.Name, text)}
	n.found = append(n.found, d)
	for _, ch := range n.blobs.Channels {
		if ch.Package != pkg || ch.Name != s.Reasons[0].Channel {
			continue
		}
		if i := slices.IndexFunc(ch.Entries, func(e fbc.Entry) bool { return e.Name == s.To.Name }); i >= 0 {
			d.Schema, d.Name, d.Pos, d.Path = fbc.SchemaChannel, ch.Name, ch.Pos, fmt.Sprintf("/entries/%d", i)
			return
		}
	}
	for _, b := range n.blobs.Bundles {
		if b.Package == pkg && b.Name == s.To.Name {
			d.Schema, d.Name, d.Pos = fbc.SchemaBundle, b.Name, b.Pos
			return
		}
	}
}
