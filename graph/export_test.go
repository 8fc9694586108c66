package graph

import "encoding/binary"

// IndexForm returns the layout of the records in an index.
func IndexForm() string {
	var c Catalog
	var all, tail string
	return describe(c.sections(&c.bundles, &c.end, &all, &tail), binary.LittleEndian)
}

// Broken calls yield once for each fault that opening an index must detect, with a
// description of the fault and a catalog whose records have it. made must return a new copy
// of the same catalog each time.
func Broken(made func() *Catalog, yield func(what string, c *Catalog)) {
	const none = 1 << 20 // beyond every list
	for _, b := range []struct {
		what string
		do   func(c *Catalog)
	}{
		{"package without a name", func(c *Catalog) { c.packages[0].name = none }},
		{"package with another default channel", func(c *Catalog) { c.packages[0].defaultChannel = none }},
		{"package of no file", func(c *Catalog) { c.packages[0].pos.file = none }},
		{"package with a deprecation that is not there", func(c *Catalog) { c.packages[0].deprecated = none }},
		{"packages out of order", func(c *Catalog) { c.packages[0].name, c.packages[1].name = c.packages[1].name, c.packages[0].name }},
		{"package twice", func(c *Catalog) { c.packages[1].name = c.packages[0].name }},
		{"package with too many channels", func(c *Catalog) { c.packages[0].channels.to = none }},
		{"package with channels of another", func(c *Catalog) { c.packages[1].channels.from = 0 }},
		{"package with channels backwards", func(c *Catalog) { s := &c.packages[0].channels; s.from, s.to = s.to, s.from }},
		{"package without its channels", func(c *Catalog) { c.packages[0].channels = span{} }},
		{"package without its bundles", func(c *Catalog) { c.packages[0].bundles = span{} }},

		{"channel of no package", func(c *Catalog) { c.channels[0].pkg = none }},
		{"channel of another package", func(c *Catalog) { c.channels[0].pkg++ }},
		{"channel without a name", func(c *Catalog) { c.channels[0].name = none }},
		{"channels out of order", func(c *Catalog) { c.channels[0].name, c.channels[1].name = c.channels[1].name, c.channels[0].name }},
		{"channel with a deprecation that is not there", func(c *Catalog) { c.channels[0].deprecated = none }},
		{"channel with a problem that is not there", func(c *Catalog) { c.channels[0].fault = none }},
		{"channel without its last entry", func(c *Catalog) { c.channels[0].entries.to-- }},
		{"channel without its order", func(c *Catalog) { c.channels[0].order = span{} }},
		{"channel whose head is elsewhere", func(c *Catalog) { c.channels[0].head = c.channels[1].entries.from + 1 }},
		{"channel without a head and a problem", func(c *Catalog) { c.channels[0].head = 0 }},
		{"channel with a problem and an order", func(c *Catalog) { c.channels[0].fault = 1 }},
		{"channel with a circle", func(c *Catalog) {
			r := c.channels[0].entries
			c.entries[r.from].replaces, c.entries[r.from+1].replaces = c.entries[r.from+1].name, c.entries[r.from].name
		}},
		{"order of another channel", func(c *Catalog) { c.order[0] = none }},
		{"order that leads nowhere", func(c *Catalog) { c.order[0], c.order[1] = c.order[1], c.order[0] }},
		{"order with an entry twice", func(c *Catalog) { c.order[1] = c.order[0] }},
		{"order with a name without content", func(c *Catalog) { c.entries[c.order[0]].bundle = 0 }},

		{"entry of no channel", func(c *Catalog) { c.entries[0].channel = none }},
		{"entry of another channel", func(c *Catalog) { c.entries[0].channel++ }},
		{"entry without a name", func(c *Catalog) { c.entries[0].name = none }},
		{"entries out of order", func(c *Catalog) { c.entries[0], c.entries[1] = c.entries[1], c.entries[0] }},
		{"entry that replaces nothing known", func(c *Catalog) { c.entries[0].replaces = none }},
		{"entry with a range that is not there", func(c *Catalog) { c.entries[0].skipRange = none }},
		{"entry with skips that are not there", func(c *Catalog) { c.entries[0].skips.to = none }},
		{"entries that share their skips", func(c *Catalog) { c.entries[1].skips = span{0, size(c.skips)}; c.entries[0].skips = c.entries[1].skips }},
		{"entry with a bundle that is not there", func(c *Catalog) { c.entries[0].bundle = none }},
		{"entry with the bundle of another name", func(c *Catalog) { c.entries[0].bundle++ }},
		{"entry with another rank", func(c *Catalog) { c.entries[c.order[0]].rank = none }},
		{"entry with a rank outside of the order", func(c *Catalog) { c.entries[c.channels[1].entries.from].rank = 1 }},
		{"skips of no name", func(c *Catalog) { c.skips[0] = none }},
		{"range without a text", func(c *Catalog) { c.ranges[0] = none }},

		{"bundle of no package", func(c *Catalog) { c.bundles[0].pkg = none }},
		{"bundle of another package", func(c *Catalog) { c.bundles[0].pkg++ }},
		{"bundle without a name", func(c *Catalog) { c.bundles[0].name = none }},
		{"bundles out of order", func(c *Catalog) {
			x, y := &c.bundles[0], &c.bundles[1]
			for i := range c.entries {
				switch e := &c.entries[i]; e.name {
				case x.name:
					e.bundle = 0
				case y.name:
					e.bundle = 0
				}
			}
			x.name, y.name = y.name, x.name
		}},
		{"bundle with a deprecation that is not there", func(c *Catalog) { c.bundles[0].deprecated = none }},
		{"bundle with a problem that is not there", func(c *Catalog) { c.bundles[0].fault = none }},
		{"bundle with install modes that are not there", func(c *Catalog) { c.bundles[0].modes = none }},
		{"bundle with an invalid prerelease", func(c *Catalog) { c.bundles[1].version.pre = c.bundles[1].image }},
		{"bundle with invalid build metadata", func(c *Catalog) { c.bundles[1].version.build = c.bundles[1].image }},
		{"bundle with a prerelease that is not there", func(c *Catalog) { c.bundles[1].version.pre = none }},
		{"bundle with the properties of all", func(c *Catalog) { c.bundles[0].props = span{0, size(c.props)} }},
		{"bundle with properties that are not there", func(c *Catalog) { c.bundles[0].props.to = none }},
		{"bundle with requirements that are not there", func(c *Catalog) { c.bundles[0].required.to = none }},
		{"bundle without its entries", func(c *Catalog) { c.bundles[0].entries = span{} }},
		{"bundle with the entry of another", func(c *Catalog) { c.bundleEntries[0] = c.bundleEntries[len(c.bundleEntries)-1] }},
		{"bundle with an entry that is not there", func(c *Catalog) { c.bundleEntries[0] = none }},
		{"bundle with an API that is not there", func(c *Catalog) { c.apis[0] = none }},
		{"bundle without its APIs", func(c *Catalog) { c.bundles[0].apis = span{} }},
		{"bundle with a label that is not there", func(c *Catalog) { c.bundleLabels[0] = none }},

		{"property without a type", func(c *Catalog) { c.props[0].typ = none }},
		{"property without a value", func(c *Catalog) { c.props[0].value = none }},
		{"requirement of another property", func(c *Catalog) { c.required[0].property = none }},
		{"requirement that is not there", func(c *Catalog) { c.required[0].requirement = none }},
		{"requirement of another type", func(c *Catalog) { c.requirements[0].typ = c.bundles[0].name }},
		{"requirement without a value", func(c *Catalog) { c.requirements[0].value = none }},
		{"deprecation without a message", func(c *Catalog) { c.deprecations[0].message = none }},

		{"API without a kind", func(c *Catalog) { c.gvks[0].kind = none }},
		{"APIs out of order", func(c *Catalog) { c.gvks[0], c.gvks[1] = c.gvks[1], c.gvks[0] }},
		{"API without its providers", func(c *Catalog) { c.gvks[0].providers = span{} }},
		{"provider that is not there", func(c *Catalog) { c.providers[0] = none }},
		{"provider that does not provide", func(c *Catalog) { c.providers[0] = c.providers[len(c.providers)-1] }},
		{"label without a text", func(c *Catalog) { c.labels[0].label = none }},
		{"label without its bundles", func(c *Catalog) { c.labels[0].bundles = span{} }},
		{"labeled bundle that is not there", func(c *Catalog) { c.labeled[0] = none }},

		{"text that ends before it begins", func(c *Catalog) { c.end[1] = none }},
	} {
		c := made()
		b.do(c)
		yield(b.what, c)
	}
}
