package catalogd

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// A diskError is an error of a local file, not of the server.
type diskError struct{ err error }

func (e *diskError) Error() string { return "saving the response: " + e.err.Error() }
func (e *diskError) Unwrap() error { return e.err }

// read decodes a response while it arrives, and saves its text in a file from
// which the parts that resolution does not need can be read later.
func (c *Client) read(ctx context.Context, resp *http.Response, last known) (known, error) {
	spool, err := c.spool()
	if err != nil {
		return known{}, &diskError{err}
	}
	kept := false
	defer func() {
		if !kept {
			spool.discard()
		}
	}()
	b := &body{from: bounded{r: resp.Body, left: c.opts.Limits.Body, err: &TooLargeError{Limit: "Body", Max: c.opts.Limits.Body}}, to: spool, hash: sha256.New()}
	switch encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		b.text = bounded{r: &b.from}
	case "gzip", "x-gzip":
		b.text = bounded{r: &gunzip{from: bufio.NewReader(&b.from)}}
	default:
		return known{}, fmt.Errorf("the response has Content-Encoding %q, which the client does not accept", encoding)
	}
	b.text.left, b.text.err = c.opts.Limits.Text, &TooLargeError{Limit: "Text", Max: c.opts.Limits.Text}

	// The loader opens the text once and gets the response as it arrives. All
	// later reads use the file.
	text := &spooled{name: "all", file: spool.File, first: b}
	g, err := graph.Load(ctx, text, c.opts.Graph)
	size, sum, failure := b.end()
	switch {
	case ctx.Err() != nil:
		return known{}, context.Cause(ctx)
	case failure != nil:
		return known{}, failure // it caused any errors that the loader found
	case err != nil:
		var found fbc.Diagnostics
		if errors.As(err, &found) {
			err = &CatalogError{Err: err}
		}
		return known{}, err
	}
	text.settle(size)
	tags := tagsOf(resp)
	if last.cat != nil && last.cat.Hash == sum {
		// The text is the same, although its tags differ. Callers compare
		// pointers to detect a change, so return the same catalog.
		return known{last.cat, tags}, nil
	}
	cat := &Catalog{Graph: g, Hash: sum, Size: size, Fetched: time.Now(), text: text}
	kept = true
	if c.opts.Dir != "" {
		if err := c.keep(ctx, cat, spool, tags); err != nil && c.opts.Warn != nil {
			c.opts.Warn(fmt.Errorf("saving the catalog of %s: %w", c.url.Redacted(), err))
		}
	}
	return known{cat, tags}, nil
}

// A body passes the text of a response to the loader. Methods other than end
// are called by one goroutine, which may outlive the load.
type body struct {
	from, text bounded
	to         io.Writer

	mu     sync.Mutex
	hash   hash.Hash
	size   int64
	err    error // other than io.EOF
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, os.ErrClosed
	}
	b.size += int64(n)
	b.hash.Write(p[:n])
	if _, failed := b.to.Write(p[:n]); failed != nil {
		err = &diskError{failed}
	}
	if err != nil && err != io.EOF {
		var large *TooLargeError
		var disk *diskError
		if !errors.As(err, &large) && !errors.As(err, &disk) {
			err = &TruncatedError{Read: b.size, Err: err}
		}
		if b.err == nil {
			b.err = err
		}
	}
	return n, err
}

// end returns the size and hash of the text, or the first error. Later reads
// fail.
func (b *body) end() (int64, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.size, hex.EncodeToString(b.hash.Sum(nil)), b.err
}

// A bounded is a reader that fails with err if there are more than left bytes
// to read.
type bounded struct {
	r    io.Reader
	left int64
	err  error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.err
	}
	// Read one extra byte to distinguish the end from an excess.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.err
	}
	return n, err
}

// A gunzip is a reader that decompresses. It reads the gzip header on the first
// Read, so that an error in the header is a read error.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.from)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // not even a header
		}
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(p)
}
