package content

import (
	"fmt"

	"github.com/olmkit/olmkit/resolver"
)

// A BudgetError reports that a tenant's catalog exceeds the memory allowed for
// tenants.
type BudgetError struct {
	// Size is the catalog's approximate size in bytes. Max is the limit for all
	// catalogs of Namespace together, or of all tenants if Namespace is empty.
	Size, Max int64
	Namespace string
}

// Error returns a message that names the limit.
func (e *BudgetError) Error() string {
	whose := "all namespaces other than the global one"
	if e.Namespace != "" {
		whose = fmt.Sprintf("namespace %q", e.Namespace)
	}
	// Leave out how much other catalogs use: that changes often, and the status
	// would change with it.
	return fmt.Sprintf("the catalog needs about %d bytes of memory, but the catalogs of %s may use only %d in total; raise the limit on the memory of tenants' catalogs to allow it", e.Size, whose, e.Max)
}

// counts reports whether a catalog counts toward the budget. The catalogs that
// tenants choose do.
func (s *Store) counts(id resolver.CatalogID) bool {
	_, named := s.opts.Sources.Named[id]
	return !named && s.opts.Sources.isTenant(id.Namespace)
}

// exceeds returns an error if replacing the last version of a catalog by c
// would exceed the budget.
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
