package cli

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
)

// statusOptions are the defaults of plan.
var statusOptions = registryv1.RenderOptions{Certificates: registryv1.CertManager}

// preflight changes the statuses of ClusterExtensions whose next bundle cannot be rolled out, as plan reports it, as far as
// the manifests are at hand: it pulls no images, and reads nothing more from a running cluster.
func (r *clusterReader) preflight(ctx context.Context, run *impactRun, operators []operatorStatus) error { // K54
	next := map[string]*operatorStatus{}
	for i := range operators {
		if o := &operators[i]; o.upcoming || o.malformed || len(o.SelectFixes) > 0 {
			next[o.Object.Name] = o
		}
	}
	if len(next) == 0 {
		return nil
	}
	x, err := r.newExtensionReader(r.loader, r.census, run, statusOptions)
	if err != nil {
		return err
	}
	x.offline = true
	if !r.wanted(r.cmd) {
		if err := x.readSecrets(ctx); err != nil {
			return err
		}
	}
	states, err := x.states(ctx, x.names())
	if err != nil {
		return err
	}
	for _, s := range states {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		p, err := s.plan(ctx)
		if err != nil {
			return err
		}
		x.change(s.snapshot, p.reached(s.snapshot))
		if o := next[p.Extension]; o != nil {
			o.preflight(p)
		}
	}
	return nil
}

// preflight adds what the plan of a ClusterExtension shows.
func (o *operatorStatus) preflight(p *extensionPlan) {
	switch {
	case p.Refused != "" && !o.upcoming:
		o.SelectFixes, o.Ways = p.Fixes, p.Ways
	case !o.upcoming || p.Target == nil:
	case p.occupied != nil:
		o.Moves, o.Ways = movesStuck, p.Ways
		o.Why = "it " + p.occupied.why
	case len(p.Blocked) > 0:
		o.Moves, o.Ways = movesStuck, p.Ways
		b := p.Blocked[0]
		text := b.Message
		if b.Object != nil {
			text = fmt.Sprintf("%s %s: %s", kindName(b.Object), b.Object.Name, text)
		}
		if n := len(p.Blocked); n > 1 {
			text += ", and " + phrase.Count(n-1, "more problem")
		}
		if o.Why = fmt.Sprintf("the rollout of %s is blocked: %s", p.Target.Name, text); p.refused() {
			o.Why = fmt.Sprintf("OLM v1 refuses %s: %s", p.Target.Name, text)
		}
	default:
		for _, crd := range p.Lost {
			o.Why += "; CRD " + crd + " is deleted, and with it all of its custom resources"
		}
		if x := p.stop; x != nil {
			text, commands := goOn(x, p.Extension, p.Installed.Name)
			o.Why += "; after that, " + stopText(x)
			way := extensionWay{Text: "when " + x.From + " is installed, " + text}
			for _, c := range commands {
				way.Command = c.Line // of the only extension
			}
			o.Ways = append(o.Ways, way)
		}
	}
}

// kindName returns the kind of an object as people write it.
func kindName(k *olm.Key) string {
	if k.Group == olm.GroupCRD && k.Kind == olm.KindCRD {
		return "CRD"
	}
	return k.Kind
}
