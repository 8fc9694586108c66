package oci

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRetryAfter checks how long, and how often, a request that a busy registry refuses is repeated.
func TestRetryAfter(t *testing.T) {
	for name, tt := range map[string]struct {
		method, header string
		busy           int // the number of refusals
		limit          time.Duration
		want           time.Duration // until the answer
		status         int
		refused        time.Duration
	}{
		"seconds":          {http.MethodGet, "7", 1, 0, 7 * time.Second, http.StatusOK, 7 * time.Second},
		"three times":      {http.MethodGet, "7", 3, 0, 21 * time.Second, http.StatusOK, 7 * time.Second},
		"four times":       {http.MethodGet, "7", 4, 0, 21 * time.Second, http.StatusTooManyRequests, 7 * time.Second},
		"the longest":      {http.MethodHead, "60", 1, 0, time.Minute, http.StatusOK, time.Minute},
		"too long":         {http.MethodHead, "61", 1, 0, 0, http.StatusTooManyRequests, 61 * time.Second},
		"a time":           {http.MethodGet, "Sat, 01 Jan 2000 00:00:05 GMT", 1, 0, 5 * time.Second, http.StatusOK, 5 * time.Second},
		"a time before":    {http.MethodGet, "Sat, 01 Jan 1999 00:00:05 GMT", 1, 0, 0, http.StatusOK, 0},
		"neither":          {http.MethodGet, "soon", 1, 0, 0, http.StatusTooManyRequests, 0},
		"after the limit":  {http.MethodGet, "7", 1, 6 * time.Second, 0, http.StatusTooManyRequests, 7 * time.Second},
		"before the limit": {http.MethodGet, "7", 1, 8 * time.Second, 7 * time.Second, http.StatusOK, 7 * time.Second},
		"a write":          {http.MethodPost, "7", 1, 0, 0, http.StatusTooManyRequests, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which begins at 2000-01-01
				ctx := t.Context()
				if tt.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				p, start := busy(tt.busy, tt.header), time.Now()
				req, err := http.NewRequestWithContext(ctx, tt.method, "https://example.com/v2/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := p.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if got := time.Since(start); got != tt.want || resp.StatusCode != tt.status || p.refused() != tt.refused {
					t.Errorf("status %d after %v, refused for %v; want %d, %v and %v", resp.StatusCode, got, p.refused(), tt.status, tt.want, tt.refused)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		start := time.Now()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := busy(1, "7").RoundTrip(req); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("canceled after a second: %v after %v", err, time.Since(start))
		}
	})
}

// busy returns the transport to a registry that refuses a number of requests.
func busy(times int, header string) *patience {
	return &patience{next: roundTrip(func(*http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody}
		if times--; times >= 0 {
			resp.StatusCode = http.StatusTooManyRequests
			resp.Header.Set("Retry-After", header)
		}
		return resp, nil
	})}
}
