package catalogd_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/catalogd"
)

// lines returns a catalog of one package as JSON lines.
func lines(version string) string {
	object := base64.StdEncoding.EncodeToString([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}`))
	return fmt.Sprintf(`{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v%[1]s"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v%[1]s","image":"example.com/etcd:%[1]s","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"%[1]s"}},{"type":"olm.bundle.object","value":{"data":"%[2]s"}}]}
`, version, object)
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

// served starts a server and returns a client for it that retries after short
// pauses.
func served(t *testing.T, handler http.HandlerFunc, opts *catalogd.Options) *catalogd.Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return clientOf(t, s.URL+"/catalogs/sample", opts)
}

func clientOf(t *testing.T, base string, opts *catalogd.Options) *catalogd.Client {
	t.Helper()
	if opts == nil {
		opts = &catalogd.Options{}
	}
	opts.Retry.Pause = time.Millisecond
	c, err := catalogd.New(base, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func head(t *testing.T, cat *catalogd.Catalog) string {
	t.Helper()
	p, _ := cat.Graph.Package("etcd")
	ch, _ := p.Channel("stable")
	e, ok := ch.Head()
	if !ok {
		t.Fatal("the catalog has no head of etcd's channel stable")
	}
	return e.Name()
}

func fetch(t *testing.T, c *catalogd.Client) *catalogd.Catalog {
	t.Helper()
	cat, err := c.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func TestFetch(t *testing.T) {
	var request *http.Request
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		request = r
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(zipped(lines("1.0.0")))
	}, &catalogd.Options{Header: http.Header{"Authorization": {"Bearer secret"}}})
	cat := fetch(t, c)
	if got := head(t, cat); got != "etcd.v1.0.0" {
		t.Errorf("the head is %q", got)
	}
	if request.URL.Path != "/catalogs/sample/api/v1/all" || request.Header.Get("Authorization") != "Bearer secret" {
		t.Errorf("requested %s with %v", request.URL, request.Header)
	}
	if cat.Size != int64(len(lines("1.0.0"))) {
		t.Errorf("Size = %d; want %d", cat.Size, len(lines("1.0.0")))
	}
	for b := range cat.Graph.Bundles() {
		raw, err := cat.Raw(t.Context(), b)
		if err != nil || !strings.Contains(string(raw), "olm.bundle.object") {
			t.Errorf("Raw = %.60s, %v", raw, err)
		}
	}
}

func TestNotModified(t *testing.T) {
	for _, tag := range []string{"ETag", "Last-Modified", "neither"} {
		t.Run(tag, func(t *testing.T) {
			var version atomic.Value
			version.Store("1.0.0")
			var full, asked atomic.Int32
			c := served(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				v := version.Load().(string)
				now := map[string]string{"1.0.0": "Mon, 02 Nov 2026 10:00:00 GMT", "2.0.0": "Tue, 03 Nov 2026 10:00:00 GMT"}[v]
				switch tag {
				case "ETag":
					w.Header().Set("ETag", `"`+v+`"`)
					if r.Header.Get("If-None-Match") == `"`+v+`"` {
						w.WriteHeader(http.StatusNotModified)
						return
					}
				case "Last-Modified":
					w.Header().Set("Last-Modified", now)
					if r.Header.Get("If-Modified-Since") == now {
						w.WriteHeader(http.StatusNotModified)
						return
					}
				}
				full.Add(1)
				io.WriteString(w, lines(v))
			}, nil)
			one, two := fetch(t, c), fetch(t, c)
			if one != two {
				t.Error("Fetch of an unchanged catalog returned a new *Catalog")
			}
			version.Store("2.0.0")
			three := fetch(t, c)
			if got := head(t, three); three == two || got != "etcd.v2.0.0" {
				t.Errorf("after the change: head %q, same pointer: %v", got, three == two)
			}
			want := int32(2)
			if tag == "neither" {
				want = 3
			}
			if full.Load() != want || asked.Load() != 3 {
				t.Errorf("%d requests, %d full answers; want 3 and %d", asked.Load(), full.Load(), want)
			}
			if c.Last(t.Context()) != three {
				t.Error("Last is not the last one")
			}
		})
	}
}

// TestTransient checks that transient errors are retried.
func TestTransient(t *testing.T) {
	cut := func(w http.ResponseWriter, length int, body []byte) {
		w.Header().Set("Content-Length", fmt.Sprint(length))
		w.Write(body)
	}
	for name, fail := range map[string]func(http.ResponseWriter){
		"500": func(w http.ResponseWriter) { http.Error(w, "no luck", http.StatusInternalServerError) },
		"503 with Retry-After": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"429": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"cut": func(w http.ResponseWriter) { cut(w, 1000, []byte(lines("1.0.0"))) },
		"cut at line": func(w http.ResponseWriter) {
			cut(w, len(lines("1.0.0")), []byte(strings.SplitAfter(lines("1.0.0"), "\n")[0]))
		},
		"cut gzip": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := zipped(lines("1.0.0"))
			w.Write(z[:len(z)-9])
		},
		"no gzip at all": func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "gzip") },
		"closed":         func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			c := served(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) <= 2 {
					fail(w)
					return
				}
				io.WriteString(w, lines("1.0.0"))
			}, nil)
			if got := head(t, fetch(t, c)); got != "etcd.v1.0.0" || n.Load() != 3 {
				t.Errorf("head %q after %d requests; want any head after 3 requests", got, n.Load())
			}
		})
	}
}

func TestErrors(t *testing.T) {
	send := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }
	}
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, text, code) }
	}
	bomb := zipped(strings.Repeat(" ", 10<<20))
	for _, tt := range []struct {
		name     string
		handler  http.HandlerFunc
		opts     catalogd.Options
		attempts int
		cause    any
		want     string
	}{
		{"not found", status(404, "404 page not found"), catalogd.Options{}, 1, new(*catalogd.StatusError),
			`the server answered 404 Not Found: "404 page not found"`},
		{"forbidden", status(403, ""), catalogd.Options{}, 1, new(*catalogd.StatusError),
			"the server answered 403 Forbidden; give the client credentials with access to the catalog"},
		{"down", status(500, "disk full"), catalogd.Options{}, 4, new(*catalogd.StatusError),
			`the server answered 500 Internal Server Error: "disk full" (after 4 attempts)`},
		{"a long pause", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, catalogd.Options{}, 1, new(*catalogd.StatusError), "the server answered 429 Too Many Requests, retry after 1h0m0s"},
		{"a page", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<html>log in")
		}, catalogd.Options{}, 1, new(*catalogd.ContentTypeError), `the response has content type "text/html", not application/jsonl; check for a proxy in front of the server`},
		{"announced size", send(lines("1.0.0")), catalogd.Options{Limits: catalogd.Limits{Body: 100}}, 1, new(*catalogd.TooLargeError),
			"the response is larger than 100 bytes; raise the limit on responses to allow it"},
		{"size", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush() // no length
			io.WriteString(w, lines("1.0.0"))
		}, catalogd.Options{Limits: catalogd.Limits{Body: 100}}, 1, new(*catalogd.TooLargeError), "the response is larger than 100 bytes; raise the limit on responses to allow it"},
		{"gzip bomb", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb)
		}, catalogd.Options{Limits: catalogd.Limits{Text: 1 << 20}}, 1, new(*catalogd.TooLargeError), "the text of the catalog is larger than 1048576 bytes; raise the limit on the text of catalogs to allow it"},
		{"always cut", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5000")
			io.WriteString(w, lines("1.0.0"))
		}, catalogd.Options{Retry: catalogd.Retry{Attempts: 2}}, 2, new(*catalogd.TruncatedError), fmt.Sprintf("the response ended after %d bytes: unexpected EOF (after 2 attempts)", len(lines("1.0.0")))},
		{"no schema", send(`{"name":"x"}` + "\n" + `{"schema":"olm.package","name":"etcd","defaultChannel":7}`), catalogd.Options{}, 1, new(*catalogd.CatalogError),
			`all:2: olm.package "etcd": /defaultChannel: must be a string, found a number`},
		{"not JSON", send("{]"), catalogd.Options{}, 1, new(fbc.Diagnostics), "the response is not a valid catalog: all:1:"},
		{"empty", send(""), catalogd.Options{}, 1, new(fbc.Diagnostics), "the response is not a valid catalog: all: "},
		{"brotli", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "x")
		},
			catalogd.Options{Retry: catalogd.Retry{Attempts: 1}}, 1, nil, `the response has Content-Encoding "br", which the client does not accept`},
		{"circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
			catalogd.Options{}, 1, new(*catalogd.RedirectError), "after five other redirects; if that is correct, use that address"},
		{"another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.example/x", http.StatusFound)
		},
			catalogd.Options{}, 1, new(*catalogd.RedirectError), "the server redirects to http://evil.example/x, which is a different host; if that is correct, use that address"},
		{"a slow attempt", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, catalogd.Options{Timeout: 20 * time.Millisecond, Retry: catalogd.Retry{Attempts: 2}}, 2, nil, "an attempt took longer than Options.Timeout, 20ms (after 2 attempts)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := served(t, tt.handler, &tt.opts)
			cat, err := c.Fetch(t.Context())
			var e *catalogd.Error
			if cat != nil || !errors.As(err, &e) {
				t.Fatalf("Fetch = %v, %v; want an *Error", cat, err)
			}
			if e.Attempts != tt.attempts || e.URL != c.URL() || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("after %d attempts: %v\nwant %d and %q", e.Attempts, err, tt.attempts, tt.want)
			}
			if tt.cause != nil && !errors.As(err, tt.cause) {
				t.Errorf("%v is not a %T", err, tt.cause)
			}
			if c.Last(t.Context()) != nil {
				t.Error("Last returns a catalog after a failed Fetch")
			}
		})
	}
}

func TestRedirectOnTheSameHost(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v2") {
			http.Redirect(w, r, "/v2"+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		io.WriteString(w, lines("1.0.0"))
	}, nil)
	fetch(t, c)
}

func TestFailureKeepsLast(t *testing.T) {
	var down atomic.Bool
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		io.WriteString(w, lines("1.0.0"))
	}, nil)
	cat := fetch(t, c)
	down.Store(true)
	if _, err := c.Fetch(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if c.Last(t.Context()) != cat {
		t.Error("Last no longer returns the catalog")
	}
}

func TestContextEndsEverything(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"headers": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"body": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, lines("1.0.0")[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"pause": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(503)
		},
	} {
		t.Run(name, func(t *testing.T) {
			// If the client ignored the context, it would wait for an hour.
			c := served(t, handler, &catalogd.Options{Timeout: time.Hour, Retry: catalogd.Retry{MaxPause: 2 * time.Hour}})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := c.Fetch(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Fetch: %v; want the context's error", err)
			}
		})
	}
}

// A transport answers requests without a network.
type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func TestCallersShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, answer := 0, make(chan struct{})
		c := clientOf(t, "http://catalogs.example", &catalogd.Options{HTTP: &http.Client{Transport: transport(func(*http.Request) *http.Response {
			n++
			<-answer
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(lines("1.0.0")))}
		})}})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.Fetch(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // until all of them wait
		close(answer)
		wg.Wait()
		if n != 1 {
			t.Errorf("%d requests for 20 callers at once", n)
		}
	})
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, lines("1.0.0")) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, err := clientOf(t, s.URL, nil).Fetch(t.Context())
	var unknown x509.UnknownAuthorityError
	var e *catalogd.Error
	if !errors.As(err, &unknown) || !errors.As(err, &e) || e.Attempts != 1 {
		t.Errorf("an unknown authority: %v; want that error after one attempt", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	fetch(t, clientOf(t, s.URL, &catalogd.Options{TLS: &tls.Config{RootCAs: pool}}))
	fetch(t, clientOf(t, s.URL, &catalogd.Options{HTTP: s.Client()}))
}

func TestClientCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, lines("1.0.0")) }))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	fetch(t, clientOf(t, s.URL, &catalogd.Options{TLS: &tls.Config{RootCAs: pool, Certificates: s.TLS.Certificates}}))
}

func TestNoWayBackFromTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/plain", http.StatusFound)
	}))
	defer s.Close()
	var e *catalogd.RedirectError
	if _, err := clientOf(t, s.URL, &catalogd.Options{HTTP: s.Client()}).Fetch(t.Context()); !errors.As(err, &e) || e.Reason != "which does not use TLS" {
		t.Errorf("%v; want a RedirectError", err)
	}
}

func TestNew(t *testing.T) {
	for base, want := range map[string]string{
		"catalog.example":               `catalog address: "catalog.example" does not start with http:// or https://`,
		"http:///x":                     `catalog address: "http:///x" has no host`,
		"http://user:secret@host/x":     `catalog address: "http://user:xxxxx@host/x" contains credentials; put them in Options.Header`,
		"http://host/x?y":               `catalog address: "http://host/x?y" has a query or fragment; give the base address without /api/v1/all`,
		"http://[::1":                   `catalog address: parse "http://[::1": missing ']' in host`,
		"grpc://registry.example:50051": `catalog address: "grpc://registry.example:50051" does not start with http:// or https://`,
	} {
		if _, err := catalogd.New(base, nil); err == nil || err.Error() != want {
			t.Errorf("New(%q): %v\nwant %s", base, err, want)
		}
	}
	if _, err := catalogd.New("http://x", &catalogd.Options{HTTP: http.DefaultClient, TLS: &tls.Config{}}); err == nil {
		t.Error("New accepts both HTTP and TLS")
	}
}
