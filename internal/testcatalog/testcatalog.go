// Package testcatalog generates deterministic catalogs of any size for tests
// and benchmarks, shaped like real ones. It depends only on the format, so the
// tests of every package can use it.
//
// [Sized] returns catalogs that differ only in size: a resolution in the first
// block reaches the same bundles in all of them. [HiddenPigeons] returns small
// catalogs that are infeasible for any solver.
package testcatalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing/fstest"
)

const (
	// BlockPackages is the number of packages in each block of a sized catalog.
	BlockPackages = 40
	// Versions is the number of bundles of each package.
	Versions = 19
	// Block is the number of bundles in a block, about that of an OpenShift
	// release's catalog.
	Block = BlockPackages * Versions
	// apis is the number of APIs that each bundle provides.
	apis = 8
)

// Group is the group of all APIs in generated catalogs.
const Group = "gen.example.com"

// Name returns the name of package i of block b.
func Name(b, i int) string { return fmt.Sprintf("b%03d-p%02d", b, i) }

// Bundle returns the name of version v of a package, counted from 0.
func Bundle(pkg string, v int) string { return fmt.Sprintf("%s.v1.%d.0", pkg, v) }

// Version returns version v as text.
func Version(v int) string { return fmt.Sprintf("1.%d.0", v) }

// Kind returns the kind of the k-th API of a package.
func Kind(pkg string, k int) string {
	return "K" + strings.ReplaceAll(pkg, "-", "") + fmt.Sprintf("x%d", k)
}

// Sized returns a catalog of times blocks, with a directory for each package,
// in YAML and JSON alternately.
//
// Each package has two channels: stable, the default, with all versions in a
// chain, and fast, with the last third. The head of fast requires an API that
// nothing provides. A package whose number is not a multiple of four requires
// an API of the package before it, so a subscription brings in up to three
// others.
func Sized(times int) fstest.MapFS {
	out := fstest.MapFS{}
	for b := range times {
		for i := range BlockPackages {
			name := Name(b, i)
			file := &fstest.MapFile{Data: blobs(pkg(b, i), i%2 == 0)}
			out[name+map[bool]string{true: "/catalog.yaml", false: "/catalog.json"}[i%2 == 0]] = file
		}
	}
	return out
}

// An object is a JSON object.
type object = map[string]any

func pkg(b, i int) []object {
	name := Name(b, i)
	var stable, fast, bundles []object
	for v := range Versions {
		e := object{"name": Bundle(name, v)}
		if v > 0 {
			e["replaces"] = Bundle(name, v-1)
		}
		if v%5 == 4 {
			e["skipRange"] = fmt.Sprintf(">=%s <%s", Version(v-4), Version(v))
		}
		stable = append(stable, e)
		if v >= Versions*2/3 && v < Versions-1 {
			fast = append(fast, e)
		}
		props := []object{property("olm.package", object{"packageName": name, "version": Version(v)})}
		for k := range apis {
			props = append(props, property("olm.gvk", api(Kind(name, k))))
		}
		if i%4 != 0 {
			props = append(props, property("olm.gvk.required", api(Kind(Name(b, i-1), v%apis))))
		}
		bundles = append(bundles, bundle(name, Bundle(name, v), props))
	}
	// The head of fast is a separate bundle.
	head := name + ".v2.0.0-rc.1"
	fast = append(fast, object{"name": head, "replaces": Bundle(name, Versions-2)})
	bundles = append(bundles, bundle(name, head, []object{
		property("olm.package", object{"packageName": name, "version": "2.0.0-rc.1"}),
		property("olm.gvk.required", api("Missing")),
	}))
	return append([]object{
		{"schema": "olm.package", "name": name, "defaultChannel": "stable", "description": "A generated package."},
		{"schema": "olm.channel", "package": name, "name": "stable", "entries": stable},
		{"schema": "olm.channel", "package": name, "name": "fast", "entries": fast},
	}, bundles...)
}

func bundle(pkg, name string, props []object) object {
	return object{
		"schema": "olm.bundle", "package": pkg, "name": name,
		"image": "registry.example.com/" + pkg + ":" + name, "properties": props,
	}
}

func property(typ string, value any) object { return object{"type": typ, "value": value} }

func api(kind string) object { return object{"group": Group, "version": "v1", "kind": kind} }

// Pigeons returns a catalog of n+1 packages, each with size entries in channel
// stable, each of which provides one of n APIs. Not all packages can be
// installed together, because a namespace may have only one provider of an API.
func Pigeons(n, size int) string { return pigeons(n, size, false) }

// HiddenPigeons is Pigeons with one more requirement: instead of providing the
// API, a version requires a separate package that does. Counting does not
// detect this, and for n beyond a dozen a search is infeasible.
func HiddenPigeons(n, size int) string { return pigeons(n, size, true) }

func pigeons(n, size int, hidden bool) string {
	var all []object
	add := func(name string, size int, props func(v int) object) {
		var entries []object
		for v := range size {
			e := object{"name": Bundle(name, v)}
			if v > 0 {
				e["replaces"] = Bundle(name, v-1)
			}
			entries = append(entries, e)
			all = append(all, bundle(name, Bundle(name, v), []object{
				property("olm.package", object{"packageName": name, "version": Version(v)}), props(v),
			}))
		}
		all = append(all,
			object{"schema": "olm.package", "name": name, "defaultChannel": "stable"},
			object{"schema": "olm.channel", "package": name, "name": "stable", "entries": entries})
	}
	hole := func(h int) object { return property("olm.gvk", api(fmt.Sprintf("Hole%d", h))) }
	for i := range n + 1 {
		name := Name(0, i)
		if !hidden {
			add(name, size, func(v int) object { return hole(v % n) })
			continue
		}
		seat := func(h int) string { return fmt.Sprintf("%s-seat%d", name, h) }
		add(name, size, func(v int) object {
			return property("olm.package.required", object{"packageName": seat(v % n), "versionRange": ">=0.0.0"})
		})
		for h := range n {
			add(seat(h), 1, func(int) object { return hole(h) })
		}
	}
	return string(blobs(all, false))
}

// blobs encodes documents as JSON or as YAML in the usual style of catalogs.
func blobs(list []object, asYAML bool) []byte {
	var b strings.Builder
	for _, o := range list {
		if asYAML {
			b.WriteString("---\n")
			writeYAML(&b, o, "", "")
			continue
		}
		text, err := json.Marshal(o)
		if err != nil {
			panic("internal error: " + err.Error()) // strings, lists and objects only
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
