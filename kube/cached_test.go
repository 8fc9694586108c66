package kube

import (
	"runtime"
	"testing"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Converted objects are kept as long as the objects themselves: earlier versions, and objects
// that were deleted, take no memory.
func TestConvertedObjectsGo(t *testing.T) {
	s := &cached{converted: map[weak.Pointer[unstructured.Unstructured]]entry{}}
	count := func() int {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return len(s.converted)
	}
	kept := csvObject("operators", "etcd.v1", 1, nil)
	first := s.convert(kindCSV, kept)
	for version := range 1000 {
		s.convert(kindCSV, csvObject("operators", "etcd.v1", 2+version, nil))
	}
	for count() > 1 { // cleanups run some time after a collection
		runtime.GC()
	}
	if again := s.convert(kindCSV, kept); again != first {
		t.Error("an object that is in use was converted again")
	}
	runtime.KeepAlive(kept)
}
