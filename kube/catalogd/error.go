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

// An Error reports that a catalog could not be fetched.
type Error struct {
	URL string
	// Attempts is the number of attempts made.
	Attempts int
	Err      error
}

// Error returns "catalog at URL: cause", with the number of attempts if there
// were several.
func (e *Error) Error() string {
	if e.Attempts > 1 {
		return fmt.Sprintf("catalog at %s: %v (after %d attempts)", e.URL, e.Err, e.Attempts)
	}
	return fmt.Sprintf("catalog at %s: %v", e.URL, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A StatusError is a response with a status other than 200 OK or 304 Not
// Modified.
type StatusError struct {
	Code int
	// RetryAfter is the delay in the server's Retry-After header, or zero if
	// there is none.
	RetryAfter time.Duration
	// Text is the beginning of the response's body.
	Text string
}

// Error returns the status, the text and, where there is one, a hint.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", retry after %v", e.RetryAfter)
	}
	switch {
	case e.Text != "":
		text += fmt.Sprintf(": %q", e.Text)
	case e.Code == http.StatusNotFound:
		text += "; check that the address is the base, without /api/v1/all"
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		text += "; give the client credentials with access to the catalog"
	}
	return text
}

// A TooLargeError is a response that exceeds a limit.
type TooLargeError struct {
	// Limit is the name of the field in Limits that is exceeded, and Max is the
	// value of that field.
	Limit string
	Max   int64
}

// Error returns a message that names the limit in words, not by its field name.
func (e *TooLargeError) Error() string {
	if e.Limit == "Text" {
		return fmt.Sprintf("the text of the catalog is larger than %d bytes; raise the limit on the text of catalogs to allow it", e.Max)
	}
	return fmt.Sprintf("the response is larger than %d bytes; raise the limit on responses to allow it", e.Max)
}

// A TruncatedError is a response that ended early.
type TruncatedError struct {
	// Read is the number of bytes of text received.
	Read int64
	Err  error
}

// Error returns where the response ended, and why.
func (e *TruncatedError) Error() string {
	return fmt.Sprintf("the response ended after %d bytes: %v", e.Read, e.Err)
}

// Unwrap returns the error of the connection or the decompression.
func (e *TruncatedError) Unwrap() error { return e.Err }

// A ContentTypeError is a response with a content type that no catalog has.
type ContentTypeError struct{ Type string }

// Error returns a message that names the type.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("the response has content type %q, not application/jsonl; check for a proxy in front of the server", e.Type)
}

// A RedirectError is a redirect that is not followed.
type RedirectError struct{ To, Reason string }

// Error returns the target and why it is not followed.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s, %s; if that is correct, use that address", e.To, e.Reason)
}

// A CatalogError is a complete response that is not a valid catalog. Its cause
// is an fbc.Diagnostics.
type CatalogError struct{ Err error }

// Error returns the errors in the catalog, one per line.
func (e *CatalogError) Error() string { return "the response is not a valid catalog: " + e.Err.Error() }

// Unwrap returns the diagnostics.
func (e *CatalogError) Unwrap() error { return e.Err }

var errNoCatalog = errors.New("the response is not a valid catalog")

// quiet returns err without any text that the server sent.
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
		return &RedirectError{To: "another address", Reason: redirect.Reason}
	case errors.As(err, &broken):
		return &TruncatedError{Read: broken.Read, Err: io.ErrUnexpectedEOF}
	case errors.As(err, &typ), errors.As(err, &catalog):
		return errNoCatalog
	}
	return err
}

// transient reports whether retrying may help.
func transient(err error) bool {
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
