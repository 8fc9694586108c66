package crdsafety

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// crashes reports whether operator-controller crashes on a version without a
// schema: one that both CRDs have, or a served one among several (K62).
func crashes(old, new *apiextensionsv1.CustomResourceDefinition) bool {
	for _, v := range old.Spec.Versions {
		for _, w := range new.Spec.Versions {
			if v.Name == w.Name && (v.Schema == nil || w.Schema == nil) {
				return true
			}
		}
	}
	return !webhook(new) && (servedWithoutSchema(old) || servedWithoutSchema(new))
}

func servedWithoutSchema(crd *apiextensionsv1.CustomResourceDefinition) bool {
	served, bare := 0, false
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served++
			bare = bare || v.Schema == nil
		}
	}
	return served > 1 && bare
}

// markFalseAlarms marks the findings of operator-controller that the default
// comparison does not confirm. It confirms a finding with the same one, or with
// one at the path or above it that covers everything below. It confirms an
// unhandled change with a keyword that operator-controller has no validation
// for, or with anything below additionalProperties.
func markFalseAlarms(upstream, ours []Finding) {
	type place struct{ version, path, validation string }
	const (
		all   = "" // stands for every validation
		below = ".additionalProperties"
	)
	confirmed := map[place]bool{}
	lengths := map[int]bool{} // of the paths that all is confirmed for
	for _, f := range ours {
		confirmed[place{f.Version, f.Path, f.Validation}] = true
		if !slices.Contains(validated, f.Validation) {
			confirmed[place{f.Version, f.Path, unhandled}] = true
		}
		if slices.Contains(covering, f.Validation) {
			confirmed[place{f.Version, f.Path, all}] = true
			lengths[len(f.Path)] = true
		}
		for i := strings.LastIndex(f.Path, below); i >= 0; i = strings.LastIndex(f.Path[:i], below) {
			confirmed[place{f.Version, f.Path[:i], unhandled}] = true
		}
	}
	for i := range upstream {
		f := &upstream[i]
		f.FalseAlarm = !confirmed[place{f.Version, f.Path, f.Validation}]
		for n := range lengths {
			if n == len(f.Path) || n < len(f.Path) && (f.Path[n] == '.' || f.Path[n] == '[') {
				f.FalseAlarm = f.FalseAlarm && !confirmed[place{f.Version, f.Path[:n], all}]
			}
		}
	}
}

// validated are the validations of operator-controller for one schema.
var validated = []string{
	"default", "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
	"minimum", "nullable", "oneOf", "pattern", "required", "type",
}

// covering are the validations whose findings are about everything below.
var covering = []string{
	"additionalItems", "allOf", "anyOf", "definitions", "dependencies", "existingFieldRemoval", "items", "not", "oneOf",
	"patternProperties",
}
