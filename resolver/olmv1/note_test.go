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

// TestNotes checks why OLM v1 does not go further, or what is risky about a choice (H40): the version order, a bundle
// that replaces the installed one but has a lower version, an upgrade that no entry allows (C4), a tie that no priority
// resolves, and one that leaves out newer versions (C6).
func TestNotes(t *testing.T) {
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(`
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v0.1.0}, {name: app.v0.2.0, replaces: app.v0.1.0}, {name: app.v0.3.0, replaces: app.v0.2.0}, {name: app.v0.3.0-1, replaces: app.v0.3.0}]}
---
{schema: olm.bundle, package: app, name: app.v0.1.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.1.0}}]}
---
{schema: olm.bundle, package: app, name: app.v0.2.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.2.0}}]}
---
{schema: olm.bundle, package: app, name: app.v0.3.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.3.0}}]}
---
{schema: olm.bundle, package: app, name: app.v0.3.0-1, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.3.0-1}}]}
---
{schema: olm.package, name: needy, defaultChannel: stable}
---
{schema: olm.channel, package: needy, name: stable, entries: [{name: needy.v1.0.0}]}
---
{schema: olm.bundle, package: needy, name: needy.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: needy, version: 1.0.0}},
  {type: olm.package.required, value: {packageName: app, versionRange: ">=0.1.0"}}]}
`), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	old, err := graph.LoadReader(context.Background(), strings.NewReader(`
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v0.1.0}, {name: app.v0.3.0}]}
---
{schema: olm.bundle, package: app, name: app.v0.1.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.1.0}}]}
---
{schema: olm.bundle, package: app, name: app.v0.3.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.3.0}}]}
`), "old.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pkg, installed string
		request        olmv1.Request
		want           []string // the notes, or the message and fixes of the refusal
	}{
		{"app", "0.1.0", olmv1.Request{Options: olmv1.Options{Semver: olmv1.SemverAlso}}, []string{
			"held-back: version order, which allows only upgrades in ^0.1.0, leaves out newer versions: without it, app.v0.2.0 is selected from catalog a, and OLM v1 upgrades it to app.v0.3.0 on its own, in 1 more step"}},
		{"app", "0.1.0", olmv1.Request{Options: olmv1.Options{Semver: olmv1.SemverInstead}}, []string{
			"held-back: version order, which allows only upgrades in ^0.1.0, leaves out newer versions: without it, app.v0.2.0 is selected from catalog a, and OLM v1 upgrades it to app.v0.3.0 on its own, in 1 more step"}},
		{"app", "0.3.0", olmv1.Request{Options: olmv1.Options{Semver: olmv1.SemverInstead}}, []string{
			"stays: app.v0.3.0 stays installed: no newer version is in ^0.3.0, the only upgrades that version order allows"}},
		{"app", "0.1.0", olmv1.Request{Version: ">=0.2.0", Options: olmv1.Options{Semver: olmv1.SemverInstead}}, []string{
			`no bundle of package "app" in range ">=0.2.0" is a successor of app.v0.1.0; version order allows only upgrades in ^0.1.0`,
			"change-version", "self-certify"}},
		{"app", "0.1.0", olmv1.Request{Catalogs: []olmv1.Catalog{{Name: "old", Priority: 10, Graph: old}}}, []string{
			"held-back: the higher priority of catalog old leaves out newer versions: without it, app.v0.2.0 is selected from catalog a, and OLM v1 upgrades it to app.v0.3.0 on its own, in 1 more step. The command selects that catalog for this ClusterExtension only; a higher priority would apply to all"}},
		{"app", "0.1.0", olmv1.Request{Version: "0.1.0", Catalogs: []olmv1.Catalog{{Name: "old", Priority: 10, Graph: old}}}, []string{
			`held-back: the version range "0.1.0" and the higher priority of catalog old leave out newer versions: without them, app.v0.2.0 is selected from catalog a, and OLM v1 upgrades it to app.v0.3.0 on its own, in 1 more step. The command selects that catalog for this ClusterExtension only; a higher priority would apply to all`}},
		{"app", "0.3.0", olmv1.Request{}, []string{
			"stays: app.v0.3.0 stays installed: app.v0.3.0-1, which replaces it, has a lower version, and OLM v1 prefers the highest"}},
		{"app", "0.3.0-1", olmv1.Request{}, []string{
			"stuck: app.v0.3.0-1 is stuck: no entry of its package accepts an upgrade from it. app.v0.3.0, which it replaces, has a higher version, because 0.3.0-1 is a prerelease of 0.3.0. No channel in any given catalog leads further"}},
		{"app", "0.3.0", olmv1.Request{Version: ">0.3.0-0 <0.3.0"}, []string{
			"held-back: the version range \">0.3.0-0 <0.3.0\" leaves out newer versions: without it, app.v0.3.0 is selected from catalog a",
			"downgrade: 0.3.0-1 is a downgrade from 0.3.0"}},
		{"app", "0.3.0", olmv1.Request{Version: ">0.3.0"}, []string{
			`no bundle of package "app" in range ">0.3.0"; app.v0.3.0 is the newest bundle of its package`,
			"change-version"}},
		{"app", "0.1.0", olmv1.Request{Policy: olmv1.SelfCertified, Version: "0.2.0"}, []string{
			"more-steps: app.v0.1.0 is two steps from the newest bundle of its package: 0.2.0 first, then 0.3.0; the version range \"0.2.0\" ends them at 0.2.0"}},
		{"app", "0.1.0", olmv1.Request{Policy: olmv1.SelfCertified}, []string{
			"uncertified: no entry of the catalog allows app.v0.3.0 over app.v0.1.0, which is 2 steps away; OLM v1 installs it because of the policy SelfCertified, but the operator may fail or lose data. Set the policy back afterwards"}},
		{"needy", "", olmv1.Request{Catalogs: []olmv1.Catalog{{Name: "b", Graph: catalog}}}, []string{
			`catalogs of equal priority have package "needy": a, b; raise the priority of one, or select by label. Then OLM v1 still selects nothing: the best bundle of package "needy" is needy.v1.0.0, which declares dependencies (olm.package.required). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed. Both bundles that match the request declare some. It requires package app >=0.1.0, which app.v0.3.0-1 provides. Classic OLM would install it too, for a Subscription`,
			"use-classic"}},
	} {
		r := tt.request
		r.Package = tt.pkg
		r.Catalogs = append(r.Catalogs, olmv1.Catalog{Name: "a", Graph: catalog})
		if tt.installed != "" {
			r.Installed = &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed}
		}
		sel, err := olmv1.Select(context.Background(), r)
		var got []string
		var no *olmv1.Refusal
		switch {
		case errors.As(err, &no):
			got = append(got, no.Message)
			for _, f := range no.Fixes {
				got = append(got, strings.TrimSpace(string(f.Kind)+" "+f.Version))
			}
		case err != nil:
			t.Fatal(err)
		default:
			for _, n := range sel.Notes {
				got = append(got, string(n.Code)+": "+n.Text)
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s %s: got\n%s\nwant\n%s", tt.pkg, tt.installed, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestKubernetes checks the note about a bundle that requires a newer version of Kubernetes: what OLM v1 selects with its
// command runs on the cluster, and the note is absent without a version of the cluster (H40).
func TestKubernetes(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1.0.0}, {name: app.v1.1.0, skipRange: "<1.1.0"}, {name: app.v1.2.0, skipRange: "<1.2.0"}]}
`)
	for version, least := range map[string]string{"1.0.0": "", "1.1.0": "1.25.0", "1.2.0": "1.30.0"} {
		fmt.Fprintf(&text, `---
{schema: olm.bundle, package: app, name: app.v%[1]s, image: i, properties: [{type: olm.package, value: {packageName: app, version: %[1]s}},
  {type: olm.csv.metadata, value: {minKubeVersion: "%[2]s"}}]}
`, version, least)
	}
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(text.String()), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	const must = "; OLM v1 does not check this, so the operator may not run"
	for _, tt := range []struct{ installed, kube, version, want, command string }{
		{"", "", "", "", ""},
		{"", "v1.30.2+k3s1", "", "", ""},
		{"", "1.29", "", "app.v1.2.0 requires Kubernetes 1.30.0 or later, and the cluster runs 1.29.0" + must +
			`. With version "<=1.1.0", app.v1.1.0 is selected, which accepts Kubernetes 1.29.0`, "<=1.1.0"},
		{"", "1.24", "", "app.v1.2.0 requires Kubernetes 1.30.0 or later, and the cluster runs 1.24.0" + must +
			`. With version "<=1.0.0", app.v1.0.0 is selected, which accepts Kubernetes 1.24.0`, "<=1.0.0"},
		{"1.0.0", "1.24", "", "app.v1.2.0 requires Kubernetes 1.30.0 or later, and the cluster runs 1.24.0" + must +
			`. With version "<=1.0.0", app.v1.0.0 is kept, which accepts Kubernetes 1.24.0`, "<=1.0.0"},
		{"1.1.0", "1.24", "", "app.v1.2.0 requires Kubernetes 1.30.0 or later, and the cluster runs 1.24.0" + must, ""},
		{"1.2.0", "1.24", "", "", ""},
		{"", "1.24", ">=1.1.0", "app.v1.2.0 requires Kubernetes 1.30.0 or later, and the cluster runs 1.24.0" + must, ""},
	} {
		t.Run(tt.installed+" "+tt.kube+tt.version, func(t *testing.T) {
			r := olmv1.Request{Package: "app", Version: tt.version, Catalogs: []olmv1.Catalog{{Name: "a", Graph: catalog}}, Options: olmv1.Options{KubeVersion: tt.kube}}
			if tt.installed != "" {
				r.Installed = &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed}
			}
			sel, err := olmv1.Select(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			var got, command string
			for _, n := range sel.Notes {
				if n.Code == olmv1.NoteKubernetes {
					got = n.Text
					for _, c := range n.Commands {
						command += c.Line
					}
				}
			}
			if got != tt.want || !strings.Contains(command, tt.command) || (command == "") != (tt.command == "") {
				t.Errorf("got note %q\nwant     %q\ncommand %q, want %q", got, tt.want, command, tt.command)
			}
		})
	}
}
