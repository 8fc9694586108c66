package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
)

// An extensionWay is a change that lets OLM v1 go on.
type extensionWay struct {
	// Text is an instruction, with its outcome and risk.
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`

	unchecked bool                  // it ends the check of CRDs
	extension *api.ClusterExtension // with the change, if it is to the configuration
}

// refused reports whether OLM v1 does not begin the rollout.
func (p *extensionPlan) refused() bool {
	return slices.ContainsFunc(p.Blocked, func(b extensionBlock) bool { return b.Check != checkOwnership && b.Check != checkDryRun })
}

// unchecked returns the way without the check of CRDs, unless the API server refuses the change.
func unchecked(extension, target string, results []*crdsafety.Result) []extensionWay { // K54
	immutable := func(f crdsafety.Finding) bool {
		return f.Validation == "scope" || f.Validation == "storedVersionRemoval"
	}
	if len(results) == 0 || slices.ContainsFunc(results, func(r *crdsafety.Result) bool { return slices.ContainsFunc(r.Findings, immutable) }) {
		return nil
	}
	risk := "Risk: resources may lose fields or become invalid; see what changes with \"olmkit impact\", and back up the resources"
	if !slices.ContainsFunc(results, func(r *crdsafety.Result) bool {
		return slices.ContainsFunc(r.Findings, func(f crdsafety.Finding) bool { return !keepsValid(f) })
	}) {
		risk = "It is a false alarm: all custom resources stay valid, and only defaults or what server-side apply merges change. Set it back afterwards"
	}
	return []extensionWay{{
		unchecked: true,
		Text:      fmt.Sprintf("set crdUpgradeSafety to None; then OLM v1 does not check the CRDs of %s. %s", target, risk),
		Command: kubectl.Patch("clusterextension", "", extension, map[string]any{
			"install": map[string]any{"preflight": map[string]any{"crdUpgradeSafety": map[string]any{"enforcement": string(crdsafety.None)}}},
		}),
	}}
}

// keepsValid reports whether all custom resources stay valid in spite of a finding.
func keepsValid(f crdsafety.Finding) bool {
	return f.Validation == "default" || f.Validation == "x-kubernetes-map-type"
}

// configured returns the change of watchNamespace with which a bundle that cannot be rendered for an
// extension can be.
func configured(ctx context.Context, e *api.ClusterExtension, b *rollout.Bundle, content *registryv1.Bundle, options registryv1.RenderOptions, cause *registryv1.Error) ([]extensionWay, error) { // K22
	const field = "watchNamespace"
	if !slices.ContainsFunc(cause.Problems, func(p registryv1.Problem) bool { return p.Stage == registryv1.StageConfig && p.Subject == field }) {
		return nil, nil
	}
	inline := map[string]any{}
	if c := e.Spec.Config; c != nil && c.Inline != nil {
		if err := json.Unmarshal(c.Inline.Raw, &inline); err != nil || inline == nil {
			return nil, nil
		}
	}
	for _, value := range []any{nil, e.Spec.Namespace} {
		changed, text := *e, "remove watchNamespace"
		if inline[field] = value; value == nil {
			delete(inline, field)
		} else {
			text = fmt.Sprintf("set watchNamespace to %s, the install namespace", value)
		}
		raw, err := json.Marshal(inline)
		if err != nil {
			return nil, err
		}
		changed.Spec.Config = &api.Config{ConfigType: "Inline", Inline: &runtime.RawExtension{Raw: raw}}
		_, err = desired.Want(ctx, &changed, b, content, options)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			continue
		}
		return []extensionWay{{
			Text: fmt.Sprintf("%s; then OLM v1 can render %s", text, b.Name),
			Command: kubectl.Patch("clusterextension", "", e.Name, map[string]any{
				"config": map[string]any{"configType": "Inline", "inline": map[string]any{field: value}},
			}),
			extension: &changed,
		}}, nil
	}
	return nil, nil
}

// replace adds the way past objects that exist already.
func (p *extensionPlan) replace(existing []olm.Key) { // K83
	if len(existing) == 0 {
		return
	}
	text := "remove the objects that exist already, with what installed them, so that OLM v1 creates them"
	if i := slices.IndexFunc(p.Ways, func(w extensionWay) bool { return w.unchecked }); i >= 0 && !slices.ContainsFunc(p.Blocked, func(b extensionBlock) bool {
		return b.Check == checkCRDSafety && !slices.Contains(existing, *b.Object)
	}) { // then no CRD is left to compare with
		p.Ways = slices.Delete(p.Ways, i, i+1)
		text += " and has no CRD to compare with"
	}
	if slices.ContainsFunc(existing, func(k olm.Key) bool { return k.Group == olm.GroupCRD && k.Kind == olm.KindCRD }) {
		text += ". Risk: with a CRD, all of its custom resources are deleted; back them up"
	}
	p.Ways = append(p.Ways, extensionWay{Text: text})
}

// rival states what to do if another extension has an object.
func (x *extensionState) rival(o *unstructured.Unstructured) string { // K83
	other, c := o.GetLabels()[labelOwner], metav1.GetControllerOfNoCopy(o)
	if c == nil || c.Kind != kindExtension && c.Kind != kindObjectSet || other == "" || other == x.extension.Name {
		return ""
	}
	return fmt.Sprintf("; an object can belong to only one ClusterExtension: delete %s or %s", other, x.extension.Name)
}

// unsafeText returns a finding about a CRD, with its path as people write it.
func unsafeText(f crdsafety.Finding) string {
	f.Path = strings.TrimPrefix(f.Path, "^")
	return f.String()
}

// writeLost prints which custom resources are deleted.
func writeLost(t *prose.Writer, crds []string) {
	for _, name := range crds {
		t.Line(nil, fmt.Sprintf("warning: CRD %s is deleted, and with it all of its custom resources; save them first", name), "", "  ")
		t.Verbatim(kubectl.All(name), "  ")
	}
}

// writeWays prints what lets OLM v1 go on. Each of several ways lifts other blocks. of is "", or " for" with
// the name of a package.
func writeWays(t *prose.Writer, of string, ways []extensionWay) {
	if len(ways) > 1 {
		t.Line(nil, "To lift every block"+of+", do all of this:", "", "")
	}
	for i, x := range ways {
		first, indent := "possible fix"+of+": ", "  "
		if len(ways) > 1 {
			first, indent = fmt.Sprintf("%3d. ", i+1), "     "
		}
		t.Line(t.Style.Help, x.Text, first, indent)
		if x.Command != "" {
			t.Verbatim(x.Command, indent)
		}
	}
}

// writePhases prints the changes that are made, and how many wait.
func (p *extensionPlan) writePhases(line func(format string, args ...any)) {
	waiting := 0
	for _, phase := range p.Phases {
		of := ""
		if p.Revision != "" && phase.Revision != p.Revision {
			of = " of revision " + phase.Revision
		}
		begun := false
		for _, o := range phase.Objects {
			switch {
			case o.Waits:
				waiting++
				continue
			case begun:
			case phase.Removed:
				line("\nRemoved with revision %s, phase %s:", phase.Revision, phase.Phase)
			default:
				line("\nPhase %s%s:", phase.Phase, of)
			}
			begun = true
			line("  %s %s", o.Op, o.Object)
			for i, f := range o.Fields {
				if i == maxFields {
					line("      and %s; -o json lists all", phrase.Count(len(o.Fields)-i, "more field"))
					break
				}
				line("      %s", f)
			}
		}
	}
	if waiting > 0 {
		line("\nMade when this is fixed: %s; -o json lists them", phrase.Count(waiting, "change"))
	}
}
