package resolver

import "github.com/olmkit/olmkit/internal/kubectl"

// commands returns the commands that make some changes in a namespace, or nil if one of
// the changes has no command.
func commands(namespace string, changes []Change) (list []string) {
	for _, c := range changes {
		made := c.commands(namespace)
		if made == nil {
			return nil
		}
		list = append(list, made...)
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
	case RemoveOperator:
		return []string{kubectl.Delete(csv, namespace, c.Operator)}
	}
	return nil
}
