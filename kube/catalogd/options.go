package catalogd

import (
	"crypto/tls"
	"net/http"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/graph"
)

// Options adjust a client. A nil *Options means all defaults.
type Options struct {
	// HTTP makes the requests. It is copied; its redirect policy is asked after
	// that of this package. Default: a client of its own, with TLS.
	HTTP *http.Client
	// TLS holds the certificate authorities and client certificates of the
	// default HTTP client. It is not allowed beside HTTP.
	TLS *tls.Config
	// Control, if any, is asked before each connection of the default HTTP client,
	// with the address that the name of the host led to, as net.Dialer.Control is.
	// No proxy is used then, as only it would see the address. It is not allowed
	// beside HTTP.
	Control func(network, address string, c syscall.RawConn) error
	// Quiet keeps what a server sent out of errors: whoever may choose the address
	// of a catalog may not be somebody who may read all that answers there.
	Quiet bool
	// Header is sent with every request, such as an Authorization.
	Header http.Header
	// Token, if any, returns the bearer token of a request. It is asked before each
	// one, so that a token may be renewed while the program runs.
	Token func() (string, error)
	// Dir is a directory for the last answer and its index; it is made when it
	// does not exist. Several clients may share one. Default: nothing is kept.
	Dir string
	// Warn, if any, is told why Dir could not be used. The catalog is there all
	// the same.
	Warn func(error)
	// Timeout bounds one attempt, from the connection to the last byte.
	// Default: 5 minutes.
	Timeout time.Duration
	Retry   Retry
	Limits  Limits
	// Graph is passed to graph.Load and graph.OpenIndex.
	Graph *graph.Options
}

// Retry says how what may pass by itself is tried again. Zero fields mean the
// defaults.
type Retry struct {
	// Attempts is how many there are in all. Default: 4.
	Attempts int
	// Pause is the pause after the first attempt; each further one is twice as
	// long. A random part, at most half of it, is taken off. Default: 250 ms.
	Pause time.Duration
	// MaxPause bounds a pause. A server that asks for a longer one gets it from
	// the caller: Fetch ends, and the StatusError says how long. Default: 15 s.
	MaxPause time.Duration
}

// Limits bound what an answer may cost. Zero fields mean the defaults.
type Limits struct {
	// Body bounds the bytes that are received. Default: 128 MiB.
	Body int64
	// Text bounds the catalog's text after decompression. Default: 512 MiB.
	Text int64
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	def(&out.Timeout, 5*time.Minute)
	def(&out.Retry.Attempts, 4)
	def(&out.Retry.Pause, 250*time.Millisecond)
	def(&out.Retry.MaxPause, 15*time.Second)
	def(&out.Limits.Body, 128<<20)
	def(&out.Limits.Text, 512<<20)
	return out
}

func def[T int | int64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}
