package compare_test

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
)

// reordered yields a namespace with the requirements of one CSV in every other order. Olmkit processes them in an
// order that does not depend on the annotation (H29).
func reordered(s *reconcile.Snapshot) iter.Seq[*reconcile.Snapshot] {
	return func(yield func(*reconcile.Snapshot) bool) {
		for i, csv := range s.CSVs {
			var list struct {
				Properties []property.Property `json:"properties"`
			}
			if json.Unmarshal([]byte(csv.Metadata.Annotations[property.ProjectedAnnotation]), &list) != nil {
				continue
			}
			var at []int
			for n, p := range list.Properties {
				if property.IsRequirement(p.Type) {
					at = append(at, n)
				}
			}
			for order := range permutations(len(at)) {
				changed := slices.Clone(list.Properties)
				for n, from := range order {
					changed[at[n]] = list.Properties[at[from]]
				}
				text, err := json.Marshal(map[string]any{"properties": changed})
				if err != nil {
					return
				}
				out, c := *s, *csv
				c.Metadata.SetAnnotation(property.ProjectedAnnotation, string(text))
				out.CSVs = slices.Clone(s.CSVs)
				out.CSVs[i] = &c
				if !yield(&out) {
					return
				}
			}
		}
	}
}

// permutations yields the orders of n things, where n is at most four.
func permutations(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		var extend func(order []int) bool
		extend = func(order []int) bool {
			if len(order) == n {
				return yield(order)
			}
			for i := range n {
				if !slices.Contains(order, i) && !extend(append(slices.Clip(order), i)) {
					return false
				}
			}
			return true
		}
		if n > 1 && n <= 4 {
			extend(nil)
		}
	}
}
