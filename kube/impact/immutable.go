package impact

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/codes"
)

// A fixedKind states which fields of a kind the API server refuses to change.
type fixedKind struct {
	group, kind string
	// fields are the paths of the fields; what they contain is refused, too.
	fields []string
	// when, if set, reports whether the fields are refused for two objects.
	when func(old, created map[string]any) bool
}

// fixedKinds are those of the validation of the API server: the functions Validate*Update in
// k8s.io/kubernetes/pkg/apis/*/validation. The selectors of deployments are compared with the
// workloads, and the scopes and kinds of CRDs with the CRDs. No OLM installs kinds that are missing here,
// such as StatefulSets and claims (E41, K7).
var fixedKinds = []fixedKind{ // K229
	{group: "", kind: "ConfigMap", fields: []string{".data", ".binaryData", ".immutable"}, when: isImmutable},
	{group: "", kind: "Secret", fields: []string{".data", ".stringData", ".immutable"}, when: isImmutable},
	{group: "", kind: "Secret", fields: []string{".type"}},
	{group: "", kind: "Service", fields: []string{".spec.clusterIP", ".spec.clusterIPs"}, when: hasAddress},
	{group: rbacGroup, kind: "ClusterRoleBinding", fields: []string{".roleRef"}},
	{group: rbacGroup, kind: "RoleBinding", fields: []string{".roleRef"}},
	{group: "scheduling.k8s.io", kind: "PriorityClass", fields: []string{".value", ".preemptionPolicy"}},
}

func isImmutable(old, _ map[string]any) bool { return old["immutable"] == true }

// hasAddress reports whether a Service has a cluster IP before and after a change that gives it one. The
// API server keeps that of a Service that no longer names one.
func hasAddress(old, created map[string]any) bool {
	kind := func(o map[string]any) string { s, _, _ := unstructured.NestedString(o, "spec", "type"); return s }
	_, named, _ := unstructured.NestedFieldNoCopy(created, "spec", "clusterIP")
	return named && kind(old) != "ExternalName" && kind(created) != "ExternalName"
}

// isFixed reports whether the API server refuses to change a field of an object.
func isFixed(id objectID, path string, old, created map[string]any) bool {
	within := func(field string) bool {
		rest, ok := strings.CutPrefix(path, field)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	return slices.ContainsFunc(fixedKinds, func(k fixedKind) bool {
		return k.group == id.group && k.kind == id.kind && slices.ContainsFunc(k.fields, within) &&
			(k.when == nil || k.when(old, created))
	})
}

// refused returns a change as one that the API server refuses.
func (c *comparison) refused(ch Change, at place) Change {
	ch.Code, ch.Verdict, ch.at = codes.ImpactImmutable, verdictOf(codes.ImpactImmutable), at
	ch.Message += ", which the API server refuses; " + c.stops()
	return ch
}

// stops states what happens if the API server refuses an object.
func (c *comparison) stops() string {
	if c.opts.Classic {
		return "the install plan fails"
	}
	return "OLM v1 cannot apply the new version"
}
