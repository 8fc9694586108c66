package fbc

import "slices"

// A Code names a kind of finding. Codes are stable: scripts may match them.
// [Explain] tells more about each, with an example and its fix.
type Code string

// The codes of what a load can find.
const (
	CodeUnreadable    Code = "unreadable"        // a file or directory cannot be read
	CodeNotRegular    Code = "not-regular"       // a device, socket, pipe, link to a directory or out of the tree
	CodeSyntax        Code = "syntax"            // the document is neither JSON nor YAML
	CodeNotObject     Code = "not-object"        // the document is no object
	CodeType          Code = "type"              // a field has the wrong JSON type
	CodeRequired      Code = "required"          // a required field is missing or empty
	CodeLimit         Code = "limit"             // a limit of Limits was exceeded
	CodeDuplicate     Code = "duplicate"         // a package, channel, bundle, entry or deprecation appears twice
	CodeRepeated      Code = "repeated-key"      // a key appears twice in one object
	CodeProperty      Code = "property"          // a property has no type or no value
	CodeMeta          Code = "meta"              // the package field is there and empty
	CodeControl       Code = "control-character" // a name or version holds a control character
	CodeEmpty         Code = "empty"             // the catalog holds no blob at all, or only templates
	CodeIgnorePattern Code = "ignore-pattern"    // an .indexignore pattern that can never match
	CodeLeftover      Code = "leftover"          // a file that an interrupted write left behind
)

// The codes of what validation can find to be wrong.
const (
	CodePackageName    Code = "package-name"     // a package name is no DNS label
	CodeNoPackage      Code = "no-package"       // a blob names a package that has no olm.package
	CodeEmptyPackage   Code = "empty-package"    // a package without channels or bundles
	CodeDefaultChannel Code = "default-channel"  // the default channel does not exist
	CodeNoBundle       Code = "no-bundle"        // an entry names a bundle that does not exist
	CodeNotInChannel   Code = "not-in-channel"   // a bundle is in no channel
	CodeHeads          Code = "heads"            // a channel has no head, or several
	CodeCycle          Code = "cycle"            // a channel's replaces run in a circle
	CodeStranded       Code = "stranded"         // entries are not reached from the head
	CodeSkipRange      Code = "skip-range"       // a skipRange does not parse
	CodeVersion        Code = "version"          // a bundle has no valid version
	CodePackageOf      Code = "package-mismatch" // a bundle's olm.package property names another package
	CodeSameVersion    Code = "same-version"     // two bundles of a package have one version
	CodeRelease        Code = "release"          // a bundle's release is malformed or not in its name
	CodeImage          Code = "image"            // an image reference is malformed
	CodeAPI            Code = "api"              // a provided API cannot be read
	CodeAPIName        Code = "api-name"         // an API's name breaks the rules of Kubernetes
	CodeConstraint     Code = "constraint"       // a requirement cannot be read
	CodeValue          Code = "property-value"   // another known property has a malformed value
	CodeDeprecation    Code = "deprecation"      // a deprecation is malformed, or of something that does not exist
)

// The codes of what is legal and will surprise somebody: all are warnings.
const (
	CodeIcon              Code = "icon"                 // an icon lacks its data or its media type
	CodeStrayFile         Code = "stray-file"           // a file of a bundle directory that holds no Kubernetes object
	CodeTemplate          Code = "template"             // a template among the blobs of a catalog
	CodeUnknownSchema     Code = "unknown-schema"       // a reserved schema that OLM does not define
	CodeUnknownProperty   Code = "unknown-property"     // a reserved property type that OLM does not define
	CodeDeprecatedHead    Code = "deprecated-head"      // the head of a channel is deprecated
	CodeSkipRangeSelf     Code = "skip-range-self"      // a skipRange holds the version of its own entry
	CodeSkipRangeNewer    Code = "skip-range-downgrade" // a skipRange holds a newer version than its entry
	CodeReplacesNewer     Code = "replaces-newer"       // an entry replaces a newer version
	CodeDanglingReplaces  Code = "dangling-replaces"    // replaces leaves the channel though older entries are left
	CodeStuck             Code = "stuck"                // nothing that is offered updates an entry
	CodeBridge            Code = "bridge"               // a channel continues another one before its end
	CodeDefaultBehind     Code = "default-behind"       // the default channel lacks the newest version
	CodeUnmet             Code = "unmet"                // nothing in the catalog meets a requirement
	CodeVersionBuild      Code = "version-build"        // two versions only differ by build metadata
	CodeRelatedImageEmpty Code = "related-image-empty"  // a related image has no reference
	CodeAPITwice          Code = "api-twice"            // a bundle lists an API twice
	CodeMaxNumber         Code = "max-openshift-number" // a greatest version of OpenShift is a number
	CodeMaxRepeated       Code = "max-openshift-twice"  // a bundle has several greatest versions of OpenShift
)

// warnings are the codes of severity Warning.
var warnings = []Code{
	CodeIgnorePattern, CodeLeftover, CodeIcon,
	CodeStrayFile, CodeTemplate, CodeUnknownSchema, CodeUnknownProperty, CodeDeprecatedHead, CodeSkipRangeSelf, CodeSkipRangeNewer, CodeReplacesNewer,
	CodeDanglingReplaces, CodeStuck, CodeBridge, CodeDefaultBehind, CodeUnmet, CodeVersionBuild, CodeRelatedImageEmpty,
	CodeAPITwice, CodeMaxNumber, CodeMaxRepeated,
}

// Severity returns how much findings of the code matter. A code has one
// severity, except that [LoadOptions.RefuseTemplates] makes errors of templates.
func (c Code) Severity() Severity {
	if slices.Contains(warnings, c) {
		return Warning
	}
	return Error
}
