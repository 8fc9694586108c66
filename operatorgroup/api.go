package operatorgroup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// APIs is a set of APIs, sorted as the annotation olm.providedAPIs sorts them.
// The nil set is empty. [NewAPIs] and [ParseAPIs] make sets; the methods return
// new ones.
type APIs []property.GVK

// NewAPIs returns the set of the given APIs.
func NewAPIs(list ...property.GVK) APIs {
	if len(list) == 0 {
		return nil
	}
	out := APIs(slices.Clone(list))
	slices.SortFunc(out, compareAPI)
	return slices.Compact(out)
}

// compareAPI orders by the text in the annotation, as bytes. The group is
// compared last of all only where the texts are equal, so that the order is
// total for parts with dots in them, too.
func compareAPI(a, b property.GVK) int {
	return cmp.Or(cmp.Compare(apiText(a), apiText(b)), a.Compare(b))
}

// apiText returns <Kind>.<version>.<group>.
func apiText(g property.GVK) string { return g.Kind + "." + g.Version + "." + g.Group }

// ParseAPIs returns the APIs of an annotation olm.providedAPIs, a comma list of
// <Kind>.<version>.<group>. It reads as the running OLM does (H21): blanks do
// not count, wherever they are; an element with fewer than two dots is dropped;
// an empty part is kept.
func ParseAPIs(annotation string) APIs {
	var list []property.GVK
	for s := range strings.SplitSeq(strings.ReplaceAll(annotation, " ", ""), ",") {
		kind, rest, ok1 := strings.Cut(s, ".")
		version, group, ok2 := strings.Cut(rest, ".")
		if ok1 && ok2 {
			list = append(list, property.GVK{Group: group, Version: version, Kind: kind})
		}
	}
	return NewAPIs(list...)
}

// String returns the set as the annotation has it.
func (a APIs) String() string {
	list := make([]string, len(a))
	for i, g := range a {
		list[i] = apiText(g)
	}
	return strings.Join(list, ",")
}

// Contains reports whether the set has an API.
func (a APIs) Contains(api property.GVK) bool {
	_, ok := slices.BinarySearchFunc(a, api, compareAPI)
	return ok
}

// ContainsAll reports whether b is a subset of a.
func (a APIs) ContainsAll(b APIs) bool {
	return !slices.ContainsFunc(b, func(g property.GVK) bool { return !a.Contains(g) })
}

// Union returns the APIs of either set.
func (a APIs) Union(b APIs) APIs { return NewAPIs(slices.Concat(a, b)...) }

// Intersect returns the APIs of both sets.
func (a APIs) Intersect(b APIs) APIs { return a.keep(b.Contains) }

// Without returns the APIs of a that are not in b.
func (a APIs) Without(b APIs) APIs {
	return a.keep(func(g property.GVK) bool { return !b.Contains(g) })
}

func (a APIs) keep(ok func(property.GVK) bool) APIs {
	var out APIs
	for _, g := range a {
		if ok(g) {
			out = append(out, g)
		}
	}
	return out
}

// OwnAPIs returns the APIs that a CSV provides: its owned CRDs, whose group is
// what follows the first dot of their name, and its owned APIServices. A CRD
// whose name has no dot is an error; the others are returned with it.
func OwnAPIs(csv *olm.ClusterServiceVersion) (APIs, error) {
	var list []property.GVK
	var errs []error
	for i, d := range csv.Spec.CRDs.Owned {
		_, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			errs = append(errs, fmt.Errorf("%s: /spec/customresourcedefinitions/owned/%d/name: %q is not the name of a CRD: want <plural>.<group>", csv.Key(), i, d.Name))
			continue
		}
		list = append(list, property.GVK{Group: group, Version: d.Version, Kind: d.Kind})
	}
	for _, d := range csv.Spec.APIServices.Owned {
		list = append(list, property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind})
	}
	return NewAPIs(list...), errors.Join(errs...)
}

// Annotated returns the APIs that the annotation of a group lists.
func Annotated(g *olm.OperatorGroup) APIs {
	return ParseAPIs(g.Metadata.Annotations[AnnotationProvidedAPIs])
}

// Provided returns the APIs that the active members of a group provide, among
// the given CSVs (F5). Copied CSVs do not count. What cannot be read provides
// nothing.
func Provided(g *olm.OperatorGroup, csvs []*olm.ClusterServiceVersion) APIs {
	var list []property.GVK
	for _, c := range csvs {
		if c.Metadata.Namespace != g.Metadata.Namespace || !IsActive(c, g) {
			continue
		}
		apis, _ := OwnAPIs(c) // the fault is reported where the CSV is judged
		list = append(list, apis...)
	}
	return NewAPIs(list...)
}

// Prune returns the APIs that the annotation of a group should list after a
// sync of the group: those it lists, without those that no active member
// provides (F5). A static group keeps all of its own. Adding is for the sync of
// the CSV, see [Decide].
func Prune(g *olm.OperatorGroup, csvs []*olm.ClusterServiceVersion) APIs {
	listed := Annotated(g)
	if g.Spec.StaticProvidedAPIs {
		return listed
	}
	return listed.Intersect(Provided(g, csvs))
}
