package registryv1

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
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
// certificate from the provider (K47, K48). It is for an object that must trust
// that certificate.
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
// nil if the provider needs none (K48).
func (g *generator) serving(service string) map[string]string {
	if g.opts.Certificates != ServiceCA {
		return nil
	}
	return map[string]string{"service.beta.openshift.io/serving-cert-secret-name": certName(service)}
}

// certificate adds the objects that make cert-manager issue the certificate of a
// service (K47). It adds nothing for other providers.
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

// certificateVolumes are the volumes that hold a webhook's certificate (K45).
var certificateVolumes = []struct{ name, path, cert, key string }{
	{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"},
	{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"},
}

// withCertificates appends the volumes that OLM adds, unless they are there (K45).
func withCertificates(volumes []corev1.Volume) []corev1.Volume {
	for _, v := range certificateVolumes {
		if !slices.ContainsFunc(volumes, func(x corev1.Volume) bool { return x.Name == v.name }) {
			volumes = append(slices.Clip(volumes), corev1.Volume{Name: v.name})
		}
	}
	return volumes
}

// mountCertificate mounts the certificate in a Secret at the paths of
// certificateVolumes and removes the volumes that containers mounted there (K45). It
// reports whether init containers lost mounts (K208).
func (g *generator) mountCertificate(pod *corev1.PodSpec, secret string) (changed bool) {
	replaced := map[string]bool{}
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	for _, v := range certificateVolumes {
		replaced[v.name] = true
		volumes = append(volumes, corev1.Volume{Name: v.name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: secret,
			Items:      []corev1.KeyToPath{{Key: corev1.TLSCertKey, Path: v.cert}, {Key: corev1.TLSPrivateKeyKey, Path: v.key}},
		}}})
		mounts = append(mounts, corev1.VolumeMount{Name: v.name, MountPath: v.path})
		for _, c := range pod.Containers {
			for _, m := range c.VolumeMounts {
				if m.MountPath == v.path {
					replaced[m.Name] = true
				}
			}
		}
	}
	gone := func(m corev1.VolumeMount) bool { return replaced[m.Name] }
	pod.Volumes = append(slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return replaced[v.Name] }), volumes...)
	for i := range pod.Containers {
		c := &pod.Containers[i]
		c.VolumeMounts = append(slices.DeleteFunc(c.VolumeMounts, gone), mounts...)
	}
	for i := range pod.InitContainers {
		c := &pod.InitContainers[i]
		// A mount still works if a new volume has the name of the removed one.
		lost := func(m corev1.VolumeMount) bool {
			return gone(m) && m.Name != certificateVolumes[0].name && m.Name != certificateVolumes[1].name
		}
		if !g.opts.AsUpstream && slices.ContainsFunc(c.VolumeMounts, lost) {
			c.VolumeMounts, changed = slices.DeleteFunc(c.VolumeMounts, lost), true
		}
	}
	return changed
}
