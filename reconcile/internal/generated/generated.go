// Package generated maintains the objects that are generated for operators and operator
// groups, such as roles and bindings, in all namespaces.
package generated

import (
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Keeper plans the changes to generated objects.
type Keeper struct {
	*world.World
	*change.Writer
	// Naming is how ClusterRoles for the users of operators are named.
	Naming operatorgroup.Naming
}
