package impact

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// A fallback is a field and the value that the API server gives it by default. A path
// element "*" means every element of a list.
type fallback struct {
	path  string
	value any
}

// podDefaults are the defaults of a pod, below its spec.
var podDefaults = []fallback{
	{"restartPolicy", "Always"}, {"dnsPolicy", "ClusterFirst"}, {"schedulerName", "default-scheduler"},
	{"terminationGracePeriodSeconds", int64(30)}, {"securityContext", map[string]any{}},
	{"hostNetwork", false}, {"hostPID", false}, {"hostIPC", false}, {"enableServiceLinks", true},
	{"volumes.*.configMap.defaultMode", int64(420)}, {"volumes.*.secret.defaultMode", int64(420)},
	{"volumes.*.projected.defaultMode", int64(420)}, {"volumes.*.hostPath.type", ""},
}

// containerDefaults are the defaults of a container.
var containerDefaults = []fallback{
	{"terminationMessagePath", "/dev/termination-log"}, {"terminationMessagePolicy", "File"}, {"resources", map[string]any{}},
	{"securityContext", map[string]any{}}, {"ports.*.protocol", "TCP"}, {"env.*.value", ""}, {"env.*.valueFrom.fieldRef.apiVersion", "v1"},
	{"volumeMounts.*.readOnly", false}, {"stdin", false}, {"tty", false},
}

// probeDefaults are the defaults of a probe.
var probeDefaults = []fallback{
	{"initialDelaySeconds", int64(0)}, {"timeoutSeconds", int64(1)}, {"periodSeconds", int64(10)},
	{"successThreshold", int64(1)}, {"failureThreshold", int64(3)}, {"httpGet.scheme", "HTTP"},
}

// kindDefaults are the defaults of other kinds.
var kindDefaults = map[string][]fallback{
	"Deployment": {
		{"spec.replicas", int64(1)}, {"spec.progressDeadlineSeconds", int64(600)}, {"spec.minReadySeconds", int64(0)}, {"spec.paused", false},
		{"spec.strategy.rollingUpdate.maxSurge", "25%"}, {"spec.strategy.rollingUpdate.maxUnavailable", "25%"},
		{"spec.strategy.rollingUpdate", map[string]any{}}, {"spec.strategy.type", "RollingUpdate"}, {"spec.strategy", map[string]any{}},
	},
	"Service": {
		{"spec.type", "ClusterIP"}, {"spec.sessionAffinity", "None"}, {"spec.ports.*.protocol", "TCP"},
		{"spec.internalTrafficPolicy", "Cluster"}, {"spec.publishNotReadyAddresses", false},
	},
	"ValidatingWebhookConfiguration": webhookDefaults, "MutatingWebhookConfiguration": webhookDefaults,
	"ConfigMap": {{"immutable", false}}, "Secret": {{"immutable", false}, {"type", "Opaque"}},
	"ServiceAccount": {{"automountServiceAccountToken", true}},
	"NetworkPolicy":  {{"spec.ingress.*.ports.*.protocol", "TCP"}, {"spec.egress.*.ports.*.protocol", "TCP"}},
}

var webhookDefaults = []fallback{
	{"webhooks.*.failurePolicy", "Fail"}, {"webhooks.*.matchPolicy", "Equivalent"}, {"webhooks.*.timeoutSeconds", int64(10)},
	{"webhooks.*.reinvocationPolicy", "Never"}, {"webhooks.*.namespaceSelector", map[string]any{}}, {"webhooks.*.objectSelector", map[string]any{}},
	{"webhooks.*.rules.*.scope", "*"}, {"webhooks.*.clientConfig.service.port", int64(443)},
}

// withDefault returns a difference with the default of a field that only one side has.
func withDefault(kind string, f field) field {
	if f.old != nil && f.new != nil {
		return f
	}
	at := strings.TrimPrefix(element().ReplaceAllString(f.path, ".*"), ".")
	defaults := kindDefaults[kind]
	if rest, ok := strings.CutPrefix(at, "spec.template.spec."); ok {
		at, defaults = rest, podDefaults
		list, inContainer, _ := strings.Cut(rest, ".*.")
		if list == "containers" || list == "initContainers" {
			at, defaults = inContainer, containerDefaults
			if probe, field, ok := strings.Cut(inContainer, "."); ok && strings.HasSuffix(probe, "Probe") {
				at, defaults = field, probeDefaults
			}
		}
	}
	for _, d := range defaults {
		if _, whole := d.value.(map[string]any); d.path != at || whole || d.value == "" {
			continue
		}
		if f.old == nil {
			f.old = d.value
		} else {
			f.new = d.value
		}
	}
	return f
}

// element matches the part of a path that names an element of a list.
var element = lazyregexp.New(`\[[^]]*\]`)

// drop deletes a field if it has its default value.
func drop(v any, at []string, value any) {
	if list, ok := v.([]any); ok && at[0] == "*" {
		for _, e := range list {
			drop(e, at[1:], value)
		}
		return
	}
	o, ok := v.(map[string]any)
	if !ok {
		return
	}
	if len(at) > 1 {
		drop(o[at[0]], at[1:], value)
		return
	}
	if have, ok := o[at[0]]; ok && reflect.DeepEqual(have, value) {
		delete(o, at[0])
	}
}

func dropAll(v any, defaults []fallback) {
	for _, d := range defaults {
		drop(v, strings.Split(d.path, "."), d.value)
	}
}

// removeDefaults removes the defaults that an API server adds to an object, and writes equal
// values in the same way.
func removeDefaults(o *unstructured.Unstructured) { // K224
	dropNulls(o.Object)
	delete(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	if template, ok, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "template"); ok {
		if template, ok := template.(map[string]any); ok {
			unstructured.RemoveNestedField(template, "metadata", "creationTimestamp")
			pod(template["spec"])
		}
	}
	switch o.GetKind() {
	case "Role", "ClusterRole":
		sortRules(o.Object["rules"])
	case kindCRD:
		definition(o)
	}
	dropAll(o.Object, kindDefaults[o.GetKind()])
}

// dropNulls removes all null values.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				dropNulls(e)
			}
		}
	case []any:
		for _, e := range v {
			dropNulls(e)
		}
	}
}

// pod removes the defaults of a pod's spec.
func pod(v any) {
	spec, ok := v.(map[string]any)
	if !ok {
		return
	}
	if spec["serviceAccount"] == spec["serviceAccountName"] {
		delete(spec, "serviceAccount") // a deprecated alias
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, v := range containers {
			container, ok := v.(map[string]any)
			if !ok {
				continue
			}
			for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
				dropAll(container[probe], probeDefaults)
			}
			quantities(container["resources"])
			image, _ := container["image"].(string)
			pull := "IfNotPresent"
			if last := path.Base(image); strings.HasSuffix(last, ":latest") || !strings.ContainsAny(last, ":@") {
				pull = "Always"
			}
			dropAll(container, append([]fallback{{"imagePullPolicy", pull}}, containerDefaults...))
		}
	}
	dropAll(spec, podDefaults)
}

// quantities writes the quantities of resource requirements in their canonical form.
func quantities(v any) {
	o, ok := v.(map[string]any)
	if !ok {
		return
	}
	for k, e := range o {
		switch e := e.(type) {
		case map[string]any:
			quantities(e)
			if len(e) == 0 {
				delete(o, k)
			}
		case string:
			if q, err := resource.ParseQuantity(e); err == nil {
				o[k] = q.String()
			}
		}
	}
}

// sortRules sorts the lists in the rules of a role, whose order has no meaning.
func sortRules(v any) {
	rules, _ := v.([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		for _, e := range rule {
			if list, ok := e.([]any); ok {
				slices.SortFunc(list, func(a, b any) int { return slices.Compare(text(a), text(b)) })
			}
		}
	}
}

// definition removes the defaults of a CRD, and the documentation of its schemas.
func definition(o *unstructured.Unstructured) {
	spec, ok := o.Object["spec"].(map[string]any)
	if !ok {
		return
	}
	kind, _, _ := unstructured.NestedString(spec, "names", "kind")
	dropAll(spec, []fallback{
		{"conversion.strategy", "None"}, {"conversion", map[string]any{}}, {"preserveUnknownFields", false},
		{"names.listKind", kind + "List"}, {"names.singular", strings.ToLower(kind)},
	})
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			if schema, ok := version["schema"].(map[string]any); ok {
				undocumented(schema["openAPIV3Schema"], false)
			}
		}
	}
}

// undocumented removes descriptions and examples from a schema. Properties are keyed by the
// names of fields, one of which may be "description".
func undocumented(v any, properties bool) {
	switch v := v.(type) {
	case map[string]any:
		if !properties {
			for _, k := range []string{"description", "title", "example", "externalDocs"} {
				delete(v, k)
			}
		}
		for k, e := range v {
			switch k {
			case "default", "enum":
				if !properties {
					continue
				}
			}
			undocumented(e, !properties && (k == "properties" || k == "patternProperties" || k == "definitions"))
		}
	case []any:
		for _, e := range v {
			undocumented(e, false)
		}
	}
}
