// Package codes has the codes of findings about catalogs and bundles (G10), as untyped constants for all
// packages that report or inspect findings. Users of package fbc write them as text:
// docs/codes lists them.
package codes

// The codes of findings of a load.
const (
	Unreadable       = "unreadable"        // a file or directory cannot be read
	NotRegular       = "not-regular"       // a device, socket, pipe, link to a directory or out of the tree
	Syntax           = "syntax"            // the document is neither JSON nor YAML
	NotObject        = "not-object"        // the document is not an object
	Type             = "type"              // a field has the wrong JSON type
	Required         = "required"          // a required field is missing or empty
	Limit            = "limit"             // a limit of Limits was exceeded
	Duplicate        = "duplicate"         // a package, channel, bundle, entry or deprecation appears twice
	RepeatedKey      = "repeated-key"      // a key appears twice in one object
	Property         = "property"          // a property has no type or no value
	Meta             = "meta"              // the package field is present but empty
	ControlCharacter = "control-character" // a name or version contains a control character
	Empty            = "empty"             // the catalog contains no blobs, or only templates
	IgnorePattern    = "ignore-pattern"    // an .indexignore pattern that can never match
	Leftover         = "leftover"          // a file that an interrupted write left behind
)

// The codes of errors that validation finds.
const (
	PackageName     = "package-name"     // a package name is not a DNS label
	NoPackage       = "no-package"       // a blob names a package that has no olm.package
	EmptyPackage    = "empty-package"    // a package without channels or bundles
	DefaultChannel  = "default-channel"  // the default channel does not exist
	NoBundle        = "no-bundle"        // an entry names a bundle that does not exist
	NotInChannel    = "not-in-channel"   // a bundle is in no channel
	Heads           = "heads"            // a channel has no head, or several
	Cycle           = "cycle"            // the replaces of a channel form a cycle
	Stranded        = "stranded"         // entries are unreachable from the head
	SkipRange       = "skip-range"       // a skipRange cannot be parsed
	Version         = "version"          // a bundle has no valid version
	PackageMismatch = "package-mismatch" // a bundle's olm.package property names another package
	SameVersion     = "same-version"     // two bundles of a package have the same version
	Release         = "release"          // a bundle's release is malformed or not in its name
	Image           = "image"            // an image reference is malformed
	API             = "api"              // a provided API cannot be read
	APIName         = "api-name"         // an API's name is not valid in Kubernetes
	Constraint      = "constraint"       // a requirement cannot be read
	PropertyValue   = "property-value"   // another known property has a malformed value
	Deprecation     = "deprecation"      // a deprecation is malformed or refers to something that does not exist
)

// The codes of warnings: legal, but likely to surprise users.
const (
	Icon               = "icon"                 // an icon lacks its data or its media type
	StrayFile          = "stray-file"           // a file of a bundle directory that is not a Kubernetes object
	Template           = "template"             // a template among the blobs of a catalog
	UnknownSchema      = "unknown-schema"       // a reserved schema that OLM does not define
	UnknownProperty    = "unknown-property"     // a reserved property type that OLM does not define
	DeprecatedHead     = "deprecated-head"      // the head of a channel is deprecated
	SkipRangeSelf      = "skip-range-self"      // a skipRange includes its entry's version
	SkipRangeDowngrade = "skip-range-downgrade" // a skipRange includes a version newer than its entry
	ReplacesNewer      = "replaces-newer"       // an entry replaces a newer version
	DanglingReplaces   = "dangling-replaces"    // replaces leaves the channel, which has older entries
	Stuck              = "stuck"                // no available upgrade starts from an entry
	Bridge             = "bridge"               // a channel continues an earlier one before its end
	DefaultBehind      = "default-behind"       // the default channel lacks the newest version
	Unmet              = "unmet"                // nothing in the catalog satisfies a requirement
	VersionBuild       = "version-build"        // two versions differ only in build metadata
	RelatedImageEmpty  = "related-image-empty"  // a related image has no reference
	APITwice           = "api-twice"            // a bundle lists an API twice
	MaxOpenShiftNumber = "max-openshift-number" // a maximum OpenShift version is a number
	MaxOpenShiftTwice  = "max-openshift-twice"  // a bundle has several maximum OpenShift versions
)

// The codes of errors in bundle directories.
const (
	BundleFile              = "bundle-file"               // a file of a bundle is missing or invalid
	BundleCSVTwice          = "bundle-csv-twice"          // a bundle has two ClusterServiceVersions
	BundleDeploymentName    = "bundle-deployment-name"    // the name of a deployment is invalid or not unique
	BundleCRDTwice          = "bundle-crd-twice"          // a bundle has two CRDs of one name
	BundleCRDMissing        = "bundle-crd-missing"        // an owned CRD is not in the bundle
	BundleCRDVersion        = "bundle-crd-version"        // a CRD is not apiextensions.k8s.io/v1
	BundleCRDInvalid        = "bundle-crd-invalid"        // the API server would refuse a CRD
	BundleMetadata          = "bundle-metadata"           // the API server would refuse the metadata of an object
	BundleObjectInvalid     = "bundle-object-invalid"     // the API server would refuse an object
	BundlePackageName       = "bundle-package-name"       // a bundle does not name its package
	BundleConversion        = "bundle-conversion"         // a conversion webhook cannot be installed
	BundleWebhookDeployment = "bundle-webhook-deployment" // a webhook names a deployment that does not exist
	BundleWebhookName       = "bundle-webhook-name"       // the name of a webhook is invalid or not unique
	BundleWebhookRule       = "bundle-webhook-rule"       // a webhook intercepts what OLM forbids
	BundleWebhookInvalid    = "bundle-webhook-invalid"    // the API server would refuse a webhook
	BundleServicePort       = "bundle-service-port"       // two webhooks use one port with different targets
	BundleObjectTwice       = "bundle-object-twice"       // a bundle has two different objects of one name
	BundleKind              = "bundle-kind"               // a bundle contains an object of a kind that OLM refuses
	BundleAccount           = "bundle-account"            // a bundle contains a service account that OLM creates
	BundleAPIRemoved        = "bundle-api-removed"        // Kubernetes no longer serves the API of a manifest
	BundleImage             = "bundle-image"              // an image reference in a CSV is malformed
	BundleMinKubeVersion    = "bundle-min-kube-version"   // minKubeVersion is malformed
	BundleInstallModes      = "bundle-install-modes"      // the install modes are malformed, or none is supported
	BundleSize              = "bundle-size"               // the compressed manifests exceed 1 MiB
)

// The codes of warnings about bundle directories.
const (
	BundleAPIDeprecated      = "bundle-api-deprecated"      // the API of a manifest is deprecated
	BundleCRDUnowned         = "bundle-crd-unowned"         // the CSV does not own a CRD of the bundle
	BundleRollout            = "bundle-rollout"             // OLM v1 never finishes rolling out a bundle
	BundleFieldDropped       = "bundle-field-dropped"       // a field of a manifest is unknown or repeated
	BundleImageUnpinned      = "bundle-image-unpinned"      // an image has no digest
	BundleImageUnlisted      = "bundle-image-unlisted"      // relatedImages lacks an image
	BundleNoMinKubeVersion   = "bundle-no-min-kube-version" // a CSV has no minKubeVersion
	BundleSuggestedNamespace = "bundle-suggested-namespace" // the suggested namespace is not usable
)

// The codes of warnings about the permissions of operators.
const (
	GrantsWildcard      = "grants-wildcard"      // a rule has a wildcard
	GrantsSecrets       = "grants-secrets"       // an operator can read secrets
	GrantsExec          = "grants-exec"          // an operator can run commands in pods
	GrantsWorkloads     = "grants-workloads"     // an operator can create pods
	GrantsVolumes       = "grants-volumes"       // an operator can create persistent volumes
	GrantsNamespaces    = "grants-namespaces"    // an operator can change namespaces
	GrantsNodesProxy    = "grants-nodes-proxy"   // an operator can use the kubelet API
	GrantsEscalation    = "grants-escalation"    // an operator can give itself permissions
	GrantsImpersonation = "grants-impersonation" // an operator can act as another user
	GrantsRBAC          = "grants-rbac"          // an operator can write roles or bindings
	GrantsCertificates  = "grants-certificates"  // an operator can approve certificates
	GrantsTokens        = "grants-tokens"        // an operator can create tokens
	GrantsWebhooks      = "grants-webhooks"      // an operator can write webhook configurations
	GrantsInterception  = "grants-interception"  // a webhook receives all resources
)

// The codes of changes that break an upgrade or what depends on the operator.
const (
	ImpactNotInstallable  = "impact-not-installable"  // the new bundle cannot be installed
	ImpactDataDeleted     = "impact-data-deleted"     // an upgrade deletes data
	ImpactCRDUnsafe       = "impact-crd-unsafe"       // a CRD changes incompatibly
	ImpactCRDRefused      = "impact-crd-refused"      // OLM v1 refuses a safe change to a CRD
	ImpactResourceInvalid = "impact-resource-invalid" // a custom resource violates the new schema
	ImpactSelector        = "impact-selector"         // the selector of a deployment changes
	ImpactImmutable       = "impact-immutable"        // a fixed field of an object changes
	ImpactStopped         = "impact-stopped"          // a deployment has no replicas any more
	ImpactInstallMode     = "impact-install-mode"     // an install mode is no longer supported
)

// The codes of changes that an administrator should read before approving an upgrade.
const (
	ImpactNotCompared      = "impact-not-compared"      // a part of two bundles was not compared
	ImpactObjectDeleted    = "impact-object-deleted"    // an object that users may have changed is deleted
	ImpactCRDVersion       = "impact-crd-version"       // a version of a CRD is no longer served
	ImpactCRDStorage       = "impact-crd-storage"       // resources are stored as another version
	ImpactCRDBehavior      = "impact-crd-behavior"      // a CRD gives clients other values
	ImpactPermission       = "impact-permission"        // an operator gains permissions
	ImpactAccount          = "impact-account"           // an operator loses its permissions
	ImpactWebhook          = "impact-webhook"           // a webhook is added or affects more requests
	ImpactAPIService       = "impact-api-service"       // an operator serves a new API itself
	ImpactPrivilege        = "impact-privilege"         // a deployment gains access to its nodes
	ImpactPodSecurity      = "impact-pod-security"      // a deployment needs a less strict Pod Security level
	ImpactRecreated        = "impact-recreated"         // a deployment is deleted and created again
	ImpactRequires         = "impact-requires"          // a bundle has new requirements
	ImpactProvides         = "impact-provides"          // a bundle provides less than before
	ImpactKubeVersion      = "impact-kube-version"      // the minimum version of Kubernetes is higher
	ImpactOpenShiftVersion = "impact-openshift-version" // an operator limits upgrades of OpenShift
)
