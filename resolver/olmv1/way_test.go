package olmv1_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// channels returns a catalog with package app. A line is a channel: its name, and its entries, each VERSION<REPLACED, with ! for
// a deprecated bundle.
// The bundles of refused declare dependencies.
func channels(t *testing.T, refused string, lines ...string) *graph.Catalog {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "{schema: olm.package, name: app, defaultChannel: stable}")
	known, deprecations := map[string]bool{}, ""
	for _, line := range lines {
		words := strings.Fields(line)
		fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: app\nname: %s\nentries:\n", words[0])
		for _, w := range words[1:] {
			w, old := strings.CutSuffix(w, "!")
			v, replaces, _ := strings.Cut(w, "<")
			fmt.Fprintf(&b, "- name: app.v%s\n", v)
			if replaces != "" {
				fmt.Fprintf(&b, "  replaces: app.v%s\n", replaces)
			}
			if known[v] = true; old {
				deprecations += fmt.Sprintf("- {reference: {schema: olm.bundle, name: app.v%s}, message: old}\n", v)
			}
		}
	}
	if deprecations != "" {
		b.WriteString("---\nschema: olm.deprecations\npackage: app\nentries:\n" + deprecations)
	}
	for v := range known {
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: app\nname: app.v%s\nimage: i\nproperties:\n- {type: olm.package, value: {packageName: app, version: %s}}\n", v, v)
		if strings.Contains(" "+refused+" ", " "+v+" ") {
			fmt.Fprintln(&b, "- {type: olm.package.required, value: {packageName: other, versionRange: '>=1.0.0'}}")
		}
	}
	c, err := graph.LoadReader(t.Context(), strings.NewReader(b.String()), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answerOf returns the notes of a selection, or the message and the fixes of a refusal, each with its commands.
func answerOf(t *testing.T, r olmv1.Request) (out []string) {
	t.Helper()
	sel, err := olmv1.Select(context.Background(), r)
	var no *olmv1.Refusal
	switch {
	case errors.As(err, &no):
		out = append(out, no.Message)
		for _, f := range no.Fixes {
			out = append(out, f.Text, patch(f.Command))
		}
	case err != nil:
		t.Fatal(err)
	default:
		for _, n := range sel.Notes {
			out = append(out, string(n.Code)+": "+n.Text)
			for _, c := range n.Commands {
				out = append(out, strings.TrimPrefix(c.After.Version+": "+patch(c.Line), ": "))
			}
		}
	}
	return out
}

// patch returns what a command changes in the catalog source of a ClusterExtension, or else the command.
func patch(command string) string {
	_, after, ok := strings.Cut(command, `{"spec":{"source":{"catalog":`)
	if !ok {
		return command
	}
	return strings.TrimSuffix(after, "}}}'")
}

// TestBeyond checks what an answer states about versions beyond those that OLM v1 selects by itself: those after the next
// step, in other channels and catalogs (C6), in dead ends, and behind bundles that it refuses (H16, H40). Each note has
// the commands that lead on.
func TestBeyond(t *testing.T) {
	a := channels(t, "", "old 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0", "stable 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0 2.0.0<1.2.0 2.1.0<2.0.0", "lost 1.1.0<1.0.0 1.1.5<1.1.0")
	b := channels(t, "", "stable 1.2.0 2.0.0<1.2.0")
	old := channels(t, "", "stable 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0")
	needy := channels(t, "2.0.0", "old 1.0.0 1.1.0<1.0.0", "stable 1.0.0 1.1.0<1.0.0 2.0.0<1.1.0")
	deprecated := channels(t, "", "stable 1.0.0 1.1.0<1.0.0! 1.2.0<1.1.0")
	gap := channels(t, "", "stable 1.0.0 2.0.0")
	end := channels(t, "", "stable 1.0.0 1.1.0<1.0.0 1.2.0<1.1.0 2.0.0")
	mixed := channels(t, "", "fast 0.1.0 0.3.0<0.1.0 0.2.0<0.3.0 1.0.0<0.2.0", "stable 1.0.0<0.2.0")
	for _, tt := range []struct {
		name, installed, version string
		channels                 []string
		catalogs                 []*graph.Catalog // the first has the highest priority
		want                     []string
	}{
		{"the end of a channel is one step away", "1.1.0", "", []string{"old"}, []*graph.Catalog{a}, []string{
			"more-steps: app.v1.1.0 is one step from the newest bundle of channel old: 1.2.0. To get to 2.1.0, switch to channel stable", `{"channels":["stable"]}`}},
		{"two steps", "1.0.0", "", []string{"old"}, []*graph.Catalog{a}, []string{
			"more-steps: app.v1.0.0 is two steps from the newest bundle of channel old: 1.1.0 first, then 1.2.0. To get to 2.1.0, switch to channel stable", `{"channels":["stable"]}`}},
		{"the newest version is one step away", "2.0.0", "", nil, []*graph.Catalog{a}, nil},
		{"a step closes the way", "1.0.0", "", []string{"lost"}, []*graph.Catalog{a}, []string{
			"closes: app.v1.0.0 is two steps from the newest bundle of channel lost: 1.1.0 first, then 1.1.5. To get to 2.1.0, switch to channel stable. That is possible only before 1.1.5 is installed", `{"channels":["stable"]}`}},
		{"another catalog after a step", "1.1.0", "", nil, []*graph.Catalog{old, b}, []string{
			"held-back: once 1.2.0 is installed, the higher priority of catalog a leaves out newer versions: without it, app.v2.0.0 is selected from catalog b. The command selects that catalog for this ClusterExtension only; a higher priority would apply to all",
			`{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`}},
		{"another catalog after two steps", "1.0.0", "", nil, []*graph.Catalog{old, b}, []string{
			"more-steps: app.v1.0.0 is two steps from the newest bundle of its package in catalog a: 1.1.0 first, then 1.2.0",
			"held-back: once 1.2.0 is installed, the higher priority of catalog a leaves out newer versions: without it, app.v2.0.0 is selected from catalog b. The command selects that catalog for this ClusterExtension only; a higher priority would apply to all",
			`{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`}},
		{"another catalog, afresh", "", "", nil, []*graph.Catalog{old, b}, []string{
			"held-back: the higher priority of catalog a leaves out newer versions: without it, app.v2.0.0 is selected from catalog b. The command selects that catalog for this ClusterExtension only; a higher priority would apply to all",
			`{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}`}},
		{"a dead end, afresh", "", "", []string{"lost"}, []*graph.Catalog{a}, []string{
			"held-back: the channel lost leaves out newer versions: without it, app.v2.1.0 of channel stable is selected from catalog a", `{"channels":null}`,
			"dead-end: once 1.1.5 is installed, no upgrade leads on to 2.1.0; a newer version then needs the policy SelfCertified, or a new installation"}},
		{"a version with a way on, afresh", "", "1.2.0", nil, []*graph.Catalog{a}, []string{
			"held-back: the version range \"1.2.0\" leaves out newer versions: without it, app.v2.1.0 is selected from catalog a", `{"version":null}`}},
		{"no way to what OLM v1 refuses", "1.0.0", "", []string{"old"}, []*graph.Catalog{needy}, nil},
		{"a step to what OLM v1 refuses", "1.0.0", "", nil, []*graph.Catalog{needy}, []string{
			"more-steps: app.v1.0.0 is upgraded only to app.v1.1.0: then OLM v1 selects app.v2.0.0 and refuses it, because it declares dependencies. To stay at 1.1.0 without that error, set the version to <=1.1.0", `{"version":"<=1.1.0"}`}},
		{"a lower version leads on", "0.3.0", "", nil, []*graph.Catalog{mixed}, []string{
			"stays: app.v0.3.0 stays: 0.2.0, which replaces it, has a lower version, and OLM v1 prefers the highest. app.v1.0.0, the first newer entry, can be installed only over 0.2.0. To get to 1.0.0, set the version to 0.2.0 until it is installed, then remove the version",
			`{"version":"0.2.0"}`, `0.2.0: {"version":null}`}},
		{"a deprecated version leads on", "1.0.0", "", nil, []*graph.Catalog{deprecated}, []string{
			"deprecated-passed-over: newer bundles are deprecated and were passed over: app.v1.1.0",
			"stays: app.v1.0.0 stays: 1.1.0, which replaces it, is deprecated, and OLM v1 prefers a bundle that is not. To get to 1.2.0, set the version to 1.1.0 until it is installed, then remove the version",
			`{"version":"1.1.0"}`, `1.1.0: {"version":null}`}},
		{"nothing leads on in a range", "1.0.0", ">=1.0.0", nil, []*graph.Catalog{gap}, []string{
			"stuck: app.v1.0.0 is stuck: no entry of its package accepts an upgrade from it. app.v2.0.0, the first newer entry, cannot be installed over any version. No channel in any given catalog leads further. To get to app.v2.0.0 nevertheless, set upgradeConstraintPolicy to SelfCertified. Risk: no entry of the catalog allows app.v2.0.0 over app.v1.0.0, so the operator may fail or lose data; back up its resources, and set the policy back afterwards",
			`{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"nothing leads on from the end", "1.0.0", "", nil, []*graph.Catalog{end}, []string{
			"more-steps: app.v1.0.0 is upgraded only to app.v1.2.0: no entry of its package accepts an upgrade from there. app.v2.0.0, the first newer entry, cannot be installed over any version. No channel in any given catalog leads further. To get to app.v2.0.0 nevertheless, once 1.2.0 is installed, set upgradeConstraintPolicy to SelfCertified. Risk: no entry of the catalog allows app.v2.0.0 over app.v1.2.0, so the operator may fail or lose data; back up its resources, and set the policy back afterwards",
			`1.2.0: {"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"the range ends the upgrades earlier", "1.0.0", "<=1.1.0 || 2.0.0", nil, []*graph.Catalog{end}, []string{
			"more-steps: app.v1.0.0 is upgraded only to app.v1.2.0: no entry of its package accepts an upgrade from there, and no other channel leads further; the version range \"<=1.1.0 || 2.0.0\" ends them at 1.1.0"}},
	} {
		r := olmv1.Request{Package: "app", Version: tt.version, Channels: tt.channels}
		for i, c := range tt.catalogs {
			r.Catalogs = append(r.Catalogs, olmv1.Catalog{Name: string(rune('a' + i)), Priority: 9 - i, Graph: c})
		}
		if tt.installed != "" {
			r.Installed = &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed}
		}
		if got := answerOf(t, r); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestDeadEnds checks refusals that hardly anything resolves: a requested version in another channel, channels that the
// installed bundle has left, and packages that OLM v1 refuses as a whole (G3, H16).
func TestDeadEnds(t *testing.T) {
	a := channels(t, "", "stable 1.0.0", "beta 1.1.0<1.0.0 1.2.0<1.1.0 1.5.0<1.2.0", "alpha 2.0.0", "fork 3.0.0<1.1.0 3.1.0<3.0.0")
	needy := channels(t, "1.0.0 1.1.0", "stable 1.0.0 1.1.0<1.0.0")
	ends := channels(t, "", "stable 1.0.0", "beta 1.1.0<1.0.0 1.2.0<1.1.0 9.0.0")
	const risk = ", so the operator may fail or lose data; back up its resources, and set the policy back afterwards"
	const (
		moved      = ", if CatalogSource c in namespace olm has this catalog. Risk: OLM v1 then deletes the CRDs of the operator with all of its custom resources; save them first"
		move       = `kubectl delete clusterextension app && echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"app","namespace":"operators"},"spec":{`
		subscribed = `,"name":"app","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`
		add        = `echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"additional","namespace":"olm"},"spec":{"image":"'"${IMAGE:?set it to the image of the catalog}"'","sourceType":"grpc"}}' | kubectl apply -f - && `
	)
	for _, tt := range []struct {
		name, installed, version string
		channels                 []string
		catalog                  *graph.Catalog
		want                     []string
	}{
		{"no way to the requested version", "1.0.0", "2.x", []string{"stable"}, a, []string{
			`no bundle of package "app" in range "2.x" in channel stable; 2.0.0 is in channel alpha, to which no channel in any given catalog leads from the installed bundle; app.v1.0.0 is the newest bundle of channel stable, but other channels lead to 3.1.0`,
			"remove the version, which allows all; then app.v1.0.0 stays, without an error", `{"version":null}`,
			"set the channel to alpha and upgradeConstraintPolicy to SelfCertified; then app.v2.0.0 is installed from catalog c. Risk: no entry of the catalog allows app.v2.0.0 over app.v1.0.0" + risk, `{"channels":["alpha"],"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"a way to the requested version", "1.0.0", ">1.2 <2", []string{"stable"}, a, []string{
			`no bundle of package "app" in range ">1.2 <2" in channel stable; 1.5.0 is in channel beta`,
			"remove the channels and set the version to <=1.5.0; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v1.5.0 of channel beta on its own, in 2 more steps", `{"channels":null,"version":"<=1.5.0"}`,
			"remove the version, which allows all; then app.v1.0.0 stays, without an error", `{"version":null}`}},
		{"a way that goes on beyond the range", "1.0.0", ">1.0 <1.2", []string{"stable"}, ends, []string{
			`no bundle of package "app" in range ">1.0 <1.2" in channel stable; 1.1.0 is in channel beta`,
			"remove the channels and set the version to <=1.1.0; then app.v1.1.0 of channel beta is installed from catalog c", `{"channels":null,"version":"<=1.1.0"}`,
			"remove the version, which allows all; then app.v1.0.0 stays, without an error", `{"version":null}`,
			"set the channel to beta; then app.v1.1.0 is installed from catalog c. No channel in any given catalog leads further", `{"channels":["beta"]}`}},
		{"the installed version has left the channels", "1.5.0", "", []string{"stable", "alpha"}, a, []string{
			`no bundle of package "app" in channels stable, alpha is a successor of app.v1.5.0; app.v1.5.0 is stuck: no entry of channels stable and alpha accepts an upgrade from it. app.v2.0.0, the first newer entry, cannot be installed over any version. No channel in any given catalog leads further`,
			"set the channel to beta; then app.v1.5.0 stays, without an error", `{"channels":["beta"]}`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v2.0.0 is installed from catalog c. Risk: no entry of the catalog allows app.v2.0.0 over app.v1.5.0" + risk, `{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"all channels lead further than one", "1.0.0", "", []string{"alpha"}, a, []string{
			`no bundle of package "app" in channel alpha is a successor of app.v1.0.0; app.v1.0.0 is stuck: no entry of channel alpha accepts an upgrade from it. app.v2.0.0, the first newer entry, cannot be installed over any version. To get to 3.1.0, allow all channels`,
			"remove the channels, which allows all; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v3.1.0 of channel fork on its own, in 2 more steps", `{"channels":null}`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v2.0.0 is installed from catalog c. Risk: no entry of the catalog allows app.v2.0.0 over app.v1.0.0" + risk, `{"upgradeConstraintPolicy":"SelfCertified"}`}},
		{"the whole package is refused", "1.0.0", "", nil, needy, []string{
			`the best bundle of package "app" is app.v1.1.0, which declares dependencies (olm.package.required). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed. Both bundles that match the request declare some. It requires package other >=1.0.0; no given catalog satisfies that. No change of the request helps: classic OLM installs such bundles, but does not take over what OLM v1 has installed. app.v1.0.0 stays installed`,
			"use classic OLM: delete the ClusterExtension, and create a Subscription to package app, channel stable, and add a catalog that has package other >=1.0.0; then app.v1.1.0 is installed" + moved, add + move + `"channel":"stable"` + subscribed}},
		{"in another channel, too", "1.0.0", "", []string{"beta"}, needy, []string{
			`package "app" has no bundle in channel beta; its only channel is stable. No change of the request helps: OLM v1 refuses both bundles of the package, because they declare dependencies; classic OLM installs such bundles, but does not take over what OLM v1 has installed. app.v1.0.0 stays installed`,
			"use classic OLM: delete the ClusterExtension, and create a Subscription to package app, channel stable, and add a catalog that has package other >=1.0.0; then app.v1.1.0 is installed" + moved, add + move + `"channel":"stable"` + subscribed}},
		{"below the installed one", "1.1.0", "<1.1", nil, needy, []string{
			`no bundle of package "app" in range "<1.1" is a successor of app.v1.1.0, which is newer than all of them; OLM v1 does not downgrade. No change of the request helps: OLM v1 refuses both bundles of the package, because they declare dependencies; classic OLM installs such bundles, but does not take over what OLM v1 has installed. app.v1.1.0 stays installed`,
			"use classic OLM: delete the ClusterExtension, and create a Subscription to package app, channel stable, with startingCSV app.v1.0.0 and Manual approval, and approve its install plan, and add a catalog that has package other >=1.0.0; then app.v1.0.0 is installed" + moved, add + move + `"channel":"stable","installPlanApproval":"Manual"` + strings.Replace(subscribed, `}}'`, `,"startingCSV":"app.v1.0.0"}}'`, 1)}},
	} {
		r := olmv1.Request{
			Package: "app", Version: tt.version, Channels: tt.channels, Catalogs: []olmv1.Catalog{{Name: "c", Graph: tt.catalog}},
			Installed: &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed},
		}
		if got := answerOf(t, r); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestTiedChannel checks that the channel that leads on is offered with a choice between the catalogs that have it (C6).
func TestTiedChannel(t *testing.T) {
	c := channels(t, "", "alpha 1.0.0", "beta 1.1.0 1.2.0<1.1.0")
	r := olmv1.Request{
		Package: "app", Channels: []string{"alpha"}, Catalogs: []olmv1.Catalog{{Name: "a", Graph: c}, {Name: "b", Graph: c}},
		Installed: &olmv1.Installed{Name: "app.v1.1.0", Version: "1.1.0"},
	}
	const text = "set the channel to beta, and select catalog a by its label; then app.v1.2.0 is installed from catalog a"
	const command = `{"channels":["beta"],"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"a"}}}`
	if got := answerOf(t, r); len(got) < 3 || got[1] != text || got[2] != command || strings.Contains(got[0], "To get") {
		t.Errorf("got\n%s\nwant fix\n%s\n%s", strings.Join(got, "\n"), text, command)
	}
}
