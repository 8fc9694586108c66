package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

// checked adds to an answer which upgrade OLM v1 refuses because of its CRDs, of those that it would then take on its own.
// Upgrades are compared up to the first bundle whose manifests no catalog has.
func (s *selector) checked(ctx context.Context, a *selectAnswer, r olmv1.Request) error { // K54
	if r.Installed == nil {
		return nil
	}
	installed := graph.Node{Name: r.Installed.Name, Version: r.Installed.Version}
	if a.refusal != nil {
		changed := *a.refusal
		var err error
		changed.Fixes, err = triedEach(changed.Fixes, func(f *olmv1.Fix) (*olmv1.Fix, bool, error) { return s.try(ctx, &r, r.Installed.Name, f) })
		a.refusal = &changed
		return err
	}
	x, err := s.stop(ctx, r, installed, a.selection)
	if err != nil || x == nil {
		return err
	}
	text := fmt.Sprintf("OLM v1 stops at %s, because it refuses %s: %s. To let it go on, set crdUpgradeSafety to None, and set it back afterwards", x.From, x.To, x.Reason)
	if !x.Harmless {
		text += ". Risk: custom resources that the new CRDs do not accept may be lost; back them up"
	}
	command := olmv1.Command{Line: kubectl.Operator{V1: true, Name: cmp.Or(r.ID, r.Package)}.AllowUnsafeCRDs()}
	if x.From != installed.Name {
		command.After.Name = x.From
	}
	changed := *a.selection
	changed.Notes = append(slices.Clip(changed.Notes), olmv1.Note{Code: olmv1.NoteCRDs, Text: text, Commands: []olmv1.Command{command}})
	a.selection = &changed
	return nil
}

// stop returns the first upgrade that OLM v1 refuses because of its CRDs, of those to the selected bundle and on from there,
// or nil.
func (s *selector) stop(ctx context.Context, r olmv1.Request, at graph.Node, sel *olmv1.Selection) (*platform.Judgment, error) {
	j := s.judge(&r, sel.Catalog)
	seen := map[string]bool{at.Name: true}
	for !seen[sel.Bundle] {
		seen[sel.Bundle] = true
		x, compared, err := j.refusal(ctx, at.Name, sel.Bundle)
		if err != nil || x != nil || !compared {
			return x, err
		}
		at = graph.Node{Name: sel.Bundle, Version: sel.Version}
		r.Installed = &olmv1.Installed{Name: at.Name, Version: at.Version}
		sel, err = olmv1.Select(ctx, r)
		if errors.As(err, new(*olmv1.Refusal)) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// try returns a fix with the first upgrade that OLM v1 refuses because of its CRDs, and whether that is the one to the selected
// bundle.
func (s *selector) try(ctx context.Context, r *olmv1.Request, installed string, f *olmv1.Fix) (_ *olmv1.Fix, refused bool, err error) {
	at, last, j := installed, "", s.judge(r, f.Catalog)
	for _, n := range append([]graph.Node{f.Selected}, f.Later...) {
		if n.Name == at {
			break // it stays
		}
		x, compared, err := j.refusal(ctx, at, n.Name)
		if err != nil {
			return nil, false, err
		}
		if x != nil {
			changed := *f
			changed.Text += refusedAfter(last, n.Name, x.Reason)
			return &changed, last == "", nil
		}
		if !compared {
			break
		}
		at, last = n.Name, n.Name
	}
	return f, false, nil
}

// judge returns a judge of the upgrades of a package, whose bundles are those of one catalog as far as it has them.
func (s *selector) judge(r *olmv1.Request, catalog string) *edgeJudge {
	var packages []graph.Package
	for _, c := range r.Catalogs {
		if p, ok := c.Graph.Package(r.Package); ok && c.Name == catalog {
			packages = slices.Insert(packages, 0, p)
		} else if ok {
			packages = append(packages, p)
		}
	}
	run := newImpactRun(s.loader.env)
	return run.judgeOf(run.bundlesOf(false, packages...))
}

// refusal returns the upgrade with the reason if OLM v1 refuses it because of its CRDs, or nil, and whether it was compared.
func (j *edgeJudge) refusal(ctx context.Context, from, to string) (x *platform.Judgment, compared bool, err error) {
	edge, err := j.of(ctx, from, to)
	if err != nil || !edge.refused {
		return nil, err == nil && edge.Error == "", err
	}
	report, err := j.report(ctx, from, to)
	if err != nil {
		return nil, true, err
	}
	x = &platform.Judgment{Exclusion: edge.reasoned()}
	judge(x, report, true)
	return x, true, nil
}
