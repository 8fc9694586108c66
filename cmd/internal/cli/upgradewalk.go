package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

// An upgradeWalk follows the upgrades that OLM v1 takes on its own, and finds the first one that it refuses. It reads only
// manifests that are at hand, and ends at the first bundle without.
type upgradeWalk struct {
	*edgeJudge
	extensions []*api.ClusterExtension // those of the operator that are known
}

// walk returns a walk for a package, which is in one or more catalogs in order of preference.
func (i *impactRun) walk(extensions []*api.ClusterExtension, packages []graph.Package) *upgradeWalk {
	return &upgradeWalk{i.judgeOf(i.bundlesOf(false, packages...)), extensions}
}

// unenforced reports whether OLM v1 does not check the CRDs of an extension.
func unenforced(list []*api.ClusterExtension) bool {
	return slices.ContainsFunc(list, func(e *api.ClusterExtension) bool {
		i := e.Spec.Install
		return i != nil && i.Preflight != nil && i.Preflight.CRDUpgradeSafety != nil && i.Preflight.CRDUpgradeSafety.Enforcement == string(crdsafety.None)
	})
}

// refusal returns the upgrade with the reason if OLM v1 refuses it because of the configuration or of CRDs, or nil, and
// whether the manifests of both bundles are known.
func (w *upgradeWalk) refusal(ctx context.Context, from, to string) (x *platform.Judgment, compared bool, err error) { // K54
	if x, err = w.badConfig(ctx, from, to); x != nil || err != nil {
		return x, true, err
	}
	edge, err := w.of(ctx, from, to)
	if err != nil || !edge.refused || unenforced(w.extensions) {
		return nil, err == nil && edge.Error == "", err
	}
	report, err := w.report(ctx, from, to)
	if err != nil {
		return nil, true, err
	}
	x = &platform.Judgment{Exclusion: edge.reasoned()}
	judge(x, report, true)
	return x, true, nil
}

// badConfig returns an upgrade to a bundle that OLM v1 cannot render with the configuration of an extension, or nil.
func (w *upgradeWalk) badConfig(ctx context.Context, from, to string) (x *platform.Judgment, err error) { // K22
	if len(w.extensions) == 0 {
		return nil, nil
	}
	b, err := w.bundles.get(ctx, to)
	if err != nil { // its manifests are not known
		return nil, context.Cause(ctx)
	}
	for _, e := range w.extensions {
		var config []byte
		if c := e.Spec.Config; c != nil && c.Inline != nil {
			config = c.Inline.Raw
		}
		err := b.Bundle.ValidateConfig(ctx, e.Spec.Namespace, config, false)
		var bad *registryv1.Error
		if !errors.As(err, &bad) {
			if err != nil {
				return nil, err
			}
			continue
		}
		ways, err := configured(ctx, e, &rollout.Bundle{Name: to}, b.Bundle.Bundle, statusOptions, bad)
		if err != nil {
			return nil, err
		}
		if x == nil {
			x = &platform.Judgment{Exclusion: graph.Exclusion{From: from, To: to}}
		}
		judgeConfig(x, bad, ways)
	}
	return x, nil
}

// judgeConfig adds to a judgment why OLM v1 cannot render the bundle, and the changes with which it can.
func judgeConfig(x *platform.Judgment, bad *registryv1.Error, ways []extensionWay) {
	if x.Reason == "" {
		x.Reason, x.Action = problemsSummary(bad), "correct the configuration (spec.config.inline)"
	}
	for _, w := range ways {
		x.Action, x.Commands = w.change, append(x.Commands, w.Command)
	}
}

// stop returns the first upgrade that OLM v1 refuses, of those from a bundle to the selected one and on from there, or nil.
func (w *upgradeWalk) stop(ctx context.Context, r olmv1.Request, from string, sel *olmv1.Selection) (*platform.Judgment, error) {
	seen := map[string]bool{from: true}
	for !seen[sel.Bundle] {
		seen[sel.Bundle] = true
		x, compared, err := w.refusal(ctx, from, sel.Bundle)
		if err != nil || x != nil || !compared {
			return x, err
		}
		from = sel.Bundle
		r.Installed = &olmv1.Installed{Name: sel.Bundle, Version: sel.Version}
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

// try returns a fix that ends before the first upgrade that OLM v1 refuses, and whether that is the one to the selected bundle.
func (w *upgradeWalk) try(ctx context.Context, extension, installed string, f *olmv1.Fix) (_ *olmv1.Fix, refused bool, err error) {
	from := installed
	for i, n := range append([]graph.Node{f.Selected}, f.Later...) {
		if n.Name == from {
			break // it stays
		}
		x, compared, err := w.refusal(ctx, from, n.Name)
		if err != nil {
			return nil, false, err
		}
		if x != nil {
			return stopped(f, x, n, extension, installed), i == 0, nil
		}
		if !compared {
			break
		}
		from = n.Name
	}
	return f, false, nil
}

// goOn returns what lets OLM v1 take an upgrade that it refuses, as an instruction and as commands, which are to be run when the
// bundle before it is installed.
func goOn(x *platform.Judgment, extension, installed string) (text string, commands []olmv1.Command) {
	text, lines := x.Action, x.Commands
	if text == "" {
		text = "set crdUpgradeSafety to None, and set it back afterwards"
		if !x.Harmless {
			text += ". Risk: custom resources that the new CRDs do not accept may be lost; back them up"
		}
		lines = []string{kubectl.Operator{V1: true, Name: extension}.AllowUnsafeCRDs()}
	}
	for _, line := range lines {
		c := olmv1.Command{Line: line}
		if x.From != installed {
			c.After.Name = x.From
		}
		commands = append(commands, c)
	}
	return text, commands
}

// stopped returns a fix that ends before an upgrade that OLM v1 refuses.
func stopped(f *olmv1.Fix, x *platform.Judgment, to graph.Node, extension, installed string) *olmv1.Fix {
	text, commands := goOn(x, extension, installed)
	return f.Stopped(to, x.Reason, "To let it go on, "+text, commands)
}

// stopText states which upgrade OLM v1 refuses.
func stopText(x *platform.Judgment) string {
	return fmt.Sprintf("OLM v1 stops at %s, because it refuses %s: %s", x.From, x.To, x.Reason)
}

// stopNote returns a note about an upgrade that OLM v1 refuses.
func stopNote(x *platform.Judgment, extension, installed string) olmv1.Note {
	code := olmv1.NoteCRDs
	if x.Action != "" {
		code = olmv1.NoteConfig
	}
	text, commands := goOn(x, extension, installed)
	return olmv1.Note{Code: code, Text: stopText(x) + ". To let it go on, " + text, Commands: commands}
}
