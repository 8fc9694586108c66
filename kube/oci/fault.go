package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
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
	// FaultContent: the registry sent content that is damaged, incomplete or of another
	// kind.
	FaultContent
)

var faultTexts = map[Fault]string{
	FaultNetwork:     "registry %s cannot be reached",
	FaultTrust:       "registry %s has a certificate that is not trusted",
	FaultCredentials: "registry %s denies access with the given credentials",
	FaultName:        "registry %s does not have the image",
	FaultBusy:        "registry %s received too many requests",
	FaultServer:      "registry %s failed",
	FaultContent:     "registry %s sent invalid content",
}

// A RegistryError reports that a registry did not provide an image.
type RegistryError struct {
	// Registry is the host, with a port if the reference has one.
	Registry string
	Fault    Fault
	// Anonymous is set for FaultCredentials if the request had no credentials.
	Anonymous bool
	// RetryAfter is the delay in the registry's last answer, for FaultBusy. It is 0 if there is none.
	RetryAfter time.Duration
	Err        error
}

// Error returns a message with the registry and the cause.
func (e *RegistryError) Error() string {
	text := fmt.Sprintf(faultTexts[e.Fault], e.Registry)
	if cut := (*CutError)(nil); errors.As(e.Err, &cut) {
		text = fmt.Sprintf("registry %s broke off", e.Registry)
	}
	if e.Anonymous {
		text = fmt.Sprintf("registry %s denies access without credentials", e.Registry)
	}
	if text += ": " + e.Err.Error(); e.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %v)", e.RetryAfter)
	}
	return text
}

// Unwrap returns the cause.
func (e *RegistryError) Unwrap() error { return e.Err }

// registryError returns a [*RegistryError] for an error whose fault is known, and
// the error itself otherwise.
func (p *Puller) registryError(at location, waited *patience, err error) error {
	f := faultOf(err)
	if f == 0 {
		return err
	}
	e := &RegistryError{Registry: at.ref.Context().RegistryStr(), Fault: f, Err: err}
	switch f {
	case FaultCredentials:
		auth, err := authn.Resolve(context.Background(), p.opts.Keychain, at.ref.Context())
		e.Anonymous = err == nil && auth == authn.Anonymous
	case FaultBusy:
		e.RetryAfter = waited.refused()
	}
	return e
}

func faultOf(err error) Fault {
	var answer *transport.Error
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	var request *url.Error
	var network net.Error
	var cut *CutError
	var file *fs.PathError
	var credentials *CredentialsError
	switch {
	case isContent(err), errors.As(err, &file), errors.As(err, &credentials):
		return 0 // the message suffices, or the fault is on this host
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		// Check this before answer: for a local registry, the error also contains
		// the answer to a second attempt without TLS.
		return FaultTrust
	case errors.As(err, &answer):
		switch code := answer.StatusCode; {
		case code == http.StatusUnauthorized, code == http.StatusForbidden:
			return FaultCredentials
		case code == http.StatusNotFound && isBlob(answer.Request):
			return FaultContent // there is a manifest, but not all that it lists
		case code == http.StatusNotFound:
			return FaultName
		case code == http.StatusTooManyRequests:
			return FaultBusy
		case code >= 500:
			return FaultServer
		}
		return 0
	case errors.As(err, &cut), errors.As(err, &request), errors.As(err, &network):
		return FaultNetwork
	}
	return FaultContent
}

func isBlob(r *http.Request) bool { return r != nil && strings.Contains(r.URL.Path, "/blobs/") }
