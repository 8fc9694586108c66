package fbc

// graphExplanations are about packages and channels that are wrong, in the order
// of the codes.
var graphExplanations = []Explanation{
	{
		Code: CodePackageName, Title: "a package name is no DNS label", Rules: "A5",
		Text: `
Package names become parts of the names of Kubernetes objects: lower-case
letters, digits and '-', at most 63 of them, beginning and ending with a letter
or digit.`,
		Bad: `
schema: olm.package
name: my_operator
defaultChannel: stable
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeNoPackage, Title: "a package has no olm.package blob", Rules: "A5",
		Text: `
Channels, bundles and deprecations belong to a package, and each package needs
exactly one olm.package blob. Mostly it is a misspelt name.`,
		Bad: `
schema: olm.channel
package: etdc
name: beta
entries:
- name: etcd.v0.9.2
`,
		Good: `
schema: olm.channel
package: etcd
name: beta
entries:
- name: etcd.v0.9.2
`,
	},
	{
		Code: CodeEmptyPackage, Title: "a package has no channels or no bundles", Rules: "A5",
		Text: `
Nothing can be installed from such a package. Add a channel with an entry, and
the bundle, or remove the package.`,
		Bad: `
schema: olm.package
name: planned
defaultChannel: stable
`,
		Good: `
schema: olm.package
name: planned
defaultChannel: stable
---
schema: olm.channel
package: planned
name: stable
entries:
- name: planned.v1.0.0
---
schema: olm.bundle
package: planned
name: planned.v1.0.0
image: quay.io/example/planned:v1.0.0
properties:
- type: olm.package
  value: {packageName: planned, version: 1.0.0}
`,
	},
	{
		Code: CodeDefaultChannel, Title: "the default channel does not exist", Rules: "A5",
		Text: `
Users who name no channel get the default one. The message lists the channels that
there are.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: stabel
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeNoBundle, Title: "a channel entry names a bundle that does not exist", Rules: "A6",
		Text: `
Entries are bundles of the channel's package. Names in replaces and skips may be
gone from the catalog; entries may not, because there would be nothing to
install. Add the bundle or remove the entry.`,
		Bad: `
schema: olm.channel
package: etcd
name: beta
entries:
- name: etcd.v1.0.0
`,
		Good: `
schema: olm.channel
package: etcd
name: beta
entries:
- name: etcd.v0.9.2
  replaces: etcd.v0.6.1
`,
	},
	{
		Code: CodeNotInChannel, Title: "a bundle is in no channel", Rules: "A6",
		Text: `
OLM installs bundles by way of channels only. Add an entry to a channel, or remove
the bundle.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.2
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
`,
	},
	{
		Code: CodeHeads, Title: "a channel does not have exactly one head", Rules: "A7, B1",
		Text: `
The head of a channel is what new users get: the entry that no other replaces or
skips. With several, nobody knows which is the newest, since OLM does not compare
versions; with none, every entry is outdated by another. skipRange does not count
here. Let the newest entry replace or skip the other heads.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  skipRange: <0.9.2
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
  skipRange: <0.9.2
`,
	},
	{
		Code: CodeCycle, Title: "replaces run in a circle", Rules: "A7",
		Text: `
An entry leads back to itself, so that users are updated in a circle or the order
of the channel has no end. It is also reported among skipped entries, where opm
does not look.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
  replaces: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
`,
	},
	{
		Code: CodeStranded, Title: "entries are not reached from the head", Rules: "A7, B3",
		Text: `
From the head, the replaces of each entry must lead to all entries that are not
skipped, and not through a skipped one, because that is never offered. Who has a
stranded entry installed is never updated. Let the entry above replace or skip it.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.1
  replaces: etcd.v0.9.0
- name: etcd.v0.9.2
  skips: [etcd.v0.9.1]
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.1
image: quay.io/example/etcd:v0.9.1
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.1}
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.1
  replaces: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
  skips: [etcd.v0.9.1]
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.1
image: quay.io/example/etcd:v0.9.1
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.1}
`,
	},
	{
		Code: CodeSkipRange, Title: "a skipRange cannot be read", Rules: "A6, C2, H11",
		Text: `
skipRange is in the syntax of blang/semver: comparisons with three-part versions
separated by spaces, alternatives by " || ". The signs ^ and ~ and commas belong to
the other syntax, of version ranges in OLM v1. A range that cannot be read admits
nothing.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
  skipRange: ">=0.6, <0.9.2"
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
  skipRange: ">=0.6.0 <0.9.2"
`,
	},
}
