package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/near"
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
	change    string                // the change of the configuration, without its outcome
	gives     bool                  // it gives the extension up
}

// refused reports whether OLM v1 does not begin the rollout.
func (p *extensionPlan) refused() bool {
	return slices.ContainsFunc(p.Blocked, func(b extensionBlock) bool { return b.Check != checkOwnership && b.Check != checkDryRun })
}

// unsafeWays returns what lets a rollout go on whose CRDs OLM v1 refuses: rewriting resources that are stored as a version
// which is removed, and the end of the check, unless the API server refuses the change. live returns the CRD on the cluster.
func unsafeWays(extension, target string, results []*crdsafety.Result, live func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) (out []extensionWay) { // K54
	var rest []*crdsafety.Result
	for _, r := range results {
		other := *r
		other.Findings = nil
		for _, f := range r.Findings {
			switch f.Validation {
			case "scope":
				return nil
			case "storedVersionRemoval":
				crd, err := live(crdNamed(r.Name))
				if err != nil {
					return nil
				}
				w, ok := migration(r.Name, f, crd)
				if !ok {
					return nil
				}
				out = append(out, w)
			default:
				other.Findings = append(other.Findings, f)
			}
		}
		if len(other.Findings) > 0 {
			rest = append(rest, &other)
		}
	}
	return append(out, unchecked(extension, target, rest)...)
}

// migration returns the way past a CRD without a version in which resources may be stored. ok is false if new resources are
// still stored as that version.
func migration(name string, f crdsafety.Finding, live *unstructured.Unstructured) (w extensionWay, ok bool) { // K226
	var removed []string
	if live == nil || json.Unmarshal(f.Old, &removed) != nil {
		return w, false
	}
	versions, _, _ := unstructured.NestedSlice(live.Object, "spec", "versions")
	kept, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
	kept = slices.DeleteFunc(kept, func(v string) bool { return slices.Contains(removed, v) })
	for _, v := range versions {
		v, _ := v.(map[string]any)
		storage, _ := v["storage"].(bool)
		switch name, _ := v["name"].(string); {
		case !storage || slices.Contains(kept, name):
		case slices.Contains(removed, name):
			return w, false
		default:
			kept = append(kept, name)
		}
	}
	old := phrase.And(removed)
	return extensionWay{
		Text:    fmt.Sprintf("rewrite the resources of CRD %s, which may be stored as %s, and remove %s from its status.storedVersions; with crdUpgradeSafety None, the API server would refuse the CRD", name, old, old),
		Command: kubectl.All(name) + " | kubectl replace -f - && " + kubectl.PatchStatus("crd", "", name, map[string]any{"storedVersions": kept}),
	}, true
}

// unchecked returns the way without the check of CRDs.
func unchecked(extension, target string, results []*crdsafety.Result) []extensionWay { // K54
	if len(results) == 0 {
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
	typo := ""
	if !slices.ContainsFunc(cause.Problems, func(p registryv1.Problem) bool {
		if p.Stage == registryv1.StageConfig && p.Code == "unknown" && len(near.Names(p.Subject, []string{field}, 1)) > 0 {
			typo = p.Subject
		}
		return p.Stage == registryv1.StageConfig && (p.Subject == field || p.Subject == typo && typo != "")
	}) {
		return nil, nil
	}
	inline := map[string]any{}
	if c := e.Spec.Config; c != nil && c.Inline != nil {
		if err := json.Unmarshal(c.Inline.Raw, &inline); err != nil || inline == nil {
			return nil, nil
		}
	}
	values := []any{nil, e.Spec.Namespace}
	_, given := inline[field]
	if typo != "" && !given {
		values = slices.Insert(values, 0, inline[typo])
	}
	for i, value := range values {
		changed, text, change := *e, "remove watchNamespace", map[string]any{field: value}
		tried := maps.Clone(inline)
		if typo != "" {
			delete(tried, typo)
			change[typo] = nil
		}
		if tried[field] = value; value == nil {
			delete(tried, field)
		} else {
			text = fmt.Sprintf("set watchNamespace to %s, the install namespace", value)
		}
		if typo != "" && !given && i == 0 {
			text = "rename " + typo + " to watchNamespace"
		}
		raw, err := json.Marshal(tried)
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
				"config": map[string]any{"configType": "Inline", "inline": change},
			}),
			extension: &changed,
			change:    text,
		}}, nil
	}
	return nil, nil
}

// withoutVersion returns the removal of a version range that OLM v1 cannot read, if it then selects a bundle.
func (x *extensionState) withoutVersion(ctx context.Context, installed *rollout.Revision) ([]extensionWay, error) { // C6
	changed := *x
	changed.extension = x.extension.DeepCopy()
	changed.extension.Spec.Source.Catalog.Version = ""
	d, err := changed.decide(ctx, installed)
	if err != nil || d.Selection == nil {
		return nil, err
	}
	return []extensionWay{{
		Text: fmt.Sprintf("remove the version, which allows all; then OLM v1 selects %s", d.Selection.Bundle),
		Command: kubectl.Patch("clusterextension", "", x.extension.Name, map[string]any{
			"source": map[string]any{"catalog": map[string]any{"version": nil}},
		}),
	}}, nil
}

// crdNamed returns a CRD that has only a name.
func crdNamed(name string) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion(olm.GroupCRD + "/v1")
	crd.SetKind(olm.KindCRD)
	crd.SetName(name)
	return crd
}

// An occupation is a CRD of an extension that another one has.
type occupation struct {
	extensionWay
	why   string // what the extension cannot, without its name
	block extensionBlock
}

// occupied returns the CRD that keeps an extension from being installed because another one has it, or nil.
func (x *extensionState) occupied(ctx context.Context, content *registryv1.Bundle) (*occupation, error) { // K83
	for i := range content.CRDs {
		crd := crdNamed(content.CRDs[i].Object.Name)
		if err := x.objects(ctx, nil, []*unstructured.Unstructured{crd}); err != nil {
			return nil, err
		}
		for _, o := range x.snapshot.Objects {
			if registryv1.Key(o) != registryv1.Key(crd) || x.rival(o) == "" {
				continue
			}
			owner := o.GetLabels()[labelOwner]
			return x.occupation(owner, "CRD "+crd.GetName(), extensionBlock{
				Check: checkOwnership, Object: new(keyOf(crd)), Message: "it exists already, controlled by ClusterExtension " + owner + x.rival(o),
			}), nil
		}
	}
	return nil, nil
}

// occupation returns that another extension has what this one needs.
func (x *extensionState) occupation(owner, what string, b extensionBlock) *occupation {
	why := fmt.Sprintf("cannot be installed as long as ClusterExtension %s has %s", owner, what)
	return &occupation{extensionWay{
		gives:   true,
		Text:    fmt.Sprintf("delete ClusterExtension %s, which %s", x.extension.Name, why),
		Command: kubectl.Delete("clusterextension", "", x.extension.Name),
	}, why, b}
}

// second returns that another extension has installed the package of a bundle whose manifests are unknown, if the bundle has
// CRDs, or nil.
func (x *extensionState) second(name string) *occupation { // K83
	owns := slices.ContainsFunc(x.packages(x.packageName()), func(p graph.Package) bool {
		b, ok := p.Bundle(name)
		return ok && len(slices.Collect(b.APIs())) > 0
	})
	for _, o := range x.cluster.List() {
		if k := o.Key(); !owns || k.Group != groupV1 || k.Kind != kindExtension || k.Name == x.extension.Name {
			continue
		}
		e, err := asExtension(o)
		if err != nil || e.Spec.Source.Catalog.PackageName != x.packageName() || e.Status.Install.Bundle.Name == "" {
			continue
		}
		owner := e.Metadata.Name
		return x.occupation(owner, "the CRDs of its package", extensionBlock{
			Check: checkOwnership, Message: fmt.Sprintf("ClusterExtension %s has the CRDs of package %s; a CRD can belong to only one ClusterExtension", owner, x.packageName()),
		})
	}
	return nil
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
