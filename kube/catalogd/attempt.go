package catalogd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

var errTimeout = errors.New("an attempt took longer than Options.Timeout")

// tags are the ETag and date of a response, for conditional requests.
type tags struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

func tagsOf(resp *http.Response) tags {
	return tags{resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")}
}

// known is the last catalog received from the server. Its zero value means
// none.
type known struct {
	cat *Catalog
	tags
}

// attempt makes one request and reads the catalog if it has changed.
func (c *Client) attempt(ctx context.Context, last known) (known, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, fmt.Errorf("%w, %v", errTimeout, c.opts.Timeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url.String(), nil)
	if err != nil {
		return known{}, err
	}
	for name, values := range c.opts.Header {
		r.Header[name] = values
	}
	if c.opts.Token != nil {
		token, err := c.opts.Token()
		if err != nil {
			return known{}, fmt.Errorf("getting its token: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Accept", "application/jsonl, application/json;q=0.9, */*;q=0.1")
	// Setting the header stops the transport from decompressing, so that the
	// response can be bounded both before and after decompression.
	r.Header.Set("Accept-Encoding", "gzip")
	if last.cat != nil && last.ETag != "" {
		r.Header.Set("If-None-Match", last.ETag)
	}
	if last.cat != nil && last.LastModified != "" {
		r.Header.Set("If-Modified-Since", last.LastModified)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return known{}, context.Cause(ctx)
		}
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // [Error] already contains the address
		}
		return known{}, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && last.cat != nil:
		return last, nil
	case resp.StatusCode != http.StatusOK:
		return known{}, statusError(resp, time.Now())
	}
	if err := checkType(resp.Header.Get("Content-Type")); err != nil {
		return known{}, err
	}
	if resp.ContentLength > c.opts.Limits.Body {
		return known{}, &TooLargeError{Limit: "Body", Max: c.opts.Limits.Body}
	}
	now, err := c.read(ctx, resp, last)
	if err != nil && ctx.Err() != nil {
		return known{}, context.Cause(ctx)
	}
	return now, err
}

// checkType rejects content types that a catalog cannot have. catalogd sends
// application/jsonl; plain file servers send text/plain or nothing.
func checkType(header string) error {
	if header == "" {
		return nil
	}
	typ, _, err := mime.ParseMediaType(header)
	if err != nil {
		return &ContentTypeError{Type: header}
	}
	switch typ {
	case "application/jsonl", "application/x-jsonlines", "application/jsonlines", "application/x-ndjson", "application/ndjson",
		"application/json", "application/json-seq", "text/plain", "application/octet-stream":
		return nil
	}
	return &ContentTypeError{Type: typ}
}

func statusError(resp *http.Response, now time.Time) *StatusError {
	e := &StatusError{Code: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), now)}
	if typ := resp.Header.Get("Content-Type"); typ == "" || strings.HasPrefix(typ, "text/plain") || strings.HasPrefix(typ, "application/json") {
		// Best effort: the text may be truncated.
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		e.Text = strings.ToValidUTF8(strings.TrimSpace(string(text)), "")
		if e.Text == http.StatusText(e.Code) {
			e.Text = ""
		}
	}
	return e
}

// retryAfter parses a Retry-After header: a number of seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longest)
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return min(at.Sub(now), longest)
	}
	return 0
}
