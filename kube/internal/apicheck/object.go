package apicheck

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Object returns what an API server refuses in an object, except in its metadata. It returns nothing
// for kinds that this package does not know.
func Object(o *unstructured.Unstructured) field.ErrorList {
	c := &check{}
	switch o.GroupVersionKind() {
	case rbacv1.SchemeGroupVersion.WithKind("Role"):
		decoded(c, o, func(r *rbacv1.Role) { c.rules(r.Rules, true, field.NewPath("rules")) })
	case rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):
		decoded(c, o, c.clusterRole)
	case rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):
		decoded(c, o, func(b *rbacv1.RoleBinding) { c.binding(b.RoleRef, b.Subjects, true) })
	case rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"):
		decoded(c, o, func(b *rbacv1.ClusterRoleBinding) { c.binding(b.RoleRef, b.Subjects, false) })
	case core("Service"):
		decoded(c, o, c.service)
	case core("ServiceAccount"):
		decoded(c, o, func(*corev1.ServiceAccount) {})
	case core("ConfigMap"):
		decoded(c, o, c.configMap)
	case core("Secret"):
		decoded(c, o, c.secret)
	case policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"):
		decoded(c, o, c.disruptionBudget)
	case schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"):
		decoded(c, o, c.priorityClass)
	}
	return c.errs
}

func core(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }

// decoded checks an object as a value of its Go type.
func decoded[T any](c *check, o *unstructured.Unstructured, check func(*T)) {
	typed := new(T)
	text, err := json.Marshal(o.Object)
	if err == nil {
		err = json.Unmarshal(text, typed)
	}
	if err != nil {
		at := field.NewPath("")
		if wrong, ok := err.(*json.UnmarshalTypeError); ok && wrong.Field != "" {
			c.errs = append(c.errs, field.TypeInvalid(field.NewPath(wrong.Field), "", "must not be of type "+wrong.Value))
			return
		}
		c.invalid(at, "", err.Error())
		return
	}
	check(typed)
}

// Rules returns what an API server refuses in the rules of a Role or, unless they are namespaced,
// of a ClusterRole.
func Rules(rules []rbacv1.PolicyRule, namespaced bool, at *field.Path) field.ErrorList {
	c := &check{}
	c.rules(rules, namespaced, at)
	return c.errs
}

func (c *check) rules(rules []rbacv1.PolicyRule, namespaced bool, at *field.Path) {
	for i, r := range rules {
		at := at.Index(i)
		if len(r.Verbs) == 0 {
			c.required(at.Child("verbs"), "a rule needs a verb")
		}
		if len(r.NonResourceURLs) > 0 {
			c.forbid(namespaced, at, "nonResourceURLs", "a Role cannot apply to URLs that are not resources")
			c.must(len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) == 0, at.Child("nonResourceURLs"), "", "a rule cannot apply to both resources and other URLs")
			continue
		}
		if len(r.APIGroups) == 0 {
			c.required(at.Child("apiGroups"), `a rule for resources needs an API group, which is "" for the core`)
		}
		if len(r.Resources) == 0 {
			c.required(at.Child("resources"), "a rule for resources needs a resource")
		}
	}
}

func (c *check) clusterRole(r *rbacv1.ClusterRole) {
	c.rules(r.Rules, false, field.NewPath("rules"))
	if a := r.AggregationRule; a != nil {
		at := field.NewPath("aggregationRule", "clusterRoleSelectors")
		if len(a.ClusterRoleSelectors) == 0 {
			c.required(at, "an aggregation needs a selector")
		}
		for i := range a.ClusterRoleSelectors {
			c.selector(&a.ClusterRoleSelectors[i], at.Index(i))
		}
	}
}

// PathSegment returns why a name cannot be a part of a path.
func PathSegment(name string) []string {
	if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return []string{`must not be "." or "..", or contain "/" or "%"`}
	}
	return nil
}

func (c *check) binding(role rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool) {
	at := field.NewPath("roleRef")
	c.oneOf(at.Child("apiGroup"), role.APIGroup, false, rbacv1.GroupName) // its default
	kinds := []string{"ClusterRole"}
	if namespaced {
		kinds = append(kinds, "Role")
	}
	c.oneOf(at.Child("kind"), role.Kind, true, kinds...)
	c.text(at.Child("name"), role.Name, PathSegment)
	for i, s := range subjects {
		at := field.NewPath("subjects").Index(i)
		if s.Name == "" {
			c.required(at.Child("name"), "")
		}
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			c.optional(at.Child("name"), s.Name, validation.IsDNS1123Subdomain)
			c.must(s.APIGroup == "", at.Child("apiGroup"), s.APIGroup, "must be empty for a ServiceAccount")
			if !namespaced && s.Namespace == "" {
				c.required(at.Child("namespace"), "")
			}
		default:
			c.oneOf(at.Child("kind"), s.Kind, true, rbacv1.GroupKind, rbacv1.ServiceAccountKind, rbacv1.UserKind)
			c.oneOf(at.Child("apiGroup"), s.APIGroup, false, rbacv1.GroupName) // its default
		}
	}
}

func (c *check) service(s *corev1.Service) {
	at := field.NewPath("spec")
	c.oneOf(at.Child("type"), string(s.Spec.Type), false, "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
	c.oneOf(at.Child("sessionAffinity"), string(s.Spec.SessionAffinity), false, "ClientIP", "None")
	headless := s.Spec.ClusterIP == corev1.ClusterIPNone
	ports := at.Child("ports")
	external := s.Spec.Type == corev1.ServiceTypeExternalName
	if len(s.Spec.Ports) == 0 && !headless && !external {
		c.required(ports, "a service needs a port")
	}
	if external {
		name := strings.TrimSuffix(s.Spec.ExternalName, ".")
		c.text(at.Child("externalName"), name, validation.IsDNS1123Subdomain)
	}
	type id struct {
		protocol corev1.Protocol
		port     int32
	}
	names, seen := map[string]bool{}, map[id]bool{}
	for i, p := range s.Spec.Ports {
		at := ports.Index(i)
		switch {
		case p.Name == "" && len(s.Spec.Ports) > 1:
			c.required(at.Child("name"), "a service with several ports needs their names")
		case p.Name != "":
			c.invalid(at.Child("name"), p.Name, validation.IsDNS1123Label(p.Name)...)
			if names[p.Name] {
				c.duplicate(at.Child("name"), p.Name)
			}
			names[p.Name] = true
		}
		c.invalid(at.Child("port"), p.Port, validation.IsValidPortNum(int(p.Port))...)
		c.oneOf(at.Child("protocol"), string(p.Protocol), false, "SCTP", "TCP", "UDP")
		if p.TargetPort != (intstr.IntOrString{}) && p.TargetPort != intstr.FromString("") {
			c.port(p.TargetPort, at.Child("targetPort"))
		}
		key := id{orDefault(p.Protocol, corev1.ProtocolTCP), p.Port}
		if seen[key] {
			c.duplicate(at, p.Port)
		}
		seen[key] = true
		nodePorts := s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
		c.forbid(p.NodePort != 0 && !nodePorts, at, "nodePort", "may not be used if the type is ClusterIP")
		c.must(p.NodePort >= 0 && p.NodePort <= math.MaxUint16, at.Child("nodePort"), p.NodePort, "must be a port")
	}
	for key, value := range s.Spec.Selector {
		c.invalid(at.Child("selector"), key, validation.IsQualifiedName(key)...)
		c.invalid(at.Child("selector").Key(key), value, validation.IsValidLabelValue(value)...)
	}
	for i, ip := range s.Spec.ExternalIPs {
		c.invalid(at.Child("externalIPs").Index(i), ip, isIP(ip)...)
	}
	if ip := s.Spec.ClusterIP; ip != "" && !headless {
		c.invalid(at.Child("clusterIP"), ip, isIP(ip)...)
	}
}

// maxData is how many bytes the values of a ConfigMap or Secret may have.
const maxData = 1 << 20

func (c *check) configMap(m *corev1.ConfigMap) {
	total := 0
	for key, value := range m.Data {
		c.invalid(field.NewPath("data").Key(key), key, validation.IsConfigMapKey(key)...)
		if _, ok := m.BinaryData[key]; ok {
			c.duplicate(field.NewPath("binaryData").Key(key), key)
		}
		total += len(value)
	}
	for key, value := range m.BinaryData {
		c.invalid(field.NewPath("binaryData").Key(key), key, validation.IsConfigMapKey(key)...)
		total += len(value)
	}
	c.must(total <= maxData, field.NewPath("data"), "", "must have at most 1 MiB")
}

func (c *check) secret(s *corev1.Secret) {
	data := field.NewPath("data")
	total := 0
	keys := map[string]bool{}
	for key, value := range s.Data {
		c.invalid(data.Key(key), key, validation.IsConfigMapKey(key)...)
		keys[key] = true
		total += len(value)
	}
	for key, value := range s.StringData {
		c.invalid(field.NewPath("stringData").Key(key), key, validation.IsConfigMapKey(key)...)
		if old, ok := s.Data[key]; ok {
			total -= len(old)
		}
		keys[key] = true
		total += len(value)
	}
	c.must(total <= maxData, data, "", "must have at most 1 MiB")
	need := func(names ...string) {
		for _, name := range names {
			if !keys[name] {
				c.required(data.Key(name), "a Secret of type "+string(s.Type)+" needs it")
			}
		}
	}
	value := func(key string) []byte {
		if v, ok := s.StringData[key]; ok {
			return []byte(v)
		}
		return s.Data[key]
	}
	isJSON := func(key string) {
		if need(key); keys[key] {
			c.must(json.Unmarshal(value(key), &map[string]any{}) == nil, data.Key(key), "", "must be a JSON object")
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			c.required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")
		}
	case corev1.SecretTypeDockercfg:
		isJSON(corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		isJSON(corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		if !keys[corev1.BasicAuthUsernameKey] && !keys[corev1.BasicAuthPasswordKey] {
			need(corev1.BasicAuthUsernameKey)
		}
	case corev1.SecretTypeSSHAuth:
		if need(corev1.SSHAuthPrivateKey); keys[corev1.SSHAuthPrivateKey] && len(value(corev1.SSHAuthPrivateKey)) == 0 {
			c.required(data.Key(corev1.SSHAuthPrivateKey), "must not be empty")
		}
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
}

func (c *check) disruptionBudget(b *policyv1.PodDisruptionBudget) {
	at := field.NewPath("spec")
	c.must(b.Spec.MinAvailable == nil || b.Spec.MaxUnavailable == nil, at, "", "minAvailable and maxUnavailable exclude each other")
	for _, f := range []struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", b.Spec.MinAvailable}, {"maxUnavailable", b.Spec.MaxUnavailable}} {
		if f.value != nil {
			n := c.amount(f.value, at.Child(f.name))
			c.must(f.value.Type != intstr.String || n <= 100, at.Child(f.name), f.value.String(), "must not be greater than 100%")
		}
	}
	c.selector(b.Spec.Selector, at.Child("selector"))
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil {
		c.oneOf(at.Child("unhealthyPodEvictionPolicy"), string(*p), true, "AlwaysAllow", "IfHealthyBudget")
	}
}

// highestPriority is the highest priority that users may define.
const highestPriority = 1_000_000_000

func (c *check) priorityClass(p *schedulingv1.PriorityClass) {
	system := strings.HasPrefix(p.Name, "system-")
	c.forbid(system && !slices.Contains([]string{"system-node-critical", "system-cluster-critical"}, p.Name), field.NewPath("metadata"), "name", "names that begin with system- are reserved")
	c.forbid(!system && p.Value > highestPriority, nil, "value", "must not be greater than 1000000000")
	if v := p.PreemptionPolicy; v != nil {
		c.oneOf(field.NewPath("preemptionPolicy"), string(*v), true, "Never", "PreemptLowerPriority")
	}
}
