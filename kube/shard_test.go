package kube_test

import (
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/kube"
	"k8s.io/apimachinery/pkg/labels"
)

// Every namespace belongs to exactly one shard, and shards have similar sizes.
func TestShard(t *testing.T) {
	const count, namespaces = 4, 1000
	var owned [count]int
	for i := range namespaces {
		owners := 0
		for index := range count {
			if (kube.Shard{Index: index, Count: count}).Owns(fmt.Sprintf("team-%d", i), nil) {
				owners++
				owned[index]++
			}
		}
		if owners != 1 {
			t.Errorf("namespace team-%d belongs to %d shards", i, owners)
		}
	}
	for index, n := range owned {
		if n < namespaces/count/2 || n > namespaces/count*2 {
			t.Errorf("shard %d has %d of %d namespaces: %v", index, n, namespaces, owned)
		}
	}
	if !(kube.Shard{}).Owns("any", nil) {
		t.Error("the zero shard does not own all")
	}
	prod := kube.Shard{Selector: labels.SelectorFromSet(labels.Set{"stage": "prod"})}
	if prod.Owns("a", nil) || !prod.Owns("a", map[string]string{"stage": "prod"}) {
		t.Error("the selector does not select")
	}
	for _, s := range []kube.Shard{{Index: 1}, {Index: 2, Count: 2}, {Index: -1, Count: 2}, {Count: -1}} {
		if s.Validate() == nil {
			t.Errorf("Validate accepts %+v", s)
		}
	}
	// The assignment is the same in every release.
	if !(kube.Shard{Index: 1, Count: 3}).Owns("operators", nil) {
		t.Error("namespace operators belongs to another shard than in earlier releases")
	}
}
