package content

import (
	"fmt"

	"github.com/olmkit/olmkit/resolver"
)

// A BudgetError says that a catalog of a tenant takes more memory than there is for
// those of tenants.
type BudgetError struct {
	// Size is about how many bytes the catalog takes, Max how many all catalogs of
	// Namespace may take together, or those of all tenants if that is empty.
	Size, Max int64
	Namespace string
}

// Error names the bound.
func (e *BudgetError) Error() string {
	whose := "all namespaces but the global one"
	if e.Namespace != "" {
		whose = fmt.Sprintf("namespace %q", e.Namespace)
	}
	// What others take is left out: it changes, and so would the status.
	return fmt.Sprintf("it takes about %d bytes of memory, and the catalogs of %s may take %d together; raise Options.Budget if that is right", e.Size, whose, e.Max)
}

// counts reports whether a catalog is one that a tenant chose.
func (s *Store) counts(id resolver.CatalogID) bool {
	_, named := s.opts.Sources.Named[id]
	return !named && s.opts.Sources.isTenant(id.Namespace)
}

// exceeds returns why a catalog may not take the place of what is held of it.
func (s *Store) exceeds(id resolver.CatalogID, c *Catalog) error {
	if s.opts.Budget < 0 || !s.counts(id) {
		return nil
	}
	size := c.Graph.MemorySize()
	namespace, all := size, size
	for other, h := range s.held {
		if other == id || h.snapshot == nil || !s.counts(other) {
			continue
		}
		all += h.snapshot.size
		if other.Namespace == id.Namespace {
			namespace += h.snapshot.size
		}
	}
	switch most := s.opts.Budget / 4; {
	case namespace > most:
		return &BudgetError{size, most, id.Namespace}
	case all > s.opts.Budget:
		return &BudgetError{size, s.opts.Budget, ""}
	}
	return nil
}
