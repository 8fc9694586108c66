package fbc

// warningExplanations are about what is legal and will surprise somebody, in the
// order of the codes.
var warningExplanations = []Explanation{
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
		Code: CodeStrayFile, Title: "a file does not belong to a bundle", Rules: "A14",
		Text: `
The files in manifests/ are Kubernetes objects in YAML or JSON, those in metadata/
are YAML. Another file, such as a README, is left out, as in opm. If the file was
meant to be a manifest, the message says what keeps it from being one; otherwise
move it out of the directory.`,
	},
	{
		Code: CodeTemplate, Title: "a template is among the blobs of a catalog", Rules: "A4, A18",
		Text: `
A template, such as olm.semver or olm.template.basic, describes packages. Clusters
and opm ignore it, so what it describes is not in the catalog. Render it with
"olmkit render FILE --from IMAGE=DIRECTORY", add the result to the catalog, and
keep the template elsewhere or list it in .indexignore.`,
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
	{
		Code: CodeDeprecatedHead, Title: "the head of a channel is deprecated", Rules: "A9, D12",
		Text: `
New users get a deprecated bundle, and those who have it see a warning with nothing
to move on to. Publish a new head, or deprecate the channel or package instead. A
head with the property olm.deprecated is not installed at all.`,
		Bad: `
schema: olm.deprecations
package: etcd
entries:
- reference: {schema: olm.bundle, name: etcd.v0.9.2}
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
	{
		Code: CodeSkipRangeSelf, Title: "a skipRange holds the version of its own entry", Rules: "B2, H2",
		Text: `
By its skipRange, the bundle follows itself: OLM may replace it by itself. End the
range before the entry's version.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
  skipRange: <=0.9.2
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
		Code: CodeSkipRangeNewer, Title: "a skipRange holds a newer version than its entry", Rules: "B2, H2",
		Text: `
OLM does not compare versions: whoever has the newer version installed may be moved
back to this entry. End the range before the entry's version.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
  skipRange: ">0.9.0"
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
  skipRange: <0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
`,
	},
	{
		Code: CodeReplacesNewer, Title: "an entry replaces a newer version", Rules: "B1, H2",
		Text: `
Users are moved back to an older version. Sometimes that is what a withdrawal
needs; mostly two names were swapped.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.2
- name: etcd.v0.9.0
  replaces: etcd.v0.9.2
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
		Code: CodeDanglingReplaces, Title: "the chain of updates breaks off before its end", Rules: "A6, B6",
		Text: `
The last entry of a chain may replace a bundle that is gone from the catalog. Here
the channel has older entries that the chain does not reach. They are skipped, so
the channel is valid, but mostly the name was meant to be one of them.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.1
  skips: [etcd.v0.9.0]
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
		Code: CodeStuck, Title: "nothing that is offered updates an entry", Rules: "B3, H3",
		Text: `
Only entries that are skipped themselves replace or skip it, and OLM never offers
those. Who has it installed stays. Let an entry that is offered skip it too.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.8.0
- name: etcd.v0.9.0
  skips: [etcd.v0.8.0]
- name: etcd.v0.9.2
  skips: [etcd.v0.9.0]
---
schema: olm.bundle
package: etcd
name: etcd.v0.8.0
image: quay.io/example/etcd:v0.8.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.8.0}
`,
		Good: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.8.0
- name: etcd.v0.9.0
  skips: [etcd.v0.8.0]
- name: etcd.v0.9.2
  skips: [etcd.v0.9.0, etcd.v0.8.0]
---
schema: olm.bundle
package: etcd
name: etcd.v0.8.0
image: quay.io/example/etcd:v0.8.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.8.0}
`,
	},
	{
		Code: CodeBridge, Title: "a channel continues another one before its end", Rules: "B5, B9",
		Text: `
The first entry of a channel replaces a version of an earlier channel, so that users
of that channel can move over. Later versions of the earlier channel are left
behind: nothing in any channel updates them past its end. This happens when the
earlier channel still gets fixes after the new one was started. Let the first
entry replace the last version, and again after each fix, or give entries of the new
channel a skipRange over the earlier one.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: stable-0.9
---
schema: olm.channel
package: etcd
name: stable-0.9
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
---
schema: olm.channel
package: etcd
name: stable-0.10
entries:
- name: etcd.v0.10.0
  replaces: etcd.v0.9.0
---
schema: olm.bundle
package: etcd
name: etcd.v0.10.0
image: quay.io/example/etcd:v0.10.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.10.0}
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable-0.10
---
schema: olm.channel
package: etcd
name: stable-0.9
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
---
schema: olm.channel
package: etcd
name: stable-0.10
entries:
- name: etcd.v0.10.0
  replaces: etcd.v0.9.2
  skipRange: ">=0.9.0 <0.10.0"
---
schema: olm.bundle
package: etcd
name: etcd.v0.10.0
image: quay.io/example/etcd:v0.10.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.10.0}
`,
	},
	{
		Code: CodeDefaultBehind, Title: "the default channel lacks the newest version", Rules: "A5",
		Text: `
Users who name no channel get an older version than the package has. That may be
intended, for a new major version; otherwise change the default channel or promote
the bundle. Prereleases do not count.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: old
---
schema: olm.channel
package: etcd
name: old
entries:
- name: etcd.v0.9.0
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: old
entries:
- name: etcd.v0.9.0
`,
	},
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
