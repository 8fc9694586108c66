package oci

import (
	"net/http"
	"strconv"
	"time"
)

// maxWaits limits how often a request is repeated because a registry is busy.
const maxWaits = 3

// A patient transport repeats requests that a busy registry refuses, after the
// delay in its Retry-After header, unless the context ends earlier.
type patient struct{ next http.RoundTripper }

func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	for n := 0; ; n++ {
		resp, err := p.next.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests || n == maxWaits ||
			req.Method != http.MethodGet && req.Method != http.MethodHead {
			return resp, err
		}
		wait, ok := retryAfter(resp.Header.Get("Retry-After"))
		deadline, limited := req.Context().Deadline()
		if !ok || limited && time.Now().Add(wait).After(deadline) {
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
	return max(time.Until(at), 0), err == nil
}
