// Package crd checks existing custom resources against a new version of their
// CustomResourceDefinition, with the code of the API server:
//
//	opts := &reconcile.Options{CheckResources: crd.Check}
//
// It does not check the definition itself. The API server does that when the
// definition is written.
package crd
