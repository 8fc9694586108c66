package apicheck

import (
	"math"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Deployment returns what an API server refuses in the spec of a Deployment.
func Deployment(d *appsv1.DeploymentSpec, at *field.Path) field.ErrorList {
	c := &check{}
	number(c, at.Child("replicas"), d.Replicas, 0, math.MaxInt32)
	number(c, at.Child("minReadySeconds"), &d.MinReadySeconds, 0, math.MaxInt32)
	number(c, at.Child("revisionHistoryLimit"), d.RevisionHistoryLimit, 0, math.MaxInt32)
	deadline := int32(600) // the default
	if d.ProgressDeadlineSeconds != nil {
		deadline = *d.ProgressDeadlineSeconds
	}
	c.must(deadline > d.MinReadySeconds && deadline >= 0, at.Child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds")
	c.strategy(&d.Strategy, at.Child("strategy"))
	template := at.Child("template")
	selector := at.Child("selector")
	if d.Selector == nil {
		c.required(selector, "")
	} else {
		c.selector(d.Selector, selector)
		c.must(len(d.Selector.MatchLabels)+len(d.Selector.MatchExpressions) > 0, selector, "", "must not be empty")
		if s, err := metav1.LabelSelectorAsSelector(d.Selector); err == nil && !s.Matches(labels.Set(d.Template.Labels)) {
			c.invalid(template.Child("metadata", "labels"), labels.Set(d.Template.Labels).String(), "the selector does not match the labels of the template")
		}
	}
	c.errs = append(c.errs, metavalidation.ValidateLabels(d.Template.Labels, template.Child("metadata", "labels"))...)
	c.errs = append(c.errs, apivalidation.ValidateAnnotations(d.Template.Annotations, template.Child("metadata", "annotations"))...)
	spec := template.Child("spec")
	c.oneOf(spec.Child("restartPolicy"), string(d.Template.Spec.RestartPolicy), false, string(corev1.RestartPolicyAlways))
	c.forbid(d.Template.Spec.ActiveDeadlineSeconds != nil, spec, "activeDeadlineSeconds", "must not be set in a Deployment")
	c.forbid(len(d.Template.Spec.EphemeralContainers) > 0, spec, "ephemeralContainers", "must not be set in a template")
	c.pod(&d.Template.Spec, spec)
	return c.errs
}

func (c *check) selector(s *metav1.LabelSelector, at *field.Path) {
	if s != nil {
		c.errs = append(c.errs, metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, at)...)
	}
}

func (c *check) strategy(s *appsv1.DeploymentStrategy, at *field.Path) {
	c.oneOf(at.Child("type"), string(s.Type), false, string(appsv1.RecreateDeploymentStrategyType), string(appsv1.RollingUpdateDeploymentStrategyType))
	r, rolling := s.RollingUpdate, at.Child("rollingUpdate")
	if r == nil {
		return
	}
	c.forbid(s.Type == appsv1.RecreateDeploymentStrategyType, at, "rollingUpdate", "must not be set if the type is Recreate")
	amount := func(v *intstr.IntOrString, at *field.Path) int {
		if v == nil {
			return 25 // percent, the default
		}
		return c.amount(v, at)
	}
	most, surge := amount(r.MaxUnavailable, rolling.Child("maxUnavailable")), amount(r.MaxSurge, rolling.Child("maxSurge"))
	c.must(most != 0 || surge != 0, rolling.Child("maxUnavailable"), most, "must not be 0 if maxSurge is 0")
	c.must(r.MaxUnavailable == nil || r.MaxUnavailable.Type != intstr.String || most <= 100, rolling.Child("maxUnavailable"), most, "must not be greater than 100%")
}

// amount checks a number or percentage, and returns it.
func (c *check) amount(v *intstr.IntOrString, at *field.Path) int {
	n, ok := v.IntValue(), true
	if v.Type == intstr.String {
		digits, percent := strings.CutSuffix(v.StrVal, "%")
		var err error
		n, err = strconv.Atoi(digits)
		ok = percent && err == nil && strings.Trim(digits, "0123456789") == ""
	}
	c.must(ok && n >= 0, at, v.String(), `must be a number, or a percentage such as "25%"`)
	return n
}

// defaultGracePeriod is the default of terminationGracePeriodSeconds.
const defaultGracePeriod = 30

func (c *check) pod(p *corev1.PodSpec, at *field.Path) {
	volumes := c.volumes(p.Volumes, at.Child("volumes"))
	grace := int64(defaultGracePeriod)
	if p.TerminationGracePeriodSeconds != nil {
		grace = *p.TerminationGracePeriodSeconds
	}
	if len(p.Containers) == 0 {
		c.required(at.Child("containers"), "a pod needs a container")
	}
	names := map[string]bool{}
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"containers", p.Containers}, {"initContainers", p.InitContainers}} {
		hostPorts := map[string]bool{}
		for i := range list.containers {
			x := &list.containers[i]
			at := at.Child(list.field).Index(i)
			if names[x.Name] {
				c.duplicate(at.Child("name"), x.Name)
			}
			names[x.Name] = x.Name != ""
			if list.field == "initContainers" {
				hostPorts = map[string]bool{} // they run one by one
				c.initContainer(x, at)
			} else {
				c.oneOf(at.Child("restartPolicy"), policy(x), false, "Always", "OnFailure", "Never")
			}
			c.container(&container{x, volumes, hostPorts, p.HostNetwork, grace}, at)
		}
	}
	c.oneOf(at.Child("dnsPolicy"), string(p.DNSPolicy), false, "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
	if p.DNSPolicy == corev1.DNSNone && (p.DNSConfig == nil || len(p.DNSConfig.Nameservers) == 0) {
		c.required(at.Child("dnsConfig", "nameservers"), "must be set if dnsPolicy is None")
	}
	c.errs = append(c.errs, metavalidation.ValidateLabels(p.NodeSelector, at.Child("nodeSelector"))...)
	c.optional(at.Child("serviceAccountName"), p.ServiceAccountName, validation.IsDNS1123Subdomain)
	c.optional(at.Child("nodeName"), p.NodeName, validation.IsDNS1123Subdomain)
	c.optional(at.Child("priorityClassName"), p.PriorityClassName, validation.IsDNS1123Subdomain)
	c.optional(at.Child("hostname"), p.Hostname, validation.IsDNS1123Label)
	c.optional(at.Child("subdomain"), p.Subdomain, validation.IsDNS1123Label)
	if p.RuntimeClassName != nil {
		c.invalid(at.Child("runtimeClassName"), *p.RuntimeClassName, validation.IsDNS1123Subdomain(*p.RuntimeClassName)...)
	}
	if v := p.PreemptionPolicy; v != nil {
		c.oneOf(at.Child("preemptionPolicy"), string(*v), true, "Never", "PreemptLowerPriority")
	}
	c.podSecurity(p.SecurityContext, at)
	if s := p.SecurityContext; s != nil {
		for i, x := range s.Sysctls {
			c.must(sysctl(x.Name), at.Child("securityContext", "sysctls").Index(i).Child("name"), x.Name, "must be the name of a sysctl")
		}
	}
	c.forbid(p.ShareProcessNamespace != nil && *p.ShareProcessNamespace && p.HostPID, at, "shareProcessNamespace", "must not be true if hostPID is")
	c.tolerations(p.Tolerations, at.Child("tolerations"))
	c.affinity(p.Affinity, at.Child("affinity"))
	c.spread(p.TopologySpreadConstraints, at.Child("topologySpreadConstraints"))
}

func policy(x *corev1.Container) string {
	if x.RestartPolicy == nil {
		return ""
	}
	return string(*x.RestartPolicy)
}

// initContainer checks what an init container may not have.
func (c *check) initContainer(x *corev1.Container, at *field.Path) {
	c.oneOf(at.Child("restartPolicy"), policy(x), false, "Always", "OnFailure", "Never")
	if policy(x) == "Always" {
		return
	}
	const text = "may not be set for init containers without restartPolicy Always"
	c.forbid(x.Lifecycle != nil, at, "lifecycle", text)
	c.forbid(x.LivenessProbe != nil, at, "livenessProbe", text)
	c.forbid(x.ReadinessProbe != nil, at, "readinessProbe", text)
	c.forbid(x.StartupProbe != nil, at, "startupProbe", text)
}

func (c *check) tolerations(list []corev1.Toleration, at *field.Path) {
	for i, t := range list {
		at := at.Index(i)
		if t.Key != "" {
			c.errs = append(c.errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		}
		c.must(t.Key != "" || t.Operator == corev1.TolerationOpExists, at.Child("operator"), t.Operator, "must be Exists if the key is empty")
		c.must(t.TolerationSeconds == nil || t.Effect == corev1.TaintEffectNoExecute, at.Child("effect"), t.Effect, "must be NoExecute if there are tolerationSeconds")
		switch t.Operator {
		case "", corev1.TolerationOpEqual:
			c.invalid(at.Child("value"), t.Value, validation.IsValidLabelValue(t.Value)...)
		case corev1.TolerationOpExists:
			c.must(t.Value == "", at.Child("value"), t.Value, "must be empty if the operator is Exists")
		default:
			c.oneOf(at.Child("operator"), string(t.Operator), true, "Equal", "Exists")
		}
		c.oneOf(at.Child("effect"), string(t.Effect), false, "NoSchedule", "PreferNoSchedule", "NoExecute")
	}
}

func (c *check) affinity(a *corev1.Affinity, at *field.Path) {
	if a == nil {
		return
	}
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	weight := func(n int32, at *field.Path) {
		c.must(n >= 1 && n <= 100, at.Child("weight"), n, "must be between 1 and 100")
	}
	if n := a.NodeAffinity; n != nil {
		at := at.Child("nodeAffinity")
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			terms := at.Child(required, "nodeSelectorTerms")
			if len(r.NodeSelectorTerms) == 0 {
				c.required(terms, "must have at least one term")
			}
			for i := range r.NodeSelectorTerms {
				c.nodeTerm(&r.NodeSelectorTerms[i], true, terms.Index(i))
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			x, at := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child(preferred).Index(i)
			weight(x.Weight, at)
			c.nodeTerm(&x.Preference, false, at.Child("preference"))
		}
	}
	pods := func(need []corev1.PodAffinityTerm, prefer []corev1.WeightedPodAffinityTerm, at *field.Path) {
		for i := range need {
			c.podTerm(&need[i], at.Child(required).Index(i))
		}
		for i := range prefer {
			at := at.Child(preferred).Index(i)
			weight(prefer[i].Weight, at)
			c.podTerm(&prefer[i].PodAffinityTerm, at.Child("podAffinityTerm"))
		}
	}
	if p := a.PodAffinity; p != nil {
		pods(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		pods(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))
	}
}

// nodeTerm checks a term. The values of a preference may be any.
func (c *check) nodeTerm(t *corev1.NodeSelectorTerm, strict bool, at *field.Path) {
	for i, r := range t.MatchExpressions {
		at := at.Child("matchExpressions").Index(i)
		values := at.Child("values")
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(r.Values) == 0 {
				c.required(values, "must be specified if the operator is In or NotIn")
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			c.forbid(len(r.Values) > 0, at, "values", "may not be specified if the operator is Exists or DoesNotExist")
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			if len(r.Values) != 1 {
				c.required(values, "must be one value if the operator is Lt or Gt")
			}
		default:
			c.oneOf(at.Child("operator"), string(r.Operator), true, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
		}
		c.errs = append(c.errs, metavalidation.ValidateLabelName(r.Key, at.Child("key"))...)
		for i, v := range r.Values {
			if strict {
				c.invalid(values.Index(i), v, validation.IsValidLabelValue(v)...)
			}
		}
	}
	for i, r := range t.MatchFields {
		at := at.Child("matchFields").Index(i)
		c.oneOf(at.Child("operator"), string(r.Operator), true, "In", "NotIn")
		c.oneOf(at.Child("key"), r.Key, true, "metadata.name")
		c.must(len(r.Values) == 1, at.Child("values"), r.Values, "must be one value")
		for j, v := range r.Values {
			c.invalid(at.Child("values").Index(j), v, validation.IsDNS1123Subdomain(v)...)
		}
	}
}

func (c *check) podTerm(t *corev1.PodAffinityTerm, at *field.Path) {
	c.selector(t.LabelSelector, at.Child("labelSelector"))
	c.selector(t.NamespaceSelector, at.Child("namespaceSelector"))
	for i, name := range t.Namespaces {
		c.invalid(at.Child("namespaces").Index(i), name, validation.IsDNS1123Label(name)...)
	}
	if t.TopologyKey == "" {
		c.required(at.Child("topologyKey"), "")
	} else {
		c.errs = append(c.errs, metavalidation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))...)
	}
}

func (c *check) spread(list []corev1.TopologySpreadConstraint, at *field.Path) {
	type id struct{ key, when string }
	seen := map[id]bool{}
	for i, t := range list {
		at := at.Index(i)
		c.must(t.MaxSkew > 0, at.Child("maxSkew"), t.MaxSkew, "must be greater than 0")
		c.text(at.Child("topologyKey"), t.TopologyKey, nil)
		c.oneOf(at.Child("whenUnsatisfiable"), string(t.WhenUnsatisfiable), true, "DoNotSchedule", "ScheduleAnyway")
		key := id{t.TopologyKey, string(t.WhenUnsatisfiable)}
		if seen[key] {
			c.duplicate(at, key.key+", "+key.when)
		}
		seen[key] = true
		number(c, at.Child("minDomains"), t.MinDomains, 1, math.MaxInt32)
		c.must(t.MinDomains == nil || t.WhenUnsatisfiable == corev1.DoNotSchedule, at.Child("minDomains"), "", "can only be set if whenUnsatisfiable is DoNotSchedule")
		c.selector(t.LabelSelector, at.Child("labelSelector"))
	}
}
