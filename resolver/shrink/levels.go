package shrink

import (
	"slices"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// levels are tried in this order, from those that remove the most.
var levels = []level{
	{func(m *model) int { return len(m.p.Subscriptions) }, func(m *model, gone func(int) bool) {
		m.p.Subscriptions = without(m.p.Subscriptions, gone)
	}},
	{func(m *model) int { return len(m.p.Installed) }, func(m *model, gone func(int) bool) {
		m.p.Installed = without(m.p.Installed, gone)
	}},
	{func(m *model) int { return len(m.p.Policies) }, func(m *model, gone func(int) bool) {
		m.p.Policies = without(m.p.Policies, gone)
	}},
	{func(m *model) int { return len(m.cats) }, func(m *model, gone func(int) bool) {
		m.p.Catalogs, m.cats = without(m.p.Catalogs, gone), without(m.cats, gone)
	}},
	{countPackages, removePackages},
	blobs("olm.channel"),
	{blobs("olm.bundle").count, removeBundles},
	blobs("olm.deprecations"),
	{countEntries, removeEntries},
	{countProperties, removeProperties},
	{countSettings, removeSettings},
}

// without returns the list without the removed members.
func without[T any](list []T, gone func(i int) bool) []T {
	var out []T
	for i, x := range list {
		if !gone(i) {
			out = append(out, x)
		}
	}
	return out
}

// removeBlobs removes the blobs for which both is and gone return true. The argument of
// gone is the index of the blob among those for which is returns true.
func removeBlobs(m *model, is func(*blob) bool, gone func(int) bool) {
	n := 0
	for i, list := range m.cats {
		m.cats[i] = slices.DeleteFunc(list, func(b blob) bool {
			if !is(&b) {
				return false
			}
			n++
			return gone(n - 1)
		})
	}
}

func countBlobs(m *model, is func(*blob) bool) int {
	n := 0
	for _, list := range m.cats {
		for i := range list {
			if is(&list[i]) {
				n++
			}
		}
	}
	return n
}

func blobs(schema string) level {
	is := func(b *blob) bool { return b.Schema == schema }
	return level{
		func(m *model) int { return countBlobs(m, is) },
		func(m *model, gone func(int) bool) { removeBlobs(m, is, gone) },
	}
}

// packages lists the packages of a catalog, in order.
func packages(list []blob) []string {
	var out []string
	for i := range list {
		if name := list[i].pkg(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func countPackages(m *model) int {
	n := 0
	for _, list := range m.cats {
		n += len(packages(list))
	}
	return n
}

func removePackages(m *model, gone func(int) bool) {
	n := 0
	for i, list := range m.cats {
		var drop []string
		for _, name := range packages(list) {
			if gone(n) {
				drop = append(drop, name)
			}
			n++
		}
		m.cats[i] = slices.DeleteFunc(list, func(b blob) bool { return slices.Contains(drop, b.pkg()) })
	}
}

// removeBundles removes bundles with their entries.
func removeBundles(m *model, gone func(int) bool) {
	n := 0
	for i, list := range m.cats {
		type key struct{ pkg, name string }
		drop := map[key]bool{}
		for _, b := range list {
			if b.Schema == "olm.bundle" {
				if gone(n) {
					drop[key{b.Package, b.Name}] = true
				}
				n++
			}
		}
		m.cats[i] = slices.DeleteFunc(list, func(b blob) bool { return b.Schema == "olm.bundle" && drop[key{b.Package, b.Name}] })
		for j := range m.cats[i] {
			b := &m.cats[i][j]
			if b.Schema == "olm.channel" {
				b.cut(func(e entry) bool { return drop[key{b.Package, e.Name}] })
			}
		}
	}
}

// cut removes entries from a channel. The entries above a removed one then replace what it replaced.
func (b *blob) cut(gone func(entry) bool) {
	before := map[string]string{}
	for _, e := range b.Entries {
		if gone(e) {
			before[e.Name] = e.Replaces
		}
	}
	b.Entries = slices.DeleteFunc(b.Entries, gone)
	for i := range b.Entries {
		e := &b.Entries[i]
		for range len(before) {
			over, ok := before[e.Replaces]
			if !ok {
				break
			}
			e.Replaces = over
		}
	}
}

func countEntries(m *model) int {
	n := 0
	for _, list := range m.cats {
		for _, b := range list {
			n += len(b.Entries)
		}
	}
	return n
}

func removeEntries(m *model, gone func(int) bool) {
	n := 0
	for _, list := range m.cats {
		for j := range list {
			drop := map[string]bool{}
			list[j].Entries = slices.DeleteFunc(list[j].Entries, func(e entry) bool {
				n++
				if e.Name == "" {
					return gone(n - 1) // a deprecation
				}
				drop[e.Name] = gone(n - 1)
				return false
			})
			list[j].cut(func(e entry) bool { return drop[e.Name] })
		}
	}
}

// optional reports whether a bundle remains valid without a property.
func optional(p property.Property) bool { return p.Type != property.TypePackage }

// eachProperties calls f with every list of properties.
func eachProperties(m *model, f func(*[]property.Property)) {
	for _, list := range m.cats {
		for j := range list {
			f(&list[j].Properties)
		}
	}
	for i := range m.p.Installed {
		f(&m.p.Installed[i].Properties)
	}
}

func countProperties(m *model) int {
	n := 0
	eachProperties(m, func(list *[]property.Property) {
		for _, p := range *list {
			if optional(p) {
				n++
			}
		}
	})
	return n
}

func removeProperties(m *model, gone func(int) bool) {
	n := 0
	eachProperties(m, func(list *[]property.Property) {
		*list = slices.DeleteFunc(*list, func(p property.Property) bool {
			if !optional(p) {
				return false
			}
			n++
			return gone(n - 1)
		})
	})
}

// eachSetting calls f for every setting that is not empty. If f returns true, the setting is cleared.
func eachSetting(m *model, f func() bool) {
	clear := func(s *string) {
		if *s != "" && f() {
			*s = ""
		}
	}
	for i := range m.p.Subscriptions {
		s := &m.p.Subscriptions[i]
		for _, field := range []*string{&s.StartingCSV, &s.InstalledCSV, &s.Channel} {
			clear(field)
		}
		// A catalog without its namespace, or the reverse, would cause a different
		// conflict (H28).
		if (s.Catalog != "" || s.CatalogNamespace != "") && f() {
			s.Catalog, s.CatalogNamespace = "", ""
		}
	}
	for i := range m.p.Policies {
		clear(&m.p.Policies[i].Reason)
	}
	for i := range m.p.Catalogs {
		if c := &m.p.Catalogs[i]; c.Priority != 0 && f() {
			c.Priority = 0
		}
	}
	if m.p.OperatorGroup != nil && f() {
		m.p.OperatorGroup = nil
	}
	if o := &m.p.Options; o.SubscriptionOrder != "" && f() {
		o.SubscriptionOrder = ""
	}
	if o := &m.p.Options; o.OtherSources && f() {
		o.OtherSources = false
	}
	if o := &m.p.Options; o.Semantics == resolver.Documented && f() {
		o.Semantics = ""
	}
	for _, list := range m.cats {
		for j := range list {
			clear(&list[j].Image)
			for k := range list[j].Entries {
				e := &list[j].Entries[k]
				clear(&e.Replaces)
				clear(&e.SkipRange)
				if len(e.Skips) > 0 && f() {
					e.Skips = nil
				}
			}
		}
	}
}

func countSettings(m *model) int {
	n := 0
	eachSetting(m, func() bool { n++; return false })
	return n
}

func removeSettings(m *model, gone func(int) bool) {
	n := 0
	eachSetting(m, func() bool { n++; return gone(n - 1) })
}
