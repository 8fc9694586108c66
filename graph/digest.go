package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Digest returns the content hash of what the catalog offers: packages,
// channels, entries with their edges, bundles with the properties that were
// kept, and deprecations. It does not depend on files, on the order of blobs,
// or on what resolution does not see. It is computed at each call.
func (c *Catalog) Digest() string {
	h := sha256.New()
	put := func(parts ...string) { writeParts(h, parts) }
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
	return hex.EncodeToString(h.Sum(nil))
}

// writeParts writes strings so that no two lists of strings write the same.
func writeParts(h hash.Hash, parts []string) {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d:%s", len(p), p)
	}
	b.WriteByte('\n')
	h.Write([]byte(b.String()))
}
