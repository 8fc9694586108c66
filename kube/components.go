package kube

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// operators adds the Operators of the namespace: those whose names end with the name of
// the namespace, and those of its subscriptions and CSVs, because long names are truncated
// (E31).
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

// namespaceOf returns the last part of an Operator's name: its namespace, unless the name
// was truncated.
func namespaceOf(operator string) string {
	return operator[strings.LastIndexByte(operator, '.')+1:]
}

// components returns the namespaces of the Operators whose component labels an object has,
// in random order.
func components(o client.Object) []string {
	var out []string
	for l := range o.GetLabels() {
		if name, ok := strings.CutPrefix(l, olm.LabelComponent); ok {
			out = append(out, namespaceOf(name))
		}
	}
	return out
}
