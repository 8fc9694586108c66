// Package registryv1 turns registry+v1 bundles into the manifests that OLM v1 would
// apply. [Read] reads a bundle, [Bundle.Validate] reports what is wrong with it,
// [Bundle.ConfigSchema] describes its configuration, and [Bundle.Render] returns its
// objects, in the phases of a revision. [Eligible] returns whether OLM v1 installs a
// bundle at all, as far as its catalog shows. [Pack] puts the objects of a revision into
// Secrets.
//
// All functions are pure: they contact no cluster, and equal input gives equal bytes.
// Values of this package are safe for concurrent use as long as nobody modifies them.
//
// By default the result is what a cluster accepts. With AsUpstream it is what
// operator-controller does, including its known bugs. The differences are the rules from
// [K200] on; a result that differs lists them in [Manifests.Differences].
//
// # Codes
//
// The code of a [Problem] is stable text. When reading:
//
//   - noManifests: there is no directory manifests/
//   - subdirectory: manifests/ contains a directory
//   - noCSV: there is no ClusterServiceVersion
//   - annotations: metadata/annotations.yaml is missing or invalid
//   - properties: metadata/properties.yaml is invalid
//   - olmProperties: the annotation olm.properties is invalid
//   - manifest: a file in manifests/ is invalid
//   - limit: the bundle exceeds a limit
//
// What OLM v1 does not install:
//
//   - apiServices: the bundle owns API services
//   - webhooks: the bundle has webhooks, and there is no certificate provider
//   - installModes: the bundle supports none of the install modes of OLM v1
//
// Classic OLM installs such bundles, unless they support no install mode at all
// ([ClassicAccepts]).
//
// Only in an [Eligibility]:
//
//   - dependency: the bundle has a dependency; the subject is the type of the property
//   - allNamespaces: the bundle does not support AllNamespaces, and OLM v1 requires that
//   - rollout: operator-controller renders an object that it cannot apply; the subject is
//     the object or the phase
//
// In the configuration; the subject is a field:
//
//   - missing, unknown, type, minLength, maxLength, pattern, format: the schema
//   - value: any other violation of the schema
//   - repeated: two volumes or two variables have the same name
//   - invalidObject: the API server would refuse a deployment with the configuration; the subject is
//     the deployment
//   - anyOf, ref: only with AsUpstream, in place of a more precise code
//   - decode: the value does not fit the Kubernetes type
//
// In the bundle as a whole; the subject is a name:
//
//   - dupDeployment, deploymentName: deployments of the CSV
//   - dupCRD, missingCRD, crdVersion, invalidCRD: CustomResourceDefinitions
//   - invalidMetadata: names, labels and annotations of other objects
//   - dropped: fields that are unknown or repeated; only from Dropped
//   - invalidObject: deployments, permissions and other objects that the API server would refuse
//   - dupCSV: there are several ClusterServiceVersions
//   - packageName: the package has no name
//   - webhookDeployment, dupWebhook, webhookName, webhookRule: webhooks of the CSV
//   - conversionInstallMode, dupConversionCRD, conversionNotOwned: conversion webhooks
//   - servicePorts: one port of a service has two targets
//   - unsupportedKind: a bundle must not contain objects of the kind
//
// Later:
//
//   - namespace: the install namespace is not a valid name
//   - preserveUnknownFields: a CRD with a conversion webhook preserves unknown fields
//   - apiVersion: an object has no apiVersion
//   - duplicate: two objects with the same name differ
//   - tooManyPhases: a revision cannot hold all objects
//   - objectSize: an object is too large for a Secret
//
// [K200]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k200
package registryv1
