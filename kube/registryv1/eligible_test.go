package registryv1

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// eligibleCSV returns a CSV with install modes, which are space-separated, and more fields of
// its spec.
func eligibleCSV(modes, more string) string {
	var list []string
	for m := range strings.FieldsSeq(modes) {
		list = append(list, fmt.Sprintf("{type: %s, supported: true}", m))
	}
	return fmt.Sprintf("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: demo.v1.0.0}\nspec:\n  version: 1.0.0\n  installModes: [%s]\n  install: {strategy: deployment, spec: {deployments: [{name: demo, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: demo, image: demo}]}}}}]}}\n%s",
		strings.Join(list, ", "), more)
}

// eligibleCRD returns a CRD of kind A for "a".
func eligibleCRD(name string) string {
	return fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %[1]ss.example.com}\nspec: {group: example.com, names: {kind: %[2]s, plural: %[1]ss}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n", name, strings.ToUpper(name))
}

const aWebhook = "  webhookdefinitions: [{type: ValidatingAdmissionWebhook, generateName: check.example.com, deploymentName: demo, admissionReviewVersions: [v1], sideEffects: None}]\n"

// TestEligible checks K231 and K21.
func TestEligible(t *testing.T) {
	text := func(typ, value string) property.Property { return property.Property{Type: typ, Value: []byte(value)} }
	manifest := func(csv string) property.Property {
		return text(property.TypeBundleObject, fmt.Sprintf(`{"data":%q}`, base64.StdEncoding.EncodeToString([]byte(csv))))
	}
	for _, c := range []struct {
		name    string
		blob    []property.Property
		opts    EligibleOptions
		want    string // codes
		partial bool
		classic bool // it accepts the bundle
	}{
		{name: "nothing known", partial: true},
		{name: "accepted", blob: []property.Property{manifest(eligibleCSV("AllNamespaces", ""))}},
		{name: "own namespace", blob: []property.Property{manifest(eligibleCSV("OwnNamespace", ""))}},
		{name: "single namespace", blob: []property.Property{manifest(eligibleCSV("SingleNamespace", ""))}},
		{name: "own namespace without the feature", blob: []property.Property{manifest(eligibleCSV("OwnNamespace", ""))},
			opts: EligibleOptions{AllNamespaces: true}, want: "allNamespaces", classic: true},
		{name: "dependencies, all of them", blob: []property.Property{
			text(property.TypePackageRequired, `{"packageName":"b","versionRange":">=1.0.0"}`), text(property.TypeGVKRequired, `{"group":"g.io","version":"v1","kind":"K"}`),
			text(property.TypeConstraint, `{"failureMessage":"m","package":{"packageName":"b","versionRange":">=1.0.0"}}`),
			manifest(eligibleCSV("AllNamespaces", "")),
		}, want: "dependency", classic: true},
		{name: "a dependency that classic OLM cannot read (H7)", blob: []property.Property{
			text(property.TypePackageRequired, `{"packageName":"b","versionRange":"^1"}`), manifest(eligibleCSV("AllNamespaces", "")),
		}, want: "dependency"},
		{name: "every reason", blob: []property.Property{
			text(property.TypeGVKRequired, `{"group":"g.io","version":"v1","kind":"K"}`),
			manifest(eligibleCSV("MultiNamespace", aWebhook+"  apiservicedefinitions: {owned: [{name: a, group: g, version: v1, kind: K}]}\n")),
		}, want: "dependency apiServices webhooks installModes", classic: true},
		{name: "a validator", blob: []property.Property{manifest(eligibleCSV("AllNamespaces", "  customresourcedefinitions: {owned: [{name: a.b, version: v1, kind: K}]}\n"))}, want: "missingCRD"},
		{name: "a webhook", blob: []property.Property{manifest(eligibleCSV("AllNamespaces", aWebhook))}, opts: EligibleOptions{Certificates: CertManager}},
		{name: "a webhook without port, as upstream", blob: []property.Property{manifest(eligibleCSV("AllNamespaces", aWebhook))},
			opts: EligibleOptions{Certificates: CertManager, AsUpstream: true}, want: "rollout", classic: true},
		{name: "a webhook without port that converts two CRDs", blob: []property.Property{
			manifest(eligibleCSV("AllNamespaces", "  customresourcedefinitions: {owned: [{name: as.example.com, version: v1, kind: A}, {name: bs.example.com, version: v1, kind: B}]}\n"+
				"  webhookdefinitions: [{type: ConversionWebhook, generateName: c, deploymentName: demo, admissionReviewVersions: [v1], sideEffects: None, conversionCRDs: [as.example.com, bs.example.com]}]\n")),
			manifest(eligibleCRD("a")), manifest(eligibleCRD("b")),
		}, opts: EligibleOptions{Certificates: CertManager, AsUpstream: true}, want: "rollout", classic: true},
		{name: "an excerpt", blob: []property.Property{text(property.TypeCSVMetadata, `{"installModes":[{"type":"AllNamespaces","supported":true}]}`)}, partial: true},
		{name: "an excerpt with reasons", blob: []property.Property{text(property.TypeCSVMetadata, `{"apiServiceDefinitions":{"owned":[{"name":"a"}]}}`)},
			want: "apiServices installModes", partial: true},
		{name: "unreadable", blob: []property.Property{text(property.TypeBundleObject, `{"data":1}`)}, want: "manifest", partial: true},
		{name: "unreadable manifests", blob: []property.Property{manifest("kind: ConfigMap")}, want: "noCSV", partial: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			blob := &fbc.Bundle{Meta: fbc.Meta{Name: "demo.v1.0.0", Package: "demo", Properties: c.blob}}
			e, err := Eligible(t.Context(), blob, nil, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, p := range e.Problems {
				codes = append(codes, p.Code)
			}
			if got := strings.Join(codes, " "); got != c.want || e.Partial != c.partial || ClassicAccepts(e.Problems) != c.classic {
				t.Errorf("%s, partial %v, classic %v; want %s, %v, %v", got, e.Partial, ClassicAccepts(e.Problems), c.want, c.partial, c.classic)
			}
		})
	}
}

// TestEligibleShared checks that a bundle is eligible if operator-controller renders it with some
// configuration, and that it is not if it refuses the bundle with every one (K231).
func TestEligibleShared(t *testing.T) {
	rendered, configurable := map[string]bool{}, map[string]bool{}
	for _, c := range sharedCases(t, "cases.jsonl") {
		if c.CertProvider == "cert-manager" {
			rendered[c.Bundle] = rendered[c.Bundle] || c.OK
			configurable[c.Bundle] = configurable[c.Bundle] || c.Error.Stage == "config"
		}
	}
	differ := 0
	for name, ok := range rendered {
		if !ok && configurable[name] {
			continue // another configuration may be valid
		}
		b, err := sharedBundle(name)
		if err != nil {
			continue
		}
		e, err := Eligible(t.Context(), nil, b, EligibleOptions{Certificates: CertManager})
		if err != nil {
			t.Fatal(err)
		}
		if ours := len(e.Problems) > 0 && e.Problems[0].ours; ours {
			differ++
		} else if ok != (len(e.Problems) == 0) {
			t.Errorf("%s: rendered %v, but eligible with problems %v", name, ok, e.Problems)
		}
	}
	if differ > len(rendered)/10 {
		t.Errorf("%d of %d bundles are refused only here", differ, len(rendered))
	}
}

// TestEligibleCanceled checks that the end of the context is an error (D18).
func TestEligibleCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	if _, err := Eligible(ctx, &fbc.Bundle{}, nil, EligibleOptions{}); err != context.DeadlineExceeded {
		t.Errorf("error %v", err)
	}
}
