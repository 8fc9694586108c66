package fbc

import "slices"

// A Code names a kind of finding. Codes are stable: scripts may match them. [Explain]
// returns the explanation of a code, with an example and its fix.
type Code string

// The codes of findings of a load.
const (
	CodeUnreadable    Code = "unreadable"        // a file or directory cannot be read
	CodeNotRegular    Code = "not-regular"       // a device, socket, pipe, link to a directory or out of the tree
	CodeSyntax        Code = "syntax"            // the document is neither JSON nor YAML
	CodeNotObject     Code = "not-object"        // the document is not an object
	CodeType          Code = "type"              // a field has the wrong JSON type
	CodeRequired      Code = "required"          // a required field is missing or empty
	CodeLimit         Code = "limit"             // a limit of Limits was exceeded
	CodeDuplicate     Code = "duplicate"         // a package, channel, bundle, entry or deprecation appears twice
	CodeRepeated      Code = "repeated-key"      // a key appears twice in one object
	CodeProperty      Code = "property"          // a property has no type or no value
	CodeMeta          Code = "meta"              // the package field is present but empty
	CodeControl       Code = "control-character" // a name or version contains a control character
	CodeEmpty         Code = "empty"             // the catalog contains no blobs, or only templates
	CodeIgnorePattern Code = "ignore-pattern"    // an .indexignore pattern that can never match
	CodeLeftover      Code = "leftover"          // a file that an interrupted write left behind
)

// The codes of errors that validation finds.
const (
	CodePackageName    Code = "package-name"     // a package name is not a DNS label
	CodeNoPackage      Code = "no-package"       // a blob names a package that has no olm.package
	CodeEmptyPackage   Code = "empty-package"    // a package without channels or bundles
	CodeDefaultChannel Code = "default-channel"  // the default channel does not exist
	CodeNoBundle       Code = "no-bundle"        // an entry names a bundle that does not exist
	CodeNotInChannel   Code = "not-in-channel"   // a bundle is in no channel
	CodeHeads          Code = "heads"            // a channel has no head, or several
	CodeCycle          Code = "cycle"            // the replaces of a channel form a cycle
	CodeStranded       Code = "stranded"         // entries are unreachable from the head
	CodeSkipRange      Code = "skip-range"       // a skipRange cannot be parsed
	CodeVersion        Code = "version"          // a bundle has no valid version
	CodePackageOf      Code = "package-mismatch" // a bundle's olm.package property names another package
	CodeSameVersion    Code = "same-version"     // two bundles of a package have the same version
	CodeRelease        Code = "release"          // a bundle's release is malformed or not in its name
	CodeImage          Code = "image"            // an image reference is malformed
	CodeAPI            Code = "api"              // a provided API cannot be read
	CodeAPIName        Code = "api-name"         // an API's name is not valid in Kubernetes
	CodeConstraint     Code = "constraint"       // a requirement cannot be read
	CodeValue          Code = "property-value"   // another known property has a malformed value
	CodeDeprecation    Code = "deprecation"      // a deprecation is malformed or refers to something that does not exist
)

// The codes of warnings: legal, but likely to surprise users.
const (
	CodeIcon              Code = "icon"                 // an icon lacks its data or its media type
	CodeStrayFile         Code = "stray-file"           // a file of a bundle directory that is not a Kubernetes object
	CodeTemplate          Code = "template"             // a template among the blobs of a catalog
	CodeUnknownSchema     Code = "unknown-schema"       // a reserved schema that OLM does not define
	CodeUnknownProperty   Code = "unknown-property"     // a reserved property type that OLM does not define
	CodeDeprecatedHead    Code = "deprecated-head"      // the head of a channel is deprecated
	CodeSkipRangeSelf     Code = "skip-range-self"      // a skipRange includes its entry's version
	CodeSkipRangeNewer    Code = "skip-range-downgrade" // a skipRange includes a version newer than its entry
	CodeReplacesNewer     Code = "replaces-newer"       // an entry replaces a newer version
	CodeDanglingReplaces  Code = "dangling-replaces"    // replaces leaves the channel, which has older entries
	CodeStuck             Code = "stuck"                // no available upgrade starts from an entry
	CodeBridge            Code = "bridge"               // a channel continues an earlier one before its end
	CodeDefaultBehind     Code = "default-behind"       // the default channel lacks the newest version
	CodeUnmet             Code = "unmet"                // nothing in the catalog satisfies a requirement
	CodeVersionBuild      Code = "version-build"        // two versions differ only in build metadata
	CodeRelatedImageEmpty Code = "related-image-empty"  // a related image has no reference
	CodeAPITwice          Code = "api-twice"            // a bundle lists an API twice
	CodeMaxNumber         Code = "max-openshift-number" // a maximum OpenShift version is a number
	CodeMaxRepeated       Code = "max-openshift-twice"  // a bundle has several maximum OpenShift versions
)

// warnings are the codes of severity Warning.
var warnings = []Code{
	CodeIgnorePattern, CodeLeftover, CodeIcon,
	CodeStrayFile, CodeTemplate, CodeUnknownSchema, CodeUnknownProperty, CodeDeprecatedHead, CodeSkipRangeSelf, CodeSkipRangeNewer, CodeReplacesNewer,
	CodeDanglingReplaces, CodeStuck, CodeBridge, CodeDefaultBehind, CodeUnmet, CodeVersionBuild, CodeRelatedImageEmpty,
	CodeAPITwice, CodeMaxNumber, CodeMaxRepeated,
}

// Severity returns the severity of findings of the code. [LoadOptions.RefuseTemplates]
// makes templates errors; all other codes have one severity.
func (c Code) Severity() Severity {
	if slices.Contains(warnings, c) {
		return Warning
	}
	return Error
}
