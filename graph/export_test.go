package graph

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
)

// IndexForm returns the layout of the records in an index.
func IndexForm() string { return describe(binary.LittleEndian) }

// Broken calls yield once for each fault that reading an index must detect, with a
// description of the fault and an index that has it. The index is made from a valid one.
func Broken(valid []byte, yield func(what string, index []byte)) {
	const none = 1 << 20 // beyond every list
	for _, b := range []struct {
		what string
		do   func(c *Catalog) // changes the first package
	}{
		{"package without a name", func(c *Catalog) { c.packages[0].name = none }},
		{"package with another default channel", func(c *Catalog) { c.packages[0].defaultChannel = none }},
		{"package of no file", func(c *Catalog) { c.packages[0].pos.file = none }},
		{"package with a deprecation that is not there", func(c *Catalog) { c.packages[0].deprecated = none }},
		{"package with too many channels", func(c *Catalog) { c.packages[0].channels.to = none }},
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

		{"package without its first channel", func(c *Catalog) { c.packages[0].channels.from++ }},
		{"two packages", func(c *Catalog) { c.packages = append(c.packages, packageRec{}) }},
		{"no package", func(c *Catalog) { c.packages = nil }},
		{"channel that the directory does not count", func(c *Catalog) { c.channels = append(c.channels, c.channels[0]) }},
		{"requirement without an ID", func(c *Catalog) { c.ids = c.ids[1:] }},
	} {
		c, d, packed := opened(valid)
		part := c.parts.(*indexParts).part(0)
		b.do(part)
		yield(b.what, written(d, repacked(d, part, packed)))
	}
	for _, b := range []struct {
		what string
		do   func(d *directory)
	}{
		{"package without a name", func(d *directory) { d.packages[0].name = none }},
		{"package of another name", func(d *directory) { d.packages[0].name = 0 }},
		{"packages out of order", func(d *directory) { d.packages[0].name, d.packages[1].name = d.packages[1].name, d.packages[0].name }},
		{"package twice", func(d *directory) { d.packages[1].name = d.packages[0].name }},
		{"package that ends before it begins", func(d *directory) { d.packages[0].end = d.packages[1].end + 1 }},
		{"package that ends in another", func(d *directory) { d.packages[0].end-- }},
		{"packages that do not fill the file", func(d *directory) { d.packages[1].end-- }},
		{"package with another checksum", func(d *directory) { d.packages[0].sum++ }},
		{"package with more memory", func(d *directory) { d.packages[0].memory += 8 }},
		{"package with less memory", func(d *directory) { d.packages[0].memory -= 8 }},
		{"package with more channels", func(d *directory) { d.packages[0].channels++ }},
		{"package with more entries", func(d *directory) { d.packages[0].entries++ }},
		{"package with more bundles", func(d *directory) { d.packages[0].bundles++ }},
		{"package with fewer channels than none", func(d *directory) { d.packages[1].channels = 0 }},
		{"package with fewer entries than none", func(d *directory) { d.packages[1].entries = 0 }},
		{"package with fewer bundles than none", func(d *directory) { d.packages[1].bundles = 0 }},
		{"API without a kind", func(d *directory) { d.records.gvks[0].kind = none }},
		{"APIs out of order", func(d *directory) { d.records.gvks[0], d.records.gvks[1] = d.records.gvks[1], d.records.gvks[0] }},
		{"API without its packages", func(d *directory) { d.records.gvks[0].providers = span{} }},
		{"API of a package that is not there", func(d *directory) { d.records.providers[0] = none }},
		{"label without a text", func(d *directory) { d.records.labels[0].label = none }},
		{"label without its packages", func(d *directory) { d.records.labels[0].bundles = span{} }},
		{"label of a package that is not there", func(d *directory) { d.records.labeled[0] = none }},
		{"label of a package twice", func(d *directory) { d.records.labeled[1] = d.records.labeled[0] }},
		{"text that ends before it begins", func(d *directory) { d.records.end[1] = none }},
		{"tail that is not JSON", func(d *directory) { d.tail = "?" }},
	} {
		_, d, packed := opened(valid)
		b.do(d)
		yield("directory: "+b.what, written(d, packed))
	}
}

// opened opens an index and returns it with its directory and its packages.
func opened(index []byte) (*Catalog, *directory, []byte) {
	c, err := ReadIndex(bytes.NewReader(index), int64(len(index)), &Options{OnDemand: true})
	if err != nil {
		panic(err)
	}
	tail, err := c.extra("")
	if err != nil {
		panic(err)
	}
	p := c.parts.(*indexParts)
	return c, &directory{p.list, &c.records, c.text(), tail}, slices.Clone(index[p.at:])
}

func written(d *directory, packed []byte) []byte {
	var b bytes.Buffer
	if err := d.write(&b, packed); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Changed returns an index whose first package has another number in its records.
func Changed(valid []byte, at int, number uint32, add bool) []byte {
	c, d, packed := opened(valid)
	part := c.parts.(*indexParts).part(0)
	part.walk(func(list []uint32, _ reflect.Type) []uint32 {
		if at >= 0 && at < len(list) {
			if add {
				number += list[at]
			}
			list[at] = number
		}
		at -= len(list)
		return nil
	})
	return written(d, repacked(d, part, packed))
}

// repacked replaces the first package.
func repacked(d *directory, part *Catalog, packed []byte) []byte {
	first, memory := part.pack(nil)
	old := d.packages[0].end
	for i := range d.packages {
		d.packages[i].end += uint64(len(first)) - old
	}
	d.packages[0].memory, d.packages[0].sum = uint32(memory), crc32.Checksum(first, castagnoli)
	return append(first, packed[old:]...)
}

// PackError packs numbers, which are four bytes each, and strings, and describes what is
// different after they are unpacked. It also unpacks the numbers as they are.
func PackError(numbers []byte, list []string) string {
	words := make([]uint32, len(numbers)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(numbers[4*i:])
	}
	for width := 1; width <= 3; width++ {
		words := words[:len(words)/width*width]
		got := make([]uint32, len(words))
		rest, ok := unpackNumbers(packNumbers(nil, words, width), got, width)
		if !ok || len(rest) > 0 || !slices.Equal(got, words) {
			return fmt.Sprintf("%d became %d with %d left", words, got, len(rest))
		}
		unpackNumbers(numbers, got, width)
	}
	var packed []byte
	last, size := "", 0
	for _, s := range list {
		packed, last, size = packString(packed, last, s), s, size+len(s)
	}
	end := make([]uint32, len(list)+1)
	text, rest, ok := unpackStrings(packed, size, end)
	if !ok || len(rest) > 0 || text != strings.Join(list, "") {
		return fmt.Sprintf("%q became %q with %d left", list, text, len(rest))
	}
	for i, s := range list {
		if got := text[end[i]:end[i+1]]; got != s {
			return fmt.Sprintf("%q became %q", s, got)
		}
	}
	unpackStrings(numbers, len(numbers), make([]uint32, len(numbers)+1))
	new(records).unpack(numbers, uint64(len(numbers)))
	return ""
}
