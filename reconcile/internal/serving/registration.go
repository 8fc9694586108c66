package serving

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
)

const (
	groupAdmission = "admissionregistration.k8s.io"
	kindMutating   = "MutatingWebhookConfiguration"
	kindValidating = "ValidatingWebhookConfiguration"
	groupAPI       = "apiregistration.k8s.io"
	kindAPI        = "APIService"

	labelDescription     = "olm.webhook-description-generate-name"
	labelDescriptionHash = "olm.webhook-description-hash"
)

// APIServices returns the registrations of the aggregated APIs that a CSV owns.
func APIServices(csv *olm.ClusterServiceVersion, s *State) ([]Item, error) {
	var list []Item
	for _, d := range csv.Spec.APIServices.Owned {
		srv := &server{name: d.DeploymentName}
		ca, err := s.ca(csv.Metadata.Namespace, srv)
		if err != nil {
			return nil, err
		}
		h := olm.Header{APIVersion: groupAPI + "/v1", Kind: kindAPI, Metadata: olm.Metadata{Name: d.Version + "." + d.Group}}
		i, err := s.item(h, ownerlabel.Of(csv), func(have, want *olm.Object) error {
			spec := map[string]any{
				"caBundle": base64.StdEncoding.EncodeToString(ca),
				"service":  map[string]any{"namespace": csv.Metadata.Namespace, "name": srv.service(), "port": orHTTPS(d.ContainerPort)},
			}
			if have == nil {
				if len(s.Annotations) > 0 {
					want.Metadata.Annotations = labeled(nil, s.Annotations)
				}
				spec["group"], spec["version"] = d.Group, d.Version
				spec["groupPriorityMinimum"], spec["versionPriority"] = 2000, 15
			}
			return overlay(want, "spec", spec)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, *i)
	}
	return list, nil
}

// Webhooks returns the registrations of the webhooks of a CSV: webhook
// configurations, and the CRDs of conversion webhooks. The error may be a
// *Problem.
func Webhooks(csv *olm.ClusterServiceVersion, s *State) ([]Item, error) {
	var list []Item
	for _, w := range csv.Spec.Webhooks {
		d, err := describe(w)
		if err != nil {
			return nil, err
		}
		ca, err := s.ca(csv.Metadata.Namespace, &server{name: d.DeploymentName})
		if err != nil {
			return nil, err
		}
		var items []Item
		if d.Type == typeConversion {
			items, err = conversions(csv, s, d, ca)
		} else {
			items, err = configurations(csv, s, d, ca)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, items...)
	}
	return list, nil
}

// clientConfig returns the clientConfig of a webhook.
func (d description) clientConfig(namespace string, path *string, ca []byte) map[string]any {
	service := map[string]any{"namespace": namespace, "name": hyphenated(d.DeploymentName) + "-service", "port": d.port()}
	if path != nil {
		service["path"] = *path
	}
	return map[string]any{"caBundle": base64.StdEncoding.EncodeToString(ca), "service": service}
}

// configurations returns the webhook configurations of a description: the existing ones, or
// a new one. The name of a new one is derived from the description, so that it is created
// only once.
func configurations(csv *olm.ClusterServiceVersion, s *State, d description, ca []byte) ([]Item, error) {
	hash, err := d.hash()
	if err != nil {
		return nil, err
	}
	labels := ownerlabel.Of(csv)
	labels[labelDescription], labels[labelDescriptionHash] = d.GenerateName, hash
	kind := kindValidating
	if d.Type == typeMutating {
		kind = kindMutating
	}
	fill := func(_, want *olm.Object) error {
		webhook, err := d.webhook(csv.Metadata.Namespace, s.Group, ca)
		if err != nil {
			return err
		}
		out, err := want.Set("webhooks", []any{webhook})
		*want = out
		return err
	}
	sum := sha256.Sum256([]byte(csv.Metadata.Namespace + "/" + csv.Metadata.Name + "/" + d.Type + "/" + d.GenerateName))
	h := olm.Header{APIVersion: groupAdmission + "/v1", Kind: kind, Metadata: olm.Metadata{
		GenerateName: d.GenerateName + "-", Name: d.GenerateName + "-" + hex.EncodeToString(sum[:])[:5],
	}}
	var list []Item
	for _, o := range s.Webhooks {
		if o.Kind != kind || o.Metadata.Labels[labelDescription] != d.GenerateName || o.Metadata.IsDeleted() {
			continue
		}
		h := o.Header
		i, err := s.item(h, labels, fill)
		if err != nil {
			return nil, err
		}
		list = append(list, *i)
	}
	if len(list) > 0 {
		return list, nil
	}
	i, err := s.item(h, labels, fill)
	if err != nil {
		return nil, err
	}
	return []Item{*i}, nil
}

// webhook returns the only webhook of a configuration, with the defaults that
// an API server would set.
func (d description) webhook(namespace string, g *olm.OperatorGroup, ca []byte) (map[string]any, error) {
	namespaces, err := namespaceSelector(g)
	if err != nil {
		return nil, err
	}
	rules := []any{}
	for _, r := range d.Rules {
		scope := pointer(r.Scope, "*")
		r.Scope = &scope
		rules = append(rules, r)
	}
	w := map[string]any{
		"name": d.GenerateName, "rules": rules, "clientConfig": d.clientConfig(namespace, d.WebhookPath, ca),
		"failurePolicy": pointer(d.FailurePolicy, "Fail"), "matchPolicy": pointer(d.MatchPolicy, "Equivalent"),
		"namespaceSelector": namespaces, "objectSelector": pointer(d.ObjectSelector, selector{}),
		"timeoutSeconds": pointer(d.TimeoutSeconds, 10), "admissionReviewVersions": d.AdmissionReviewVersions,
	}
	if d.SideEffects != nil {
		w["sideEffects"] = *d.SideEffects
	}
	if d.Type == typeMutating {
		w["reinvocationPolicy"] = pointer(d.ReinvocationPolicy, "Never")
	}
	return w, nil
}

// GroupLabel returns the label with which webhooks select the target namespaces of a group.
// It is "" if the group has a selector or targets all namespaces.
func GroupLabel(g *olm.OperatorGroup) string {
	if len(g.Spec.TargetNamespaces) == 0 || g.Metadata.UID == "" {
		return ""
	}
	return groupLabelPrefix + g.Metadata.UID
}

const groupLabelPrefix = "olm.operatorgroup.uid/"

// namespaceSelector selects the namespaces that a group targets.
func namespaceSelector(g *olm.OperatorGroup) (any, error) {
	switch {
	case len(g.Spec.TargetNamespaces) > 0 && g.Metadata.UID == "":
		return nil, fmt.Errorf("operator group %q has no UID", g.Metadata.Name)
	case len(g.Spec.TargetNamespaces) > 0:
		return selector{MatchLabels: map[string]string{GroupLabel(g): ""}}, nil
	case g.Spec.Selector != nil:
		return g.Spec.Selector, nil
	}
	return selector{}, nil
}

// conversions returns the CRDs that a webhook converts.
func conversions(csv *olm.ClusterServiceVersion, s *State, d description, ca []byte) ([]Item, error) {
	path := cmp.Or(pointer(d.WebhookPath, ""), "/")
	var list []Item
	for _, name := range d.ConversionCRDs {
		h := olm.Header{APIVersion: olm.GroupCRD + "/v1", Kind: olm.KindCRD, Metadata: olm.Metadata{Name: name}}
		have, err := s.Find(h.Key())
		if err != nil {
			return nil, err
		}
		if have == nil {
			return nil, failed("unable to get CRD %s specified in Conversion Webhook: it does not exist", name)
		}
		if v, ok := have.Get("spec", "preserveUnknownFields"); ok && string(v) == "true" {
			return nil, failed("crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do the conversion: set /spec/preserveUnknownFields of CRD %s to false", name)
		}
		want := *have
		err = overlay(&want, "spec", map[string]any{"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"clientConfig": d.clientConfig(csv.Metadata.Namespace, &path, ca), "conversionReviewVersions": d.AdmissionReviewVersions,
		}}})
		if err != nil {
			return nil, err
		}
		list = append(list, Item{Have: have, Want: want})
	}
	return list, nil
}

// ConvertedBy returns the namespace of the operator whose webhook converts the
// objects of a CRD, if OLM or this package registered it, and "" otherwise.
// Generated CAs are recognized by their names.
func ConvertedBy(crd *olm.CustomResourceDefinition) (namespace string) {
	if crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy != "Webhook" {
		return ""
	}
	var c struct {
		Webhook struct {
			ClientConfig struct {
				CABundle []byte `json:"caBundle"`
				Service  struct {
					Namespace string `json:"namespace"`
				} `json:"service"`
			} `json:"clientConfig"`
		} `json:"webhook"`
	}
	if crd.Spec.Conversion.Rest.Decode(&c) != nil || !isGeneratedCA(c.Webhook.ClientConfig.CABundle) {
		return ""
	}
	return c.Webhook.ClientConfig.Service.Namespace
}

// IsConverted reports whether one of the CSVs has a conversion webhook for a CRD. Copies
// are ignored.
func IsConverted(crd string, csvs []*olm.ClusterServiceVersion) bool {
	return slices.ContainsFunc(csvs, func(c *olm.ClusterServiceVersion) bool {
		return !olm.IsCopied(c) && slices.ContainsFunc(c.Spec.Webhooks, func(w olm.Webhook) bool {
			return w.Type == typeConversion && slices.Contains(w.ConversionCRDs, crd)
		})
	})
}

// IsUnserved reports whether a CRD has the conversion webhook of an operator that no longer
// exists in the namespace. The CSVs are those that use the CRD.
func IsUnserved(crd *olm.CustomResourceDefinition, namespace string, csvs []*olm.ClusterServiceVersion) bool {
	return ConvertedBy(crd) == namespace && !IsConverted(crd.Metadata.Name, csvs)
}

// IsConfiguration reports whether an object is a webhook configuration.
func IsConfiguration(k olm.Key) bool {
	return k.Group == groupAdmission && (k.Kind == kindMutating || k.Kind == kindValidating)
}

// Describes reports whether a CSV describes the webhook of a configuration.
func Describes(csv *olm.ClusterServiceVersion, configuration *olm.Object) bool {
	return slices.ContainsFunc(csv.Spec.Webhooks, func(w olm.Webhook) bool {
		kind := kindValidating
		if w.Type == typeMutating {
			kind = kindMutating
		}
		return w.Type != typeConversion && configuration.Kind == kind && configuration.Metadata.Labels[labelDescription] == w.GenerateName
	})
}
