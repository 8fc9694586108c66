package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "olm.operatorframework.io", Version: "v1"}

// AddToScheme adds the resources to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ClusterExtension{}, &ClusterExtensionList{}, &ClusterCatalog{}, &ClusterCatalogList{}, &ClusterObjectSet{}, &ClusterObjectSetList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
