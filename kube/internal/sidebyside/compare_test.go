package sidebyside

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// volatile lists the fields that differ between two runs of the same controller.
var volatile = []string{
	"uid", "uuid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink", "lastTransitionTime", "lastUpdateTime", "lastUpdated",
	"lastHeartbeatTime", "lastTransition", "observedGeneration", "startTime", "lastConnect", "createdAt", "certsRotateAt", "certsLastUpdated", "lastSync",
	"caBundle", "clusterIP", "clusterIPs", "deletionTimestamp", "olmcahash", "tls.crt", "tls.key", "olmCAKey",
}

// masks replaces what is random or depends on the time.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`(https?://)?127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\b(olm\.og\.[a-z0-9-]+\.(admin|edit|view))-[A-Za-z0-9]{20,}`), "$1-HASH"}, // of the UID of the group
	{regexp.MustCompile(`\binstall-([a-z0-9]{5}|[0-9a-f]{10})\b`), "PLAN"},                         // which does not exist anymore
	{regexp.MustCompile(`\b([vm][a-z]+\.kb\.io)-[a-z0-9]{5}\b`), "$1-RANDOM"},
}

// mask makes the text of objects comparable. plans are the new names of install plans.
func mask(text string, plans []string) string {
	text = strings.NewReplacer(plans...).Replace(text)
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

// tree returns the objects of a state by kind and name, with lists by the names of their
// elements. Generated names are replaced, and empty values are left out.
func tree(objects []obj) obj {
	var plans []string
	ordered := slices.Clone(objects)
	slices.SortStableFunc(ordered, func(a, b obj) int {
		return cmp.Or(cmp.Compare(field(a, "metadata", "creationTimestamp"), field(b, "metadata", "creationTimestamp")), cmp.Compare(field(a, "metadata", "name"), field(b, "metadata", "name")))
	})
	for _, o := range ordered {
		if o["kind"] == "InstallPlan" {
			var names []string
			spec, _ := o["spec"].(obj)
			csvs, _ := spec["clusterServiceVersionNames"].(list)
			for _, n := range csvs {
				names = append(names, n.(string))
			}
			slices.Sort(names)
			plans = append(plans, field(o, "metadata", "name"), "PLAN["+strings.Join(names, "+")+"]")
		}
	}
	out := obj{}
	for _, o := range ordered {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		var clean obj
		if err := json.Unmarshal([]byte(mask(string(text), plans)), &clean); err != nil {
			panic(err)
		}
		switch {
		case clean["kind"] == "ClusterServiceVersion": // its history depends on when it was looked at
			unstructured.RemoveNestedField(clean, "status", "conditions")
		case clean["kind"] == "Service": // the test redirects it
			for _, f := range []string{"type", "externalName", "sessionAffinity", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy"} {
				unstructured.RemoveNestedField(clean, "spec", f)
			}
		case strings.Contains(string(text), "olmcahash"): // the certificate is part of the spec
			unstructured.RemoveNestedField(clean, "metadata", "labels", "olm.deployment-spec-hash")
		}
		key := fmt.Sprintf("%s %s", clean["kind"], field(clean, "metadata", "name"))
		if ns := field(clean, "metadata", "namespace"); ns != "" {
			key = fmt.Sprintf("%s %s/%s", clean["kind"], ns, field(clean, "metadata", "name"))
		}
		for out[key] != nil {
			key += "'"
		}
		out[key] = normalize(clean)
	}
	return out
}

// normalize returns a value with lists as maps, and without what is empty or volatile.
func normalize(v any) any {
	out := obj{}
	add := func(k string, x any) {
		if x = normalize(x); x != nil && x != "" {
			for out[k] != nil {
				k += "'"
			}
			out[k] = x
		}
	}
	switch v := v.(type) {
	case obj:
		for k, x := range v {
			if !slices.Contains(volatile, k) {
				add(strings.ReplaceAll(k, "/", "~1"), x)
			}
		}
	case list:
		for i, x := range v {
			add(elementName(x, i), x)
		}
	case string:
		var inner obj
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil { // such as the manifest of a step
			return normalize(inner)
		}
		return v
	default:
		return v
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// elementName identifies an element of a list: by its type, its kind and name, or its index.
func elementName(x any, i int) string {
	m, ok := x.(obj)
	if !ok {
		return fmt.Sprint(i)
	}
	if r, ok := m["resource"].(obj); ok { // a step of an install plan
		return fmt.Sprintf("[%v %v]", r["kind"], r["name"])
	}
	if t, ok := m["type"].(string); ok && m["status"] != nil {
		return "[" + t + "]"
	}
	if k, ok := m["kind"].(string); ok && m["name"] != nil { // a reference
		if ns, ok := m["namespace"].(string); ok {
			return fmt.Sprintf("[%s %s/%v]", strings.ToLower(k), ns, m["name"])
		}
		return fmt.Sprintf("[%s %v]", strings.ToLower(k), m["name"])
	}
	return fmt.Sprint(i)
}

// diff returns the differences between two states, in order.
func diff(byOLM, byOlmkit []obj) []string { return differences(nil, "", tree(byOLM), tree(byOlmkit)) }

func differences(out []string, path string, a, b any) []string {
	text := func(v any) string {
		if _, ok := v.(obj); ok {
			return "it"
		}
		t, _ := json.Marshal(v)
		return string(t)
	}
	x, ok1 := a.(obj)
	y, ok2 := b.(obj)
	switch {
	case ok1 && ok2:
		sep := "/"
		if path == "" {
			sep = ""
		} else if !strings.Contains(strings.TrimSpace(path), " /") {
			sep = " /"
		}
		keys := map[string]bool{}
		for k := range x {
			keys[k] = true
		}
		for k := range y {
			keys[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out = differences(out, path+sep+k, x[k], y[k])
		}
	case a == nil:
		out = append(out, fmt.Sprintf("%s: only olmkit has %s", path, text(b)))
	case b == nil:
		out = append(out, fmt.Sprintf("%s: only OLM has %s", path, text(a)))
	case text(a) != text(b):
		out = append(out, fmt.Sprintf("%s: OLM has %s, olmkit %s", path, text(a), text(b)))
	}
	return out
}
