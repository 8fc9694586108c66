package resolver

import (
	"cmp"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
)

// commands returns the commands that make some changes in a namespace, or nil if one of
// the changes has no command.
func commands(namespace string, changes []Change) (list []string) {
	for _, c := range changes {
		made := c.commands(namespace)
		if made == nil {
			return nil
		}
		for _, command := range made {
			if !slices.Contains(list, command) { // one catalog can have all that is missing
				list = append(list, command)
			}
		}
	}
	return list
}

func (c *Change) commands(namespace string) []string {
	const subscription, csv = "subscription.operators.coreos.com", "clusterserviceversion"
	patch := func(spec map[string]any) []string {
		return []string{kubectl.Patch(subscription, namespace, c.Subscription, spec)}
	}
	switch c.Kind {
	case ChangePackage:
		return patch(map[string]any{"name": c.To})
	case ChangeStartingCSV:
		return patch(map[string]any{"startingCSV": c.To})
	case ClearStartingCSV:
		return patch(map[string]any{"startingCSV": nil})
	case ChangeChannel:
		spec := map[string]any{"channel": c.To}
		if c.DropStartingCSV {
			spec["startingCSV"] = nil
		}
		return patch(spec)
	case ChangeCatalog:
		spec := map[string]any{"source": c.Catalog.Name, "sourceNamespace": c.Catalog.Namespace}
		if c.Channel != "" {
			spec["channel"] = c.Channel
		}
		return patch(spec)
	case DropSubscription:
		return []string{kubectl.Delete(subscription, namespace, c.Subscription)}
	case RemoveSubscribed:
		return []string{kubectl.Delete(subscription, namespace, c.Subscription), kubectl.Delete(csv, namespace, c.Operator)}
	case AdoptOperator:
		own := kubectl.PatchStatus(subscription, namespace, c.Subscription, map[string]any{
			"installedCSV": c.Operator, "currentCSV": c.Operator, "state": "AtLatestKnown", "lastUpdated": "1970-01-01T00:00:00Z",
		})
		if c.To == "" {
			return []string{own}
		}
		return []string{
			kubectl.Apply(object("Subscription", c.Subscription, namespace, map[string]any{
				"name": c.To, "source": c.Catalog.Name, "sourceNamespace": cmp.Or(c.Catalog.Namespace, namespace),
			})),
			own,
		}
	case ChangeTargets:
		spec := map[string]any{"selector": nil, "targetNamespaces": nil}
		if c.To != "" {
			spec["targetNamespaces"] = []string{c.To}
		}
		return []string{kubectl.PatchOnly("operatorgroup.operators.coreos.com", namespace, spec)}
	case AddCatalog:
		if c.Catalog == (CatalogID{}) {
			return nil // nobody knows its image
		}
		return []string{kubectl.Copy("catalogsource.operators.coreos.com", c.Catalog.Namespace, c.Catalog.Name, object("CatalogSource", c.Catalog.Name, c.To, nil))}
	case RemoveOperator:
		return []string{kubectl.Delete(csv, namespace, c.Operator)}
	}
	return nil
}

// object returns an object of OLM. A nil spec is left out.
func object(kind, name, namespace string, spec map[string]any) map[string]any {
	o := map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": namespace},
	}
	if spec != nil {
		o["spec"] = spec
	}
	return o
}
