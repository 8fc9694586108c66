package testcatalog

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Shapes lists the shapes that [Shape] supports.
var Shapes = []string{"chain", "cycle", "layers", "star", "negations", "versions", "subscriptions", "installed", "upgrades", "orphans"}

// An Outcome is the result of a problem.
type Outcome string

const (
	// FirstTry gives every request its first preference.
	FirstTry Outcome = "first"
	// SecondChoice makes two requests collide, one of which has an alternative.
	SecondChoice Outcome = "second"
	// Refused makes two requests collide without alternatives.
	Refused Outcome = "refused"
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{FirstTry, SecondChoice, Refused}

// A Case is a kind of problem that [Shape] makes.
type Case struct {
	Shape     string
	Outcome   Outcome
	PerBundle bool
}

// Cases returns all kinds of problems in which a resolution considers about as
// many candidates as there are bundles. Per-bundle negations are left out,
// because nearly every bundle satisfies each of them.
func Cases() (list []Case) {
	for _, shape := range Shapes {
		for _, outcome := range Outcomes {
			for _, perBundle := range []bool{false, true} {
				if !perBundle || shape != "negations" {
					list = append(list, Case{shape, outcome, perBundle})
				}
			}
		}
	}
	return list
}

// layer is the number of packages per layer in the shape layers.
const layer = 10

// Shape returns a problem over about n packages as a JSON document. The shapes
// are:
//
//   - chain: each package requires the next.
//   - cycle: a chain whose last package requires the first.
//   - layers: each package requires two packages of the next layer.
//   - star: every package requires the last, which has n versions, and has a
//     subscription.
//   - negations: each package forbids a version of the next.
//   - versions: one package with n versions.
//   - subscriptions: a chain with a subscription to each package.
//   - installed: a chain of installed operators, at the heads of their channels.
//   - upgrades: a chain of installed operators that can be upgraded.
//   - orphans: a chain of installed operators without subscriptions.
//
// Unless the outcome is FirstTry, a package named "other" and the last package
// provide the same API. If the outcome is SecondChoice, the first version of
// the last package does not provide the API, but satisfies every requirement.
func Shape(c Case, n int) []byte {
	shape, outcome := c.Shape, c.Outcome
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
	state := func(pkg string, versions int, props func(v int) []object) {
		entries := []object{{"name": Bundle(pkg, 0)}}
		for v := 1; v < versions; v++ {
			entries = append(entries, object{"name": Bundle(pkg, v), "replaces": Bundle(pkg, v-1)})
		}
		add(object{"schema": "olm.package", "name": pkg, "defaultChannel": "stable"})
		add(object{"schema": "olm.channel", "package": pkg, "name": "stable", "entries": entries})
		for v := range versions {
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
		case "negations":
			return []object{property("olm.constraint", object{"not": object{"constraints": []object{
				{"package": object{"packageName": name(i + 1), "versionRange": "<1.0.0"}},
			}}})}
		case "star":
			if i < n-1 {
				return []object{property("olm.gvk.required", api(Kind(name(n-1), 0)))}
			}
		case "chain", "installed", "upgrades", "orphans":
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
		if shape == "versions" && i < n-1 {
			continue
		}
		pkg, versions := name(i), 2
		if i == n-1 && (shape == "versions" || shape == "star") {
			versions = n
		}
		props := func(v int) []object {
			list := append(version(pkg, v), gvk(Kind(pkg, 0)))
			if i == n-1 && (outcome == Refused || outcome == SecondChoice && v > 0) {
				list = append(list, gvk("Shared"))
			}
			return append(list, requires(i, v)...)
		}
		state(pkg, versions, props)
		install := func(v int) string {
			installed = append(installed, object{"name": Bundle(pkg, v), "version": Version(v), "properties": props(v)})
			return Bundle(pkg, v)
		}
		switch shape {
		case "subscriptions", "star", "negations", "versions":
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
		state("other", 2, func(v int) []object { return append(version("other", v), gvk("Shared")) })
		subs = append(subs, object{"package": "other"})
	}
	semantics := "documented"
	if c.PerBundle {
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
