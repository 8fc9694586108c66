package kube

import (
	"encoding/json"
	"fmt"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// AddToScheme adds OLM's types to a scheme for typed clients.
func AddToScheme(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{operatorsv1.AddToScheme, operatorsv1alpha1.AddToScheme, operatorsv2.AddToScheme} {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// FromTyped converts a client's object of any Go type to a resource of package
// olm, as in FromTyped[olm.Subscription](scheme, sub). Typed clients leave
// apiVersion and kind empty; they are set from the scheme.
func FromTyped[T any, P interface {
	*T
	olm.Resource
}](s *runtime.Scheme, o client.Object) (*T, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("%T %s: %w", o, o.GetName(), err)
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("%T %s: %w", o, o.GetName(), err)
	}
	if h := P(v).Head(); h.Kind == "" || h.APIVersion == "" {
		gvks, _, err := s.ObjectKinds(o)
		if err != nil {
			return nil, err
		}
		h.APIVersion, h.Kind = gvks[0].ToAPIVersionAndKind()
	}
	return v, nil
}

// ToTyped converts a resource to a client's object, given as a pointer to a zero
// value. Fields that the Go type does not have are lost; an Unstructured preserves all
// fields.
func ToTyped(r olm.Resource, into client.Object) error {
	o, err := olm.ToObject(r)
	if err != nil {
		return err
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("%s: %w", o.Key(), err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s as %T: %w", o.Key(), into, err)
	}
	return nil
}

// Strip removes the managed fields of an object, which snapshots do not need. On OLM's
// resources, it keeps OLM's most recent entry, without the list of fields, because a
// [Reconciler] uses this entry to detect that OLM runs. Use it as
// cache.Options.DefaultTransform.
func Strip(o any) (any, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.SetManagedFields(lastOfOLM(u))
	}
	return o, nil
}
