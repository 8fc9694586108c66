package kube

import "testing"

// What was converted last is not converted again, and what was converted long ago takes no memory.
func TestConverted(t *testing.T) {
	s := &cached{}
	kept := csvObject("operators", "etcd.v1", 1, nil)
	first := s.convert(kindCSV, kept)
	for version := range 5 * mostConverted {
		s.convert(kindCSV, csvObject("operators", "etcd.v1", 2+version, nil))
		if version%mostConverted == 0 && s.convert(kindCSV, kept) != first {
			t.Error("an object that is in use was converted again")
		}
	}
	if n := len(s.converted.new) + len(s.converted.old); n > 2*mostConverted {
		t.Errorf("%d objects are kept", n)
	}
}
