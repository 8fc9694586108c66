package platform_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/platform"
)

// catalog returns the text of a catalog from lines "package/channel: bundle [max=4.17] [kube=1.30] [needs=package] [skips=1.0.0] [<replaces]".
// Bundles are named by version.
func catalog(lines string) *string {
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(lines) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		pkg, channel, _ := strings.Cut(head, "/")
		if !seen[pkg] {
			seen[pkg] = true
			fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":%q}`+"\n", pkg, channel)
		}
		var entries []string
		for item := range strings.SplitSeq(list, ",") {
			words := strings.Fields(item)
			name := pkg + ".v" + words[0]
			props := fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, pkg, words[0])
			entry := fmt.Sprintf(`{"name":%q`, name)
			for _, w := range words[1:] {
				if v, ok := strings.CutPrefix(w, "max="); ok {
					props += fmt.Sprintf(`,{"type":"olm.maxOpenShiftVersion","value":%q}`, v)
				}
				if v, ok := strings.CutPrefix(w, "needs="); ok {
					props += fmt.Sprintf(`,{"type":"olm.package.required","value":{"packageName":%q,"versionRange":">=0.0.0"}}`, v)
				}
				if v, ok := strings.CutPrefix(w, "kube="); ok {
					props += fmt.Sprintf(`,{"type":"olm.csv.metadata","value":{"minKubeVersion":%q}}`, v)
				}
				if v, ok := strings.CutPrefix(w, "skips="); ok {
					entry += fmt.Sprintf(`,"skips":["%s.v%s"]`, pkg, v)
				}
				if v, ok := strings.CutPrefix(w, "<"); ok {
					entry += fmt.Sprintf(`,"replaces":"%s.v%s"`, pkg, v)
				}
			}
			entries = append(entries, entry+"}")
			if !seen[name] {
				seen[name] = true
				fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"i","properties":[%s]}`+"\n", pkg, name, props)
			}
		}
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":%q,"entries":[%s]}`+"\n", pkg, channel, strings.Join(entries, ","))
	}
	text := b.String()
	return &text
}

// synthetic is an upgrade over three minor versions: db must first be upgraded to a bundle that allows the next
// version, web needs a newer Kubernetes, old is removed from the catalog, and free has no restrictions.
func synthetic() platform.Problem {
	return platform.Problem{
		From: "4.16.9", To: "4.19",
		Catalogs: []platform.Catalog{
			{Platform: "4.16", FBC: catalog(`
				db/stable: 1.0.0 max=4.16, 1.1.0 max=4.17 <1.0.0, 1.2.0 max=4.16 <1.1.0
				web/stable: 2.0.0, 2.1.0 <2.0.0 kube=1.31.0
				old/stable: 0.9.0
				free/fast: 5.0.0`)},
			{Platform: "4.17", FBC: catalog(`
				db/stable: 1.1.0 max=4.17, 1.3.0 max=4.19 <1.1.0
				web/stable: 2.0.0, 2.1.0 <2.0.0 kube=1.31.0
				free/fast: 5.0.0, 5.1.0 <5.0.0`)},
			{Platform: "4.18", FBC: catalog(`
				db/stable: 1.3.0 max=4.19, 1.4.0 max=4.19 <1.3.0
				web/stable: 2.0.0, 2.1.0 <2.0.0 kube=1.31.0, 2.2.0 <2.1.0
				free/slow: 5.1.0`)},
			{Platform: "4.19", FBC: catalog(`
				db/stable: 1.4.0 max=4.19, 1.5.0 max=4.20 <1.4.0
				web/stable: 2.2.0
				free/fast: 6.0.0`)},
		},
		Installed: []platform.Operator{
			{Name: "db.v1.0.0", Package: "db", Channel: "stable"},
			{Name: "web.v2.0.0", Package: "web"},
			{Name: "old.v0.9.0", Package: "old"},
			{Name: "free.v5.0.0", Package: "free", Channel: "fast"},
		},
	}
}

// C7: minKubeVersion may be in a separate manifest of a bundle, as JSON or YAML.
func TestMinKubeInManifest(t *testing.T) {
	for _, manifest := range []string{
		`{"kind":"ClusterServiceVersion","spec":{"minKubeVersion":"1.99.0"}}`,
		"kind: ClusterServiceVersion\nspec:\n  minKubeVersion: 1.99.0\n",
	} {
		text := strings.Replace(*catalog("p/s: 1.0.0, 1.1.0 <1.0.0 kube=1.99.0"),
			`{"type":"olm.csv.metadata","value":{"minKubeVersion":"1.99.0"}}`,
			fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(manifest))), 1)
		got := plan(t, platform.Problem{
			From: "4.16", To: "4.17",
			Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: &text}, {Platform: "4.17", FBC: &text}},
			Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p"}},
		})
		if len(got.Blockers) == 0 || !strings.Contains(got.Blockers[0].Reason, "requires Kubernetes 1.99") {
			t.Errorf("with the manifest %q: %+v", manifest, got.Blockers)
		}
	}
}

// gone is an upgrade in which a package is removed from the catalog.
func gone() platform.Problem {
	return platform.Problem{
		From: "4.16", To: "4.18",
		Catalogs: []platform.Catalog{
			{Platform: "4.16", FBC: catalog("p/s: 1.0.0, 2.0.0 <1.0.0, 2.1.0 <2.0.0")},
			{Platform: "4.17", FBC: catalog("p/s: 2.0.0, 3.0.0 <2.0.0")},
			{Platform: "4.18", FBC: catalog("q/s: 1.0.0")},
		},
		Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p"}},
	}
}

func plan(t *testing.T, p platform.Problem) *platform.Plan {
	t.Helper()
	if err := p.Open(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	plan, err := platform.Upgrade(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestUpgrade(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*platform.Problem)
	}{
		{"latest", func(*platform.Problem) {}},
		{"minimal", func(p *platform.Problem) { p.Strategy = platform.Minimal }},
		{"v1", func(p *platform.Problem) {
			for i := range p.Installed {
				p.Installed[i].Reading = graph.V1
			}
		}},
		// C2: OLM v1 installs nothing outside of the version range, also after it was held back.
		{"range", func(p *platform.Problem) {
			for i := range p.Installed {
				p.Installed[i].Reading = graph.V1
				p.Installed[i].Versions = "<1.4 || 2 - 2.1 || 5.x || 6.x"
			}
		}},
		{"blocked", func(p *platform.Problem) {
			// On 4.17, only another channel has a path.
			p.Catalogs[1].FBC = catalog(`
				db/stable: 1.1.0 max=4.17, 1.1.5 max=4.17 <1.1.0
				db/next: 1.3.0 max=4.19 <1.1.5
				web/stable: 2.0.0
				free/fast: 5.0.0`)
		}},
		{"stuck", func(p *platform.Problem) {
			p.Installed[3].Annotations = map[string]string{"olm.properties": `[{"type":"olm.maxOpenShiftVersion","value":"4.16"}]`}
			p.Installed[2].Properties = []property.Property{{Type: property.TypeMaxOpenShiftVersion, Value: []byte(`"soon"`)}}
		}},
		// H40: the channel must be switched while the platform is at 4.16; on 4.17, the
		// installed bundle has no successor.
		{"switch", func(p *platform.Problem) {
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{
					{Platform: "4.16", FBC: catalog("hub/r4: 1.4.0\nhub/r5: 1.5.0 <1.4.0\nhub/r6: 1.6.0 <1.5.0")},
					{Platform: "4.17", FBC: catalog("hub/r6: 1.6.0 <1.5.0\nhub/r5: 1.5.0")},
				},
				Installed: []platform.Operator{{Name: "hub.v1.4.0", Package: "hub", Channel: "r4"}},
			}
		}},
		// H40: the default channel lifts the block of the platform as well, but its upgrades close the way to 2.0.0.
		{"closing-channel", func(p *platform.Problem) {
			const hub = "hub/alpha: 1.1.0 <1.0.0, 1.2.0 <1.1.0, 1.3.0 <1.2.0\nhub/new: 1.1.0 <1.0.0, 2.0.0 <1.1.0\nhub/old: 1.0.0 max=4.16"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(hub)}, {Platform: "4.17", FBC: catalog(hub)}},
				Installed: []platform.Operator{{Name: "hub.v1.0.0", Package: "hub", Channel: "old"}},
			}
		}},
		// H2: OLM replaces the installed version with an older one; another channel keeps it.
		{"downgrade", func(p *platform.Problem) {
			const db = "db/latest: 3.0.0\ndb/s26: 2.6.1 <3.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{{Name: "db.v3.0.0", Package: "db", Channel: "s26"}},
			}
		}},
		// H40: the upgrades in the channel close the way to the newest head.
		{"closes", func(p *platform.Problem) {
			const quay = "quay/s15: 3.15.1, 3.15.2 <3.15.1, 3.15.3 <3.15.2\nquay/s16: 3.16.0 <3.15.2"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(quay)}, {Platform: "4.17", FBC: catalog(quay)}},
				Installed: []platform.Operator{{Name: "quay.v3.15.1", Package: "quay", Channel: "s15"}},
			}
		}},
		// OLM v1 refuses an upgrade, and another one breaks something.
		{"refused", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 2.0.0 <1.0.0\nweb/s: 1.0.0, 2.0.0 <1.0.0, 3.0.0 <2.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{
					{Name: "db.v1.0.0", Package: "db", Reading: graph.V1, Refused: []platform.Judgment{{Exclusion: graph.Exclusion{From: "db.v1.0.0", To: "db.v2.0.0", Reason: "CRD dbs.example.com: version v1: ^.spec.size: field removed"}}}},
					{Name: "web.v1.0.0", Package: "web", Breaking: []platform.Judgment{{Exclusion: graph.Exclusion{From: "web.v1.0.0", To: "web.v2.0.0", Reason: "CRD sites.example.com is deleted with all of its custom resources"}, Deletes: []string{"sites.example.com"}}}},
				},
			}
		}},
		// OLM v1 refuses the upgrade that it selects; another one leads around it only if a person allows no other version.
		{"refused-newest", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0 skips=1.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{{
					Name: "db.v1.0.0", Package: "db", Channel: "s", Reading: graph.V1,
					Refused: []platform.Judgment{{Exclusion: graph.Exclusion{From: "db.v1.0.0", To: "db.v1.2.0", Reason: "CRD dbs.example.com changes"}, Harmless: true}},
				}},
			}
		}},
		// A prerelease counts if the head of the default channel is one.
		{"prereleases", func(p *platform.Problem) {
			const hive = "hive/alpha: 1.0.0 max=4.16, 1.1.0-a <1.0.0\nhive/m1: 1.0.0\nhive/m2: 2.0.0-b <1.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(hive)}, {Platform: "4.17", FBC: catalog(hive)}},
				Installed: []platform.Operator{{Name: "hive.v1.0.0", Package: "hive", Channel: "m1"}},
			}
		}},
		// On 4.17, OLM must not upgrade the operator before the channel is changed, twice.
		{"held-twice", func(p *platform.Problem) {
			const quay = "quay/s15: 3.15.1, 3.15.2 <3.15.1\nquay/s16: 3.16.0 <3.15.1, 3.16.1 <3.16.0\nquay/s17: 3.17.0 <3.16.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog("etcd/s: 1.0.0")}, {Platform: "4.17", FBC: catalog(quay)}},
				Installed: []platform.Operator{{Name: "quay.v3.15.1", Package: "quay", Channel: "s15"}},
			}
		}},
		// The install plans of one operator wait for approval anyway.
		{"manual", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 1.1.0 <1.0.0, 1.2.0 max=4.16 <1.1.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog("db/s: 1.1.0, 1.3.0 <1.1.0")}},
				Installed: []platform.Operator{{Name: "db.v1.0.0", Package: "db", Manual: true}},
			}
		}},
		// A person prepares for an upgrade that breaks something before approving it, and approves those before it first.
		{"manual-breaking", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 1.1.0 <1.0.0, 2.0.0 <1.1.0, 2.1.0 <2.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{{
					Name: "db.v1.0.0", Package: "db", Manual: true, Objects: []platform.Object{{Namespace: "ops", Name: "db"}},
					Breaking: []platform.Judgment{{Exclusion: graph.Exclusion{From: "db.v1.1.0", To: "db.v2.0.0", Reason: "CRD dbs.example.com is deleted with all of its custom resources"}, Deletes: []string{"dbs.example.com"}}},
				}},
			}
		}},
		// The operator is the head of another channel, which would upgrade it no further.
		{"ends", func(p *platform.Problem) {
			const quay = "quay/s7: 3.7.0\nquay/s6: 3.6.2"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(quay)}, {Platform: "4.17", FBC: catalog(quay)}},
				Installed: []platform.Operator{{Name: "quay.v3.6.2", Package: "quay", Channel: "s7"}},
			}
		}},
		// OLM v1 follows all channels: none of them would lead further.
		{"all-channels", func(p *platform.Problem) {
			const reg = "reg/x3: 3.2.5, 3.3.0 <3.2.5\nreg/x32: 3.2.6"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(reg)}, {Platform: "4.17", FBC: catalog(reg)}},
				Installed: []platform.Operator{{Name: "reg.v3.2.6", Package: "reg", Reading: graph.V1}},
			}
		}},
		// Of several channels, the one with the newest head is followed.
		{"newest-channel", func(p *platform.Problem) {
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{
					{Platform: "4.16", FBC: catalog("hub/r7: 1.7.0\nhub/r5: 1.5.0\nhub/r6: 1.6.0 <1.5.0")},
					{Platform: "4.17", FBC: catalog("hub/r7: 1.7.0\nhub/r5: 1.5.0\nhub/r6: 1.6.0 <1.5.0")},
				},
				Installed: []platform.Operator{{Name: "hub.v1.5.0", Package: "hub", Channel: "r7"}},
			}
		}},
		// Two operators of one package, and one in two namespaces.
		{"twice", func(p *platform.Problem) {
			const db = "db/s: 1.0.0 max=4.16, 1.1.0 <1.0.0, 1.2.0 max=4.16 <1.1.0\nweb/s: 1.0.0, 2.0.0 <1.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog("db/s: 1.1.0, 1.3.0 <1.1.0\nweb/s: 2.0.0")}},
				Installed: []platform.Operator{
					{Name: "db.v1.0.0", Package: "db", Objects: []platform.Object{{Namespace: "b", Name: "db"}}},
					{Name: "db.v1.0.0", Package: "db", Objects: []platform.Object{{Namespace: "a", Name: "db"}}, Manual: true},
					{Name: "db.v1.1.0", Package: "db", Objects: []platform.Object{{Name: "db-v1"}}, Reading: graph.V1},
					{Name: "web.v1.0.0", Package: "web", Objects: []platform.Object{{Namespace: "a", Name: "web"}, {Namespace: "b", Name: "web"}}},
				},
			}
		}},
		{"missing", func(p *platform.Problem) { p.Catalogs = []platform.Catalog{p.Catalogs[0], p.Catalogs[3]} }},
		// C7: the properties of the installed bundle come from the only catalog, and a version without a catalog is
		// never called safe.
		{"later", func(p *platform.Problem) {
			*p = platform.Problem{
				From: "4.16", To: "4.18",
				Catalogs:  []platform.Catalog{{Platform: "4.18", FBC: catalog("p/s: 1.0.0 max=4.16, 2.0.0 max=4.17 <1.0.0")}},
				Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p"}},
			}
		}},
		{"ahead", func(p *platform.Problem) {
			*p = platform.Problem{
				From: "4.16", To: "4.18",
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog("p/s: 1.0.0")}, {Platform: "4.15", FBC: catalog("q/s: 1.0.0 max=4.18")}},
				Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p"}, {Name: "q.v1.0.0", Package: "q"}, {Name: "r.v1.0.0", Package: "r"}},
			}
		}},
		// An operator whose package is removed is upgraded as far as the catalogs allow.
		{"gone-minimal", func(p *platform.Problem) {
			*p = gone()
			p.Strategy = platform.Minimal
		}},
		{"gone-latest", func(p *platform.Problem) { *p = gone() }},
		// The refusals on the way of OLM v1 are false alarms.
		{"false-alarm", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 2.0.0 <1.0.0, 3.0.0 <2.0.0"
			refused := func(from, to string) platform.Judgment {
				return platform.Judgment{Exclusion: graph.Exclusion{From: from, To: to, Reason: "a false alarm"}, Harmless: true}
			}
			*p = platform.Problem{
				From: "4.16", To: "4.17",
				Catalogs: []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{{
					Name: "db.v1.0.0", Package: "db", Reading: graph.V1,
					Refused: []platform.Judgment{refused("db.v1.0.0", "db.v2.0.0"), refused("db.v2.0.0", "db.v3.0.0")},
				}},
			}
		}},
		// Strategy minimal holds an operator back, and states that this is why.
		{"minimal-held", func(p *platform.Problem) {
			const db = "db/s: 1.0.0, 1.1.0 <1.0.0"
			*p = platform.Problem{
				From: "4.16", To: "4.17", Strategy: platform.Minimal,
				Catalogs:  []platform.Catalog{{Platform: "4.16", FBC: catalog(db)}, {Platform: "4.17", FBC: catalog(db)}},
				Installed: []platform.Operator{{Name: "db.v1.0.0", Package: "db"}},
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := synthetic()
			tt.change(&p)
			got := plan(t, p)
			golden.File(t, tt.name+".txt", got.String())
			text, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, tt.name+".json", string(text)+"\n")
			walkThrough(t, p, got)
		})
	}
}

// walkThrough follows the steps of a plan and checks that each is possible when it is taken: an upgrade is an edge in the
// channel that the operator follows then, in the catalog for the version of the platform.
func walkThrough(t *testing.T, p platform.Problem, plan *platform.Plan) {
	t.Helper()
	from, err := property.ParseMinorVersion(plan.From)
	if err != nil {
		t.Fatal(err)
	}
	at := from.String()
	type who struct{ pkg, instance string }
	now, channel := map[who]graph.Node{}, map[who]string{}
	installed := map[who]platform.Operator{}
	for _, o := range plan.Operators {
		w := who{o.Package, o.Instance}
		now[w], installed[w] = o.From, p.Installed[o.Installed]
		channel[w] = installed[w].Channel
	}
	upgrades := func(pkg who) *graph.Upgrades {
		for _, c := range p.Catalogs {
			if v, _ := property.ParseMinorVersion(c.Platform); v.String() != at {
				continue
			}
			if x, ok := c.Graph.Package(pkg.pkg); ok {
				o := graph.UpgradeOptions{Installed: []graph.Node{now[pkg]}, Excluded: installed[pkg].Excluded}
				switch {
				case channel[pkg] != "":
					o.Channels = []string{channel[pkg]}
				case installed[pkg].Reading == graph.Classic:
					o.Channels = []string{x.DefaultChannelName()}
				}
				return x.Upgrades(installed[pkg].Reading, &o)
			}
		}
		return nil
	}
	for i, s := range plan.Steps {
		w := who{s.Package, s.Instance}
		if s.Platform != at {
			t.Errorf("step %d is taken on %s, and the platform is on %s", i+1, s.Platform, at)
		}
		switch {
		case s.Next != "":
			at = s.Next
		case s.Switch != nil:
			if channel[w] != s.Switch.From {
				t.Errorf("step %d: %s follows %q, but the step is from %q", i+1, s.Package, channel[w], s.Switch.From)
			}
			channel[w] = s.Switch.To
		case s.Operator != nil:
			if now[w] != s.Operator.From {
				t.Errorf("step %d: %s is at %s, but the step is from %s", i+1, s.Package, now[w], s.Operator.From)
			}
			u := upgrades(w)
			if u == nil {
				t.Errorf("step %d: no catalog for %s has package %s", i+1, at, s.Package)
				continue
			}
			found := false
			for x := range u.Steps(s.Operator.From) {
				found = found || x.To == s.Operator.To
			}
			if !found {
				t.Errorf("step %d: on %s, channel %q has no upgrade from %s to %s", i+1, at, channel[w], s.Operator.From, s.Operator.To)
			}
			now[w] = s.Operator.To
		}
	}
	if at != plan.Reached {
		t.Errorf("the steps end on %s, want %s as in the plan", at, plan.Reached)
	}
	for _, o := range plan.Operators {
		w := who{o.Package, o.Instance}
		if now[w] != o.To {
			t.Errorf("%s ends as %s, want %s as in the plan", o.Package, now[w], o.To)
		}
		if u := upgrades(w); u != nil && plan.OK && !o.LeftBehind {
			if _, ok := u.PathToHead(o.To); !ok {
				t.Errorf("%s is not left behind, and has no path from %s to the head of channel %q on %s", o.Package, o.To, channel[w], at)
			}
		}
	}
}

func TestUpgradeBlockers(t *testing.T) {
	// C7: only major.minor counts, a bundle without a maximum does not block, and an
	// invalid one is reported.
	max := func(v string) []property.Property {
		return []property.Property{{Type: property.TypeMaxOpenShiftVersion, Value: []byte(v)}}
	}
	installed := []platform.Operator{
		{Name: "a.v1", Package: "a", Properties: max(`"4.19"`)},
		{Name: "b.v1", Package: "b", Properties: max(`"4.20.0"`)},
		{Name: "c.v1", Package: "c"},
		{Name: "d.v1", Package: "d", Properties: max(`"many"`)},
		{Name: "e.v1", Package: "e", Annotations: map[string]string{"olm.properties": `[{"type":"olm.maxOpenShiftVersion","value":4.19}]`}},
		{Name: "f.v1", Package: "f", Annotations: map[string]string{"olm.properties": `[`}},
		// The annotations that OLM v0.45 writes must not be mistaken for a missing limit.
		{Name: "g.v1", Package: "g", Annotations: map[string]string{"operatorframework.io/properties": `{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.19"}]}`}},
		{Name: "h.v1", Package: "h", Annotations: map[string]string{"operatorframework.io/properties": `{"properties":{}}`}},
	}
	for _, cluster := range []string{"4.19", "4.19.0", "4.19.0-rc1", "4.19.7"} {
		blocks, err := platform.UpgradeBlockers(installed, cluster)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		for _, b := range blocks {
			fmt.Fprintln(&got, b.Package, b.Reason)
		}
		const want = `a a.v1 blocks 4.20: its olm.maxOpenShiftVersion is 4.19
d d.v1 blocks 4.20: its maximum version cannot be read: olm.maxOpenShiftVersion: invalid version "many": want major.minor, such as 4.19
e e.v1 blocks 4.20: its olm.maxOpenShiftVersion is 4.19
f f.v1 blocks 4.20: its maximum version cannot be read: annotation olm.properties: olm.properties: the JSON text ends too early
g g.v1 blocks 4.20: its olm.maxOpenShiftVersion is 4.19
h h.v1 blocks 4.20: its maximum version cannot be read: annotation operatorframework.io/properties: olm.properties: want a list of {type, value}, found an object
`
		if d := cmp.Diff(want, got.String()); d != "" {
			t.Errorf("%s: %s", cluster, d)
		}
	}
}

func TestProblemErrors(t *testing.T) {
	for _, tt := range []struct {
		change func(*platform.Problem)
		want   string
	}{
		{func(p *platform.Problem) { p.From = "new" }, `problem: /from: invalid version "new": want major.minor, such as 4.19`},
		{func(p *platform.Problem) { p.To = "4.15" }, `problem: /to: 4.15 is before 4.16; a platform cannot be downgraded`},
		{func(p *platform.Problem) { p.To = "5.0" }, `problem: /to: 5.0 and 4.16 have different major versions; a plan covers only minor versions`},
		{func(p *platform.Problem) { p.To = "4.900" }, `problem: /to: 4.900 is more than 100 minor versions after 4.16`},
		{func(p *platform.Problem) { p.Installed[1].Package = "" }, `problem: /installed/1/package: is missing; name the package of web.v2.0.0`},
		{func(p *platform.Problem) { p.Installed[1].Version = "2" }, `problem: /installed/1/version: "2" is not a semantic version: want three numbers, such as 1.2.3 or 1.2.3-rc.1`},
		{func(p *platform.Problem) { p.Strategy = "fast" }, `problem: /strategy: "fast" is neither latest nor minimal`},
		{func(p *platform.Problem) { p.Catalogs[1].Platform = "4.16.2" }, `problem: /catalogs/1: repeats catalog "" of platform 4.16; use distinct names`},
	} {
		p := synthetic()
		tt.change(&p)
		if err := p.Open(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		_, err := platform.Upgrade(context.Background(), p)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	for text, want := range map[string]string{
		`{"from":"4.16","too":1}`: `problem: document 1: /too: unknown field; did you mean to?`,
		`{"from":16}`:             `problem: document 1: /from: want a string, found a number`,
		`{"from":`:                `problem: document 1: /from: invalid JSON on line 1: the text ends inside the document`,
	} {
		if _, err := document.ReadOne[platform.Problem](strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestReal plans the upgrade of a realistic set of operators over real catalogs.
func TestReal(t *testing.T) {
	c416, c419 := realcat.Graph(t, "openshift-v4.16"), realcat.Graph(t, "openshift-v4.19")
	p := platform.Problem{
		From: "4.16.30", To: "4.19",
		Catalogs: []platform.Catalog{{Platform: "4.16", Name: "community", Graph: c416}, {Platform: "4.19", Name: "community", Graph: c419}},
	}
	for _, name := range []string{"coherence-operator", "dell-csm-operator", "ecr-secret-operator", "koku-metrics-operator", "kube-green", "multicluster-global-hub-operator", "patterns-operator", "shipwright-operator", "trident-operator"} {
		pkg, ok := c416.Package(name)
		if !ok {
			t.Fatalf("no package %s", name)
		}
		ch, _ := pkg.DefaultChannel()
		// Install the third entry from the head, or the last one, like an operator that has not been upgraded for a
		// while.
		var e graph.Entry
		n := 0
		for x := range ch.Order() {
			if e = x; n == 2 {
				break
			}
			n++
		}
		p.Installed = append(p.Installed, platform.Operator{Name: e.Name(), Package: name, Channel: ch.Name()})
	}
	got := plan(t, p)
	walkThrough(t, p, got)
	t.Log("\n" + got.String())
	if !got.OK {
		t.Error("nothing in these catalogs blocks the platform")
	}
}
