package registryv1

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/fbc"
)

// maxPhaseObjects and maxPhases are the limits of a ClusterObjectSet.
const (
	maxPhaseObjects = 50
	maxPhases       = 20
)

// A Phase is a part of a revision. The objects of a phase are applied together, after
// those of earlier phases are ready.
type Phase struct {
	Name    string
	Objects []*unstructured.Unstructured // sorted by group, version, kind, namespace and name
}

// phaseOrder lists the names of the phases in the order in which they are applied
// (K73).
var phaseOrder = []string{
	"namespaces", "policies", "identity", "configuration", "storage", "crds", "roles",
	"bindings", "infrastructure", "deploy", "scaling", "publish", "admission",
}

// phaseOf returns the phase of a kind (K73).
func phaseOf(gk schema.GroupKind) string {
	switch gk.String() {
	case "Namespace":
		return "namespaces"
	case "NetworkPolicy.networking.k8s.io", "PodDisruptionBudget.policy", "PriorityClass.scheduling.k8s.io":
		return "policies"
	case "ServiceAccount":
		return "identity"
	case "Secret", "ConfigMap":
		return "configuration"
	case "PersistentVolume", "PersistentVolumeClaim", "StorageClass.storage.k8s.io":
		return "storage"
	case "CustomResourceDefinition.apiextensions.k8s.io":
		return "crds"
	case "ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io":
		return "roles"
	case "ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io":
		return "bindings"
	case "Service", "Issuer.cert-manager.io", "Certificate.cert-manager.io":
		return "infrastructure"
	case "VerticalPodAutoscaler.autoscaling.k8s.io":
		return "scaling"
	case "PrometheusRule.monitoring.coreos.com", "ServiceMonitor.monitoring.coreos.com", "PodMonitor.monitoring.coreos.com",
		"Ingress.networking.k8s.io", "Route.route.openshift.io",
		"ConsoleYAMLSample.console.openshift.io", "ConsoleQuickStart.console.openshift.io", "ConsoleCLIDownload.console.openshift.io",
		"ConsoleLink.console.openshift.io", "ConsolePlugin.console.openshift.io":
		return "publish"
	case "ValidatingWebhookConfiguration.admissionregistration.k8s.io", "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		return "admission"
	}
	return "deploy"
}

// Phases returns objects in the phases of a revision. Phases without objects are left
// out. The order of the objects does not matter, except among objects with the same
// name.
func Phases(objects []*unstructured.Unstructured) []Phase { // K73
	byName := map[string][]*unstructured.Unstructured{}
	for _, o := range objects {
		name := phaseOf(o.GroupVersionKind().GroupKind())
		byName[name] = append(byName[name], o)
	}
	var out []Phase
	for _, name := range phaseOrder {
		list := byName[name]
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *unstructured.Unstructured) int {
			x, y := a.GroupVersionKind(), b.GroupVersionKind()
			return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Version, y.Version), cmp.Compare(x.Kind, y.Kind),
				cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
		out = append(out, Phase{name, list})
	}
	return out
}

// SplitPhases splits phases that have more objects than a ClusterObjectSet allows. The
// second part of a phase gets the suffix -2, as in roles-2.
func SplitPhases(phases []Phase) []Phase { // K210
	var out []Phase
	for _, p := range phases {
		n := 0
		for part := range slices.Chunk(p.Objects, maxPhaseObjects) {
			name := p.Name
			if n++; n > 1 {
				name = fmt.Sprintf("%s-%d", p.Name, n)
			}
			out = append(out, Phase{name, part})
		}
	}
	return out
}

// revision returns the objects in phases.
func (g *generator) revision() ([]Phase, []Problem) {
	if g.opts.AsUpstream {
		return Phases(g.objects), nil
	}
	problems := g.merge()
	phases := Phases(g.objects)
	for _, p := range phases {
		if len(p.Objects) > maxPhaseObjects {
			g.differences = append(g.differences, Difference{"K210", "phase " + p.Name,
				fmt.Sprintf("is split, because it has %d objects and a ClusterObjectSet allows %d in a phase", len(p.Objects), maxPhaseObjects)})
		}
	}
	phases = SplitPhases(phases)
	if len(phases) > maxPhases { // K79
		problems = append(problems, Problem{Stage: StageRevision, Code: "tooManyPhases", ours: true,
			Message: fmt.Sprintf("the bundle has %d objects, which need %d phases; a ClusterObjectSet allows %d", len(g.objects), len(phases), maxPhases)})
	}
	slices.SortStableFunc(g.differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Object, b.Object))
	})
	return phases, problems
}

// place returns the position of the last manifest of an object that is in the bundle.
func (b *Bundle) place(o *unstructured.Unstructured) (at fbc.Pos) {
	for i := range b.Others {
		if x := &b.Others[i]; x.Object.GroupVersionKind().GroupKind() == o.GroupVersionKind().GroupKind() && x.Object.GetName() == o.GetName() {
			at = x.Pos
		}
	}
	return at
}

// merge merges objects with the same group, kind, namespace and name where possible
// (K209). For each of the others it returns a problem (K211).
func (g *generator) merge() (problems []Problem) {
	at := map[string]int{}
	var out []*unstructured.Unstructured
	conflicts := map[string]bool{}
	for _, o := range g.objects {
		gvk := o.GroupVersionKind()
		id := strings.Join([]string{gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName()}, "/")
		i, dup := at[id]
		if !dup {
			at[id] = len(out)
			out = append(out, o)
			continue
		}
		one, ok := union(out[i], o)
		switch {
		case ok && reflect.DeepEqual(out[i].Object, o.Object):
			g.differs("K209", o, "is included once; OLM v1 renders it twice and refuses the revision")
		case ok:
			g.differs("K209", o, "is merged from the bundle and the CSV; OLM v1 renders both and refuses the revision")
			out[i] = one
		case !conflicts[id]:
			conflicts[id] = true
			problems = append(problems, Problem{Stage: StageRevision, Code: "duplicate", Subject: Key(o), ours: true, Pos: g.bundle.place(o),
				Message: fmt.Sprintf("%s %q is in the bundle twice, or in the bundle and generated from its CSV, with different content; remove one", o.GetKind(), o.GetName())})
		}
	}
	g.objects = out
	return problems
}

// union returns one object that can replace both a and b, and whether there is one. If
// they are equal, it is a. Two ServiceAccounts or two Services may each have fields
// that the other lacks, because their fields, except selectors, do not depend on each
// other.
func union(a, b *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	if reflect.DeepEqual(a.Object, b.Object) {
		return a, true
	}
	if k := a.GetKind(); k != "ServiceAccount" && k != "Service" {
		return nil, false
	}
	x, _, _ := unstructured.NestedFieldNoCopy(a.Object, "spec", "selector")
	y, _, _ := unstructured.NestedFieldNoCopy(b.Object, "spec", "selector")
	out, ok := unionValue(a.Object, b.Object)
	if !ok || !reflect.DeepEqual(x, y) {
		return nil, false
	}
	return &unstructured.Unstructured{Object: out.(map[string]any)}, true
}

func unionValue(a, b any) (any, bool) {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return nil, false
		}
		out := maps.Clone(a)
		for k, v := range b {
			if have, ok := a[k]; ok {
				if v, ok = unionValue(have, v); !ok {
					return nil, false
				}
			}
			out[k] = v
		}
		return out, true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return nil, false
		}
		out := make([]any, len(a))
		for i := range a {
			if out[i], ok = unionValue(a[i], b[i]); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return a, reflect.DeepEqual(a, b)
}
