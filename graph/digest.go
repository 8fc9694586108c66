package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Digest returns the hash of what the catalog offers: packages, channels, entries with
// their edges, bundles with the kept properties, and deprecations. It does not depend
// on files, on the order of blobs, or on anything that resolution ignores. The first
// call computes it.
func (c *Catalog) Digest() string {
	c.digestOnce.Do(func() { c.digest = c.contentHash() })
	return c.digest
}

func (c *Catalog) contentHash() string {
	h := sha256.New()
	var buf []byte
	// Each part is prefixed with its length, so different lists of parts never give the
	// same bytes.
	put := func(parts ...string) {
		for _, p := range parts {
			buf = append(strconv.AppendInt(buf, int64(len(p)), 10), ':')
			buf = append(buf, p...)
		}
		buf = append(buf, '\n')
		if len(buf) > 1<<16 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	for p := range c.Packages() {
		note, _ := p.Deprecation()
		put("package", p.Name(), p.DefaultChannelName(), note)
		for ch := range p.Channels() {
			note, _ := ch.Deprecation()
			put("channel", ch.Name(), note)
			for e := range ch.Entries() {
				put("entry", e.Name(), e.Replaces(), e.SkipRange())
				for s := range e.Skips() {
					put("skips", s)
				}
			}
		}
		for b := range p.Bundles() {
			note, _ := b.Deprecation()
			put("bundle", b.Name(), b.Image(), note)
			for q := range b.Properties() {
				put("property", q.Type, string(q.Value))
			}
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}
