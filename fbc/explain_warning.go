package fbc

// blobWarnings are about blobs that are legal and will surprise somebody, in the
// order of the codes.
var blobWarnings = []Explanation{
	{
		Code: CodeIcon, Title: "an icon lacks its data or its media type", Rules: "A5",
		Text: `
User interfaces need both to show the icon. opm does not look.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: stable
icon:
  base64data: PHN2Zy8+
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
icon:
  base64data: PHN2Zy8+
  mediatype: image/svg+xml
`,
	},
	{
		Code: CodeStrayFile, Title: "a file or directory does not belong to a bundle", Rules: "A14",
		Text: `
The files in manifests/ are Kubernetes objects in YAML or JSON, those in metadata/
are YAML. Another file, such as a README, and a subdirectory are left out, as in
opm: it is a warning, and the bundle can be used without them. If the file was meant
to be a manifest, the message gives the reason that it is not one. Otherwise move it
out of the directory.`,
	},
	{
		Code: CodeTemplate, Title: "a template is among the blobs of a catalog", Rules: "A4, A18",
		Text: `
A template, such as olm.semver or olm.template.basic, describes packages. Clusters
and opm ignore it, so what it describes is not in the catalog. Render it with
"olmkit render FILE --from IMAGE=DIRECTORY" and add the result to the catalog. Keep
the template outside the catalog or, if it is the only document of its file, list
the file in .indexignore. Commands that write catalogs refuse one with templates.`,
		Bad: `
schema: olm.semver
stable:
  bundles:
  - image: quay.io/example/etcd-bundle:v0.9.2
`,
		Good: `
schema: olm.channel
package: etcd
name: stable-v0.9
entries:
- name: etcd.v0.9.2
`,
	},
	{
		Code: CodeUnknownSchema, Title: "a schema has the reserved prefix", Rules: "A4",
		Text: `
Only OLM defines schemas that begin with "olm.". Either the name is misspelt, and
then the blob has no effect, or it may get a meaning one day that was not intended.
Put a domain of your own in front.`,
		Bad: `
schema: olm.deprecation
package: etcd
entries: []
`,
		Good: `
schema: olm.deprecations
package: etcd
entries: []
`,
	},
	{
		Code: CodeUnknownProperty, Title: "a property type has the reserved prefix", Rules: "A4",
		Text: `
Only OLM defines property types that begin with "olm.". A misspelt requirement is
none: it would not be enforced.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.maxOpenshiftVersion
  value: "4.19"
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
}

// bundleWarnings are about bundles that are legal and will surprise somebody, in
// the order of the codes.
var bundleWarnings = []Explanation{
	{
		Code: CodeUnmet, Title: "nothing in the catalog meets a requirement", Rules: "D2",
		Text: `
The bundle can only be installed where another catalog provides what it requires.
For a catalog that is meant to stand alone, add the package. What negations and CEL
rules ask for is not judged here.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.package.required
  value: {packageName: vault, versionRange: ">=1.0.0"}
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
		Code: CodeVersionBuild, Title: "two versions only differ by build metadata", Rules: "A8",
		Text: `
What follows a + in a version does not count when versions are compared, so that
ranges take both or none. If they are builds of one version, use the release of
the olm.package property.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.0+2}
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
		Code: CodeRelatedImageEmpty, Title: "a related image has no reference", Rules: "A8",
		Text: `
Tools that mirror catalogs copy the related images. Without a reference there is
nothing to copy, and the operator misses the image in a cluster without internet.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
relatedImages:
- name: backup
`,
		Good: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
relatedImages:
- name: backup
  image: quay.io/example/backup:v1
`,
	},
	{
		Code: CodeAPITwice, Title: "a bundle lists an API twice", Rules: "H26",
		Text: `
A namespace holds one provider of an API. OLM counts the olm.gvk properties, not the
bundles: a bundle with two equal ones conflicts with itself, and is never installed.
opm does not look.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.gvk
  value: {group: etcd.example.com, kind: EtcdCluster, version: v1}
- type: olm.gvk
  value: {group: etcd.example.com, kind: EtcdCluster, version: v1}
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
  value: {group: etcd.example.com, kind: EtcdCluster, version: v1}
`,
	},
	{
		Code: CodeMaxNumber, Title: "a greatest version of OpenShift is a number", Rules: "C7",
		Text: `
Without quotes 4.20 is a number, and the same number as 4.2: tools that copy the
catalog may write it so, and the bundle then blocks updates that it allows. Put
the version in quotes.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.maxOpenShiftVersion
  value: 4.20
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
  value: "4.20"
`,
	},
	{
		Code: CodeMaxRepeated, Title: "a bundle has several greatest versions of OpenShift", Rules: "C7",
		Text: `
A bundle has one olm.maxOpenShiftVersion. With several, it is up to the reader
which one counts. Keep the one that is meant.`,
		Bad: `
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
- type: olm.maxOpenShiftVersion
  value: "4.19"
- type: olm.maxOpenShiftVersion
  value: "4.20"
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
  value: "4.20"
`,
	},
}
