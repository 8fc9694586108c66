package kubectl

import "github.com/olmkit/olmkit/internal/shell"

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
	return o.Set(spec)
}

// Hold returns the command that keeps OLM from upgrading an operator beyond a version. In classic,
// upgrades then wait for approval.
func (o Operator) Hold(version string) string {
	if o.V1 {
		return o.Set(map[string]any{"version": version})
	}
	return o.Set(map[string]any{"installPlanApproval": "Manual"})
}

// Approve returns the command that approves the install plan that a Subscription waits for.
func (o Operator) Approve() string {
	in := " -n " + shell.Quote(o.Namespace)
	return `kubectl patch installplan.operators.coreos.com "$(` + object("get", "subscription.operators.coreos.com", o.Namespace, o.Name) +
		` -o jsonpath={.status.installPlanRef.name})"` + in + " --type merge --patch " + shell.Quote(text(map[string]any{"spec": map[string]any{"approved": true}}))
}

// Set returns the command that sets fields of the Subscription, or of the catalog source of the
// ClusterExtension.
func (o Operator) Set(spec map[string]any) string {
	if o.V1 {
		return Patch("clusterextension", "", o.Name, map[string]any{"source": map[string]any{"catalog": spec}})
	}
	return Patch("subscription.operators.coreos.com", o.Namespace, o.Name, spec)
}

// Resumed returns the fields that end a [Operator.Hold]; versions is the version range of a
// ClusterExtension, if it has one.
func (o Operator) Resumed(versions string) map[string]any {
	switch {
	case !o.V1:
		return map[string]any{"installPlanApproval": "Automatic"}
	case versions == "":
		return map[string]any{"version": nil}
	}
	return map[string]any{"version": versions}
}

// Resume returns the command that ends a [Operator.Hold].
func (o Operator) Resume(versions string) string { return o.Set(o.Resumed(versions)) }

// Remove returns the commands that remove an operator with the given ClusterServiceVersion or bundle.
func (o Operator) Remove(name string) []string {
	if o.V1 {
		return []string{Delete("clusterextension", "", o.Name)}
	}
	return []string{Delete("subscription.operators.coreos.com", o.Namespace, o.Name), Delete("clusterserviceversion", o.Namespace, name)}
}

// Reinstall returns the commands that put a bundle of a channel in the place of an installed one from which
// no upgrade leads to it. Unless the bundle is the head, upgrades then wait for approval.
func (o Operator) Reinstall(installed, channel, bundle, version string, isHead bool) []string {
	if o.V1 {
		return []string{o.Follow(channel, map[string]any{"version": version, "upgradeConstraintPolicy": "SelfCertified"})}
	}
	spec := map[string]any{"channel": channel, "startingCSV": nil}
	if !isHead {
		spec["startingCSV"], spec["installPlanApproval"] = bundle, "Manual"
	}
	return []string{
		Delete("clusterserviceversion", o.Namespace, installed),
		Recreate("subscription.operators.coreos.com", o.Namespace, o.Name, spec),
	}
}

// Certified returns the command that undoes what [Operator.Reinstall] sets in OLM v1, except for the channel; versions is
// the version range that the ClusterExtension had.
func (o Operator) Certified(versions string) string {
	spec := o.Resumed(versions)
	spec["upgradeConstraintPolicy"] = nil
	return o.Set(spec)
}

// AllowUnsafeCRDs returns the command with which OLM v1 no longer compares CRDs.
func (o Operator) AllowUnsafeCRDs() string {
	return Patch("clusterextension", "", o.Name, map[string]any{"install": map[string]any{"preflight": map[string]any{"crdUpgradeSafety": map[string]any{"enforcement": "None"}}}})
}
