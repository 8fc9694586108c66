package catalogd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/kube/internal/flight"
)

// A Client fetches one catalog from a server. It is safe for concurrent use.
type Client struct {
	url    *url.URL // the address of /api/v1/all
	opts   Options
	http   http.Client
	shared flight.Group[struct{}, *Catalog]

	mu   sync.Mutex
	last known
}

// New returns a client for the catalog at a base address, such as
// status.urls.base of a ClusterCatalog. The client requests /api/v1/all below
// it. New makes no request. Opts may be nil.
func New(base string, opts *Options) (*Client, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("catalog address: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("catalog address: %q does not start with http:// or https://", u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("catalog address: %q has no host", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("catalog address: %q contains credentials; put them in Options.Header", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("catalog address: %q has a query or fragment; give the base address without /api/v1/all", u.Redacted())
	}
	c := &Client{url: u.JoinPath("api", "v1", "all"), opts: opts.withDefaults()}
	switch {
	case c.opts.HTTP != nil && c.opts.TLS != nil:
		return nil, errors.New("catalogd: Options has both HTTP and TLS; set the TLS configuration in HTTP.Transport")
	case c.opts.HTTP != nil && c.opts.Control != nil:
		return nil, errors.New("catalogd: Options has both HTTP and Control; set Control in the dialer of HTTP.Transport")
	case c.opts.HTTP != nil:
		c.http = *c.opts.HTTP
	default:
		c.http.Transport = transport(c.opts.TLS, c.opts.Control)
	}
	c.http.CheckRedirect = c.redirect(c.http.CheckRedirect)
	return c, nil
}

// transport returns a transport like net/http's default, with a TLS
// configuration.
func transport(config *tls.Config, control func(string, string, syscall.RawConn) error) http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: control}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   1,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
	}
	if control != nil {
		t.Proxy = nil
	}
	if config != nil {
		t.TLSClientConfig = config.Clone()
	}
	return t
}

// redirect returns a redirect policy that allows only redirects to the same
// host, so that headers and certificates are not sent elsewhere.
func (c *Client) redirect(also func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		to := r.URL.Redacted()
		switch {
		case c.url.Scheme == "https" && r.URL.Scheme != "https":
			return &RedirectError{To: to, Reason: "which does not use TLS"}
		case !strings.EqualFold(r.URL.Host, c.url.Host):
			return &RedirectError{To: to, Reason: "which is a different host"}
		case len(via) >= 5:
			return &RedirectError{To: to, Reason: "after five other redirects"}
		case also != nil:
			return also(r, via)
		}
		return nil
	}
}

// URL returns the address that the client requests.
func (c *Client) URL() string { return c.url.String() }

// Last returns the catalog of the last successful Fetch, or the one that an
// earlier process left in Options.Dir, or nil. It makes no request.
func (c *Client) Last(ctx context.Context) *Catalog {
	return c.known(ctx).cat
}

func (c *Client) known(ctx context.Context) known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.cat == nil && c.opts.Dir != "" {
		c.last = c.restore(ctx)
	}
	return c.last
}

// Fetch returns the server's current catalog. If it has not changed since the
// last Fetch, Fetch returns the same pointer. Concurrent callers share one
// request, which is canceled when all of them have left. The error is an
// [*Error], or the cause of the context's end.
func (c *Client) Fetch(ctx context.Context) (*Catalog, error) {
	return c.shared.Do(ctx, struct{}{}, func(ctx context.Context) (*Catalog, error) {
		now, err := c.fetch(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = now
		return now.cat, nil
	})
}

// fetch retries until it succeeds or the error is permanent.
func (c *Client) fetch(ctx context.Context) (known, error) {
	last := c.known(ctx)
	for n := 1; ; n++ {
		now, err := c.attempt(ctx, last)
		if err == nil {
			return now, nil
		}
		if ctx.Err() != nil {
			return known{}, context.Cause(ctx)
		}
		failure := &Error{URL: c.url.Redacted(), Attempts: n, Err: err}
		if c.opts.Quiet {
			failure.Err = quiet(err)
		}
		if n >= c.opts.Retry.Attempts || !transient(err) {
			return known{}, failure
		}
		pause := min(c.opts.Retry.Pause<<min(n-1, 20), c.opts.Retry.MaxPause)
		pause -= time.Duration(rand.Int64N(int64(pause)/2 + 1)) // clients that failed together must not retry together
		var status *StatusError
		if errors.As(err, &status) && status.RetryAfter > 0 {
			if status.RetryAfter > c.opts.Retry.MaxPause {
				return known{}, failure
			}
			pause = max(pause, status.RetryAfter)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return known{}, context.Cause(ctx)
		}
	}
}
