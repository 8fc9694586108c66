package kubectl

// An Operator is an object that manages an operator: a Subscription or, in OLM v1, a
// ClusterExtension.
type Operator struct {
	V1 bool
	// Namespace is empty in OLM v1.
	Namespace, Name string
}

// Follow returns the command with which an operator follows a channel. In OLM v1, no channel means all.
// more has other fields to set: of the Subscription, or of the catalog source of the ClusterExtension.
func (o Operator) Follow(channel string, more map[string]any) string {
	spec := map[string]any{"channel": channel}
	if o.V1 {
		spec = map[string]any{"channels": []string{channel}}
		if channel == "" {
			spec["channels"] = nil
		}
	}
	for name, value := range more {
		spec[name] = value
	}
	return o.patch(spec)
}

// Hold returns the command that keeps OLM from upgrading an operator beyond a version. In classic,
// upgrades then wait for approval.
func (o Operator) Hold(version string) string {
	if o.V1 {
		return o.patch(map[string]any{"version": version})
	}
	return o.patch(map[string]any{"installPlanApproval": "Manual"})
}

func (o Operator) patch(spec map[string]any) string {
	if o.V1 {
		return Patch("clusterextension", "", o.Name, map[string]any{"source": map[string]any{"catalog": spec}})
	}
	return Patch("subscription.operators.coreos.com", o.Namespace, o.Name, spec)
}
