package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// heldCatalog returns a catalog with three packages: the first leads on in other channels only, the second needs a
// package that is missing, and the third can get to 2.0.0 only by a new installation.
func heldCatalog(t *testing.T) string {
	var b strings.Builder
	add := func(pkg, channel string, entries ...string) {
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":%q,"entries":[%s]}`+"\n", pkg, channel, strings.Join(entries, ","))
	}
	bundle := func(pkg, version, more string) {
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":"%[1]s.v%s","image":"i","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":%[2]q}}%s]}`+"\n", pkg, version, more)
	}
	for pkg, channel := range map[string]string{"hub": "c3", "che": "stable", "old": "stable"} {
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":%q}`+"\n", pkg, channel)
	}
	add("hub", "c2", `{"name":"hub.v2.0.0","replaces":"hub.v1.0.0"}`)
	add("hub", "c3", `{"name":"hub.v3.0.0","replaces":"hub.v2.0.0"}`)
	bundle("hub", "2.0.0", "")
	bundle("hub", "3.0.0", "")
	add("che", "stable", `{"name":"che.v1.0.0"}`, `{"name":"che.v2.0.0","replaces":"che.v1.0.0"}`)
	bundle("che", "1.0.0", "")
	bundle("che", "2.0.0", `,{"type":"olm.package.required","value":{"packageName":"workspaces","versionRange":">=1.0.0"}}`)
	add("old", "stable", `{"name":"old.v2.0.0"}`)
	bundle("old", "2.0.0", "")
	return write(t, "held.json", b.String())
}

// TestHeld checks that the section "No newer version" states for each operator why, and what helps,
// with the commands (H40).
func TestHeld(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, heldCatalog(t), "--package", "che", "--installed", "hub=hub.v1.0.0@1.0.0:c3",
		"--installed", "old=old.v1.0.0@1.0.0:stable"), "")
	if got := b.text("section.held h2"); got != "No newer version" {
		t.Fatalf("the section is called %q", got)
	}
	all := b.text("section.held")
	for _, want := range []string{
		"che.v1.0.0 was chosen instead of che.v2.0.0 because che.v2.0.0 requires package workspaces >=1.0.0, which cannot be satisfied",
		"What would help",
		"add a catalog that has package workspaces >=1.0.0; then che.v2.0.0 is installed",
		"To get to 3.0.0, switch to channel c2 until 2.0.0 is installed, then switch back to channel c3",
		"then che.v2.0.0 is installed; hub.v1.0.0 and old.v1.0.0 stay stuck",
		"remove old.v1.0.0 and install it again from channel stable; then old.v2.0.0 is installed; hub.v1.0.0 stays stuck",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the section does not say %q in %q", want, all)
		}
	}
	// Each command is a separate line, to paste.
	var commands []string
	into(b, `[...document.querySelectorAll("section.held pre")].flatMap((p) => p.textContent.split("\n"))`, &commands)
	for _, want := range []string{
		`kubectl patch subscription.operators.coreos.com hub -n operators --type merge --patch '{"spec":{"channel":"c2"}}'`,
		`kubectl patch subscription.operators.coreos.com hub -n operators --type merge --patch '{"spec":{"channel":"c3"}}'`,
		`kubectl delete clusterserviceversion old.v1.0.0 -n operators`,
	} {
		if n := strings.Count("\n"+strings.Join(commands, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("%q is shown %d times among %q", want, n, commands)
		}
	}
	// Bundles link to where they are drawn.
	if got := eval[string](b, `document.querySelector("section.held a").getAttribute("href")`); !strings.Contains(got, "/che/stable/che.v1.0.0") {
		t.Errorf("the first bundle leads to %s", got)
	}
	b.quiet()
	// A namespace in which nothing is held back has no such section.
	b.open(makePage(t, heldCatalog(t), "--package", "hub:c3"), "")
	if got := b.text("section.held"); got != "" {
		t.Errorf("the page of an operator at its head says %q", got)
	}
}
