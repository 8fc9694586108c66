package catalogd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
)

// A state is the content of a small file with the hash of a catalog, from which
// the names of its other files follow. It is written after the other files.
type state struct {
	URL string `json:"url"`
	tags
	Hash    string    `json:"hash"`
	Size    int64     `json:"size"`
	Fetched time.Time `json:"fetched"`
}

// file returns the name of a file in Options.Dir. The name begins with a hash
// of the client's address.
func (c *Client) file(suffix string) string {
	sum := sha256.Sum256([]byte(c.url.String()))
	return filepath.Join(c.opts.Dir, hex.EncodeToString(sum[:8])+suffix)
}

func (c *Client) textFile(hash string) string  { return c.file("-" + hash[:16] + ".jsonl") }
func (c *Client) indexFile(hash string) string { return c.file("-" + hash[:16] + ".index") }

// keep gives the file with the text its final name and writes the index and the
// state. If it fails, the catalog can still be used, because the file with its
// text is open.
func (c *Client) keep(ctx context.Context, cat *Catalog, s *spool, tags tags) error {
	if err := errors.Join(s.Sync(), os.Rename(s.Name(), c.textFile(cat.Hash))); err != nil {
		os.Remove(s.Name())
		return err
	}
	cat.text.path = c.textFile(cat.Hash)
	if err := c.writeIndex(ctx, cat); err != nil {
		return err
	}
	old, _ := c.readState()
	if err := c.writeState(cat, tags); err != nil {
		return err
	}
	if old.Hash != "" && old.Hash != cat.Hash {
		// Catalogs in this process still read the text through the open file.
		return errors.Join(os.Remove(c.textFile(old.Hash)), os.Remove(c.indexFile(old.Hash)))
	}
	return nil
}

func (c *Client) writeIndex(ctx context.Context, cat *Catalog) error {
	return disk.Replace(c.indexFile(cat.Hash), 0o600, func(w io.Writer) error { return graph.WriteIndex(ctx, w, cat.Graph, cat.Hash) })
}

func (c *Client) writeState(cat *Catalog, tags tags) error {
	text, err := json.Marshal(state{URL: c.url.String(), tags: tags, Hash: cat.Hash, Size: cat.Size, Fetched: cat.Fetched.UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	return disk.Replace(c.file(".json"), 0o600, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}

func (c *Client) readState() (state, error) {
	var s state
	text, err := os.ReadFile(c.file(".json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return state{}, err
	}
	if sum, err := hex.DecodeString(s.Hash); err != nil || len(sum) != sha256.Size || s.URL != c.url.String() {
		return state{}, errors.New("the state on disk is damaged or belongs to another address")
	}
	return s, nil
}

// restore returns the catalog that an earlier process left on disk, or the zero
// value if there is none or it is damaged.
func (c *Client) restore(ctx context.Context) known {
	s, err := c.readState()
	if err == nil {
		var cat *Catalog
		if cat, err = c.open(ctx, s); err == nil {
			return known{cat, s.tags}
		}
	}
	if !errors.Is(err, os.ErrNotExist) && ctx.Err() == nil && c.opts.Warn != nil {
		c.opts.Warn(fmt.Errorf("opening the saved catalog of %s: %w", c.url.Redacted(), err))
	}
	return known{}
}

// open opens the index, or rebuilds it from the text.
func (c *Client) open(ctx context.Context, s state) (*Catalog, error) {
	path := c.textFile(s.Hash)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != s.Size {
		f.Close()
		return nil, errors.Join(errors.New("the size of the text has changed"), err)
	}
	cat := &Catalog{Hash: s.Hash, Size: s.Size, Fetched: s.Fetched, text: &spooled{name: "all", path: path, file: f, size: s.Size}}
	cat.Graph, err = graph.OpenIndex(c.indexFile(s.Hash), c.opts.Graph)
	if err == nil && cat.Graph.SourceHash() == s.Hash {
		return cat, nil
	}
	b := &body{to: io.Discard, hash: sha256.New(), text: bounded{r: io.NewSectionReader(f, 0, s.Size), left: s.Size}}
	cat.text.first = b
	cat.Graph, err = graph.Load(ctx, cat.text, c.opts.Graph)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("rebuilding the index from the saved text: %w", err)
	}
	if _, sum, _ := b.end(); sum != s.Hash {
		f.Close()
		return nil, errors.New("both the index and the text have changed")
	}
	cat.text.settle(s.Size)
	if err := c.writeIndex(ctx, cat); err != nil && c.opts.Warn != nil {
		c.opts.Warn(fmt.Errorf("rewriting the index of the catalog at %s: %w", c.url.Redacted(), err))
	}
	return cat, nil
}
