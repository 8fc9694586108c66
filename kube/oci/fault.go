package oci

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// A Fault is the reason why a registry did not provide an image.
type Fault int

const (
	// FaultNetwork: the registry could not be reached, or the connection ended.
	FaultNetwork Fault = iota + 1
	// FaultTrust: the certificate of the registry is not trusted.
	FaultTrust
	// FaultCredentials: credentials are missing or insufficient.
	FaultCredentials
	// FaultName: the registry has no such repository, tag or digest.
	FaultName
	// FaultBusy: the registry received too many requests.
	FaultBusy
	// FaultServer: the registry answered with a status of 500 or above.
	FaultServer
)

var faultTexts = map[Fault]string{
	FaultNetwork:     "registry %s cannot be reached",
	FaultTrust:       "registry %s has a certificate that is not trusted",
	FaultCredentials: "registry %s requires other credentials",
	FaultName:        "registry %s does not have the image",
	FaultBusy:        "registry %s received too many requests",
	FaultServer:      "registry %s failed",
}

// A RegistryError reports that a registry did not provide an image.
type RegistryError struct {
	// Registry is the host, with a port if the reference has one.
	Registry string
	Fault    Fault
	Err      error
}

// Error returns a message with the registry and the cause.
func (e *RegistryError) Error() string {
	return fmt.Sprintf(faultTexts[e.Fault], e.Registry) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *RegistryError) Unwrap() error { return e.Err }

// registryError returns a [*RegistryError] for an error whose fault is known, and
// the error itself otherwise.
func registryError(registry string, err error) error {
	if f := faultOf(err); f != 0 {
		return &RegistryError{registry, f, err}
	}
	return err
}

func faultOf(err error) Fault {
	var answer *transport.Error
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	var request *url.Error
	var network net.Error
	switch {
	case isContent(err):
		return 0
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		// Check this before answer: for a local registry, the error also contains
		// the answer to a second attempt without TLS.
		return FaultTrust
	case errors.As(err, &answer):
		switch code := answer.StatusCode; {
		case code == http.StatusUnauthorized, code == http.StatusForbidden:
			return FaultCredentials
		case code == http.StatusNotFound:
			return FaultName
		case code == http.StatusTooManyRequests:
			return FaultBusy
		case code >= 500:
			return FaultServer
		}
		return 0
	case errors.As(err, &request), errors.As(err, &network):
		return FaultNetwork
	}
	return 0
}
