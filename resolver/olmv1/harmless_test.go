package olmv1_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestHarmless checks that the change that only ends the error comes first, and that each change states what follows
// from it: prereleases, other channels, other ClusterExtensions, and the way back (G3, C6, H40).
func TestHarmless(t *testing.T) {
	line := channels(t, "", "stable 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0", "lts 1.0.0", "preview 2.0.0-rc.1<1.2.0")
	fast := channels(t, "", "stable 2.0.1", "candidate 2.0.0 2.0.1<2.0.0 2.1.0<2.0.1", "fast 2.0.0 2.0.1<2.0.0")
	other := channels(t, "", "stable 1.0.0 1.1.0<1.0.0 1.3.0<1.1.0", "edge 1.4.0-rc.1<1.3.0")
	needy := channels(t, "2.0.0", "stable 1.0.0 1.1.0<1.0.0", "next 2.0.0<1.1.0", "v3 3.0.0<2.0.0")
	builds := channels(t, "", "stable 1.0.0+1 1.0.0+2<1.0.0+1 1.1.0<1.0.0+2")
	const risk = ", so the operator may fail or lose data; back up its resources, and set the policy back afterwards"
	const only = ". The command selects that catalog for this ClusterExtension only; a higher priority would apply to all"
	for _, tt := range []struct {
		name, installed, version string
		channels                 []string
		catalogs                 map[string]*graph.Catalog
		priorities               map[string]int
		want                     []string
	}{
		{"all channels lead to a prerelease", "1.0.0", "", []string{"lts"}, map[string]*graph.Catalog{"a": line}, nil, []string{
			"held-back: the channel lts leaves out newer versions: with channel stable, app.v1.1.0 is selected from catalog a, and OLM v1 upgrades it to app.v1.2.0 on its own, in 1 more step. With all channels, OLM v1 continues to the prerelease app.v2.0.0-rc.1", `{"channels":["stable"]}`}},
		{"a range of prereleases", "1.1.0", "~2.0", nil, map[string]*graph.Catalog{"a": line}, nil, []string{
			`no bundle of package "app" in range "~2.0": 2.0.0-rc.1 is a prerelease, and the range names none`,
			"set the version to <=2.0.0-rc.1; then app.v1.2.0 is installed from catalog a, and OLM v1 upgrades it to the prerelease app.v2.0.0-rc.1 on its own, in 1 more step", `{"version":"<=2.0.0-rc.1"}`,
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog a, and OLM v1 upgrades it to the prerelease app.v2.0.0-rc.1 on its own, in 1 more step", `{"version":null}`}},
		{"a range of prereleases, the next one", "1.2.0", "~2.0", nil, map[string]*graph.Catalog{"a": line}, nil, []string{
			`no bundle of package "app" in range "~2.0": 2.0.0-rc.1 is a prerelease, and the range names none`,
			"set the version to ~2.0.0-0; then the prerelease app.v2.0.0-rc.1 is installed from catalog a", `{"version":"~2.0.0-0"}`,
			"remove the version, which allows all; then the prerelease app.v2.0.0-rc.1 is installed from catalog a", `{"version":null}`}},
		{"a channel that ends where the requested one does", "2.0.0", "", []string{"stable"}, map[string]*graph.Catalog{"a": fast}, nil, []string{
			`no bundle of package "app" in channel stable is a successor of app.v2.0.0; app.v2.0.0 is stuck: no entry of channel stable accepts an upgrade from it. app.v2.0.1, the first newer entry, cannot be installed over any version. To get to 2.0.1, switch to channel fast, then switch back to channel stable; other channels lead on from there to 2.1.0`,
			"set the channel to fast; then app.v2.0.1 is installed from catalog a. Then set the channel back to stable, whose head it is. To get to 2.1.0, switch to channel candidate", `{"channels":["fast"]}`,
			"set the channel to candidate; then app.v2.0.1 is installed from catalog a, and OLM v1 upgrades it to app.v2.1.0 on its own, in 1 more step", `{"channels":["candidate"]}`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v2.0.1 is installed from catalog a. Risk: no entry of the catalog allows app.v2.0.1 over app.v2.0.0" + risk, `{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"newer than the channel", "1.2.0", "", []string{"lts"}, map[string]*graph.Catalog{"a": line}, nil, []string{
			`no bundle of package "app" in channel lts is a successor of app.v1.2.0; app.v1.2.0 gets no updates, because it is newer than 1.0.0, the head of channel lts. No channel in any given catalog ends at a newer release, so it stays until one does`,
			"set the channel to stable; then app.v1.2.0 stays, without an error", `{"channels":["stable"]}`,
			"set the channel to preview; then the prerelease app.v2.0.0-rc.1 is installed from catalog a", `{"channels":["preview"]}`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v1.0.0 is installed from catalog a. Risk: no entry of the catalog allows app.v1.0.0 over app.v1.2.0" + risk + ". It is a downgrade", `{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"an older version", "1.1.0", "1.0.0", nil, map[string]*graph.Catalog{"a": line}, nil, []string{
			`no bundle of package "app" in range "1.0.0" is a successor of app.v1.1.0, which is newer than all of them; OLM v1 does not downgrade`,
			"set the version to 1.1.0; then app.v1.1.0 stays, without an error", `{"version":"1.1.0"}`,
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog a, and OLM v1 upgrades it to the prerelease app.v2.0.0-rc.1 on its own, in 1 more step", `{"version":null}`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v1.0.0 is installed from catalog a. Risk: no entry of the catalog allows app.v1.0.0 over app.v1.1.0" + risk + ". It is a downgrade", `{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"the successor is refused", "1.1.0", "", nil, map[string]*graph.Catalog{"a": needy}, nil, []string{
			`the best bundle of package "app" is app.v2.0.0, which declares dependencies (olm.package.required). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed. It requires package other >=1.0.0; no given catalog satisfies that`,
			"set the version to 1.1.0; then app.v1.1.0 stays, without an error", `{"version":"1.1.0"}`,
			"set the channel to stable; then app.v1.1.0 stays, without an error", `{"channels":["stable"]}`,
			"set the version to 3.0.0 and upgradeConstraintPolicy to SelfCertified; then app.v3.0.0 is installed from catalog a. Risk: no entry of the catalog allows app.v3.0.0 over app.v1.1.0" + risk, `{"upgradeConstraintPolicy":"SelfCertified","version":"3.0.0"}`}},
		{"what is left out is refused", "1.1.0", "", []string{"stable"}, map[string]*graph.Catalog{"a": needy}, nil, []string{
			"held-back: the channel stable leaves out newer versions: without it, OLM v1 selects app.v2.0.0 and refuses it, because it declares dependencies"}},
		{"a tie", "1.1.0", "", nil, map[string]*graph.Catalog{"a": channels(t, "", "stable 1.1.0"), "b": other}, nil, []string{
			`catalogs of equal priority have package "app": a, b; raise the priority of one, or select by label`,
			"select catalog a by its label; then app.v1.1.0 stays, without an error", `{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"a"}}}`,
			"raise the priority of catalog a to 1, which applies to all ClusterExtensions; then app.v1.1.0 stays, without an error", `kubectl patch clustercatalog a --type merge --patch '{"spec":{"priority":1}}'`,
			"select catalog b by its label; then app.v1.3.0 is installed from catalog b, and OLM v1 upgrades it to the prerelease app.v1.4.0-rc.1 on its own, in 1 more step", `{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`,
			"raise the priority of catalog b to 1, which applies to all ClusterExtensions; then app.v1.3.0 is installed from catalog b, and OLM v1 upgrades it to the prerelease app.v1.4.0-rc.1 on its own, in 1 more step", `kubectl patch clustercatalog b --type merge --patch '{"spec":{"priority":1}}'`}},
		{"a priority", "1.1.0", "", nil, map[string]*graph.Catalog{"a": channels(t, "", "stable 1.1.0"), "b": other}, map[string]int{"a": 1}, []string{
			"held-back: the higher priority of catalog a leaves out newer versions: without it, app.v1.3.0 is selected from catalog b, and OLM v1 upgrades it to the prerelease app.v1.4.0-rc.1 on its own, in 1 more step" + only,
			`{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`}},
		{"several channels in one", "", "", []string{"stable,lts"}, map[string]*graph.Catalog{"a": line}, nil, []string{
			`package "app" has no bundle in channel stable,lts; name each channel separately: stable and lts`,
			"set the channels to stable, lts; then app.v1.2.0 is installed from catalog a", `{"channels":["stable","lts"]}`,
			"set the channel to stable; then app.v1.2.0 is installed from catalog a", `{"channels":["stable"]}`,
			"set the channel to lts; then app.v1.0.0 is installed from catalog a", `{"channels":["lts"]}`,
			"set the channel to preview; then the prerelease app.v2.0.0-rc.1 is installed from catalog a", `{"channels":["preview"]}`}},
		{"a pinned build", "1.0.0+1", "1.0.0+1", nil, map[string]*graph.Catalog{"a": builds}, nil, []string{
			`pin-not-met: the version "1.0.0+1" also allows 1.0.0+2: a version range ignores what follows the +`,
			`more-steps: app.v1.0.0+1 is two steps from the newest bundle of its package: 1.0.0+2 first, then 1.1.0; the version range "1.0.0+1" ends them at 1.0.0+2`}},
	} {
		r := olmv1.Request{Package: "app", Version: tt.version, Channels: tt.channels}
		for name, c := range maps.All(tt.catalogs) {
			r.Catalogs = append(r.Catalogs, olmv1.Catalog{Name: name, Priority: tt.priorities[name], Graph: c})
		}
		if tt.installed != "" {
			r.Installed = &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed}
		}
		if got := answerOf(t, r); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestUnselected checks that a refusal names catalogs that the selector leaves out although they have what is requested
// (C1, G3).
func TestUnselected(t *testing.T) {
	selector, err := olmv1.ParseLabelSelector("tier=gold")
	if err != nil {
		t.Fatal(err)
	}
	r := olmv1.Request{Package: "app", Version: "1.3.0", Selector: selector, Catalogs: []olmv1.Catalog{
		{Name: "a", Labels: map[string]string{"tier": "gold"}, Graph: channels(t, "", "stable 1.1.0")},
		{Name: "b", Labels: map[string]string{"tier": "iron"}, Graph: channels(t, "", "stable 1.3.0")},
		{Name: "c", Graph: channels(t, "", "stable 1.4.0")},
	}}
	want := []string{
		`no bundle of package "app" in range "1.3.0"; the newest available is 1.1.0; the catalog selector leaves out catalog b, which has one`,
		"select catalog b by its label; then app.v1.3.0 is installed from catalog b",
		`{"selector":{"matchExpressions":null,"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`,
		"remove the version, which allows all; then app.v1.1.0 is installed from catalog a", `{"version":null}`,
	}
	if got := answerOf(t, r); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
