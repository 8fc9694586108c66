package impact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// The names of what only the cluster in memory has.
const (
	classicCatalog = "olmkit-impact"
	classicChannel = "stable"
	classicGroup   = "group"
)

// errInstalled ends an installation.
var errInstalled = errors.New("the operator is installed")

// An installing is a cluster whose operator is not installed yet. Afterwards, OLM creates only
// objects that are not compared.
type installing struct {
	*memcluster.Cluster
	csv olm.Key
}

// Read returns errInstalled once the operator is installed.
func (c installing) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	s, err := c.Cluster.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for _, csv := range s.CSVs {
		if csv.Key() == c.csv && csv.Status.Phase == olm.PhaseSucceeded {
			return nil, errInstalled
		}
	}
	return s, nil
}

// classic returns the objects that classic OLM creates for a bundle. It installs the bundle
// in a cluster in memory, in which everything exists that the bundle requires.
func classic(ctx context.Context, b *registryv1.Bundle, namespace string, watch []string) ([]*unstructured.Unstructured, error) { // K223
	content, err := contentOf(ctx, b)
	if err != nil {
		return nil, err
	}
	start := time.Unix(0, 0)
	cluster := &memcluster.Cluster{
		GlobalNamespace: namespace, KubeVersion: "v1.1000.0", Controllers: true,
		Now: func() time.Time { return start },
	}
	ours, err := surroundings(b, namespace, watch)
	if err != nil {
		return nil, err
	}
	given := map[olm.Key]bool{}
	for i := range ours {
		given[ours[i].Key()] = true
		if err := cluster.Put(&ours[i]); err != nil {
			return nil, err
		}
	}
	csv := olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: namespace, Name: b.CSV().Name}
	loop := &reconcile.Loop{Cluster: installing{cluster, csv}, Content: content, Options: reconcile.Options{
		RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, IgnoreOLM: true, NoAdvice: true,
	}}
	result, err := loop.Run(ctx, namespace)
	if err != nil && !errors.Is(err, errInstalled) {
		return nil, err
	}
	if result.Plan.Refused != nil {
		return nil, result.Plan.Refused
	}
	var out []*unstructured.Unstructured
	for _, o := range cluster.List() {
		if given[o.Key()] || o.Key().Group == olm.Group {
			if o.Kind == olm.KindClusterServiceVersion {
				csv, err := olm.As[olm.ClusterServiceVersion](o)
				if err != nil {
					return nil, err
				}
				if csv.Metadata.Namespace == namespace && csv.Status.Phase != olm.PhaseSucceeded {
					return nil, errors.New(strings.TrimPrefix(csv.Status.Message, fmt.Sprintf("operator group %q: ", classicGroup)))
				}
			}
			continue
		}
		x, err := untyped(o)
		if err != nil {
			return nil, err
		}
		if isGeneratedRole(x) {
			continue
		}
		dropCertificates(x)
		if name := x.GetLabels()["olm.webhook-description-generate-name"]; name != "" {
			x.SetName(name) // without the suffix that depends on the version
		}
		out = append(out, x)
	}
	return out, nil
}

func untyped(o olm.Object) (*unstructured.Unstructured, error) {
	raw, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &out.Object); err != nil {
		return nil, err
	}
	meta, _ := out.Object["metadata"].(map[string]any)
	for k := range meta {
		if !slices.Contains([]string{"name", "namespace", "labels", "annotations"}, k) {
			delete(meta, k) // what the API server sets
		}
	}
	return out, nil
}

// isGeneratedRole reports whether an object is a cluster role that OLM creates for users of
// an operator group or of an API. They follow from the other objects.
func isGeneratedRole(o *unstructured.Unstructured) bool {
	if o.GetKind() != "ClusterRole" {
		return false
	}
	for k := range o.GetLabels() {
		if strings.HasPrefix(k, "rbac.authorization.k8s.io/aggregate-to-") || strings.HasPrefix(k, "olm.opgroup.permissions/") {
			return true
		}
	}
	_, aggregated := o.Object["aggregationRule"]
	return aggregated
}

// dropCertificates removes generated certificates, which differ each time.
func dropCertificates(o *unstructured.Unstructured) {
	switch o.GetKind() {
	case "Secret":
		if o.Object["type"] == "kubernetes.io/tls" {
			delete(o.Object, "data")
		}
	case "APIService":
		unstructured.RemoveNestedField(o.Object, "spec", "caBundle")
	case kindCRD:
		unstructured.RemoveNestedField(o.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		webhooks, _ := o.Object["webhooks"].([]any)
		for _, v := range webhooks {
			if w, ok := v.(map[string]any); ok {
				unstructured.RemoveNestedField(w, "clientConfig", "caBundle")
			}
		}
	}
}

// A bundleContent is a catalog with one bundle. It implements [reconcile.Content].
type bundleContent struct {
	catalog *graph.Catalog
	objects []olm.Object
}

// Catalog returns the catalog.
func (c *bundleContent) Catalog(context.Context, resolver.CatalogID) (*graph.Catalog, error) {
	return c.catalog, nil
}

// Manifests returns the objects of the bundle.
func (c *bundleContent) Manifests(context.Context, resolver.CatalogID, graph.Bundle) ([]olm.Object, error) {
	return c.objects, nil
}

// dropDependencies removes from the annotations of a CSV what it requires of other operators, which
// are not in the catalog. The requirements are compared by themselves (K230).
func dropDependencies(annotations map[string]string) error {
	raw, ok := annotations[property.Annotation]
	if !ok {
		return nil
	}
	var list []property.Property
	if json.Unmarshal([]byte(raw), &list) != nil {
		return nil // OLM reports it
	}
	list = slices.DeleteFunc(list, func(p property.Property) bool {
		return slices.Contains([]string{property.TypePackageRequired, property.TypeGVKRequired, property.TypeConstraint}, p.Type)
	})
	text, err := json.Marshal(list)
	if err == nil {
		annotations[property.Annotation] = string(text)
	}
	return err
}

// dropDocumentation removes from a CSV what only user interfaces read. It is often most of the
// CSV, which is written again in each phase of the installation.
func dropDocumentation(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.Description, csv.Spec.Icon = "", nil
	delete(csv.Annotations, "alm-examples")
	for _, list := range [][]v1alpha1.CRDDescription{csv.Spec.CustomResourceDefinitions.Owned, csv.Spec.CustomResourceDefinitions.Required} {
		for i := range list {
			d := &list[i]
			*d = v1alpha1.CRDDescription{Name: d.Name, Version: d.Version, Kind: d.Kind}
		}
	}
}

// withoutSchemas returns a CRD without its schemas, which other functions compare.
func withoutSchemas(x *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := *x
	out.Spec.Versions = slices.Clone(x.Spec.Versions)
	unknown := true
	for i := range out.Spec.Versions {
		if v := &out.Spec.Versions[i]; v.Schema != nil {
			v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &unknown}}
		}
	}
	return &out
}

// contentOf returns a catalog with one bundle.
func contentOf(ctx context.Context, b *registryv1.Bundle) (*bundleContent, error) {
	csv := b.CSV()
	type value = map[string]any
	var lines strings.Builder
	for _, blob := range []value{
		{"schema": "olm.package", "name": b.Package, "defaultChannel": classicChannel},
		{"schema": "olm.channel", "package": b.Package, "name": classicChannel, "entries": []value{{"name": csv.Name}}},
		{"schema": "olm.bundle", "package": b.Package, "name": csv.Name, "image": "example.com/bundle", "properties": []value{
			{"type": "olm.package", "value": value{"packageName": b.Package, "version": csv.Spec.Version.String()}},
		}},
	} {
		line, err := json.Marshal(blob)
		if err != nil {
			return nil, err
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	g, err := graph.LoadReader(ctx, strings.NewReader(lines.String()), "bundle.json", nil)
	if err != nil {
		return nil, err
	}
	c := &bundleContent{catalog: g}
	add := func(v any) error {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		var o olm.Object
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		c.objects = append(c.objects, o)
		return nil
	}
	plain := csv.DeepCopy()
	plain.Spec.Replaces, plain.Spec.Skips = "", nil
	if err := dropDependencies(plain.Annotations); err != nil {
		return nil, err
	}
	dropDocumentation(plain)
	if err := add(plain); err != nil {
		return nil, err
	}
	for i := range b.CRDs {
		if err := add(withoutSchemas(&b.CRDs[i].Object)); err != nil {
			return nil, err
		}
	}
	for i := range b.Others {
		if err := add(b.Others[i].Object.Object); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// surroundings returns the objects that exist before the installation: namespaces, the
// operator group, the catalog, the subscription, and the APIs that the bundle requires.
func surroundings(b *registryv1.Bundle, namespace string, watch []string) ([]olm.Object, error) {
	type value = map[string]any
	named := func(apiVersion, kind, ns, name string, spec value) value {
		meta := value{"name": name}
		if ns != "" {
			meta["namespace"] = ns
		}
		return value{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec}
	}
	list := []value{
		named("operators.coreos.com/v1", "OperatorGroup", namespace, classicGroup, value{}),
		named("operators.coreos.com/v1alpha1", "CatalogSource", namespace, classicCatalog, value{}),
		named("operators.coreos.com/v1alpha1", "Subscription", namespace, "subscription", value{
			"name": b.Package, "channel": classicChannel, "source": classicCatalog, "sourceNamespace": namespace,
		}),
	}
	if len(watch) > 0 {
		list[0]["spec"] = value{"targetNamespaces": watch}
	}
	spaces := append([]string{namespace}, watch...)
	slices.Sort(spaces)
	for _, ns := range slices.Compact(spaces) {
		list = append(list, named("v1", "Namespace", "", ns, value{}))
	}
	csv := b.CSV()
	for _, d := range csv.Spec.CustomResourceDefinitions.Required {
		plural, group, _ := strings.Cut(d.Name, ".")
		list = append(list, named("apiextensions.k8s.io/v1", kindCRD, "", d.Name, value{
			"group": group, "scope": "Namespaced", "names": value{"kind": d.Kind, "plural": plural},
			"versions": []value{{"name": d.Version, "served": true, "storage": true}},
		}))
	}
	served := func(group, version string) {
		o := named("apiregistration.k8s.io/v1", "APIService", "", version+"."+group, value{"group": group, "version": version})
		o["status"] = value{"conditions": []value{{"type": "Available", "status": "True"}}}
		list = append(list, o)
	}
	for _, d := range csv.Spec.APIServiceDefinitions.Required {
		served(d.Group, d.Version)
	}
	for _, d := range csv.Spec.NativeAPIs {
		if d.Group != "" { // the API server has it; with its APIService, it would have to list all others
			served(d.Group, d.Version)
		}
	}
	var out []olm.Object
	for _, v := range list {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		var o olm.Object
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(have olm.Object) bool { return have.Key() == o.Key() }) {
			out = append(out, o)
		}
	}
	return out, nil
}
