package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// unsupported has the methods of metav1.Object that packed objects do not support. As metav1.Common
// requires, they do nothing and return zero values.
type unsupported struct{}

func (unsupported) SetNamespace(string)                          {}
func (unsupported) SetName(string)                               {}
func (unsupported) GetGenerateName() string                      { return "" }
func (unsupported) SetGenerateName(string)                       {}
func (unsupported) SetUID(types.UID)                             {}
func (unsupported) SetResourceVersion(string)                    {}
func (unsupported) SetGeneration(int64)                          {}
func (unsupported) GetSelfLink() string                          { return "" }
func (unsupported) SetSelfLink(string)                           {}
func (unsupported) GetCreationTimestamp() metav1.Time            { return metav1.Time{} }
func (unsupported) SetCreationTimestamp(metav1.Time)             {}
func (unsupported) SetDeletionTimestamp(*metav1.Time)            {}
func (unsupported) GetDeletionGracePeriodSeconds() *int64        { return nil }
func (unsupported) SetDeletionGracePeriodSeconds(*int64)         {}
func (unsupported) SetLabels(map[string]string)                  {}
func (unsupported) GetAnnotations() map[string]string            { return nil }
func (unsupported) SetAnnotations(map[string]string)             {}
func (unsupported) GetFinalizers() []string                      { return nil }
func (unsupported) SetFinalizers([]string)                       {}
func (unsupported) GetOwnerReferences() []metav1.OwnerReference  { return nil }
func (unsupported) SetOwnerReferences([]metav1.OwnerReference)   {}
func (unsupported) SetManagedFields([]metav1.ManagedFieldsEntry) {}
