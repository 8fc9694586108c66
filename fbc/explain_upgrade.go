package fbc

// upgradeWarnings are about upgrades that are legal and strand or surprise
// somebody, in the order of the codes.
var upgradeWarnings = []Explanation{
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
The first entry of a channel that an earlier channel does not have updates a version
of that channel, by replaces, skips or skipRange. Later versions of the earlier
channel are left behind: nothing in any channel updates them past its end. This
happens when the earlier channel still gets fixes after the new one was started. Add
the skipRange that the message proposes, or let the entry replace the last version, and
again after each fix.

There is no finding where the earlier channel ends with the same or a newer version
than the entry has, or has several heads, or the new channel does. Neither is there one
where the new channel shares versions with the default channel and has branched off:
the default channel goes on in parallel.`,
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
}
