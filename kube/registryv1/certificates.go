package registryv1

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A CertProvider is the component of a cluster that issues the certificates of
// webhooks.
type CertProvider int

const (
	NoCertificates CertProvider = iota // bundles with webhooks are refused
	CertManager                        // cert-manager
	ServiceCA                          // the service CA of OpenShift
)

// ParseCertProvider returns the provider with a name: none, cert-manager or
// service-ca.
func ParseCertProvider(name string) (p CertProvider, ok bool) { // K49
	switch name {
	case "none":
		return NoCertificates, true
	case "cert-manager":
		return CertManager, true
	case "service-ca":
		return ServiceCA, true
	}
	return NoCertificates, false
}

// String returns the name that [ParseCertProvider] takes.
func (p CertProvider) String() string {
	switch p {
	case CertManager:
		return "cert-manager"
	case ServiceCA:
		return "service-ca"
	}
	return "none"
}

// certName returns the name of the certificate of a service and of its Secret (K46).
func certName(service string) string { return joinName(service, "cert") }

// injectCA returns annotations plus the one that requests the CA of the deployment's
// certificate from the provider. It is for an object that must trust that
// certificate.
func (g *generator) injectCA(deployment string, annotations map[string]string) map[string]string {
	var k, v string
	switch g.opts.Certificates {
	case CertManager:
		k, v = "cert-manager.io/inject-ca-from", g.opts.Namespace+"/"+certName(serviceName(deployment))
	case ServiceCA:
		k, v = "service.beta.openshift.io/inject-cabundle", "true"
	default:
		return annotations
	}
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[k] = v
	return out
}

// serving returns the annotations by which a service requests its certificate, or
// nil if the provider needs none.
func (g *generator) serving(service string) map[string]string {
	if g.opts.Certificates != ServiceCA {
		return nil
	}
	return map[string]string{"service.beta.openshift.io/serving-cert-secret-name": certName(service)}
}

// certificate adds the objects that make cert-manager issue the certificate of a
// service. It adds nothing for other providers.
func (g *generator) certificate(service string) {
	if g.opts.Certificates != CertManager {
		return
	}
	name := certName(service)
	issuer := joinName(name, "selfsigned-issuer")
	object := func(kind, name string, spec map[string]any) {
		g.addObject(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cert-manager.io/v1", "kind": kind,
			"metadata": map[string]any{"name": name, "namespace": g.opts.Namespace},
			"spec":     spec,
		}})
	}
	object("Issuer", issuer, map[string]any{"selfSigned": map[string]any{}})
	host := service + "." + g.opts.Namespace
	object("Certificate", name, map[string]any{
		"commonName":  host,
		"dnsNames":    []any{host, host + ".svc", host + ".svc.cluster.local"},
		"duration":    "17520h0m0s",
		"issuerRef":   map[string]any{"name": issuer},
		"renewBefore": "24h0m0s",
		"secretName":  name,
		"usages":      []any{"server auth"},
	})
}
