package registryv1

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
)

// EligibleOptions describe the OLM v1 that would install a bundle.
type EligibleOptions struct {
	// Certificates provides the certificates of webhooks.
	Certificates CertProvider
	// AllNamespaces requires that a bundle can watch all namespaces. OLM v1 requires that
	// unless its feature SingleOwnNamespaceInstallSupport is enabled.
	AllNamespaces bool
	// AsUpstream adds what operator-controller renders but can never apply.
	AsUpstream bool
	// Limits cap the cost of reading the manifests in a blob. Nil means the defaults.
	Limits *Limits
}

// An Eligibility states whether OLM v1 installs a bundle at all: in some namespace and
// with some configuration.
type Eligibility struct {
	// Problems are all reasons why it does not, in the order of the stages. Dependencies
	// come first.
	Problems []Problem
	// Partial is set if the manifests of the bundle are not known, so there may be
	// more problems.
	Partial bool
}

// Eligible returns whether OLM v1 installs a bundle at all ([K231]). Blob is the bundle in
// its catalog, or nil. Content is the bundle itself. If content is nil, it is read from
// the properties of blob: either all manifests, or the excerpt of the CSV in
// olm.csv.metadata. The error is the cause of the context's end.
//
// [K231]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k231
func Eligible(ctx context.Context, blob *fbc.Bundle, content *Bundle, opts EligibleOptions) (*Eligibility, error) {
	e := &Eligibility{}
	if blob != nil {
		e.Problems = dependencies(blob)
	}
	if content == nil && blob != nil {
		var problems []Problem
		content, e.Partial, problems = fromBlob(ctx, blob, opts.Limits)
		e.Problems = append(e.Problems, problems...)
	}
	if content == nil {
		e.Partial = true
		return e, cause(ctx)
	}
	if opts.AllNamespaces && !content.supports(v1alpha1.InstallModeTypeAllNamespaces) {
		e.Problems = append(e.Problems, Problem{Stage: StageUnsupported, Code: "allNamespaces", OnlyV1: true, Pos: content.csv().At("spec", "installModes"),
			Message: "the bundle does not support the install mode AllNamespaces, which OLM v1 requires unless its feature SingleOwnNamespaceInstallSupport is enabled"})
	}
	if e.Partial {
		e.Problems = append(e.Problems, content.unsupported(opts.Certificates)...)
		return e, cause(ctx)
	}
	problems, err := content.rendering(ctx, opts)
	e.Problems = append(e.Problems, problems...)
	return e, err
}

func cause(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// dependencies returns a problem for the dependencies of a bundle, because OLM v1 installs none.
func dependencies(blob *fbc.Bundle) []Problem {
	var required []string
	subject, readable := "", true
	for _, p := range blob.Properties {
		switch p.Type {
		case property.TypePackageRequired, property.TypeGVKRequired, property.TypeConstraint:
			x, _, err := constraints.NewCompiler(nil).FromProperty(p)
			if err == nil {
				required = append(required, prose.Requirement(x))
			} else {
				required, readable = append(required, fmt.Sprintf("something that cannot be read (%v)", err)), false
			}
			subject = cmp.Or(subject, p.Type)
		}
	}
	if len(required) == 0 {
		return nil
	}
	return []Problem{{Stage: StageUnsupported, Code: "dependency", OnlyV1: readable, Subject: subject, Pos: blob.Pos, // H7
		Message: "the bundle requires " + phrase.Join(required, "and") + "; OLM v1 does not install dependencies, and refuses bundles that declare any"}}
}

// fromBlob reads the content of a bundle from its blob in a catalog. Partial is true if
// that holds only an excerpt or nothing.
func fromBlob(ctx context.Context, blob *fbc.Bundle, limits *Limits) (content *Bundle, partial bool, problems []Problem) {
	var objects [][]byte
	for _, p := range blob.Properties {
		bad := func(err error) []Problem {
			return []Problem{{Stage: StageRead, Code: "manifest", Subject: p.Type, Pos: blob.Pos, Message: fmt.Sprintf("property %s: %v", p.Type, err)}}
		}
		switch p.Type {
		case property.TypeBundleObject:
			var value struct {
				Data []byte `json:"data"`
			}
			if err := json.Unmarshal(p.Value, &value); err != nil {
				return nil, true, bad(err)
			}
			objects = append(objects, value.Data)
		case property.TypeCSVMetadata:
			var spec v1alpha1.ClusterServiceVersionSpec
			if err := json.Unmarshal(p.Value, &spec); err != nil {
				return nil, true, bad(err)
			}
			csv := v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: blob.Name}, Spec: spec}
			content = &Bundle{Package: blob.Package, CSVs: []Manifest[v1alpha1.ClusterServiceVersion]{{Pos: blob.Pos, Object: csv}}}
		}
	}
	if len(objects) == 0 {
		return content, true, nil
	}
	full, err := FromObjects(ctx, blob.Package, objects, &ReadOptions{Limits: limits})
	if e, ok := err.(*Error); ok {
		return nil, true, e.Problems
	}
	return full, full == nil, nil
}

// rendering returns why the bundle cannot be rendered with any configuration. With AsUpstream it
// adds what the API server or the controller of ClusterObjectSets would refuse.
func (b *Bundle) rendering(ctx context.Context, opts EligibleOptions) ([]Problem, error) {
	out, problems, err := b.renderSomehow(ctx, opts.Certificates)
	switch {
	case err != nil:
		return nil, err
	case out == nil && opts.AsUpstream:
		return slices.DeleteFunc(problems, func(p Problem) bool { return p.ours && p.Stage != StageRevision }), nil
	case out == nil || !opts.AsUpstream:
		return problems, nil
	}
	return b.stalled(out), nil
}

// renderSomehow renders the bundle with some valid configuration. It returns either manifests or
// problems.
func (b *Bundle) renderSomehow(ctx context.Context, certificates CertProvider) (*Manifests, []Problem, error) {
	opts := RenderOptions{Namespace: "operators", Certificates: certificates}
	if watch, required := b.watchSchema(); watch != nil && required {
		name := opts.Namespace
		if !b.supports(v1alpha1.InstallModeTypeOwnNamespace) {
			name += "-watched"
		}
		opts.Config = fmt.Appendf(nil, "{watchNamespace: %s}", name)
	}
	out, err := b.Render(ctx, opts)
	if e, ok := err.(*Error); ok {
		return nil, e.Problems, nil
	}
	return out, nil, err
}

// stalled returns a problem for each object that operator-controller renders but can never apply. The
// objects of a webhook have one.
func (b *Bundle) stalled(m *Manifests) (out []Problem) {
	webhooks := b.CSV().Spec.WebhookDefinitions
	objects := map[int][]string{} // of each webhook without a port
	at := map[int]int{}           // and its problem
	for _, d := range m.Differences {
		x := Problem{Stage: StageRevision, Code: "rollout", OnlyV1: true, Subject: d.Object, Pos: b.csv().Pos, Message: d.Object + " " + d.Message}
		parts := strings.Split(d.Object, "/") // see Key
		kind, name := parts[max(0, len(parts)-3)], parts[len(parts)-1]
		switch d.Rule {
		case "K206":
			i := slices.IndexFunc(webhooks, func(w v1alpha1.WebhookDescription) bool {
				return w.ContainerPort == 0 && (slices.Contains(w.ConversionCRDs, name) || strings.HasPrefix(name, w.GenerateName))
			})
			if i >= 0 {
				x.Pos = b.csv().At(webhookPath(i)...)
				if objects[i] = append(objects[i], fmt.Sprintf("%s %q", kind, name)); len(objects[i]) > 1 {
					continue
				}
				at[i] = len(out)
			}
		case "K209":
			x.Message = fmt.Sprintf("%s %q is in the bundle twice, or in the bundle and generated from its CSV; OLM v1 renders both and refuses the revision; remove one", kind, name)
		case "K210":
		default:
			continue
		}
		out = append(out, x)
	}
	for i, problem := range at {
		out[problem].Message = fmt.Sprintf("webhook %q has no containerPort; OLM v1 writes port 0 into %s, which the API server refuses; set containerPort: 443", webhooks[i].GenerateName, phrase.And(objects[i]))
	}
	return out
}

// Rollout returns what goes wrong after a bundle was validated: objects that no rendering has
// (stages [StageGenerate] and [StageRevision]) and, with the code "rollout", objects that olmkit
// corrects but operator-controller can never apply. It returns nothing for a bundle that
// [Bundle.Validate] or OLM v1 refuses. The error is the cause of the context's end.
func (b *Bundle) Rollout(ctx context.Context) ([]Problem, error) { // K209, K210, K211
	m, problems, err := b.renderSomehow(ctx, CertManager)
	if m != nil {
		problems = b.stalled(m)
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return p.Stage != StageGenerate && p.Stage != StageRevision }), err
}
