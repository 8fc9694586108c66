package fbc

// errorExplanations are about what validation finds to be wrong, in the order of
// the codes.
var errorExplanations = []Explanation{
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
	{
		Code: CodeVersion, Title: "a bundle has no valid version", Rules: "A8",
		Text: `
A bundle has exactly one olm.package property, with the package's name and a
semantic version: three numbers, no "v" in front.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: v0.9.2}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`,
	},
	{
		Code: CodePackageOf, Title: "a bundle's olm.package property names another package", Rules: "A8",
		Text: `
The packageName of the property and the package of the blob are the same. Mostly
one of them was not changed when a bundle was copied.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd-operator, version: 0.9.2}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`,
	},
	{
		Code: CodeSameVersion, Title: "two bundles of a package have one version", Rules: "A8",
		Text: `
A range or a version then does not say which of the two is meant. Give one another
version, or tell the builds apart by the release of the olm.package property.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.0}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`,
	},
	{
		Code: CodeRelease, Title: "the release of a bundle is not in order", Rules: "A8",
		Text: `
A release tells builds of one version apart: dot-separated letters and digits, at
most 20, numbers without leading zeros. The bundle is then named
PACKAGE-vVERSION-RELEASE, and its version has no build metadata.`,
		Bad: `
schema: olm.package
name: r
defaultChannel: stable
---
schema: olm.channel
package: r
name: stable
entries:
- name: r.v1.0.0
---
schema: olm.bundle
package: r
name: r.v1.0.0
image: quay.io/example/r:1
properties:
- type: olm.package
  value: {packageName: r, version: 1.0.0, release: "2"}
`,
		Good: `
schema: olm.package
name: r
defaultChannel: stable
---
schema: olm.channel
package: r
name: stable
entries:
- name: r-v1.0.0-2
---
schema: olm.bundle
package: r
name: r-v1.0.0-2
image: quay.io/example/r:1
properties:
- type: olm.package
  value: {packageName: r, version: 1.0.0, release: "2"}
`,
	},
	{
		Code: CodeImage, Title: "an image reference is malformed", Rules: "A8",
		Text: `
A reference is a registry, a name in lower-case letters, and a tag or a digest; it
has no "https://" in front.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: https://quay.io/Example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`,
	},
	{
		Code: CodeAPI, Title: "a provided API or label cannot be read", Rules: "A13",
		Text: `
The value of olm.gvk is an object with group, version and kind, that of olm.label
one with label, all texts that are not empty. Other bundles would look for the API
in vain.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.gvk
  value: {group: etcd.example.com, kind: EtcdCluster}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.gvk
  value: {group: etcd.example.com, version: v1, kind: EtcdCluster}
`,
	},
	{
		Code: CodeAPIName, Title: "an API's name breaks the rules of Kubernetes", Rules: "A13",
		Text: `
No cluster can serve such an API: groups are DNS subdomains, versions such as
v1beta1, kinds such as EtcdCluster.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.gvk
  value: {group: etcd.example.com, version: V1, kind: EtcdCluster}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.gvk
  value: {group: etcd.example.com, version: v1, kind: EtcdCluster}
`,
	},
	{
		Code: CodeConstraint, Title: "a requirement cannot be read", Rules: "D2, D3, H7",
		Text: `
The value of olm.gvk.required, olm.package.required, olm.label.required or
olm.constraint is malformed. opm does not look inside, and a cluster that meets
the bundle fails to resolve anything.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.package.required
  value: {packageName: etcd, versionRange: ^0.9.0}
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.package.required
  value: {packageName: etcd, versionRange: ">=0.9.0 <1.0.0"}
`,
	},
	{
		Code: CodeValue, Title: "a known property has a malformed value", Rules: "A13, C7",
		Text: `
olm.maxOpenShiftVersion is a version such as "4.19", in quotes; olm.kubeversion an
object with version; olm.csv.metadata an object; olm.bundle.object an object with
base64 text as data.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.maxOpenShiftVersion
  value: four
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.maxOpenShiftVersion
  value: "4.19"
`,
	},
	{
		Code: CodeDeprecation, Title: "a deprecation is malformed, or of something that does not exist", Rules: "A9",
		Text: `
Each entry has a message and a reference: to olm.package without a name, or to
olm.channel or olm.bundle with the name of one of the package. Nothing is
deprecated twice, and the blob has no name of its own.`,
		Bad: `
schema: olm.deprecations
package: etcd
entries:
- reference: {schema: olm.bundle, name: etcd.v0.9.9}
  message: Please update.
`,
		Good: `
schema: olm.deprecations
package: etcd
entries:
- reference: {schema: olm.bundle, name: etcd.v0.9.0}
  message: Please update to etcd.v0.9.2.
`,
	},
}
