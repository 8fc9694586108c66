package resolver

import (
	"cmp"
	"fmt"
)

// DefaultGlobalNamespace is the namespace whose catalogs every namespace sees,
// unless a problem names another. On OpenShift it is openshift-marketplace.
const DefaultGlobalNamespace = "olm"

// global returns the global namespace.
func (p *Problem) global() string { return cmp.Or(p.GlobalNamespace, DefaultGlobalNamespace) }

// Sees reports whether the namespace of the problem sees a catalog: one of its own
// or of the global namespace (D19). The others take no part.
func (p *Problem) Sees(c CatalogID) bool {
	return p.clusterWide || c.Namespace == "" || c.Namespace == p.Namespace || c.Namespace == p.global()
}

// WhyUnseen says that a catalog that the namespace does not see takes no part, and
// why.
func (p *Problem) WhyUnseen(c CatalogID) string {
	return fmt.Sprintf("catalog %s takes no part: namespace %s sees only its own catalogs and those of the global namespace %s", c, p.Namespace, p.global())
}
