package view

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// How long the server waits, for a request, for an answer to be taken, for the
// next request, and at its end for answers that are under way.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	stopTimeout  = time.Second
	maxHeader    = 16 << 10
)

// Serve serves the page on a listener until the context ends, and returns nil
// then; see [Handler] for names.
func Serve(ctx context.Context, l net.Listener, p *Page, names ...string) error {
	srv := &http.Server{
		Handler:           Handler(p, names...),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := srv.Shutdown(last); err != nil {
		return srv.Close() // somebody takes longer than that; it is our end all the same
	}
	return nil
}

// Handler returns a handler that answers with the page at /, and with nothing
// else. A request must name its host as an address, as localhost or by one of
// names: a name that somebody else's server resolves to this machine would let
// a foreign page read this one.
func Handler(p *Page, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", p.policy+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !knownHost(r.Host, names):
			http.Error(w, "this server answers to addresses and to localhost", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "there is nothing to change here", http.StatusMethodNotAllowed)
		case r.URL.Path != "/":
			http.NotFound(w, r)
		default:
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Length", strconv.Itoa(len(p.text)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(p.text) // an error here is the reader's
			}
		}
	})
}

// knownHost reports whether a Host header is one that no foreign name server
// can have given.
func knownHost(host string, names []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, n := range names {
		if n != "" && strings.EqualFold(host, n) {
			return true
		}
	}
	return false
}
