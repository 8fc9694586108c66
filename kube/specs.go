package kube

import (
	"runtime"
	"sync"
	"unique"
	"weak"

	"github.com/olmkit/olmkit/olm"
)

// specs lets the CSVs of an operator share what is equal in all its namespaces, while they are in use. It is safe for
// concurrent use.
type specs struct {
	mu sync.Mutex
	of map[unique.Handle[string]]weak.Pointer[olm.ClusterServiceVersion] // by the last of packed.parts
}

// share replaces the spec of a CSV, and the annotations that are equal, with those of another CSV with the same spec.
func (s *specs) share(spec unique.Handle[string], c *olm.ClusterServiceVersion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.of[spec].Value(); other != nil {
		c.Spec = other.Spec
		for name, value := range c.Metadata.Annotations {
			if same := other.Metadata.Annotations[name]; same == value {
				c.Metadata.Annotations[name] = same
			}
		}
		return
	}
	if s.of == nil {
		s.of = map[unique.Handle[string]]weak.Pointer[olm.ClusterServiceVersion]{}
	}
	s.of[spec] = weak.Make(c)
	runtime.AddCleanup(c, s.drop, spec)
}

// drop forgets a CSV that is not in use.
func (s *specs) drop(spec unique.Handle[string]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.of[spec]; ok && p.Value() == nil {
		delete(s.of, spec)
	}
}
