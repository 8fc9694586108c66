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

// Timeouts of the server: for a request, for writing an answer, for the next request on a connection, and for pending
// answers at the end.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	stopTimeout  = time.Second
	maxHeader    = 16 << 10
)

// Serve serves the page on a listener until the context ends, and then returns nil. See [Handler] for names.
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
		return srv.Close() // a client takes too long; stop anyway
	}
	return nil
}

// Handler returns a handler that serves the page at / and nothing else. The host of a request must be an IP address,
// localhost or one of names. Otherwise, a foreign page could read this one through a domain name that resolves to this
// machine (DNS rebinding).
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
			http.Error(w, "this server accepts only IP addresses, localhost and allowed names as host", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "there is nothing to change here", http.StatusMethodNotAllowed)
		case r.URL.Path != "/":
			http.NotFound(w, r)
		default:
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Length", strconv.Itoa(len(p.text)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(p.text) // an error means that the client has gone
			}
		}
	})
}

// knownHost reports whether the host in a Host header is an IP address, localhost, or listed in names. A foreign name
// server cannot redirect any of these to this machine.
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
