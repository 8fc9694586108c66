package resolver

import (
	"cmp"
	"fmt"
)

// DefaultGlobalNamespace is the default of [Problem.GlobalNamespace]. On OpenShift, set it
// to openshift-marketplace.
const DefaultGlobalNamespace = "olm"

// global returns the global namespace.
func (p *Problem) global() string { return cmp.Or(p.GlobalNamespace, DefaultGlobalNamespace) }

// Sees reports whether the namespace of the problem sees a catalog: the catalog is in the
// same namespace or in the global one. Others are ignored.
func (p *Problem) Sees(c CatalogID) bool {
	return p.clusterWide || c.Namespace == "" || c.Namespace == p.Namespace || c.Namespace == p.global()
}

// WhyUnseen explains why a catalog that the namespace does not see is ignored.
func (p *Problem) WhyUnseen(c CatalogID) string {
	return fmt.Sprintf("catalog %s is ignored: namespace %s sees only its own catalogs and those in the global namespace %s", c, p.Namespace, p.global())
}
