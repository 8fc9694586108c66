package crdsafety

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// crashes reports whether operator-controller crashes because a version has no
// schema. It crashes if both CRDs have the version, or if the version is one of
// several that a CRD serves and no webhook converts between them (K62).
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
// comparison does not confirm. A finding is confirmed by an equal one, or by a
// finding of one of the validations in covering, at the same path or at a
// parent of it. An unhandled change is also confirmed by a finding about a
// keyword that operator-controller does not validate, or by any finding below
// additionalProperties.
func markFalseAlarms(upstream, ours []Finding) {
	type place struct{ version, path, validation string }
	const (
		all   = "" // any validation
		below = ".additionalProperties"
	)
	confirmed := map[place]bool{}
	lengths := map[int]bool{} // the lengths of the paths for which all is confirmed
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

// validated lists operator-controller's validations for one schema.
var validated = []string{
	"default", "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties",
	"minimum", "nullable", "oneOf", "pattern", "required", "type",
}

// covering lists the validations whose findings confirm every finding at or
// below their path.
var covering = []string{
	"additionalItems", "allOf", "anyOf", "definitions", "dependencies", "existingFieldRemoval", "items", "not", "oneOf",
	"patternProperties",
}
