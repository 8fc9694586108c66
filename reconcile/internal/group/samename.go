package group

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// sameName adds a note if a group shares its roles with another one of the same
// name.
func (p *planner) sameName(g *olm.OperatorGroup, conflicts map[string][]string) {
	if p.Naming != operatorgroup.Documented {
		return // its names are unique
	}
	var others []string
	for _, ns := range conflicts[g.Metadata.Name] {
		if ns != g.Metadata.Namespace {
			others = append(others, ns)
		}
	}
	if len(others) > 0 {
		name := g.Metadata.Name
		p.Advice(g.Key(), "%s an operator group with the same name, and they share the ClusterRoles %s-admin, %[2]s-edit and %[2]s-view: their users may use the APIs of both; rename one to keep them apart", having(others), name).Rule = "F7"
	}
}

// having returns "namespace a has" or "namespaces a and b have".
func having(namespaces []string) string {
	if len(namespaces) == 1 {
		return fmt.Sprintf("namespace %s has", namespaces[0])
	}
	return fmt.Sprintf("namespaces %s have", phrase.Join(namespaces, "and"))
}
