package testcatalog

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Shapes are the names of the problems that [Shape] makes.
var Shapes = []string{"chain", "cycle", "layers", "subscriptions", "installed", "upgrades", "orphans"}

// An Outcome is how a problem ends.
type Outcome string

const (
	// FirstTry lets every request have what it prefers.
	FirstTry Outcome = "first"
	// SecondChoice makes two requests collide, of which one has another choice.
	SecondChoice Outcome = "second"
	// Refused makes two requests collide that have no other choice.
	Refused Outcome = "refused"
)

// Outcomes are all outcomes.
var Outcomes = []Outcome{FirstTry, SecondChoice, Refused}

// layer is how many packages stand side by side in the shape layers.
const layer = 10

// Shape returns a problem of a given shape over about n packages, as one JSON
// document. In a chain each package requires the next, in a cycle the last requires
// the first too, in layers each package requires two of the next layer. In the
// other shapes there is a subscription to each package, or an operator of each
// installed: at the head of its channel, before it, or without a subscription.
//
// The last package provides an API that package other provides too, unless outcome
// is FirstTry. Its first version, which every requirement admits, does not provide
// it when outcome is SecondChoice.
func Shape(shape string, n int, outcome Outcome, perBundle bool) []byte {
	var b strings.Builder
	var subs, installed []object
	add := func(o object) {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	name := func(i int) string { return fmt.Sprintf("p%05d", i) }
	gvk := func(kind string) object { return property("olm.gvk", api(kind)) }
	version := func(pkg string, v int) []object {
		return []object{property("olm.package", object{"packageName": pkg, "version": Version(v)})}
	}
	state := func(pkg string, props func(v int) []object) {
		add(object{"schema": "olm.package", "name": pkg, "defaultChannel": "stable"})
		add(object{"schema": "olm.channel", "package": pkg, "name": "stable", "entries": []object{
			{"name": Bundle(pkg, 0)}, {"name": Bundle(pkg, 1), "replaces": Bundle(pkg, 0)},
		}})
		for v := range 2 {
			add(bundle(pkg, Bundle(pkg, v), props(v)))
		}
	}
	requires := func(i, v int) []object {
		need := func(of int) object {
			if i%2 == 0 {
				return property("olm.gvk.required", api(Kind(name(of), 0)))
			}
			return property("olm.constraint", object{"all": object{"constraints": []object{
				{"package": object{"packageName": name(of), "versionRange": ">=1.0.0"}},
			}}})
		}
		switch shape {
		case "chain":
			if i < n-1 {
				return []object{need(i + 1)}
			}
		case "cycle":
			return []object{need((i + 1) % n)}
		case "layers":
			if next := (i/layer + 1) * layer; next < n {
				return []object{need(min(next+i%layer, n-1)), need(min(next+(i+1)%layer, n-1))}
			}
		}
		return nil
	}
	for i := range n {
		pkg := name(i)
		props := func(v int) []object {
			list := append(version(pkg, v), gvk(Kind(pkg, 0)))
			if i == n-1 && (outcome == Refused || outcome == SecondChoice && v == 1) {
				list = append(list, gvk("Shared"))
			}
			return append(list, requires(i, v)...)
		}
		state(pkg, props)
		install := func(v int) string {
			installed = append(installed, object{"name": Bundle(pkg, v), "version": Version(v), "properties": props(v)})
			return Bundle(pkg, v)
		}
		switch shape {
		case "subscriptions":
			subs = append(subs, object{"package": pkg})
		case "installed":
			subs = append(subs, object{"package": pkg, "installedCSV": install(1)})
		case "upgrades":
			subs = append(subs, object{"package": pkg, "installedCSV": install(0)})
		case "orphans":
			install(1)
		default:
			if i == 0 || shape == "layers" && i < layer {
				subs = append(subs, object{"package": pkg})
			}
		}
	}
	if outcome != FirstTry {
		state("other", func(v int) []object { return append(version("other", v), gvk("Shared")) })
		subs = append(subs, object{"package": "other"})
	}
	semantics := "documented"
	if perBundle {
		semantics = "per-bundle"
	}
	text, err := json.Marshal(object{
		"namespace": "operators", "subscriptions": subs, "installed": installed,
		"catalogs": []object{{"name": "catalog", "namespace": "olm", "fbc": b.String()}},
		"options":  object{"constraints": semantics},
	})
	if err != nil {
		panic(err)
	}
	return text
}
