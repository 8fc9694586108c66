package fbc

// bundleExplanations are about bundles and deprecations that are wrong, in the
// order of the codes.
var bundleExplanations = []Explanation{
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
		Code: CodeImage, Title: "an image reference is malformed", Rules: "A8, A17",
		Text: `
A reference is a registry, a name in lower-case letters, and a tag or a digest; it
has no "https://" in front. A digest is sha256: and 64 lower-case hexadecimal
digits, or that of sha384 or sha512. Registry and name have at most 255 characters
together.`,
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
