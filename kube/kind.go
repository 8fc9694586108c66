package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// FieldOwner is the field manager of everything that this package writes.
const FieldOwner = "olmkit"

// A kind is a kind of object that a Cluster reads into snapshots and a Reconciler
// watches.
type kind struct {
	gvk    schema.GroupVersionKind
	plural string
	decode func(text []byte) (olm.Resource, error)
}

func (k kind) group() groupKind { return groupKind{k.gvk.Group, k.gvk.Kind} }

type groupKind struct{ group, kind string }

func decodeAs[T any, P interface {
	*T
	olm.Resource
	UnmarshalJSON([]byte) error
}](text []byte) (olm.Resource, error) {
	v := P(new(T))
	err := v.UnmarshalJSON(text)
	return v, err
}

func newKind[T any, P interface {
	*T
	olm.Resource
	UnmarshalJSON([]byte) error
}](apiVersion, name, plural string) kind {
	return kind{schema.FromAPIVersionAndKind(apiVersion, name), plural, decodeAs[T, P]}
}

// The kinds that are read. The variables are never modified.
var (
	kindNamespace          = newKind[olm.Namespace]("v1", "Namespace", "namespaces")
	kindOperatorGroup      = newKind[olm.OperatorGroup](olm.V1, olm.KindOperatorGroup, "operatorgroups")
	kindCSV                = newKind[olm.ClusterServiceVersion](olm.V1Alpha1, olm.KindClusterServiceVersion, "clusterserviceversions")
	kindCRD                = newKind[olm.CustomResourceDefinition](olm.GroupCRD+"/v1", olm.KindCRD, "customresourcedefinitions")
	kindOLMConfig          = newKind[olm.OLMConfig](olm.V1, olm.KindOLMConfig, "olmconfigs")
	kindCatalogSource      = newKind[olm.CatalogSource](olm.V1Alpha1, olm.KindCatalogSource, "catalogsources")
	kindOperator           = newKind[olm.Object](olm.V1, olm.KindOperator, "operators")
	kindSubscription       = newKind[olm.Subscription](olm.V1Alpha1, olm.KindSubscription, "subscriptions")
	kindInstallPlan        = newKind[olm.InstallPlan](olm.V1Alpha1, olm.KindInstallPlan, "installplans")
	kindOperatorCondition  = newKind[olm.OperatorCondition](olm.V2, olm.KindOperatorCondition, "operatorconditions")
	kindDeployment         = newKind[olm.Deployment]("apps/v1", "Deployment", "deployments")
	kindServiceAccount     = newKind[olm.Object]("v1", "ServiceAccount", "serviceaccounts")
	kindRole               = newKind[olm.Object](olm.RBACV1, "Role", "roles")
	kindRoleBinding        = newKind[olm.Object](olm.RBACV1, "RoleBinding", "rolebindings")
	kindClusterRole        = newKind[olm.Object](olm.RBACV1, "ClusterRole", "clusterroles")
	kindClusterRoleBinding = newKind[olm.Object](olm.RBACV1, "ClusterRoleBinding", "clusterrolebindings")
	kindAPIService         = newKind[olm.Object]("apiregistration.k8s.io/v1", "APIService", "apiservices")
	kindValidatingWebhook  = newKind[olm.Object]("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations")
	kindMutatingWebhook    = newKind[olm.Object]("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations")
)

// kinds returns all kinds that are read, in a fixed order.
func kinds() []kind {
	return []kind{
		kindNamespace, kindOperatorGroup, kindCSV, kindCRD, kindOLMConfig, kindOperator, kindCatalogSource, kindSubscription,
		kindInstallPlan, kindOperatorCondition, kindDeployment, kindServiceAccount, kindRole, kindRoleBinding,
		kindClusterRole, kindClusterRoleBinding, kindAPIService, kindValidatingWebhook, kindMutatingWebhook,
	}
}

// findKind returns the kind with the given group and name. It returns false if
// objects of that kind are not read into snapshots.
func findKind(group, name string) (kind, bool) {
	for _, k := range kinds() {
		if k.gvk.Group == group && k.gvk.Kind == name {
			return k, true
		}
	}
	return kind{}, false
}

// keyOf returns the key of an object that has a kind.
func keyOf(o client.Object) olm.Key {
	gvk := o.GetObjectKind().GroupVersionKind()
	return olm.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// decode converts an object through JSON, which preserves unknown fields.
func decode(k kind, o client.Object) (olm.Resource, error) {
	text, err := textOf(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyOf(o), err)
	}
	r, err := k.decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyOf(o), err)
	}
	return r, nil
}

// decodeObject converts an object of any kind.
func decodeObject(u *unstructured.Unstructured) (*olm.Object, error) {
	text, err := u.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyOf(u), err)
	}
	o := &olm.Object{}
	if err := o.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", keyOf(u), err)
	}
	return o, nil
}

// encode converts an object to one for a client.
func encode(o olm.Object) (*unstructured.Unstructured, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Key(), err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Key(), err)
	}
	return u, nil
}
