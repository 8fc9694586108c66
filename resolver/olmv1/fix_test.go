package olmv1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

const fixCatalog = `
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1.0.0}, {name: app.v1.1.0, replaces: app.v1.0.0}, {name: app.v1.2.0, replaces: app.v1.1.0}]}
---
{schema: olm.channel, package: app, name: stable-2.0, entries: [{name: app.v2.0.0, replaces: app.v1.2.0}]}
---
{schema: olm.bundle, package: app, name: app.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
---
{schema: olm.bundle, package: app, name: app.v1.1.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.1.0}}]}
---
{schema: olm.bundle, package: app, name: app.v1.2.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.2.0}}]}
---
{schema: olm.bundle, package: app, name: app.v2.0.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 2.0.0}},
  {type: olm.gvk.required, value: {group: cert.io, version: v1, kind: Cert}}]}
---
{schema: olm.package, name: shop, defaultChannel: stable}
---
{schema: olm.channel, package: shop, name: stable, entries: [{name: shop.v1.0.0}, {name: shop.v1.1.0, replaces: shop.v1.0.0}]}
---
{schema: olm.bundle, package: shop, name: shop.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: shop, version: 1.0.0}},
  {type: olm.gvk.required, value: {group: cert.io, version: v1, kind: Cert}}]}
---
{schema: olm.bundle, package: shop, name: shop.v1.1.0, image: i, properties: [{type: olm.package, value: {packageName: shop, version: 1.1.0}},
  {type: olm.gvk.required, value: {group: cert.io, version: v1, kind: Cert}}]}
---
{schema: olm.package, name: lone, defaultChannel: stable}
---
{schema: olm.channel, package: lone, name: stable, entries: [{name: lone.v1.0.0}]}
---
{schema: olm.bundle, package: lone, name: lone.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: lone, version: 1.0.0}},
  {type: olm.gvk.required, value: {group: far.io, version: v1, kind: Far}}]}
---
{schema: olm.package, name: cert, defaultChannel: stable}
---
{schema: olm.channel, package: cert, name: stable, entries: [{name: cert.v1.0.0}]}
---
{schema: olm.bundle, package: cert, name: cert.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: cert, version: 1.0.0}},
  {type: olm.gvk, value: {group: cert.io, version: v1, kind: Cert}}]}
---
{schema: olm.package, name: mixed, defaultChannel: stable}
---
{schema: olm.channel, package: mixed, name: stable, entries: [{name: mixed.v1.0.0}, {name: mixed.v1.1.0, replaces: mixed.v1.0.0}, {name: mixed.v1.2.0, replaces: mixed.v1.1.0}]}
---
{schema: olm.bundle, package: mixed, name: mixed.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: mixed, version: 1.0.0}}]}
---
{schema: olm.bundle, package: mixed, name: mixed.v1.1.0, image: i, properties: [{type: olm.package, value: {packageName: mixed, version: 1.1.0}},
  {type: olm.gvk.required, value: {group: cert.io, version: v1, kind: Cert}}]}
---
{schema: olm.bundle, package: mixed, name: mixed.v1.2.0, image: i, properties: [{type: olm.package, value: {packageName: mixed, version: 1.2.0}},
  {type: olm.gvk.required, value: {group: cert.io, version: v1, kind: Cert}}]}
`

// TestFixes checks that a refusal lists the changes that help, least disruptive first, each with its outcome, its risk
// and a command that applies it (G3).
func TestFixes(t *testing.T) {
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(fixCatalog), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	one := []olmv1.Catalog{{Name: "c", Graph: catalog}}
	installed := func(v string) *olmv1.Installed { return &olmv1.Installed{Name: "app.v" + v, Version: v} }
	selector, err := olmv1.ParseLabelSelector("tier=gold")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		request olmv1.Request
		want    []string // texts and commands
	}{
		{"package", olmv1.Request{Package: "certt", Catalogs: one}, []string{
			"set the package to cert and recreate the ClusterExtension, whose package is immutable; then cert.v1.0.0 is installed from catalog c",
			`kubectl get clusterextension certt -o json | kubectl patch --local -f - --type merge --patch '{"spec":{"source":{"catalog":{"packageName":"cert"}}}}' -o json | kubectl replace --force -f -`,
		}},
		{"package that OLM v1 refuses", olmv1.Request{Package: "shoop", Catalogs: one}, []string{
			"use classic OLM: create a Subscription to package shop, channel stable, in place of the ClusterExtension; then cert.v1.0.0 and shop.v1.1.0 are installed, if CatalogSource c in namespace olm has this catalog",
			`echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"shop","namespace":"operators"},"spec":{"channel":"stable","name":"shop","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`,
		}},
		{"package of another catalog", olmv1.Request{Package: "unlike", Catalogs: one}, []string{
			"add a catalog that has package unlike",
			`echo '{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterCatalog","metadata":{"name":"additional"},"spec":{"source":{"image":{"ref":"'"${IMAGE:?set it to the image of the catalog}"'"},"type":"Image"}}}' | kubectl apply -f -`,
		}},
		{"package of another catalog, for a command", olmv1.Request{Package: "unlike", Catalogs: one, Options: olmv1.Options{Command: "olmkit select c -p unlike"}}, []string{
			"add a catalog that has package unlike", "olmkit select c -p unlike --catalog NAME=PATH",
		}},
		{"all refused", olmv1.Request{Package: "shop", Version: "<1.1", Installed: &olmv1.Installed{Name: "shop.v1.1.0", Version: "1.1.0"}, Catalogs: one}, []string{
			"use classic OLM: delete the ClusterExtension, and create a Subscription to package shop, channel stable, with startingCSV shop.v1.0.0 and Manual approval, and approve its install plan; then cert.v1.0.0 and shop.v1.0.0 are installed, if CatalogSource c in namespace olm has this catalog. Risk: OLM v1 then deletes the CRDs of the operator with all of its custom resources; save them first",
			`kubectl delete clusterextension shop && echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"shop","namespace":"operators"},"spec":{"channel":"stable","installPlanApproval":"Manual","name":"shop","source":"c","sourceNamespace":"olm","startingCSV":"shop.v1.0.0"}}' | kubectl apply -f -`,
		}},
		{"all in range refused", olmv1.Request{Package: "mixed", Version: ">1.1", Installed: &olmv1.Installed{Name: "mixed.v1.0.0", Version: "1.0.0"}, Catalogs: one}, []string{
			"use classic OLM: delete the ClusterExtension, and create a Subscription to package mixed, channel stable; then cert.v1.0.0 and mixed.v1.2.0 are installed, if CatalogSource c in namespace olm has this catalog. Risk: OLM v1 then deletes the CRDs of the operator with all of its custom resources; save them first",
			`kubectl delete clusterextension mixed && echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"mixed","namespace":"operators"},"spec":{"channel":"stable","name":"mixed","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`,
		}},
		{"all refused, none in range", olmv1.Request{Package: "shop", Version: ">2", Catalogs: one}, []string{
			"use classic OLM: create a Subscription to package shop, channel stable, in place of the ClusterExtension; then cert.v1.0.0 and shop.v1.1.0 are installed, if CatalogSource c in namespace olm has this catalog",
			`echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"shop","namespace":"operators"},"spec":{"channel":"stable","name":"shop","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`,
		}},
		{"a dependency that no catalog has", olmv1.Request{Package: "lone", Catalogs: one}, []string{
			"use classic OLM: create a Subscription to package lone, channel stable, in place of the ClusterExtension, and add a catalog that has API Far (far.io/v1); then lone.v1.0.0 is installed, if CatalogSource c in namespace olm has this catalog",
			`echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"additional","namespace":"olm"},"spec":{"image":"'"${IMAGE:?set it to the image of the catalog}"'","sourceType":"grpc"}}' | kubectl apply -f - && echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"lone","namespace":"operators"},"spec":{"channel":"stable","name":"lone","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`,
		}},
		{"selector", olmv1.Request{Package: "cert", Catalogs: one, Selector: selector}, []string{
			"remove the catalog selector; then cert.v1.0.0 is installed from catalog c",
			`kubectl patch clusterextension cert --type merge --patch '{"spec":{"source":{"catalog":{"selector":null}}}}'`,
		}},
		{"selector of a catalog that is not loaded", olmv1.Request{Package: "cert", Catalogs: []olmv1.Catalog{{Name: "c"}}, Selector: selector}, nil},
		{"channel", olmv1.Request{Package: "app", Channels: []string{"stabel"}, Catalogs: one}, []string{
			"set the channel to stable; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"channels":["stable"]}}}}'`,
		}},
		{"range", olmv1.Request{Package: "app", Version: ">=1.3 <2", Channels: []string{"stable"}, Catalogs: one}, []string{
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
		}},
		{"range below all", olmv1.Request{Package: "app", Version: "<1", Channels: []string{"stable"}, Catalogs: one}, []string{
			"set the version to 1.0.0, which allows no other; then app.v1.0.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.0.0"}}}}'`,
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
		}},
		{"a version between others", olmv1.Request{Package: "app", Version: "1.0.5", Channels: []string{"stable"}, Catalogs: one}, []string{
			"set the version to 1.1.0; then app.v1.1.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.1.0"}}}}'`,
			"set the version to 1.0.0; then app.v1.0.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.0.0"}}}}'`,
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
		}},
		{"range and channel", olmv1.Request{Package: "app", Version: "^3", Channels: []string{"stable-2.0"}, Installed: installed("1.0.0"), Catalogs: one}, []string{
			"set the channel to stable and remove the version; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v1.2.0 on its own, in 1 more step",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"channels":["stable"],"version":null}}}}'`,
		}},
		{"dependency", olmv1.Request{ID: "mine", Package: "app", Catalogs: one}, []string{
			"set the version to 1.2.0; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension mine --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.2.0"}}}}'`,
			"use classic OLM: create a Subscription to package app, channel stable-2.0, in place of the ClusterExtension; then app.v2.0.0 and cert.v1.0.0 are installed, if CatalogSource c in namespace olm has this catalog",
			`echo '{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"app","namespace":"operators"},"spec":{"channel":"stable-2.0","name":"app","source":"c","sourceNamespace":"olm"}}' | kubectl apply -f -`,
		}},
		{"dependency of an upgrade", olmv1.Request{Package: "app", Installed: installed("1.2.0"), Channels: []string{"stable-2.0"}, Catalogs: one}, []string{
			"set the channel to stable; then app.v1.2.0 stays, without an error",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"channels":["stable"]}}}}'`,
		}},
		{"successor", olmv1.Request{Package: "app", Version: "1.2.0", Installed: installed("1.0.0"), Catalogs: one}, []string{
			"set the version to <=1.2.0; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v1.2.0 on its own, in 1 more step",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"<=1.2.0"}}}}'`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v1.2.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.2.0 over app.v1.0.0, which is 2 steps away, so the operator may fail or lose data; back up its resources, and set the policy back afterwards",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"SelfCertified"}}}}'`,
		}},
		{"successor without a limit", olmv1.Request{Package: "app", Version: ">1.1.0", Channels: []string{"stable"}, Installed: installed("1.0.0"), Catalogs: one}, []string{
			"remove the version, which allows all; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v1.2.0 on its own, in 1 more step",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v1.2.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.2.0 over app.v1.0.0, which is 2 steps away, so the operator may fail or lose data; back up its resources, and set the policy back afterwards",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"SelfCertified"}}}}'`,
		}},
		{"downgrade", olmv1.Request{Package: "app", Version: "1.0.0", Installed: installed("1.2.0"), Catalogs: one}, []string{
			"set the version to 1.2.0; then app.v1.2.0 stays, without an error",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.2.0"}}}}'`,
			"set upgradeConstraintPolicy to SelfCertified; then app.v1.0.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.0.0 over app.v1.2.0, so the operator may fail or lose data; back up its resources, and set the policy back afterwards. It is a downgrade",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"SelfCertified"}}}}'`,
		}},
		{"SelfCertified beyond all", olmv1.Request{Package: "app", Version: "9.x", Channels: []string{"stable"}, Policy: olmv1.SelfCertified, Installed: installed("1.0.0"), Catalogs: one}, []string{
			"set upgradeConstraintPolicy to CatalogProvided and remove the version; then app.v1.1.0 is installed from catalog c, and OLM v1 upgrades it to app.v1.2.0 on its own, in 1 more step",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":"CatalogProvided","version":null}}}}'`,
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.2.0 over app.v1.0.0, which is 2 steps away, so the operator may fail or lose data; back up its resources",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
		}},
		{"SelfCertified in another channel", olmv1.Request{Package: "app", Version: "1.2.0", Channels: []string{"stabel"}, Policy: olmv1.SelfCertified, Installed: installed("1.0.0"), Catalogs: one}, []string{
			"set the channel to stable; then app.v1.2.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.2.0 over app.v1.0.0, which is 2 steps away, so the operator may fail or lose data; back up its resources",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"channels":["stable"]}}}}'`,
		}},
		{"SelfCertified below all", olmv1.Request{Package: "app", Version: "<1", Channels: []string{"stable"}, Policy: olmv1.SelfCertified, Installed: installed("1.1.0"), Catalogs: one}, []string{
			"remove the version, which allows all; then app.v1.2.0 is installed from catalog c",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`,
			"set the version to 1.0.0, which allows no other; then app.v1.0.0 is installed from catalog c. Risk: no entry of the catalog allows app.v1.0.0 over app.v1.1.0, so the operator may fail or lose data; back up its resources. It is a downgrade",
			`kubectl patch clusterextension app --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.0.0"}}}}'`,
		}},
		{"tie", olmv1.Request{Package: "cert", Catalogs: []olmv1.Catalog{{Name: "a", Priority: 3, Graph: catalog}, {Name: "b", Priority: 3, Graph: catalog}}}, []string{
			"select catalog a by its label; then cert.v1.0.0 is installed from catalog a",
			`kubectl patch clusterextension cert --type merge --patch '{"spec":{"source":{"catalog":{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"a"}}}}}}'`,
			"select catalog b by its label; then cert.v1.0.0 is installed from catalog b",
			`kubectl patch clusterextension cert --type merge --patch '{"spec":{"source":{"catalog":{"selector":{"matchLabels":{"olm.operatorframework.io/metadata.name":"b"}}}}}}'`,
			"raise the priority of catalog a to 4, which applies to all ClusterExtensions; then cert.v1.0.0 is installed from catalog a",
			`kubectl patch clustercatalog a --type merge --patch '{"spec":{"priority":4}}'`,
			"raise the priority of catalog b to 4, which applies to all ClusterExtensions; then cert.v1.0.0 is installed from catalog b",
			`kubectl patch clustercatalog b --type merge --patch '{"spec":{"priority":4}}'`,
		}},
	} {
		_, err := olmv1.Select(context.Background(), tt.request)
		var no *olmv1.Refusal
		if !errors.As(err, &no) {
			t.Errorf("%s: %v, want a refusal", tt.name, err)
			continue
		}
		var got []string
		for _, f := range no.Fixes {
			got = append(got, f.Text, f.Command)
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: the fixes of %q are\n%s\nwant\n%s", tt.name, no, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestNotation checks that the notations of other commands are named, without a command for an object that cannot exist.
func TestNotation(t *testing.T) {
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(fixCatalog), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"app:stable": `no catalog has package "app:stable"; searched c; request package app and channel stable`,
		"app@1.0.0":  `no catalog has package "app@1.0.0"; searched c; request package app and version 1.0.0`,
	} {
		_, err := olmv1.Select(context.Background(), olmv1.Request{Package: name, Catalogs: []olmv1.Catalog{{Name: "c", Graph: catalog}}})
		var no *olmv1.Refusal
		if !errors.As(err, &no) || no.Message != want || len(no.Fixes) > 0 {
			t.Errorf("%s: %v, want %s and no fixes", name, err, want)
		}
	}
}
