package apicheck

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A container is a container and what its pod has.
type container struct {
	*corev1.Container
	volumes     map[string]corev1.VolumeSource
	hostPorts   map[string]bool // those in use
	hostNetwork bool
	grace       int64 // the termination grace period in seconds
}

func (c *check) container(x *container, at *field.Path) {
	c.text(at.Child("name"), x.Name, validation.IsDNS1123Label)
	c.text(at.Child("image"), x.Image, nil)
	c.oneOf(at.Child("imagePullPolicy"), string(x.ImagePullPolicy), false, "Always", "IfNotPresent", "Never")
	c.oneOf(at.Child("terminationMessagePolicy"), string(x.TerminationMessagePolicy), false, "File", "FallbackToLogsOnError")
	c.ports(x, at.Child("ports"))
	c.env(x.Env, at.Child("env"))
	c.envFrom(x.EnvFrom, at.Child("envFrom"))
	c.mounts(x, at.Child("volumeMounts"))
	c.resources(&x.Resources, at.Child("resources"))
	c.security(x.SecurityContext, at.Child("securityContext"))
	if l := x.Lifecycle; l != nil {
		at := at.Child("lifecycle")
		for _, h := range []struct {
			name    string
			handler *corev1.LifecycleHandler
		}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
			if h.handler != nil {
				c.handler(&handler{exec: h.handler.Exec, http: h.handler.HTTPGet, tcp: h.handler.TCPSocket, sleep: h.handler.Sleep}, x.grace, at.Child(h.name))
			}
		}
		c.must(l.StopSignal == nil, at.Child("stopSignal"), "", "can only be set if the pod has an operating system")
	}
	c.probe(x.LivenessProbe, x.grace, at.Child("livenessProbe"), true)
	c.probe(x.StartupProbe, x.grace, at.Child("startupProbe"), true)
	c.probe(x.ReadinessProbe, x.grace, at.Child("readinessProbe"), false)
	if p := x.ReadinessProbe; p != nil {
		c.must(p.TerminationGracePeriodSeconds == nil, at.Child("readinessProbe", "terminationGracePeriodSeconds"), "", "must not be set for readiness probes")
	}
}

func (c *check) ports(x *container, at *field.Path) {
	names := map[string]bool{}
	for i, p := range x.Ports {
		at := at.Index(i)
		if p.Name != "" {
			if names[p.Name] {
				c.duplicate(at.Child("name"), p.Name)
			}
			names[p.Name] = true
			c.invalid(at.Child("name"), p.Name, validation.IsValidPortName(p.Name)...)
		}
		if p.ContainerPort == 0 {
			c.required(at.Child("containerPort"), "")
		} else {
			c.invalid(at.Child("containerPort"), p.ContainerPort, validation.IsValidPortNum(int(p.ContainerPort))...)
		}
		c.oneOf(at.Child("protocol"), string(p.Protocol), false, "SCTP", "TCP", "UDP")
		if p.HostPort == 0 {
			continue
		}
		c.invalid(at.Child("hostPort"), p.HostPort, validation.IsValidPortNum(int(p.HostPort))...)
		c.must(!x.hostNetwork || p.HostPort == p.ContainerPort, at.Child("hostPort"), p.HostPort, "must be the containerPort if the pod uses hostNetwork")
		id := fmt.Sprintf("%s/%s/%d", orDefault(p.Protocol, corev1.ProtocolTCP), p.HostIP, p.HostPort)
		if x.hostPorts[id] {
			c.duplicate(at.Child("hostPort"), id)
		}
		x.hostPorts[id] = true
	}
}

func orDefault[T ~string](v, def T) T {
	if v == "" {
		return def
	}
	return v
}

func (c *check) env(list []corev1.EnvVar, at *field.Path) {
	for i := range list {
		e, at := &list[i], at.Index(i)
		c.text(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName)
		v := e.ValueFrom
		if v == nil {
			continue
		}
		at = at.Child("valueFrom")
		switch n := count(v.FieldRef != nil, v.ResourceFieldRef != nil, v.ConfigMapKeyRef != nil, v.SecretKeyRef != nil, v.FileKeyRef != nil); {
		case n != 1:
			c.invalid(at, "", "must have exactly one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef and fileKeyRef")
		case e.Value != "":
			c.invalid(at, "", "must not be set if there is a value")
		}
		if v.FieldRef != nil {
			c.fieldRef(v.FieldRef, at.Child("fieldRef"), "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
				"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
		}
		if v.ResourceFieldRef != nil {
			c.resourceRef(v.ResourceFieldRef, at.Child("resourceFieldRef"))
		}
		if r := v.ConfigMapKeyRef; r != nil {
			c.text(at.Child("configMapKeyRef", "name"), r.Name, validation.IsDNS1123Subdomain)
			c.text(at.Child("configMapKeyRef", "key"), r.Key, validation.IsConfigMapKey)
		}
		if r := v.SecretKeyRef; r != nil {
			c.text(at.Child("secretKeyRef", "name"), r.Name, validation.IsDNS1123Subdomain)
			c.text(at.Child("secretKeyRef", "key"), r.Key, validation.IsConfigMapKey)
		}
	}
}

func (c *check) envFrom(list []corev1.EnvFromSource, at *field.Path) {
	for i, e := range list {
		at := at.Index(i)
		c.optional(at.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName)
		c.must(count(e.ConfigMapRef != nil, e.SecretRef != nil) == 1, at, "", "must have exactly one of configMapRef and secretRef")
		if e.ConfigMapRef != nil {
			c.text(at.Child("configMapRef", "name"), e.ConfigMapRef.Name, validation.IsDNS1123Subdomain)
		}
		if e.SecretRef != nil {
			c.text(at.Child("secretRef", "name"), e.SecretRef.Name, validation.IsDNS1123Subdomain)
		}
	}
}

// fieldRef checks a reference to a field of the pod.
func (c *check) fieldRef(r *corev1.ObjectFieldSelector, at *field.Path, allowed ...string) {
	c.oneOf(at.Child("apiVersion"), r.APIVersion, false, "v1")
	at = at.Child("fieldPath")
	name, key, ok := strings.Cut(r.FieldPath, "['")
	key, closed := strings.CutSuffix(key, "']")
	switch {
	case r.FieldPath == "":
		c.required(at, "")
	case ok && closed && name == "metadata.annotations":
		c.invalid(at, r.FieldPath, validation.IsQualifiedName(strings.ToLower(key))...)
	case ok && closed && name == "metadata.labels":
		c.invalid(at, r.FieldPath, validation.IsQualifiedName(key)...)
	default:
		c.oneOf(at, r.FieldPath, true, allowed...)
	}
}

// resourceRef checks a reference to a resource of a container.
func (c *check) resourceRef(r *corev1.ResourceFieldSelector, at *field.Path) {
	if !strings.HasPrefix(r.Resource, "requests.hugepages-") && !strings.HasPrefix(r.Resource, "limits.hugepages-") {
		c.oneOf(at.Child("resource"), r.Resource, true, "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory")
	}
	if r.Divisor.IsZero() {
		return
	}
	allowed := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	if strings.HasSuffix(r.Resource, ".cpu") {
		allowed = []string{"1m", "1"}
	}
	c.oneOf(at.Child("divisor"), r.Divisor.String(), true, allowed...)
}

func (c *check) mounts(x *container, at *field.Path) {
	paths := map[string]bool{}
	for i := range x.VolumeMounts {
		m, at := &x.VolumeMounts[i], at.Index(i)
		if m.Name == "" {
			c.required(at.Child("name"), "")
		} else if _, ok := x.volumes[m.Name]; !ok {
			c.errs = append(c.errs, field.NotFound(at.Child("name"), m.Name))
		}
		c.text(at.Child("mountPath"), m.MountPath, nil)
		c.must(!paths[m.MountPath], at.Child("mountPath"), m.MountPath, "must be unique")
		paths[m.MountPath] = true
		c.optional(at.Child("subPath"), m.SubPath, descending)
		c.optional(at.Child("subPathExpr"), m.SubPathExpr, descending)
		c.must(m.SubPath == "" || m.SubPathExpr == "", at.Child("subPathExpr"), m.SubPathExpr, "excludes subPath")
		if p := m.MountPropagation; p != nil {
			c.oneOf(at.Child("mountPropagation"), string(*p), true, "Bidirectional", "HostToContainer", "None")
			s := x.SecurityContext
			c.forbid(*p == corev1.MountPropagationBidirectional && (s == nil || s.Privileged == nil || !*s.Privileged), at, "mountPropagation", "Bidirectional needs a privileged container")
		}
		if r := m.RecursiveReadOnly; r != nil {
			c.oneOf(at.Child("recursiveReadOnly"), string(*r), true, "Disabled", "Enabled", "IfPossible")
			c.must(*r == corev1.RecursiveReadOnlyDisabled || m.ReadOnly && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone), at.Child("recursiveReadOnly"), *r, "needs readOnly, and no mountPropagation")
		}
	}
}

// descending returns why a path does not lead down from where it starts.
func descending(path string) []string {
	if strings.HasPrefix(path, "/") {
		return []string{"must be a relative path"}
	}
	return noBacksteps(path)
}

func noBacksteps(path string) []string {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return []string{`must not contain ".."`}
	}
	return nil
}

func (c *check) resources(r *corev1.ResourceRequirements, at *field.Path) {
	huge, plain := false, false
	list := func(list corev1.ResourceList, at *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q, at := list[name], at.Key(string(name))
			c.resourceName(name, at)
			c.must(q.Sign() >= 0, at, q.String(), "must be greater than or equal to 0")
			native := name == corev1.ResourceCPU || name == corev1.ResourceMemory
			whole := strings.Contains(string(name), "/") && !strings.Contains(string(name), "kubernetes.io/")
			c.must(!whole || q.MilliValue()%1000 == 0, at, q.String(), "must be an integer")
			plain, huge = plain || native, huge || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		}
	}
	list(r.Limits, at.Child("limits"))
	list(r.Requests, at.Child("requests"))
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request, at := r.Requests[name], at.Child("requests").Key(string(name))
		limit, ok := r.Limits[name]
		overcommit := (!strings.Contains(string(name), "/") || strings.Contains(string(name), "kubernetes.io/")) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		switch {
		case !ok && !overcommit:
			c.required(at, "needs an equal limit")
		case ok && !overcommit && request.Cmp(limit) != 0:
			c.invalid(at, request.String(), "must be equal to the limit of "+limit.String())
		case ok && request.Cmp(limit) > 0:
			c.invalid(at, request.String(), "must be less than or equal to the limit of "+limit.String())
		}
	}
	c.must(!huge || plain, at, "", "huge pages need cpu or memory")
}

func (c *check) resourceName(name corev1.ResourceName, at *field.Path) {
	text := string(name)
	if errs := validation.IsQualifiedName(text); len(errs) > 0 {
		c.invalid(at, text, errs...)
		return
	}
	switch {
	case strings.HasPrefix(text, corev1.ResourceHugePagesPrefix):
		_, err := resource.ParseQuantity(strings.TrimPrefix(text, corev1.ResourceHugePagesPrefix))
		c.must(err == nil, at, text, "must end with a size")
	case !strings.Contains(text, "/"):
		c.oneOf(at, text, true, "cpu", "memory", "ephemeral-storage")
	case !strings.Contains(text, "kubernetes.io/"):
		c.must(!strings.HasPrefix(text, "requests.") && len(validation.IsQualifiedName("requests."+text)) == 0, at, text, "must be the name of an extended resource")
	}
}

func (c *check) probe(p *corev1.Probe, grace int64, at *field.Path, once bool) {
	if p == nil {
		return
	}
	c.handler(&handler{p.Exec, p.HTTPGet, p.TCPSocket, p.GRPC, nil}, grace, at)
	for _, f := range []struct {
		name  string
		value int32
	}{{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds}, {"successThreshold", p.SuccessThreshold}, {"failureThreshold", p.FailureThreshold}} {
		number(c, at.Child(f.name), &f.value, 0, math.MaxInt32)
	}
	c.must(!once || p.SuccessThreshold == 0 || p.SuccessThreshold == 1, at.Child("successThreshold"), p.SuccessThreshold, "must be 1")
	if once {
		number(c, at.Child("terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds, 1, math.MaxInt64)
	}
}

// A handler is what a probe or a hook does.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (c *check) handler(h *handler, grace int64, at *field.Path) {
	switch n := count(h.exec != nil, h.http != nil, h.tcp != nil, h.grpc != nil, h.sleep != nil); {
	case n == 0:
		c.required(at, "must have an action such as httpGet")
	case n > 1:
		c.invalid(at, "", "must not have more than one action")
	}
	if h.exec != nil && len(h.exec.Command) == 0 {
		c.required(at.Child("exec", "command"), "")
	}
	if h.http != nil {
		at := at.Child("httpGet")
		c.port(h.http.Port, at.Child("port"))
		c.oneOf(at.Child("scheme"), string(h.http.Scheme), false, "HTTP", "HTTPS")
		for i, header := range h.http.HTTPHeaders {
			c.invalid(at.Child("httpHeaders").Index(i).Child("name"), header.Name, validation.IsHTTPHeaderName(header.Name)...)
		}
	}
	if h.tcp != nil {
		c.port(h.tcp.Port, at.Child("tcpSocket", "port"))
	}
	if h.grpc != nil {
		c.invalid(at.Child("grpc", "port"), h.grpc.Port, validation.IsValidPortNum(int(h.grpc.Port))...)
	}
	if h.sleep != nil {
		c.must(h.sleep.Seconds >= 0 && h.sleep.Seconds <= grace, at.Child("sleep", "seconds"), h.sleep.Seconds, "must be between 0 and terminationGracePeriodSeconds")
	}
}

func (c *check) port(p intstr.IntOrString, at *field.Path) {
	if p.Type == intstr.Int {
		c.invalid(at, p.IntValue(), validation.IsValidPortNum(p.IntValue())...)
	} else {
		c.invalid(at, p.StrVal, validation.IsValidPortName(p.StrVal)...)
	}
}

func (c *check) security(s *corev1.SecurityContext, at *field.Path) {
	if s == nil {
		return
	}
	number(c, at.Child("runAsUser"), s.RunAsUser, 0, math.MaxInt32)
	number(c, at.Child("runAsGroup"), s.RunAsGroup, 0, math.MaxInt32)
	c.seccomp(s.SeccompProfile, at.Child("seccompProfile"))
	if p := s.ProcMount; p != nil {
		c.oneOf(at.Child("procMount"), string(*p), true, "Default")
	}
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		c.must(s.Privileged == nil || !*s.Privileged, at, "", "allowPrivilegeEscalation must not be false if privileged is true")
		c.must(s.Capabilities == nil || !slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN"), at, "", "allowPrivilegeEscalation must not be false if capability CAP_SYS_ADMIN is added")
	}
}

func (c *check) seccomp(p *corev1.SeccompProfile, at *field.Path) {
	if p == nil {
		return
	}
	c.oneOf(at.Child("type"), string(p.Type), true, "Localhost", "RuntimeDefault", "Unconfined")
	switch at := at.Child("localhostProfile"); {
	case p.Type == corev1.SeccompProfileTypeLocalhost && p.LocalhostProfile == nil:
		c.required(at, "must be set if the type is Localhost")
	case p.Type == corev1.SeccompProfileTypeLocalhost:
		c.invalid(at, *p.LocalhostProfile, descending(*p.LocalhostProfile)...)
	case p.LocalhostProfile != nil:
		c.invalid(at, *p.LocalhostProfile, "can only be set if the type is Localhost")
	}
}

func (c *check) podSecurity(s *corev1.PodSecurityContext, at *field.Path) {
	if s == nil {
		return
	}
	at = at.Child("securityContext")
	number(c, at.Child("runAsUser"), s.RunAsUser, 0, math.MaxInt32)
	number(c, at.Child("runAsGroup"), s.RunAsGroup, 0, math.MaxInt32)
	number(c, at.Child("fsGroup"), s.FSGroup, 0, math.MaxInt32)
	for i, g := range s.SupplementalGroups {
		number(c, at.Child("supplementalGroups").Index(i), &g, 0, math.MaxInt32)
	}
	if p := s.FSGroupChangePolicy; p != nil {
		c.oneOf(at.Child("fsGroupChangePolicy"), string(*p), true, "Always", "OnRootMismatch")
	}
	c.seccomp(s.SeccompProfile, at.Child("seccompProfile"))
}

// sysctlName matches the names of sysctls.
var sysctlName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)
})

func sysctl(name string) bool { return len(name) <= 253 && sysctlName().MatchString(name) }

func isIP(text string) []string {
	if _, err := netip.ParseAddr(text); err != nil {
		return []string{"must be an IP address"}
	}
	return nil
}
