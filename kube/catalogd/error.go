package catalogd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// An Error says that a catalog could not be fetched.
type Error struct {
	URL string
	// Attempts is how often it was tried.
	Attempts int
	Err      error
}

// Error returns "catalog at url: what is wrong".
func (e *Error) Error() string {
	if e.Attempts > 1 {
		return fmt.Sprintf("catalog at %s: %v (after %d attempts)", e.URL, e.Err, e.Attempts)
	}
	return fmt.Sprintf("catalog at %s: %v", e.URL, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A StatusError is an answer that is neither a catalog nor "not modified".
type StatusError struct {
	Code int
	// RetryAfter is how long the server asks to wait; zero when it does not say.
	RetryAfter time.Duration
	// Text is the beginning of what the server says about it.
	Text string
}

// Error tells the status and what the server says.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", and to come back in %v", e.RetryAfter)
	}
	switch {
	case e.Text != "":
		text += fmt.Sprintf(": %q", e.Text)
	case e.Code == http.StatusNotFound:
		text += "; the address is the one to which /api/v1/all is added"
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		text += "; give the client credentials that may read it"
	}
	return text
}

// A TooLargeError is an answer that exceeds a limit.
type TooLargeError struct {
	// Limit is the field of Limits, Max its value.
	Limit string
	Max   int64
}

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes; raise Limits.%s if that is right", e.Max, e.Limit)
}

// A TruncatedError is an answer that ended too early.
type TruncatedError struct {
	// Read is how much of the text arrived, in bytes.
	Read int64
	Err  error
}

// Error tells where it ended.
func (e *TruncatedError) Error() string {
	return fmt.Sprintf("the answer broke off after %d bytes: %v", e.Read, e.Err)
}

// Unwrap returns what the connection or the decompression reported.
func (e *TruncatedError) Unwrap() error { return e.Err }

// A ContentTypeError is an answer of a type that no catalog has.
type ContentTypeError struct{ Type string }

// Error names the type.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("the answer is of type %q, and a catalog is application/jsonl; is there a proxy before the server?", e.Type)
}

// A RedirectError is a redirect that is not followed.
type RedirectError struct{ To, Reason string }

// Error says where it leads and why it is not followed.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the server sends the client to %s, %s; if it is right, use that address", e.To, e.Reason)
}

// A CatalogError is an answer that is complete and no catalog. Its cause is an
// fbc.Diagnostics.
type CatalogError struct{ Err error }

// Error returns the faults, one a line.
func (e *CatalogError) Error() string { return "the answer is no catalog: " + e.Err.Error() }

// Unwrap returns the diagnostics.
func (e *CatalogError) Unwrap() error { return e.Err }

var errNoCatalog = errors.New("the answer is no catalog")

// quiet returns an error without what the server sent.
func quiet(err error) error {
	var (
		status   *StatusError
		typ      *ContentTypeError
		redirect *RedirectError
		catalog  *CatalogError
		broken   *TruncatedError
	)
	switch {
	case errors.As(err, &status):
		return &StatusError{Code: status.Code, RetryAfter: status.RetryAfter}
	case errors.As(err, &redirect):
		return &RedirectError{To: "elsewhere", Reason: redirect.Reason}
	case errors.As(err, &broken):
		return &TruncatedError{Read: broken.Read, Err: io.ErrUnexpectedEOF}
	case errors.As(err, &typ), errors.As(err, &catalog):
		return errNoCatalog
	}
	return err
}

// passing reports whether an error may pass by itself.
func passing(err error) bool {
	var (
		status *StatusError
		cert   *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &status):
		switch status.Code {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		}
		return status.Code >= 500 && status.Code != http.StatusNotImplemented
	case errors.As(err, &cert), errors.Is(err, context.Canceled):
		return false
	}
	for _, final := range []any{new(*TooLargeError), new(*ContentTypeError), new(*RedirectError), new(*CatalogError), new(*diskError)} {
		if errors.As(err, final) {
			return false
		}
	}
	return true
}
