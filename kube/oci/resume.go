package oci

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A blob whose connection ends early is continued at most maxResumes times in a row. The count
// starts again after resumeProgress bytes.
const (
	maxResumes     = 5
	resumeProgress = 1 << 20
)

// A resuming transport continues the body of a response whose connection ends early, with a
// request for the remaining range. It leaves manifests alone: a tag may have moved in between,
// whereas the digest of a blob is verified.
type resuming struct{ next http.RoundTripper }

func (r resuming) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil || req.Method != http.MethodGet || resp.StatusCode != http.StatusOK || resp.ContentLength <= 0 ||
		strings.Contains(req.URL.Path, "/manifests/") {
		return resp, err
	}
	resp.Body = &resumed{next: r.next, req: req, body: resp.Body, size: resp.ContentLength}
	return resp, nil
}

// A resumed is the body of a response.
type resumed struct {
	next     http.RoundTripper
	req      *http.Request
	body     io.ReadCloser
	at, size int64
	failures int   // since the last progress
	since    int64 // where the last progress began
}

func (r *resumed) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		if r.at += int64(n); r.at-r.since >= resumeProgress {
			r.since, r.failures = r.at, 0
		}
		if n > 0 && err != io.EOF {
			return n, nil // the next Read returns the error
		}
		switch {
		case err == nil || err == io.EOF || r.at >= r.size:
			return n, err
		case !r.again():
			return n, &CutError{r.at, r.size, err}
		}
	}
}

// again replaces the body with its remaining part, and reports whether it could.
func (r *resumed) again() bool {
	ctx := r.req.Context()
	for ; r.failures < maxResumes; r.failures++ {
		select {
		case <-time.After(time.Duration(r.failures) * 100 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
		req := r.req.Clone(ctx)
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.at))
		resp, err := r.next.RoundTrip(req)
		if err != nil {
			continue
		}
		rest := fmt.Sprintf("bytes %d-%d/%d", r.at, r.size-1, r.size)
		if resp.StatusCode != http.StatusPartialContent || resp.Header.Get("Content-Range") != rest {
			resp.Body.Close()
			if resp.StatusCode >= 500 {
				continue
			}
			return false // this server does not serve ranges
		}
		r.body.Close()
		r.body, r.failures = resp.Body, r.failures+1
		return true
	}
	return false
}

func (r *resumed) Close() error { return r.body.Close() }
