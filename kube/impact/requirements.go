package impact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/apigroup"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/property"
)

// requirements compares what the bundles require from a cluster and provide to others
// (K230).
func (c *comparison) requirements() ([]Change, error) {
	before, after := needsOf(c.old), needsOf(c.new)
	object := c.new.CSV().Name
	var out []Change
	if after.dependent && !before.dependent && !c.opts.Classic { // K231
		out = append(out, c.coded(codes.ImpactNotInstallable, Changed, object, "", c.at(after.dependency...), "%s cannot be installed, so the upgrade fails: it declares dependencies, and OLM v1 refuses bundles that do", object))
	}
	for _, r := range union(before.required, after.required) {
		_, had := before.required[r]
		at, has := after.required[r]
		switch {
		case !has:
			out = append(out, safe(Removed, object, "%s no longer requires %s", object, r))
		case had:
		case after.native[r]:
			out = append(out, safe(Added, object, "%s newly requires %s, which every cluster has", object, r))
		default:
			out = append(out, c.coded(codes.ImpactRequires, Added, object, "", c.at(at...), "%s newly requires %s", object, r))
		}
	}
	for _, name := range union(before.packages, after.packages) {
		at := c.at(annotated...)
		switch was, is := before.packages[name], after.packages[name]; {
		case was == is:
		case was == "":
			out = append(out, c.coded(codes.ImpactRequires, Added, object, "", at, "%s newly requires package %s %s", object, name, is))
		case is == "":
			out = append(out, safe(Removed, object, "%s no longer requires package %s %s", object, name, was))
		case covers(is, was):
			out = append(out, safe(Changed, object, "%s requires package %s %s instead of %s, which accepts more versions", object, name, is, was))
		default:
			out = append(out, c.coded(codes.ImpactRequires, Changed, object, "", at, "%s requires package %s %s instead of %s", object, name, is, was))
		}
	}
	for _, r := range union(before.provided, after.provided) {
		_, had := before.provided[r]
		_, has := after.provided[r]
		switch {
		case !had:
			out = append(out, safe(Added, object, "%s now provides %s", object, r))
		case !has && !c.withdrawn(r):
			at := c.at("spec", "customresourcedefinitions", "owned")
			out = append(out, c.coded(codes.ImpactProvides, Removed, object, "", at, "%s no longer provides %s; operators that require it lose it", object, r))
		}
	}
	inUse := c.installMode()
	for _, mode := range []v1alpha1.InstallModeType{v1alpha1.InstallModeTypeAllNamespaces, v1alpha1.InstallModeTypeMultiNamespace, v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace} {
		switch had, has := supports(c.old, mode), supports(c.new, mode); {
		case mode == v1alpha1.InstallModeTypeMultiNamespace && !c.opts.Classic: // OLM v1 does not have it
		case had && !has && inUse != "" && mode != inUse:
			out = append(out, safe(Removed, object, "%s no longer supports install mode %s, which is not in use", object, mode))
		case had && !has:
			out = append(out, c.coded(codes.ImpactInstallMode, Removed, object, "", c.at("spec", "installModes"), "%s no longer supports install mode %s; installations with it fail", object, mode))
		case has && !had:
			out = append(out, safe(Added, object, "%s now supports install mode %s", object, mode))
		}
	}
	out = append(out, c.minKubeVersion(object)...)
	return append(out, c.maxOpenShift(object, &before, &after)...), nil
}

// maxOpenShift compares the maximum versions of OpenShift.
func (c *comparison) maxOpenShift(object string, before, after *needs) []Change {
	at := c.at(annotated...)
	switch old, created := before.maxOpenShift, after.maxOpenShift; {
	case after.invalidMax != nil && before.invalidMax == nil:
		return []Change{c.coded(codes.ImpactOpenShiftVersion, Changed, object, "", at, "%s now prevents upgrades of OpenShift to every other minor version, because its maximum OpenShift version is invalid: %s", object, after.invalidMax)}
	case after.invalidMax != nil, created == nil && old == nil, created != nil && old != nil && *created == *old:
		return nil
	case created == nil:
		return []Change{safe(Removed, object, "%s no longer has a maximum OpenShift version; it was %s", object, old)}
	case before.invalidMax != nil:
		return []Change{safe(Changed, object, "%s has the maximum OpenShift version %s instead of an invalid one", object, created)}
	case old == nil:
		return []Change{c.coded(codes.ImpactOpenShiftVersion, Added, object, "", at, "%s now prevents upgrades of OpenShift beyond %s", object, created)}
	case created.Compare(*old) < 0:
		return []Change{c.coded(codes.ImpactOpenShiftVersion, Changed, object, "", at, "%s now prevents upgrades of OpenShift beyond %s instead of %s", object, created, old)}
	default:
		return []Change{safe(Changed, object, "the maximum OpenShift version changes from %s to %s", old, created)}
	}
}

// withdrawn reports whether an API that only the old bundle provides was a version of a CRD that was not
// served, or whose removal is reported as a change to a CRD that stays.
func (c *comparison) withdrawn(api string) bool {
	for i := range c.old.CRDs {
		x := &c.old.CRDs[i].Object
		for _, v := range x.Spec.Versions {
			if apiText(x.Spec.Group, v.Name, x.Spec.Names.Kind) != api {
				continue
			}
			return !v.Served || slices.ContainsFunc(c.new.CRDs, func(m registryv1.Manifest[apiextensionsv1.CustomResourceDefinition]) bool {
				return m.Object.Name == x.Name && !slices.ContainsFunc(m.Object.Spec.Versions, func(is apiextensionsv1.CustomResourceDefinitionVersion) bool {
					return is.Name == v.Name && is.Served
				})
			})
		}
	}
	return false
}

// covers reports whether each version in the range old is in the range created.
func covers(created, old string) bool {
	a, err := constraints.ParseRange(created)
	if err != nil {
		return false
	}
	b, err := constraints.ParseRange(old)
	return err == nil && a.Covers(b)
}

// installMode returns the install mode of the operator on the cluster, or "" if that is not known.
func (c *comparison) installMode() v1alpha1.InstallModeType {
	mode := v1alpha1.InstallModeTypeSingleNamespace
	switch watch := c.watched; {
	case c.opts.Cluster == nil:
		return ""
	case len(watch) == 0:
		mode = v1alpha1.InstallModeTypeAllNamespaces
	case len(watch) > 1:
		mode = v1alpha1.InstallModeTypeMultiNamespace
	case watch[0] == c.opts.Namespace:
		mode = v1alpha1.InstallModeTypeOwnNamespace
	}
	if !supports(c.old, mode) {
		return ""
	}
	return mode
}

// minKubeVersion compares the minimum versions of Kubernetes.
func (c *comparison) minKubeVersion(object string) []Change {
	old, created := c.old.CSV().Spec.MinKubeVersion, c.new.CSV().Spec.MinKubeVersion
	at := c.at("spec", "minKubeVersion")
	a, err := semver.ParseTolerant(old)
	known := err == nil
	b, err := semver.ParseTolerant(created)
	switch {
	case old == created:
		return nil
	case created == "":
		return []Change{safe(Removed, object, "%s no longer has a minKubeVersion; it was %s", object, old)}
	case err != nil:
		return []Change{c.coded(codes.ImpactKubeVersion, Changed, object, "", at, "the minKubeVersion of %s, %q, is not a version", object, created)}
	case known && b.LTE(a):
		return []Change{safe(Changed, object, "minKubeVersion changes from %s to %s", old, created)}
	case c.opts.Cluster != nil && c.opts.Cluster.KubeVersion != "":
		return []Change{c.minKubeVersionOn(c.opts.Cluster.KubeVersion, b, object)}
	case old == "":
		return []Change{c.coded(codes.ImpactKubeVersion, Added, object, "", at, "%s now requires Kubernetes %s", object, created)}
	}
	return []Change{c.coded(codes.ImpactKubeVersion, Changed, object, "", at, "%s requires Kubernetes %s instead of %s", object, created, old)}
}

// minKubeVersionOn compares the new minimum version of Kubernetes with that of the cluster.
func (c *comparison) minKubeVersionOn(cluster string, least semver.Version, object string) Change {
	at := c.at("spec", "minKubeVersion")
	v, err := semver.ParseTolerant(cluster)
	v.Pre = nil // as OLM reads it
	switch {
	case err != nil:
		return c.coded(codes.ImpactKubeVersion, Changed, object, "", at, "%s requires Kubernetes %s, and the version of the cluster, %q, is not a version", object, least, cluster)
	case least.LTE(v):
		return safe(Changed, object, "%s now requires Kubernetes %s, and the cluster has %s", object, least, v)
	case c.opts.Classic:
		return c.coded(codes.ImpactNotInstallable, Changed, object, "", at, "%s cannot be installed, so the upgrade fails: it requires Kubernetes %s, and the cluster has %s", object, least, v)
	}
	return c.coded(codes.ImpactKubeVersion, Changed, object, "", at, "%s requires Kubernetes %s, and the cluster has %s; OLM v1 does not check this", object, least, v)
}

// annotated is the path of the properties in a CSV.
var annotated = []any{"metadata", "annotations", property.Annotation}

// needs are what a bundle requires and provides.
type needs struct {
	required, provided map[string][]any       // the places in the CSV
	native             map[string]bool        // the required APIs of Kubernetes itself
	packages           map[string]string      // the ranges of required packages
	dependent          bool                   // the bundle declares dependencies in a catalog
	dependency         []any                  // the place of the first dependency in the CSV
	maxOpenShift       *property.MinorVersion // nil if there is none
	invalidMax         error
}

func apiText(group, version, kind string) string {
	if group == "" {
		return fmt.Sprintf("API %s %s", version, kind)
	}
	return fmt.Sprintf("API %s/%s %s", group, version, kind)
}

// needsOf reads the CSV of a bundle, the properties in its annotation, and those of the
// catalog.
func needsOf(b Bundle) needs {
	n := needs{required: map[string][]any{}, provided: map[string][]any{}, native: map[string]bool{}, packages: map[string]string{}}
	csv := b.CSV()
	isDependency := func(p property.Property) bool {
		return slices.Contains([]string{property.TypePackageRequired, property.TypeGVKRequired, property.TypeConstraint}, p.Type)
	}
	definitions := func(to map[string][]any, list []v1alpha1.CRDDescription, part string) {
		for i, d := range list {
			_, group, _ := strings.Cut(d.Name, ".")
			to[apiText(group, d.Version, d.Kind)] = []any{"spec", "customresourcedefinitions", part, i}
		}
	}
	// A catalog has required CRDs and API services as dependencies, too.
	crds, services := &csv.Spec.CustomResourceDefinitions, &csv.Spec.APIServiceDefinitions
	switch {
	case len(crds.Required) > 0:
		n.dependent, n.dependency = true, []any{"spec", "customresourcedefinitions", "required"}
	case len(services.Required) > 0:
		n.dependent, n.dependency = true, []any{"spec", "apiservicedefinitions", "required"}
	case slices.ContainsFunc(b.Properties, isDependency):
		n.dependent, n.dependency = true, annotated
	}
	all := slices.Clone(b.Properties)
	if raw := csv.Annotations[property.Annotation]; raw != "" {
		var list []property.Property
		if err := json.Unmarshal([]byte(raw), &list); err == nil {
			all = append(all, list...)
		}
	}
	for _, p := range all {
		switch p.Type {
		case property.TypeGVK, property.TypeGVKRequired:
			if g, err := property.Parse[property.GVK](p); err == nil {
				to := n.required
				if p.Type == property.TypeGVK {
					to = n.provided
				}
				to[apiText(g.Group, g.Version, g.Kind)] = annotated
			}
		case property.TypePackageRequired:
			if r, err := property.Parse[property.PackageRequired](p); err == nil {
				if was := n.packages[r.PackageName]; was != "" && was != r.VersionRange {
					r.VersionRange = was + " and " + r.VersionRange
				}
				n.packages[r.PackageName] = r.VersionRange
			}
		case property.TypeConstraint:
			n.required[constraintText(p.Value)] = annotated
		}
	}
	definitions(n.required, crds.Required, "required")
	definitions(n.provided, crds.Owned, "owned")
	for i, d := range services.Required {
		n.required[apiText(d.Group, d.Version, d.Kind)] = []any{"spec", "apiservicedefinitions", "required", i}
	}
	for i, d := range services.Owned {
		n.provided[apiText(d.Group, d.Version, d.Kind)] = []any{"spec", "apiservicedefinitions", "owned", i}
	}
	for i, g := range csv.Spec.NativeAPIs {
		api := apiText(g.Group, g.Version, g.Kind)
		n.required[api] = []any{"spec", "nativeAPIs", i}
		n.native[api] = apigroup.IsBuiltin(g.Group) && !strings.ContainsAny(strings.TrimPrefix(g.Version, "v"), "ab") // alpha and beta
	}
	switch v, ok, err := property.LowestMaxOpenShift(slices.Values(all)); {
	case err != nil:
		n.invalidMax = err
	case ok:
		n.maxOpenShift = &v
	}
	return n
}

// constraintText returns a constraint in words, or as JSON if it is invalid.
func constraintText(raw []byte) string {
	x, err := constraints.NewCompiler(nil).Parse(raw)
	if err != nil {
		return "constraint " + short(raw)
	}
	return short([]byte(x.String()))
}
