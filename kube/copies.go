package kube

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// placesOfCopies adds the copies of other namespaces' CSVs that have the same
// name and namespace as a copy that this namespace needs to make (F8). It
// registers interest in them and their originals, so that this namespace is
// reconciled when a name becomes free. A plan does not depend on any other
// copies.
func (r *reading) placesOfCopies() {
	if r.err != nil {
		return
	}
	isTarget := r.targets()
	original := map[string][]*olm.ClusterServiceVersion{}
	var own []string
	for _, c := range r.out.CSVs {
		switch {
		case olm.IsCopied(c):
		case c.Metadata.Namespace == r.namespace:
			own = append(own, c.Metadata.Name)
		default:
			original[c.Metadata.Name] = append(original[c.Metadata.Name], c)
		}
	}
	for _, name := range own {
		for _, c := range original[name] {
			if isTarget(c.Metadata.Namespace) {
				r.interest(c.Key())
			}
		}
		var copies []*olm.ClusterServiceVersion
		fill(r, &copies, kindCSV, selection{index: byCopy, value: name})
		for _, c := range copies {
			from := operatorgroup.CopiedFrom(c)
			if from == r.namespace || !isTarget(c.Metadata.Namespace) {
				continue
			}
			r.out.CSVs = append(r.out.CSVs, c)
			r.interest(c.Key())
			of := c.Key()
			of.Namespace = from
			r.interest(of)
		}
	}
}

// targets returns a function that reports whether another namespace is a target
// of an operator group in this namespace.
func (r *reading) targets() func(namespace string) bool {
	all, some := false, map[string]bool{}
	for _, g := range r.out.OperatorGroups {
		if g.Metadata.Namespace != r.namespace {
			continue
		}
		all = all || operatorgroup.IsGlobal(g.Status.Namespaces)
		for _, ns := range g.Status.Namespaces {
			some[ns] = true
		}
	}
	return func(ns string) bool { return ns != r.namespace && (all || some[ns]) }
}

// copyInTheWay adds the copy of another namespace's CSV, if any, that has the
// same name and namespace as a CSV to be installed (F8).
func (r *reading) copyInTheWay(namespace, name string) {
	if r.err != nil || namespace != r.namespace || slices.ContainsFunc(r.out.CSVs, func(c *olm.ClusterServiceVersion) bool {
		return c.Metadata.Namespace == namespace && c.Metadata.Name == name
	}) {
		return
	}
	v, err := r.cluster.source.get(r.ctx, kindCSV, namespace, name)
	if err != nil {
		r.err = err
		return
	}
	if c, ok := v.(*olm.ClusterServiceVersion); ok {
		r.out.CSVs = append(r.out.CSVs, c)
	}
}
