package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
)

// errOffline is the error of a request that --offline forbids.
var errOffline = errors.New("the cache does not have it, and --offline forbids fetching it; run the command once without --offline")

// A refusing transport makes no requests.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errOffline }

// A remembered is the last known digest of an image reference.
type remembered struct {
	Reference string    `json:"reference"`
	Digest    string    `json:"digest"`
	Time      time.Time `json:"time"`
}

func (i *images) rememberedFile(ref name.Reference) string {
	sum := sha256.Sum256([]byte(ref.Name()))
	return filepath.Join(i.dir, referencesDir, hex.EncodeToString(sum[:16])+".json")
}

// digest returns the digest of an image from its registry or, offline, the last known one.
func (l *loader) digest(ctx context.Context, image string) (string, error) {
	i := l.images
	ref, err := name.ParseReference(image)
	if err != nil || !i.offline {
		digest, err := i.puller.Resolve(ctx, image)
		if err == nil && !i.temp {
			i.remember(ref, digest)
		}
		return digest, err
	}
	if d, ok := ref.(name.Digest); ok {
		return d.DigestStr(), nil
	}
	var r remembered
	text, err := os.ReadFile(i.rememberedFile(ref))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Reference != ref.Name() {
		return "", errOffline
	}
	visible.Fprintf(l.stderr, "note: offline; %s was %s at %s\n", image, r.Digest, r.Time.Format(time.RFC3339))
	return r.Digest, nil
}

// remember stores the digest of a reference for --offline and "olmkit cache list". It
// ignores errors.
func (i *images) remember(ref name.Reference, digest string) {
	text, err := json.Marshal(remembered{ref.Name(), digest, time.Now().UTC().Truncate(time.Second)})
	file := i.rememberedFile(ref)
	if err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = disk.Replace(file, 0o600, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
	}
}

// pinned returns a reference with a digest in place of its tag.
func pinned(image, digest string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", image, err)
	}
	return ref.Context().Digest(digest).String(), nil
}
