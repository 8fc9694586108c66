package oci

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A request that a busy registry refuses is repeated at most maxWaits times, if the registry
// asks to wait no longer than maxWait.
const (
	maxWaits = 3
	maxWait  = time.Minute
)

// A patience repeats requests that a busy registry refuses, after the
// delay in its Retry-After header, unless the context ends earlier.
type patience struct {
	next http.RoundTripper
	last atomic.Int64 // the delay in nanoseconds in the last answer that RoundTrip returned
}

// refused returns the delay in the answer with which RoundTrip gave up, or 0.
func (p *patience) refused() time.Duration { return time.Duration(p.last.Load()) }

func (p *patience) RoundTrip(req *http.Request) (*http.Response, error) {
	for n := 0; ; n++ {
		resp, err := p.next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests {
			return resp, err
		}
		wait, ok := retryAfter(resp.Header.Get("Retry-After"))
		p.last.Store(int64(wait))
		deadline, limited := req.Context().Deadline()
		if !ok || n == maxWaits || wait > maxWait || limited && time.Now().Add(wait).After(deadline) ||
			req.Method != http.MethodGet && req.Method != http.MethodHead {
			return resp, nil
		}
		resp.Body.Close()
		select {
		case <-time.After(wait):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

// retryAfter parses a Retry-After header: a number of seconds, or a time.
func retryAfter(text string) (time.Duration, bool) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at).Round(time.Second), 0), true
}
