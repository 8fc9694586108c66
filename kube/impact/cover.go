package impact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/kube/permissions"
)

// maxAtoms limits the atoms of rules that are compared, and maxChecks the comparisons of
// atoms with rules. Rules beyond them come from no real operator.
const (
	maxList   = 10_000 // the elements of a list in a rule
	maxAtoms  = 100_000
	maxChecks = 20_000_000
)

// An atom is the smallest permission that RBAC can grant: a verb for a resource of a group,
// for all objects or one name, or a verb for a URL.
type atom struct {
	verb, group, resource, name string
	named                       bool
	url                         string
	isURL                       bool
}

// atoms returns the atoms of a rule, as the API server's escalation check breaks down rules.
func atoms(r *permissions.Rule, yield func(atom)) {
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				if len(r.ResourceNames) == 0 {
					yield(atom{verb: verb, group: group, resource: resource})
				}
				for _, name := range r.ResourceNames {
					yield(atom{verb: verb, group: group, resource: resource, name: name, named: true})
				}
			}
		}
	}
	for _, url := range r.NonResourceURLs {
		for _, verb := range r.Verbs {
			yield(atom{verb: verb, url: url, isURL: true})
		}
	}
}

// count returns the number of atoms of a rule.
func count(r *permissions.Rule) int {
	return len(r.Verbs) * (len(r.APIGroups)*len(r.Resources)*max(1, len(r.ResourceNames)) + len(r.NonResourceURLs))
}

// A lookup is a rule with sets in place of lists.
type lookup struct {
	verbs, groups, resources, names map[string]bool
	urls                            []string
}

func lookupOf(r *permissions.Rule) *lookup {
	set := func(list []string) map[string]bool {
		out := make(map[string]bool, len(list))
		for _, s := range list {
			out[s] = true
		}
		return out
	}
	return &lookup{set(r.Verbs), set(r.APIGroups), set(r.Resources), set(r.ResourceNames), r.NonResourceURLs}
}

// covers reports whether a rule allows an atom, as the API server decides it.
func (l *lookup) covers(a atom) bool {
	if !l.verbs["*"] && !l.verbs[a.verb] {
		return false
	}
	if a.isURL {
		return len(l.names) == 0 && slices.ContainsFunc(l.urls, func(owner string) bool {
			return owner == a.url || strings.HasSuffix(owner, "*") && strings.HasPrefix(a.url, strings.TrimRight(owner, "*"))
		})
	}
	if !l.groups["*"] && !l.groups[a.group] {
		return false
	}
	if !l.resources["*"] && !l.resources[a.resource] {
		_, sub, ok := strings.Cut(a.resource, "/")
		if !ok || !l.resources["*/"+sub] {
			return false
		}
	}
	return len(l.names) == 0 || a.named && l.names[a.name]
}

// uncovered returns the permissions that want has and have lacks, merged into few rules, in a
// fixed order. It returns none if and only if the API server's escalation check finds that have
// covers want. Rules of want that are too large to compare are left out, and the result is then false.
func uncovered(have, want []permissions.Rule) ([]permissions.Rule, bool) { // K225
	var owners []*lookup
	for i := range have {
		owners = append(owners, lookupOf(&have[i]))
	}
	known := map[string]bool{}
	for i := range have {
		known[key(&have[i])] = true
	}
	missing := map[atom]bool{}
	n, complete := 0, true
	for i := range want {
		k := key(&want[i])
		if known[k] {
			continue
		}
		known[k] = true
		lists := []int{len(want[i].Verbs), len(want[i].APIGroups), len(want[i].Resources), len(want[i].ResourceNames), len(want[i].NonResourceURLs)}
		if slices.Max(lists) > maxList { // so that the product in count cannot overflow
			complete = false
			continue
		}
		more := n + count(&want[i])
		if more > maxAtoms || more*len(owners) > maxChecks {
			complete = false
			continue
		}
		n = more
		atoms(&want[i], func(a atom) {
			if !slices.ContainsFunc(owners, func(l *lookup) bool { return l.covers(a) }) {
				missing[a] = true
			}
		})
	}
	return join(missing), complete
}

// key identifies a rule.
func key(r *permissions.Rule) string {
	var b strings.Builder
	for _, list := range [][]string{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs} {
		for _, s := range list { // an empty string is not the same as an empty list
			b.WriteString(s)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	return b.String()
}

// join returns rules that allow exactly the atoms and what follows from them. It first merges the verbs of each object,
// then names, resources and groups with the same verbs.
func join(missing map[atom]bool) []permissions.Rule {
	var out []permissions.Rule
	for a := range missing {
		r := permissions.Rule{Verbs: []string{a.verb}}
		switch {
		case a.isURL:
			r.NonResourceURLs = []string{a.url}
		default:
			r.APIGroups, r.Resources = []string{a.group}, []string{a.resource}
			if a.named {
				r.ResourceNames = []string{a.name}
			}
		}
		out = append(out, r)
	}
	out = merge(out, func(r *permissions.Rule) *[]string { return &r.Verbs })
	for i := range out {
		if slices.Contains(out[i].Verbs, "*") {
			out[i].Verbs = []string{"*"} // the others follow from it
		}
	}
	for _, field := range []func(*permissions.Rule) *[]string{
		func(r *permissions.Rule) *[]string { return &r.ResourceNames },
		func(r *permissions.Rule) *[]string { return &r.NonResourceURLs },
		func(r *permissions.Rule) *[]string { return &r.Resources },
		func(r *permissions.Rule) *[]string { return &r.APIGroups },
	} {
		out = merge(out, field)
	}
	slices.SortFunc(out, compareRules)
	return out
}

// merge unites rules that differ only in one field, which is a list. Rules in which the list
// is empty stay as they are, because an empty list of names means all names.
func merge(rules []permissions.Rule, field func(*permissions.Rule) *[]string) (out []permissions.Rule) {
	at := map[string]int{}
	for _, r := range rules {
		values := *field(&r)
		if len(values) == 0 {
			out = append(out, r)
			continue
		}
		*field(&r) = nil
		k := key(&r)
		*field(&r) = values
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			*field(&r) = slices.Clone(values)
			out = append(out, r)
			continue
		}
		list := field(&out[i])
		*list = append(*list, values...)
	}
	for i := range out {
		list := field(&out[i])
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return out
}

func compareRules(a, b permissions.Rule) int {
	return cmp.Or(
		slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources), slices.Compare(a.ResourceNames, b.ResourceNames),
		slices.Compare(a.NonResourceURLs, b.NonResourceURLs), slices.Compare(a.Verbs, b.Verbs),
	)
}
