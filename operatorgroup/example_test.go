package operatorgroup_test

import (
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
)

func ExampleSupports() {
	modes := []olm.InstallMode{{Type: olm.OwnNamespace, Supported: true}}
	fmt.Println(operatorgroup.Supports(modes, "operators", []string{"operators"}))
	fmt.Println(operatorgroup.Supports(modes, "operators", []string{operatorgroup.AllNamespaces}))
	// Output:
	// <nil>
	// install mode AllNamespaces is not supported: the operator cannot watch all namespaces
}

func ExampleTargets() {
	var g olm.OperatorGroup
	g.Spec.Selector = &olm.LabelSelector{MatchLabels: map[string]string{"cool.io/prod": "true"}}
	prod, test := new(olm.Namespace), new(olm.Namespace)
	prod.Metadata = olm.Metadata{Name: "prod", Labels: map[string]string{"cool.io/prod": "true"}}
	test.Metadata = olm.Metadata{Name: "test"}
	fmt.Println(operatorgroup.Targets(&g, []*olm.Namespace{prod, test}))
	// Output: [prod] <nil>
}

func ExampleDecide() {
	etcd := property.GVK{Group: "etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"}
	ours, theirs := new(olm.OperatorGroup), new(olm.OperatorGroup)
	ours.Metadata = olm.Metadata{Name: "ours", Namespace: "a"}
	ours.Status.Namespaces = []string{"prod"}
	theirs.Metadata = olm.Metadata{Name: "theirs", Namespace: "b"}
	theirs.Status.Namespaces = []string{"prod", "test"}

	d := operatorgroup.Decide(operatorgroup.NewAPIs(etcd), ours, []*olm.OperatorGroup{theirs})
	fmt.Println(d.Action, d.APIs)

	theirs.Metadata.SetAnnotation(operatorgroup.AnnotationProvidedAPIs, "EtcdCluster.v1beta2.etcd.database.coreos.com")
	d = operatorgroup.Decide(operatorgroup.NewAPIs(etcd), ours, []*olm.OperatorGroup{theirs})
	fmt.Println(d.Action, d.Failure.Reason)
	// Output:
	// AddAPIs EtcdCluster.v1beta2.etcd.database.coreos.com
	// APIConflict InterOperatorGroupOwnerConflict
}

func ExampleGate() {
	fmt.Println(operatorgroup.Gate(make([]*olm.OperatorGroup, 2), nil))
	// Output: attenuated service account query failed - more than one operator group(s) are managing this namespace count=2
}

// Why an operator does not run: its install modes do not support what its group
// targets.
func ExampleMembership() {
	csv := new(olm.ClusterServiceVersion)
	csv.Metadata = olm.Metadata{Name: "etcd.v1.0.0", Namespace: "operators"}
	csv.Spec.InstallModes = []olm.InstallMode{{Type: olm.OwnNamespace, Supported: true}}
	group := new(olm.OperatorGroup)
	group.Metadata = olm.Metadata{Name: "global", Namespace: "operators"}
	group.Status.Namespaces = []string{operatorgroup.AllNamespaces}

	_, err := operatorgroup.Membership(csv, []*olm.OperatorGroup{group})
	var failure *operatorgroup.Failure
	if errors.As(err, &failure) {
		fmt.Println(failure.Reason)
	}
	_, err = operatorgroup.Membership(csv, nil)
	if errors.As(err, &failure) {
		fmt.Println(failure.Reason)
	}
	// Output:
	// UnsupportedOperatorGroup
	// NoOperatorGroup
}
