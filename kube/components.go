package kube

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/olm"
)

// operators adds the Operators of the namespace: those whose names end with it, and, since
// names may be cut, those of its subscriptions and CSVs (E31).
func (r *reading) operators() {
	r.objects(kindOperator, selection{index: byOwner, value: r.namespace})
	wantLabels := func(m *olm.Metadata) {
		for l := range m.Labels {
			if name, ok := strings.CutPrefix(l, olm.LabelComponent); ok {
				r.want(kindOperator, "", name)
			}
		}
	}
	for _, s := range r.out.Subscriptions {
		wantLabels(&s.Metadata)
		r.want(kindOperator, "", olm.OperatorName(s.Spec.Package, r.namespace))
	}
	for _, c := range r.out.CSVs {
		if c.Metadata.Namespace == r.namespace && !olm.IsCopied(c) {
			wantLabels(&c.Metadata)
		}
	}
}

// namespaceOf returns the end of an Operator's name: the namespace, unless the name was
// cut.
func namespaceOf(operator string) string {
	return operator[strings.LastIndexByte(operator, '.')+1:]
}

// components returns the namespaces of the Operators that the labels of an object name.
func components(u *unstructured.Unstructured) []string {
	var out []string
	for l := range u.GetLabels() {
		if name, ok := strings.CutPrefix(l, olm.LabelComponent); ok {
			out = append(out, namespaceOf(name))
		}
	}
	return out
}
