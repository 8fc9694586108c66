// Package fact defines the facts that resolutions are based on: conditions that every
// solution must meet, the subscriptions and bundles that they name, and the steps that lead
// from facts to a contradiction.
//
// A [github.com/olmkit/olmkit/resolver.Conflict] consists of facts. Callers that need more
// than their text switch on their types:
//
//	for _, f := range core.Facts {
//		switch f := f.(type) {
//		case *fact.Requires:
//			fmt.Println(f.Bundle.Name, "requires", f.Requirement)
//		case *fact.Unavailable:
//			fmt.Println(f.Subscription.Name, "names a", f.What, "that does not exist")
//		}
//	}
package fact
