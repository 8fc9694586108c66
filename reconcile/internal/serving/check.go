package serving

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
)

// The types of webhooks.
const (
	typeValidating = "ValidatingAdmissionWebhook"
	typeMutating   = "MutatingAdmissionWebhook"
	typeConversion = "ConversionWebhook"
)

// A Problem is the reason why an operator cannot serve the webhooks or APIs in
// its CSV. Retrying does not help.
type Problem struct {
	Reason  olm.Reason
	Message string
}

// Error returns the message.
func (p *Problem) Error() string { return p.Message }

func invalid(format string, args ...any) *Problem {
	return &Problem{reason.InvalidWebhook, fmt.Sprintf(format, args...)}
}

func failed(format string, args ...any) *Problem {
	return &Problem{reason.ComponentFailed, "install strategy failed: " + fmt.Sprintf(format, args...)}
}

// Serves reports whether a CSV describes webhooks or owns aggregated APIs.
func Serves(csv *olm.ClusterServiceVersion) bool {
	return len(csv.Spec.Webhooks) > 0 || len(csv.Spec.APIServices.Owned) > 0
}

// Check returns the first problem with the webhooks of a CSV, or nil. Call it
// before anything is created (E16).
func Check(csv *olm.ClusterServiceVersion) *Problem {
	names := map[string]bool{}
	for _, w := range csv.Spec.Webhooks {
		if names[w.GenerateName] {
			return invalid("the CSV describes two webhooks named %q; rename one", w.GenerateName)
		}
		names[w.GenerateName] = true
		d, err := describe(w)
		if err != nil {
			return invalid("webhook %q: %s", w.GenerateName, err)
		}
		if p := checkRules(d); p != nil {
			return p
		}
	}
	for _, w := range csv.Spec.Webhooks {
		if !slices.ContainsFunc(csv.Spec.Install.Spec.Deployments, func(d olm.StrategyDeploymentSpec) bool { return d.Name == w.DeploymentName }) {
			return failed("webhook %q: the CSV has no deployment %q", w.GenerateName, w.DeploymentName)
		}
		switch w.Type {
		case typeValidating, typeMutating:
		case typeConversion:
			if p := checkConversion(csv, w); p != nil {
				return p
			}
		default:
			return invalid("webhook %q has unknown type %q; want %s, %s or %s", w.GenerateName, w.Type, typeValidating, typeMutating, typeConversion)
		}
	}
	return nil
}

// checkRules rejects rules that would let a webhook interfere with OLM.
func checkRules(d description) *Problem {
	for _, r := range d.Rules {
		switch {
		case slices.Contains(r.APIGroups, "*"):
			return invalid("webhook rules cannot include all groups: see webhook %q", d.GenerateName)
		case slices.Contains(r.APIGroups, olm.Group):
			return invalid("webhook rules cannot include the OLM group: see webhook %q", d.GenerateName)
		case slices.Contains(r.APIGroups, groupAdmission) && (slices.Contains(r.Resources, "*") ||
			slices.Contains(r.Resources, kindMutating) || slices.Contains(r.Resources, kindValidating)):
			return invalid("webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration resources: see webhook %q", d.GenerateName)
		}
	}
	return nil
}

func checkConversion(csv *olm.ClusterServiceVersion, w olm.Webhook) *Problem {
	for _, m := range csv.Spec.InstallModes {
		if m.Supported != (m.Type == olm.AllNamespaces) {
			return failed("unable to manage conversion webhook: CSVs with conversion webhooks must support only AllNamespaces")
		}
	}
	if len(w.ConversionCRDs) == 0 {
		return failed("unable to manage conversion webhook: conversion webhook must have at least one CRD specified")
	}
	for _, name := range w.ConversionCRDs {
		if !slices.ContainsFunc(csv.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return d.Name == name }) {
			return failed("csv %s does not own CRD %s", csv.Metadata.Name, name)
		}
	}
	return nil
}
