package fbc

// loadExplanations are about what a load finds, in the order of the codes.
var loadExplanations = []Explanation{
	{
		Code: CodeUnreadable, Title: "a file or directory cannot be read", Rules: "A1",
		Text: `
The file system refused to open or list it, or broke off in the middle. Nothing
of the catalog can be trusted then, since what is missing may be a head or an
update edge. Correct the permissions or the path and load again.`,
	},
	{
		Code: CodeNotRegular, Title: "an entry of the tree is no regular file", Rules: "A1, A16",
		Text: `
A catalog holds regular files. Devices, sockets and named pipes are never
opened. Symbolic links are followed to files within the tree; links to
directories, in circles, or out of the tree are refused, because the catalog
would then depend on the machine that reads it. Put a copy of the file in place
of the link, or list the entry in .indexignore.`,
	},
	{
		Code: CodeSyntax, Title: "a document is neither JSON nor YAML", Rules: "A3",
		Text: `
The line is that of the fault. Files that do not belong to the catalog, such as
a README, must be listed in .indexignore: every file is loaded, whatever its
name. Text must be UTF-8.`,
		Bad: `
schema: olm.package
name: etcd
  defaultChannel: stable
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeNotObject, Title: "a document is no object", Rules: "A4",
		Text: `
A document (blob) of a catalog is an object with a schema. Lists of blobs are not
read: write one document after the other, with a line "---" between them.`,
		Bad: `
- schema: olm.package
  name: etcd
  defaultChannel: stable
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeType, Title: "a field has a value of the wrong type", Rules: "A4-A9",
		Text: `
Often a YAML value that looks like a number or a boolean and was meant as text:
put it in quotes.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: 4.10
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: "stable"
`,
	},
	{
		Code: CodeRequired, Title: "a required field is missing or empty", Rules: "A4-A9",
		Text: `
Every blob has a schema; packages, channels and bundles have a name; channels,
bundles and deprecations say which package they belong to. Field names are
compared by case.`,
		Bad: `
schema: olm.package
name: etcd
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeLimit, Title: "a limit against hostile input was exceeded", Rules: "A16",
		Text: `
Limits bound the size of files and documents, their number, the nesting and the
expansion of YAML aliases, so that a hostile catalog costs neither all memory nor
all time. The message names the limit. If the catalog is trusted, raise it in
fbc.Limits.`,
	},
	{
		Code: CodeDuplicate, Title: "something is defined twice", Rules: "A6, A9, A10",
		Text: `
A package, a channel of a package, a bundle of a package, an entry of a channel,
or the deprecations of a package. It also happens across files, when two
directories hold the same package. Keep one of the two, or merge them.`,
		Bad: `
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
- name: etcd.v0.9.2
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
  skips: [etcd.v0.9.0]
`,
	},
	{
		Code: CodeRepeated, Title: "a key appears twice in one object", Rules: "A4, H18",
		Text: `
The last value counts and the others are lost without a word in most tools. Keep
the one that was meant.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: alpha
defaultChannel: stable
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeProperty, Title: "a property has no type or no value", Rules: "A4",
		Text: `
A property is an object with a type that is not empty and a value that is not
null. opm lets this pass; other readers of the catalog may not.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: stable
properties:
- type: example.com/owner
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
properties:
- type: example.com/owner
  value: team-a
`,
	},
	{
		Code: CodeMeta, Title: "the package of a blob is empty", Rules: "A4",
		Text: `
A blob of a schema of your own may belong to a package. If it does not, leave the
field out.`,
		Bad: `
schema: example.com/notes
package: ""
text: hello
`,
		Good: `
schema: example.com/notes
package: etcd
text: hello
`,
	},
	{
		Code: CodeControl, Title: "a name or version holds a control character", Rules: "A16",
		Text: `
Names and versions end up in tables, logs and terminals, where an escape sequence
could hide or fake what is shown. No name of OLM has control characters, line
breaks included. Remove them.`,
		Bad: `
schema: olm.package
name: etcd
defaultChannel: "stable\e[2K"
`,
		Good: `
schema: olm.package
name: etcd
defaultChannel: stable
`,
	},
	{
		Code: CodeEmpty, Title: "the catalog is empty", Rules: "A1, A18",
		Text: `
No file holds a document. Mostly it is the wrong directory, or an .indexignore
that names everything. A template describes a catalog and is not one: render it
with "olmkit render" and use the result.`,
	},
	{
		Code: CodeIgnorePattern, Title: "a pattern of .indexignore matches nothing", Rules: "A2",
		Text: `
The pattern is malformed: a [ without its ], a backslash at the end, or nothing
but "/" or "!". git and opm pass over such lines in silence, so that files are
loaded that were meant to be left out.`,
	},
	{
		Code: CodeLeftover, Title: "an interrupted write left a file behind", Rules: "S6",
		Text: `
Commands such as "olmkit merge" and "olmkit fmt -w" write a file under a temporary
name, .olmkit- with 26 letters or digits and .tmp, and rename it when it is complete.
A process that was killed leaves such files behind. They are not read: each other file
is as it was before or as it was to become. Check that no file is missing, which can
happen on file systems without hard links: the temporary file then holds its previous
content. Otherwise delete the temporary file. opm reads it as a part of the catalog.`,
	},
}
