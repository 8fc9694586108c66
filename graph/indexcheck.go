package graph

import (
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

// inconsistent returns the kind of a record of a package in an index that no build would
// write, or "". Queries rely on properties of built records: every number refers to something,
// searched lists are sorted, and records that refer to each other agree. They are checked
// here, once, no matter what wrote the file (S5). No item of a list belongs to two records,
// so the size of the file bounds the work of a query.
func (c *Catalog) inconsistent(text string) string {
	k := indexCheck{
		Catalog: c, all: text, texts: max(size(c.end), 1),
		channelsOf: tiling{length: size(c.channels)}, bundlesOf: tiling{length: size(c.bundles)},
		entriesOf: tiling{length: size(c.entries)}, ordersOf: tiling{length: size(c.order)},
		namedBy: tiling{length: size(c.bundleEntries)}, apisOf: tiling{length: size(c.apis)},
		providersOf: tiling{length: size(c.providers)}, labeledBy: tiling{length: size(c.labeled)},
		skipsOf: sharing{length: size(c.skips)}, propsOf: sharing{length: size(c.props)},
		requiredOf: sharing{length: size(c.required)}, labelsOf: sharing{length: size(c.bundleLabels)},
		provider: make([]uint32, len(c.gvks)), members: size(c.bundles),
	}
	switch {
	case !every(c.packages, k.checkPackage) || !k.channelsOf.whole() || !k.bundlesOf.whole():
		return "package"
	case !every(c.channels, k.checkChannel) || !k.entriesOf.whole() || !k.ordersOf.whole():
		return "channel"
	case !every(c.entries, k.checkEntry) || !k.skipsOf.whole() || k.named != size(c.bundleEntries):
		return "entry"
	case !every(c.channels, k.checkOrder) || k.ranked > 0:
		return "channel"
	case !every(c.gvks, k.checkAPI) || !k.providersOf.whole() || len(c.providers) != len(c.apis):
		return "API"
	case !every(c.labels, k.checkLabel) || !k.labeledBy.whole() || len(c.labeled) != len(c.bundleLabels):
		return "label"
	case !every(c.props, k.checkProperty):
		return "property"
	case !every(c.requirements, k.checkRequirement):
		return "requirement"
	case !every(c.bundles, k.checkBundle) || !k.namedBy.whole() || !k.apisOf.whole() ||
		!k.propsOf.whole() || !k.requiredOf.whole() || !k.labelsOf.whole():
		return "bundle"
	case !every(c.skips, k.checkText) || !every(c.ranges, k.checkText):
		return "edge"
	case !every(c.deprecations, func(_ uint32, r *deprecationRec) bool { return k.hasText(r.message) }):
		return "deprecation"
	}
	return ""
}

func every[T any](list []T, check func(uint32, *T) bool) bool {
	for i := range list {
		if !check(uint32(i), &list[i]) {
			return false
		}
	}
	return true
}

// An indexCheck visits the records of a catalog, each list in order.
type indexCheck struct {
	*Catalog
	all   string // the text
	texts uint32 // number of texts
	// members is the number of bundles or, in a directory, of packages.
	members uint32

	channelsOf, bundlesOf, entriesOf, ordersOf, namedBy, apisOf, providersOf, labeledBy tiling
	skipsOf, propsOf, requiredOf, labelsOf                                              sharing

	ranked, named uint32   // entries whose rank is not yet explained by an order, and entries with a bundle
	provider      []uint32 // number of providers of each API so far
}

// checkPackage checks that packages are sorted by name and unique.
func (k *indexCheck) checkPackage(i uint32, r *packageRec) bool {
	return k.hasText(max(r.name, r.defaultChannel, r.pos.file)) && (i == 0 || k.less(k.packages[i-1].name, r.name)) &&
		r.deprecated <= size(k.deprecations) && k.channelsOf.next(r.channels) && k.bundlesOf.next(r.bundles)
}

// checkChannel checks that channels are sorted by package and name. A usable channel has a
// head, and only a usable channel has an order.
func (k *indexCheck) checkChannel(i uint32, r *channelRec) bool {
	return r.pkg < size(k.packages) && k.packages[r.pkg].channels.has(i) && k.hasText(max(r.name, r.pos.file)) &&
		(i == k.packages[r.pkg].channels.from || !k.less(r.name, k.channels[i-1].name)) &&
		r.deprecated <= size(k.deprecations) && r.fault <= size(k.problems) &&
		k.entriesOf.next(r.entries) && k.ordersOf.next(r.order) &&
		(r.head == 0 || r.entries.has(r.head-1)) && (r.head > 0 || r.fault > 0) && (r.fault == 0 || r.order.len() == 0)
}

// checkOrder checks that replaces lead from the head through all entries of the order to an
// end, that each has a bundle, and that the ranks count them.
func (k *indexCheck) checkOrder(_ uint32, r *channelRec) bool {
	if r.fault > 0 {
		return true
	}
	rest := in(k.order, r.order)
	e, ok := r.head-1, true
	for left := r.entries.len(); ok; left-- {
		if left == 0 {
			return false // a cycle
		}
		x := &k.entries[e]
		if len(rest) > 0 && rest[0] == e {
			if rest = rest[1:]; x.bundle == 0 || int(x.rank) != r.order.len()-len(rest) {
				return false
			}
			k.ranked--
		}
		switch {
		case x.replaces == 0:
			ok = false
		case len(rest) > 0 && r.entries.has(rest[0]) && k.entries[rest[0]].name == x.replaces:
			e = rest[0]
		default:
			e, ok = find(&k.records, k.entries, r.entries, k.text(x.replaces), func(r *entryRec) *sid { return &r.name })
		}
	}
	return len(rest) == 0
}

// checkEntry checks that entries are sorted by channel and name, and that the bundle has
// that name and is in the package of the channel.
func (k *indexCheck) checkEntry(i uint32, r *entryRec) bool {
	if r.channel >= size(k.channels) || !k.hasText(max(r.name, r.replaces)) || r.skipRange > size(k.ranges) || !k.skipsOf.next(r.skips) {
		return false
	}
	ch := &k.channels[r.channel]
	if !ch.entries.has(i) {
		return false
	}
	// Bundles are sorted, so the entries of each are too.
	if i > ch.entries.from && (r.bundle == 0 || r.bundle < k.entries[i-1].bundle || k.entries[i-1].bundle == 0) && k.less(r.name, k.entries[i-1].name) {
		return false
	}
	if r.rank > 0 {
		k.ranked++
	}
	if r.bundle == 0 {
		return true
	}
	k.named++
	return k.packages[ch.pkg].bundles.has(r.bundle-1) && k.bundles[r.bundle-1].name == r.name
}

// checkBundle checks that bundles are sorted by package and name, and that each version is
// valid or missing.
func (k *indexCheck) checkBundle(i uint32, r *bundleRec) bool {
	if r.pkg >= size(k.packages) || !k.packages[r.pkg].bundles.has(i) ||
		!k.hasText(max(r.name, r.image, r.pos.file, r.version.pre, r.version.build)) || r.modes >= modesAreHere+k.texts ||
		i > k.packages[r.pkg].bundles.from && k.less(r.name, k.bundles[i-1].name) ||
		r.deprecated > size(k.deprecations) || r.fault > size(k.problems) || !k.isVersion(&r.version) ||
		!k.propsOf.next(r.props) || !k.requiredOf.next(r.required) ||
		!k.namedBy.next(r.entries) || !k.apisOf.next(r.apis) || !k.labelsOf.next(r.labels) ||
		!ascend(in(k.bundleEntries, r.entries), size(k.entries)) || !ascend(in(k.apis, r.apis), size(k.gvks)) ||
		!ascend(in(k.bundleLabels, r.labels), k.texts) {
		return false
	}
	for _, q := range in(k.required, r.required) {
		if q.property >= uint32(r.props.len()) || q.requirement >= size(k.requirements) {
			return false
		}
	}
	for _, e := range in(k.bundleEntries, r.entries) {
		if k.entries[e].bundle != i+1 {
			return false
		}
	}
	for _, g := range in(k.apis, r.apis) {
		list := in(k.providers, k.gvks[g].providers)
		if n := k.provider[g]; n == size(list) || list[n] != i {
			return false
		}
		k.provider[g]++
	}
	return true
}

// isVersion reports whether the textual parts of a version are valid.
func (k *indexCheck) isVersion(r *versionRec) bool {
	if r.pre != 0 {
		for s := range strings.SplitSeq(k.str(r.pre), ".") {
			if _, err := semver.NewPRVersion(s); err != nil {
				return false
			}
		}
	}
	if r.build != 0 {
		for s := range strings.SplitSeq(k.str(r.build), ".") {
			if _, err := semver.NewBuildVersion(s); err != nil {
				return false
			}
		}
	}
	return true
}

func (k *indexCheck) checkProperty(_ uint32, r *propRec) bool {
	return k.hasText(r.typ) && r.value <= k.texts
}

func (k *indexCheck) checkRequirement(_ uint32, r *requirementRec) bool {
	return k.hasText(max(r.typ, r.value)) && property.IsRequirement(k.str(r.typ))
}

// checkAPI checks that APIs are sorted by group, version and kind and unique. checkBundle
// checks that the providers are the bundles that provide them.
func (k *indexCheck) checkAPI(i uint32, r *gvkRec) bool {
	return k.hasText(max(r.group, r.version, r.kind)) && k.providersOf.next(r.providers) && ascend(in(k.providers, r.providers), k.members) &&
		(i == 0 || k.gvk(i-1).Compare(k.gvk(i)) < 0)
}

// checkLabel checks that labels are sorted by text and unique.
func (k *indexCheck) checkLabel(i uint32, r *labelRec) bool {
	return k.hasText(r.label) && (i == 0 || k.less(k.labels[i-1].label, r.label)) &&
		k.labeledBy.next(r.bundles) && ascend(in(k.labeled, r.bundles), k.members)
}

func (k *indexCheck) checkText(_ uint32, x *sid) bool { return k.hasText(*x) }

// hasText reports whether a string exists.
func (k *indexCheck) hasText(x sid) bool { return uint32(x) < k.texts }

// less compares strings that exist. Equal strings usually have the same number.
func (k *indexCheck) less(x, y sid) bool { return x != y && k.text(x) < k.text(y) }

// text is [table.str] for contiguous text.
func (k *indexCheck) text(x sid) string {
	if x == 0 {
		return ""
	}
	return k.all[k.end[x-1]:k.end[x]]
}

// size is the length of a list. No list has more than 1<<31 items.
func size[T any](list []T) uint32 { return uint32(len(list)) }

// within reports whether a span lies within a list of that length.
func (s span) within(length uint32) bool { return s.from <= s.to && s.to <= length }

// has reports whether a number is in a span.
func (s span) has(i uint32) bool { return s.from <= i && i < s.to }

// ascend reports whether numbers are strictly ascending and below a limit.
func ascend[T ~uint32](list []T, limit uint32) bool {
	for i, x := range list {
		if uint32(x) >= limit || i > 0 && list[i-1] >= x {
			return false
		}
	}
	return true
}

// A tiling checks that spans follow one another without gaps and cover a list.
type tiling struct{ length, end uint32 }

func (t *tiling) next(s span) bool {
	if !s.within(t.length) || s.from < s.to && s.from != t.end {
		return false
	}
	t.end += s.to - s.from
	return true
}

func (t *tiling) whole() bool { return t.end == t.length }

// A sharing checks that spans are within a list and, in any order, together have as many
// items as the list.
type sharing struct {
	length uint32
	sum    uint64
}

func (t *sharing) next(s span) bool {
	t.sum += uint64(s.to - s.from)
	return s.within(t.length)
}

func (t *sharing) whole() bool { return t.sum == uint64(t.length) }
