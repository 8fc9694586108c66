package world

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// PlatformVersion returns the desired version in OpenShift's ClusterVersion, or
// "" if there is none.
func (w *World) PlatformVersion() string {
	o := w.Object(olm.Key{Group: "config.openshift.io", Kind: "ClusterVersion", Name: "version"})
	if o == nil {
		return ""
	}
	v, _ := o.Get("status", "desired", "version")
	var version string
	if json.Unmarshal(v, &version) != nil {
		return ""
	}
	return version
}

// NotUpgradeable returns why an operator must not be upgraded, or "".
func (w *World) NotUpgradeable(c *olm.ClusterServiceVersion) string {
	for _, cond := range w.OperatorConditions {
		if cond.Metadata.Name == c.Metadata.Name && !c.Metadata.IsDeleted() {
			return NotUpgradeable(cond)
		}
	}
	return ""
}

// Tenants returns the operators of the cluster that pass a test, without those
// being deleted.
func (w *World) Tenants(test func(*olm.ClusterServiceVersion) bool) []operatorgroup.Tenant {
	var list []operatorgroup.Tenant
	for _, c := range w.CSVs {
		if !olm.IsCopied(c) && !c.Metadata.IsDeleted() && test(c) {
			list = append(list, operatorgroup.TenantOf(c, OperatorName(c)))
		}
	}
	return list
}

// OperatorName returns the package of a CSV: that in its properties, or else
// its name without the version.
func OperatorName(c *olm.ClusterServiceVersion) string {
	list, _ := Properties(c) // a fault there is reported where the CSV is resolved
	return cmp.Or(PackageOf(list), Family(c))
}

// Family returns the name of a CSV without its version.
func Family(c *olm.ClusterServiceVersion) string {
	name, _, _ := strings.Cut(c.Metadata.Name, ".")
	return name
}
