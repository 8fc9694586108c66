package operatorgroup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
)

// APIs is a set of APIs in the order of annotation olm.providedAPIs. The nil
// set is empty. Create sets with [NewAPIs] and [ParseAPIs]; methods return new
// sets.
type APIs []property.GVK

// MarshalJSON returns a list, which is never null.
func (a APIs) MarshalJSON() ([]byte, error) { return json.Marshal([]property.GVK(a)) }

// NewAPIs returns the set of the given APIs.
func NewAPIs(list ...property.GVK) APIs {
	if len(list) == 0 {
		return nil
	}
	out := APIs(slices.Clone(list))
	slices.SortFunc(out, compareAPI)
	return slices.Compact(out)
}

// compareAPI orders APIs by their text in the annotation, byte by byte. If the
// texts are equal, which is possible for parts that contain dots, it compares
// the APIs themselves.
func compareAPI(a, b property.GVK) int {
	return cmp.Or(cmp.Compare(apiText(a), apiText(b)), a.Compare(b))
}

// apiText returns <Kind>.<version>.<group>.
func apiText(g property.GVK) string { return g.Kind + "." + g.Version + "." + g.Group }

// ParseAPIs returns the APIs in the value of annotation olm.providedAPIs, a
// comma-separated list of <Kind>.<version>.<group>. As in OLM, spaces are
// ignored, elements with fewer than two dots are dropped, and empty parts are
// kept.
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

// String returns the set as the value of the annotation.
func (a APIs) String() string {
	list := make([]string, len(a))
	for i, g := range a {
		list[i] = apiText(g)
	}
	return strings.Join(list, ",")
}

// contains reports whether the set contains an API.
func (a APIs) contains(api property.GVK) bool {
	_, ok := slices.BinarySearchFunc(a, api, compareAPI)
	return ok
}

// ContainsAll reports whether b is a subset of a.
func (a APIs) ContainsAll(b APIs) bool {
	return !slices.ContainsFunc(b, func(g property.GVK) bool { return !a.contains(g) })
}

// Union returns the APIs that are in either set.
func (a APIs) Union(b APIs) APIs { return NewAPIs(slices.Concat(a, b)...) }

// Intersect returns the APIs that are in both sets.
func (a APIs) Intersect(b APIs) APIs { return a.keep(b.contains) }

// Without returns the APIs of a that are not in b.
func (a APIs) Without(b APIs) APIs {
	return a.keep(func(g property.GVK) bool { return !b.contains(g) })
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

// OwnAPIs returns the APIs that a CSV provides: its owned CRDs, whose group
// follows the first dot of the name, and its owned APIServices. The error
// reports CRD names without a dot; the other APIs are still returned.
func OwnAPIs(csv *olm.ClusterServiceVersion) (APIs, error) {
	var list []property.GVK
	var errs []error
	for i, d := range csv.Spec.CRDs.Owned {
		_, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			errs = append(errs, fmt.Errorf("%s: /spec/customresourcedefinitions/owned/%d/name: %q is not the name of a CRD; want <plural>.<group>", csv.Key(), i, d.Name))
			continue
		}
		list = append(list, property.GVK{Group: group, Version: d.Version, Kind: d.Kind})
	}
	for _, d := range csv.Spec.APIServices.Owned {
		list = append(list, property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind})
	}
	return NewAPIs(list...), errors.Join(errs...)
}

// Annotated returns the APIs in the annotation of a group.
func Annotated(g *olm.OperatorGroup) APIs {
	return ParseAPIs(g.Metadata.Annotations[AnnotationProvidedAPIs])
}

// Provided returns the APIs that the active members of a group among the given
// CSVs provide. Copied CSVs and invalid CRD names are ignored.
func Provided(g *olm.OperatorGroup, csvs []*olm.ClusterServiceVersion) APIs { // F5
	var list []property.GVK
	for _, c := range csvs {
		if c.Metadata.Namespace != g.Metadata.Namespace || !IsActive(c, g) {
			continue
		}
		apis, _ := OwnAPIs(c) // the error is reported for the CSV itself
		list = append(list, apis...)
	}
	return NewAPIs(list...)
}

// Prune returns the APIs that the annotation of a group should list after a
// sync of the group: the listed APIs that an active member provides. A group
// with static provided APIs keeps all of them. Syncs of CSVs add APIs; see
// [Decide].
func Prune(g *olm.OperatorGroup, csvs []*olm.ClusterServiceVersion) APIs { // F5
	listed := Annotated(g)
	if g.Spec.StaticProvidedAPIs {
		return listed
	}
	return listed.Intersect(Provided(g, csvs))
}
