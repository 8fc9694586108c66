package operatorgroup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
)

// A Tenant is an operator in a cluster and the CRDs it ships.
type Tenant struct {
	Namespace string `json:"namespace"`
	CSV       string `json:"csv"`
	// Package identifies versions of the same operator.
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	CRDs    []CRD  `json:"-"`
}

// A CRD is a CRD as an operator ships it.
type CRD struct {
	Name     string
	Versions []string
	// Spec is the spec of the CRD, or nil if only the versions are known, as
	// from a CSV.
	Spec []byte
}

// TenantOf returns a CSV as a tenant. Its CRDs have the names and versions that
// the CSV lists as owned.
func TenantOf(csv *olm.ClusterServiceVersion, pkg string) Tenant {
	t := Tenant{Namespace: csv.Metadata.Namespace, CSV: csv.Metadata.Name, Package: pkg, Version: csv.Spec.Version}
	versions := map[string][]string{}
	for _, d := range csv.Spec.CRDs.Owned {
		versions[d.Name] = append(versions[d.Name], d.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		t.CRDs = append(t.CRDs, CRD{Name: name, Versions: set(versions[name])})
	}
	return t
}

// A Violation is a pair of operators that cannot share a cluster.
type Violation struct {
	A   Tenant `json:"a"`
	B   Tenant `json:"b"`
	CRD string `json:"crd"`
	// Detail describes how their CRDs differ.
	Detail string `json:"detail"`
}

// String returns the violation and how to fix it as a sentence.
func (v Violation) String() string {
	remedy := "remove one of them"
	if v.A.Package == v.B.Package && v.A.Package != "" {
		remedy = "install the same version of both"
	}
	return fmt.Sprintf("%s in namespace %s and %s in namespace %s are not supported in one cluster: %s; %s",
		v.A.CSV, v.A.Namespace, v.B.CSV, v.B.Namespace, v.Detail, remedy)
}

// CoTenancy reports the pairs of operators that cannot share a cluster, because
// CRDs are cluster-scoped. These are two versions of the same operator in
// different namespaces, unless both ship the same CRDs with the same
// definitions or no CRDs, and any two operators that ship different definitions
// of a CRD. Violations are ordered by namespace and name of the tenants, then
// by CRD.
func CoTenancy(tenants []Tenant) []Violation { // F9
	return coTenancy(tenants, func(Tenant) bool { return true })
}

// CoTenancyIn is CoTenancy for the pairs with an operator in a namespace. Its cost does not grow
// with the pairs of other operators.
func CoTenancyIn(namespace string, tenants []Tenant) []Violation {
	return coTenancy(tenants, func(t Tenant) bool { return t.Namespace == namespace })
}

// coTenancy compares the tenants for which concerns returns true with all others.
func coTenancy(tenants []Tenant, concerns func(Tenant) bool) []Violation {
	list := slices.Clone(tenants)
	slices.SortFunc(list, func(a, b Tenant) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.CSV, b.CSV))
	})
	shared := map[string][]int{} // the tenants with a package or CRD, in order
	crds := make([]map[string]CRD, len(list))
	for i, t := range list {
		crds[i] = crdsByName(t)
		for name := range crds[i] {
			shared["crd "+name] = append(shared["crd "+name], i)
		}
		shared["package "+t.Package] = append(shared["package "+t.Package], i)
	}
	var pairs [][2]int
	for i, t := range list {
		if !concerns(t) {
			continue
		}
		near := slices.Clone(shared["package "+t.Package])
		for name := range crds[i] {
			near = append(near, shared["crd "+name]...)
		}
		slices.Sort(near)
		for _, j := range slices.Compact(near) {
			if t.Namespace != list[j].Namespace { // within a namespace, one replaces the other, or resolution refuses it (D10)
				pairs = append(pairs, [2]int{min(i, j), max(i, j)})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y [2]int) int { return slices.Compare(x[:], y[:]) })
	var out []Violation
	for _, p := range slices.Compact(pairs) {
		i, j := p[0], p[1]
		out = append(out, compareTenants(list[i], list[j], crds[i], crds[j])...)
	}
	return out
}

// Sentence returns the violations of an operator as one sentence, and how to fix them. All must
// name the operator, and there must be at least one. The sentence names at most three of the
// other operators, and one difference.
func Sentence(namespace, csv string, list []Violation) string {
	if len(list) == 1 {
		return list[0].String()
	}
	var others []string
	remedy := "install the same version of all"
	for _, v := range list {
		other := v.A
		if v.A.Namespace == namespace && v.A.CSV == csv {
			other = v.B
		}
		if name := other.CSV + " in namespace " + other.Namespace; !slices.Contains(others[max(len(others)-1, 0):], name) { // they are in order
			others = append(others, name)
		}
		if v.A.Package != v.B.Package || v.A.Package == "" {
			remedy = "remove it, or the others"
		}
	}
	return fmt.Sprintf("%s in namespace %s is not supported in one cluster with %s: for example, %s; %s", csv, namespace, phrase.Few(others), list[0].Detail, remedy)
}

// compareTenants returns how the CRDs of two operators violate F9, by name.
func compareTenants(a, b Tenant, x, y map[string]CRD) []Violation {
	sameOperator := a.Package == b.Package && a.Package != "" && a.CSV != b.CSV
	all := maps.Clone(x)
	maps.Copy(all, y)
	var out []Violation
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, inA := x[name]
		q, inB := y[name]
		detail := ""
		switch {
		case inA && inB:
			detail = differ(p, q, a.CSV, b.CSV)
		case sameOperator && inA:
			detail = fmt.Sprintf("only %s ships CRD %s", a.CSV, name)
		case sameOperator:
			detail = fmt.Sprintf("only %s ships CRD %s", b.CSV, name)
		}
		if detail != "" {
			out = append(out, Violation{A: a, B: b, CRD: name, Detail: detail})
		}
	}
	return out
}

func crdsByName(t Tenant) map[string]CRD {
	m := make(map[string]CRD, len(t.CRDs))
	for _, c := range t.CRDs {
		m[c.Name] = c
	}
	return m
}

// differ returns how two operators' definitions of a CRD differ, or "".
func differ(p, q CRD, a, b string) string {
	if v, w := set(p.Versions), set(q.Versions); !slices.Equal(v, w) {
		return fmt.Sprintf("CRD %s has versions %s in %s and %s in %s", p.Name, strings.Join(v, ", "), a, strings.Join(w, ", "), b)
	}
	if p.Spec != nil && q.Spec != nil && !olm.EqualJSON(p.Spec, q.Spec) {
		return fmt.Sprintf("CRD %s is defined differently, with the same versions %s", p.Name, strings.Join(set(p.Versions), ", "))
	}
	return ""
}
