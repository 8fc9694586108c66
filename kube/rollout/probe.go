package rollout

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Probe states when the objects that it selects are ready. It selects objects by Labels or,
// if that is nil, by GroupKind.
type Probe struct { // K82
	GroupKind  schema.GroupKind
	Labels     labels.Selector
	Assertions []Assertion
}

// An Assertion is one of the conditions of a probe. Exactly one of Condition, FieldA and Field
// is set.
type Assertion struct {
	Condition, Status string // the type of a condition and its status
	FieldA, FieldB    string // the paths of two equal fields
	Field, Value      string // the path of a field and its value
}

// DefaultProbes returns the probes of a revision that belongs to a ClusterExtension.
func DefaultProbes() []Probe { // K91
	of := func(group, kind string, assertions ...Assertion) Probe {
		return Probe{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Assertions: assertions}
	}
	ready := Assertion{Condition: "Ready", Status: "True"}
	workload := []Assertion{{FieldA: "status.updatedReplicas", FieldB: "status.replicas"}, {Condition: "Available", Status: "True"}}
	return []Probe{
		of("apiextensions.k8s.io", "CustomResourceDefinition", Assertion{Condition: "Established", Status: "True"}),
		of("cert-manager.io", "Certificate", ready),
		of("cert-manager.io", "Issuer", ready),
		of("", "Namespace", Assertion{Field: "status.phase", Value: "Active"}),
		of("", "PersistentVolumeClaim", Assertion{Field: "status.phase", Value: "Bound"}),
		of("apps", "Deployment", workload...),
		of("apps", "StatefulSet", workload...),
	}
}

// A verdict is the result of a probe.
type verdict int

const (
	passed verdict = iota
	failed
	unknown // hides the messages of failed probes
)

// probe returns whether an object passes all probes, and the messages of those that it
// does not pass.
func probe(o *unstructured.Unstructured, probes []Probe) (verdict, []string) { // K92
	var failures, unknowns []string
	for _, p := range probes {
		if !p.selects(o) {
			continue
		}
		if n, ok, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); ok && n != o.GetGeneration() {
			unknowns = append(unknowns, ".status outdated")
			continue
		}
		for _, a := range p.Assertions {
			switch v, message := a.holds(o); v {
			case failed:
				failures = append(failures, message)
			case unknown:
				unknowns = append(unknowns, message)
			}
		}
	}
	switch {
	case len(unknowns) > 0:
		return unknown, unknowns
	case len(failures) > 0:
		return failed, failures
	}
	return passed, nil
}

func (p *Probe) selects(o *unstructured.Unstructured) bool {
	if p.Labels != nil {
		return p.Labels.Matches(labels.Set(o.GetLabels()))
	}
	return p.GroupKind == o.GroupVersionKind().GroupKind()
}

// holds returns whether an assertion holds, and otherwise why not, in the words of
// operator-controller.
func (a *Assertion) holds(o *unstructured.Unstructured) (verdict, string) {
	switch {
	case a.Condition != "":
		return a.condition(o)
	case a.FieldA != "":
		x, ok := field(o, a.FieldA)
		if !ok {
			return failed, fmt.Sprintf("%q missing", a.FieldA)
		}
		y, ok := field(o, a.FieldB)
		if !ok {
			return failed, fmt.Sprintf("%q missing", a.FieldB)
		}
		if !equal(x, y) {
			return failed, fmt.Sprintf("%q != %q expected: %s got: %s", a.FieldA, a.FieldB, text(x), text(y))
		}
		return passed, ""
	}
	v, ok := field(o, a.Field)
	if !ok {
		return failed, fmt.Sprintf("missing key: %q", a.Field)
	}
	if v != any(a.Value) { // a number never equals
		return failed, fmt.Sprintf("value at key %q != %q; expected: %q got: %q", a.Field, a.Value, a.Value, fmt.Sprint(v))
	}
	return passed, ""
}

func (a *Assertion) condition(o *unstructured.Unstructured) (verdict, string) {
	list, ok, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	if !ok {
		return unknown, "missing .status.conditions"
	}
	for _, c := range list {
		c, ok := c.(map[string]any)
		if !ok || c["type"] != a.Condition {
			continue
		}
		if n, ok := c["observedGeneration"].(int64); ok && n != o.GetGeneration() {
			return unknown, fmt.Sprintf(".status.condition[%q] outdated", a.Condition)
		}
		if c["status"] != a.Status {
			return failed, fmt.Sprintf(".status.condition[%q] is %v", a.Condition, c["status"])
		}
		return passed, ""
	}
	return unknown, fmt.Sprintf("missing .status.condition[%q]", a.Condition)
}

// field returns a field, if the object has it.
func field(o *unstructured.Unstructured, path string) (any, bool) {
	v, ok, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(strings.Trim(path, "."), ".")...)
	return v, ok && err == nil
}

// text returns a value as JSON.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
