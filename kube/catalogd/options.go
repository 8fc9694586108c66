package catalogd

import (
	"crypto/tls"
	"net/http"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/graph"
)

// Options configure a Client. A nil *Options means all defaults.
type Options struct {
	// HTTP makes the requests. New copies it; redirects must satisfy both this
	// package's policy and the client's own. Default: a new client that
	// supports TLS.
	HTTP *http.Client
	// TLS configures the default HTTP client, for example with certificate
	// authorities and client certificates. The fields TLS and
	// HTTP cannot both be set.
	TLS *tls.Config
	// Control, if not nil, is called before the default HTTP client connects,
	// with the resolved address; see net.Dialer.Control. If Control is set, no
	// proxy is used, because a proxy would resolve the address itself. It cannot
	// be combined with HTTP.
	Control func(network, address string, c syscall.RawConn) error
	// Quiet omits the server's response from errors. Set it if the users who
	// choose the address of a catalog must not learn what is served there.
	Quiet bool
	// Header is added to every request.
	Header http.Header
	// Token, if not nil, returns the bearer token. It is called before each
	// request, so the token may be renewed while the program runs.
	Token func() (string, error)
	// Dir is a directory that holds the last response and its index. It is
	// created if necessary, and several clients may share it. Default: nothing
	// is kept.
	Dir string
	// Warn, if not nil, is called when Dir cannot be used. Fetch still returns
	// the catalog.
	Warn func(error)
	// Timeout limits one attempt, from the connection to the last byte.
	// Default: 5 minutes.
	Timeout time.Duration
	Retry   Retry
	Limits  Limits
	// Graph is passed to graph.Load and graph.OpenIndex.
	Graph *graph.Options
}

// Retry configures how transient errors are retried. Zero fields mean the
// defaults.
type Retry struct {
	// Attempts is the maximum number of attempts. Default: 4.
	Attempts int
	// Pause is the pause after the first attempt; it doubles with each attempt.
	// Up to half of each pause is randomly subtracted. Default: 250 ms.
	Pause time.Duration
	// MaxPause is the longest pause. If the server requests a longer one, Fetch
	// returns a StatusError with that time. Default: 15 s.
	MaxPause time.Duration
}

// Limits caps the size of a response. Zero fields mean the defaults.
type Limits struct {
	// Body is the maximum number of bytes received. Default: 128 MiB.
	Body int64
	// Text is the maximum number of bytes after decompression. Default: 512
	// MiB.
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
