package csv

import (
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/apigroup"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// The states of a requirement.
const (
	reqPresent      = "Present"
	reqNotPresent   = "NotPresent"
	reqNotSatisfied = "PresentNotSatisfied"
	reqNotAvailable = "PresentNotAvailable"
	depSatisfied    = "Satisfied"
	depNotSatisfied = "NotSatisfied"
	// reqUnknown is the status of a requirement that was not read. It is never
	// written.
	reqUnknown = "Unknown"
)

// A verdict is the result of checking requirements.
type verdict int

const (
	// unmet: something is missing.
	unmet verdict = iota
	// unknown: not everything could be checked, and nothing that was checked is missing.
	unknown
	// met: everything exists.
	met
)

// requirements returns the requirements of an operator and whether all are met: the
// cluster's version, the CRDs that it owns and requires, APIServices, native APIs, and the
// permissions of its service accounts. The list leaves out requirements that could not be
// checked, unless the status of the CSV has them.
func (p *planner) requirements(c *olm.ClusterServiceVersion) (v verdict, list []olm.RequirementStatus) {
	if r, ok := p.kubeVersion(c); ok {
		list = append(list, r)
	}
	list = append(list, p.crdRequirements(c)...)
	list = append(list, p.apiRequirements(c)...)
	list = append(list, p.permissionRequirements(c)...)
	v = met
	out := list[:0]
	for _, r := range list {
		switch {
		case isMet(r):
		case r.Status != reqUnknown:
			v = unmet
		default:
			v = min(v, unknown)
			i := slices.IndexFunc(c.Status.RequirementStatus, func(old olm.RequirementStatus) bool {
				return old.Group == r.Group && old.Kind == r.Kind && old.Name == r.Name
			})
			if i < 0 {
				continue
			}
			r = c.Status.RequirementStatus[i]
		}
		out = append(out, r)
	}
	return v, out
}

func isMet(r olm.RequirementStatus) bool {
	return r.Status == reqPresent || r.Status == "DeploymentFound"
}

// versionsOf returns the version of the object that a requirement names, which is empty if
// there is no such object. Built-in APIs and permissions are not single objects and have
// none.
func (p *planner) versionsOf(r olm.RequirementStatus) []world.Version {
	key := olm.Key{Group: r.Group, Kind: r.Kind, Name: r.Name}
	switch r.Kind {
	case olm.KindCRD:
		if crd := p.CRD(r.Name); crd != nil {
			return []world.Version{world.VersionOf(crd)}
		}
	case "APIService":
		if o := p.Object(key); o != nil {
			return []world.Version{world.VersionOf(o)}
		}
	default:
		return nil
	}
	return []world.Version{{Key: key}}
}

// missing lists the first unmet requirements, each with its reason, and counts the others.
func missing(list []olm.RequirementStatus) string {
	var names []string
	for _, r := range list {
		if isMet(r) {
			continue
		}
		text := r.Kind + " " + r.Name
		if r.Message != "" {
			text += " (" + r.Message + ")"
		}
		names = append(names, text)
	}
	return phrase.Few(names)
}

func sameRequirements(a, b []olm.RequirementStatus) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && olm.EqualJSON(x, y) || len(a) == 0 && len(b) == 0
}

func (p *planner) kubeVersion(c *olm.ClusterServiceVersion) (olm.RequirementStatus, bool) {
	if c.Spec.MinKubeVersion == "" {
		return olm.RequirementStatus{}, false
	}
	r := olm.RequirementStatus{Group: olm.Group, Version: "v1alpha1", Kind: olm.KindClusterServiceVersion, Name: c.Metadata.Name, Status: reqNotSatisfied}
	want, err := semver.ParseTolerant(c.Spec.MinKubeVersion)
	if err != nil {
		r.Message = fmt.Sprintf("minKubeVersion %q is not a version: %s", c.Spec.MinKubeVersion, err)
		return r, true
	}
	if p.KubeVersion == "" {
		p.unjudged[c.Key()] = want.String()
		return olm.RequirementStatus{}, false
	}
	have, err := semver.ParseTolerant(p.KubeVersion)
	if err != nil {
		r.Message = fmt.Sprintf("minKubeVersion is %s, but the version of the cluster, %q, is not valid", want, p.KubeVersion)
		return r, true
	}
	have.Pre, have.Build, want.Pre, want.Build = nil, nil, nil, nil
	if have.LT(want) {
		r.Message = fmt.Sprintf("CSV version requirement not met: minKubeVersion (%s) > server version (%s)", want, have)
		return r, true
	}
	r.Status, r.Message = reqPresent, fmt.Sprintf("CSV minKubeVersion (%s) less than server version (%s)", want, have)
	return r, true
}

func (p *planner) crdRequirements(c *olm.ClusterServiceVersion) []olm.RequirementStatus {
	wanted := map[string]olm.CRDDescription{}
	for _, d := range c.Spec.CRDs.Required {
		wanted[d.Name+"\x00"+d.Version] = d
	}
	for _, d := range c.Spec.CRDs.Owned {
		wanted[d.Name+"\x00"+d.Version] = d
	}
	var list []olm.RequirementStatus
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		d := wanted[key]
		r := olm.RequirementStatus{Group: olm.GroupCRD, Version: "v1", Kind: olm.KindCRD, Name: d.Name}
		crd := p.CRD(d.Name)
		served := crd != nil && slices.ContainsFunc(crd.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == d.Version && v.Served })
		switch {
		case crd == nil && !p.IsRead(world.KindCRD, d.Name):
			r.Status = reqUnknown
		case crd == nil:
			r.Status, r.Message = reqNotPresent, "CRD is not present"
		case !served:
			r.Status, r.Message = reqNotPresent, fmt.Sprintf("CRD version %s not served", visible.Line(d.Version))
		case !crd.Status.IsEstablished():
			r.Status, r.Message = reqNotAvailable, "CRD is present but the Established condition is False (not available)"
		default:
			r.Status, r.Message, r.UUID = reqPresent, "CRD is present and Established condition is true", crd.Metadata.UID
		}
		list = append(list, r)
	}
	return list
}

func (p *planner) apiRequirements(c *olm.ClusterServiceVersion) []olm.RequirementStatus {
	var list []olm.RequirementStatus
	owned := map[string]bool{}
	for _, d := range c.Spec.APIServices.Owned {
		name := d.Version + "." + d.Group
		owned[name] = true
		r := olm.RequirementStatus{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Name: name, Status: "DeploymentNotFound",
			Message: fmt.Sprintf("the CSV has no deployment %q", d.DeploymentName)}
		if slices.ContainsFunc(c.Spec.Install.Spec.Deployments, func(x olm.StrategyDeploymentSpec) bool { return x.Name == d.DeploymentName }) {
			r.Status, r.Message = "DeploymentFound", ""
		}
		list = append(list, r)
	}
	for _, d := range c.Spec.APIServices.Required {
		name := d.Version + "." + d.Group
		if owned[name] {
			continue
		}
		r := olm.RequirementStatus{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Name: name}
		o := p.Object(apiServiceKey(d.Version, d.Group))
		switch {
		case o == nil && !p.IsRead(world.KindAPIService, name):
			r.Status = reqUnknown
		case o == nil:
			r.Status, r.Message = reqNotPresent, "APIService is not present"
		case !isAvailable(o):
			r.Status, r.Message = reqNotAvailable, "APIService is not available"
		case p.Served != nil && !slices.Contains(p.Served, property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}):
			r.Status, r.Message = reqNotPresent, fmt.Sprintf("the API server serves no kind %s", visible.Line(d.Kind))
		default:
			r.Status, r.UUID = reqPresent, o.Metadata.UID
		}
		list = append(list, r)
	}
	for _, d := range c.Spec.NativeAPIs {
		r := olm.RequirementStatus{Group: d.Group, Version: d.Version, Kind: d.Kind, Name: d.Version + "." + d.Group, Status: reqNotPresent, Message: "Native API does not exist"}
		if p.isServed(d) {
			r.Status, r.Message = reqPresent, "Native API exists"
		} else if name := d.Version + "." + d.Group; !p.IsRead(world.KindCRD, "of API "+name) || !p.IsRead(world.KindAPIService, name) {
			r.Status = reqUnknown
		}
		list = append(list, r)
	}
	return list
}

// isAvailable reports whether an APIService has condition Available.
func isAvailable(o *olm.Object) bool {
	v, ok := o.Get("status", "conditions")
	var list []olm.Condition
	if !ok || olm.Unmarshal(v, &list) != nil {
		return false
	}
	c, ok := olm.FindCondition(list, "Available")
	return ok && c.Status == olm.ConditionTrue
}

// isServed reports whether the cluster has an API: from a CRD, an APIService, or a built-in
// group of Kubernetes (E38).
func (p *planner) isServed(d olm.NativeAPI) bool {
	if crd := p.CRDOf(d.Group, d.Kind); crd != nil {
		return slices.ContainsFunc(crd.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == d.Version && v.Served })
	}
	if p.Object(apiServiceKey(d.Version, d.Group)) != nil {
		return p.Served == nil || slices.Contains(p.Served, property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind})
	}
	// An API server has an APIService for each version of a built-in group. A snapshot
	// without that of the first group does not list them.
	return p.Object(apiServiceKey("v1", "")) == nil && apigroup.IsBuiltin(d.Group)
}

func apiServiceKey(version, group string) olm.Key {
	return olm.Key{Group: world.KindAPIService.Group, Kind: world.KindAPIService.Kind, Name: version + "." + group}
}
