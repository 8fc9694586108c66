package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmkit/olmkit/internal/disk"
)

// The kinds of image files that skopeo, podman and buildah write. A name
// consists of a kind, a colon and a path.
const (
	transportOCI           = "oci"
	transportOCIArchive    = "oci-archive"
	transportDockerArchive = "docker-archive"
	transportDir           = "dir"
)

// IsFile reports whether a name is that of an image in files: "oci:DIR[:TAG]",
// "oci-archive:FILE[:TAG]", "docker-archive:FILE[:TAG]" or "dir:DIR".
func IsFile(ref string) bool {
	transport, rest, ok := strings.Cut(ref, ":")
	return ok && rest != "" && slices.Contains([]string{transportOCI, transportOCIArchive, transportDockerArchive, transportDir}, transport)
}

// CatalogFile is like [Puller.Catalog], for an image in files; see [IsFile]. An
// archive named "-" is read from Options.Stdin.
func (p *Puller) CatalogFile(ctx context.Context, ref string) (*Image, error) {
	return p.read(ctx, ref, catalogKind(p.opts.Catalogs))
}

// BundleFile is like [Puller.Bundle], for an image in files; see [IsFile].
func (p *Puller) BundleFile(ctx context.Context, ref string) (*Bundle, error) {
	img, err := p.read(ctx, ref, bundleKind(p.opts.Bundles))
	if err != nil {
		return nil, err
	}
	return bundleOf(ctx, ref, img)
}

// read returns an image in files, with its directories of interest.
func (p *Puller) read(ctx context.Context, ref string, k kind) (*Image, error) {
	img, err := p.readFile(ctx, ref, k)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &Error{Ref: ref, Err: err}
	}
	return img, nil
}

func (p *Puller) readFile(ctx context.Context, ref string, k kind) (*Image, error) {
	transport, rest, _ := strings.Cut(ref, ":")
	var place fs.FS
	name, tag := rest, ""
	switch transport {
	case transportOCI, transportDir:
		if transport == transportOCI {
			name, tag = cutTag(rest)
		}
		root, err := disk.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		place = root.FS()
	case transportOCIArchive, transportDockerArchive:
		name, tag = cutTag(rest)
		a, err := p.openArchiveFile(ctx, name, k.limits)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		place = a
	default:
		return nil, fmt.Errorf("%q is not a kind of image file", transport)
	}
	if err := checkForm(place, transport, rest); err != nil {
		return nil, err
	}
	s := &stored{fsys: place}
	var found content
	var err error
	switch transport {
	case transportDockerArchive:
		found, err = s.docker(tag, k.limits)
	case transportDir:
		s.path = func(h v1.Hash) string { return h.Hex }
		var text []byte
		if text, err = s.file("manifest.json"); err == nil {
			found, err = s.dir(p, text, k.limits)
		}
	default:
		s.path = func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
		found, err = s.layout(p, tag, k.limits)
	}
	if err != nil {
		return nil, err
	}
	if img := p.known(ctx, k, found.digest); img != nil {
		return img, nil
	}
	img, err := p.unpack(ctx, found, k, found.digest)
	if err != nil {
		return nil, err
	}
	p.remember(k, found.digest, img)
	return img, nil
}

// forms has the file that each kind of image files begins with, and the kind that resembles it.
var forms = map[string]struct{ file, like string }{
	transportOCI:           {"index.json", transportDir},
	transportDir:           {"manifest.json", transportOCI},
	transportOCIArchive:    {"index.json", transportDockerArchive},
	transportDockerArchive: {"manifest.json", transportOCIArchive},
}

// checkForm returns an error if files are not of a kind, with the right kind if it is obvious.
func checkForm(files fs.FS, transport, rest string) error {
	form := forms[transport]
	if _, err := fs.Stat(files, form.file); !errors.Is(err, fs.ErrNotExist) {
		return nil // another error occurs again when the file is read
	}
	if _, err := fs.Stat(files, forms[form.like].file); err == nil {
		return fmt.Errorf("%s is missing; write %s:%s", form.file, form.like, rest)
	}
	return fmt.Errorf("%s is missing, so this is not an image", form.file)
}

// cutTag splits a name at the last colon before a tag. "C:\dir" has no tag,
// because a tag contains no path separators.
func cutTag(name string) (file, tag string) {
	i := strings.LastIndexByte(name, ':')
	if i <= 0 || strings.ContainsAny(name[i:], `/\`) {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// maxManifest limits manifests and indexes in files, which are read into memory.
const maxManifest = 4 << 20

// A stored is a store of blobs in files.
type stored struct {
	fsys fs.FS
	path func(v1.Hash) string
}

// file returns a small file.
func (s *stored) file(name string) ([]byte, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSmall(f, name, maxManifest)
}

func readSmall(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return text, err
}

// blob returns a small blob.
func (s *stored) blob(h v1.Hash, limit int64) ([]byte, error) {
	r, err := s.open(h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readSmall(r, h.String(), limit)
}

// open opens a blob. Reading fails at the end of the blob if its digest is not h.
func (s *stored) open(h v1.Hash) (io.ReadCloser, error) {
	f, err := s.fsys.Open(s.path(h))
	if err != nil {
		return nil, err
	}
	return verify(f, h)
}

// layout returns the image with a tag in an OCI layout.
func (s *stored) layout(p *Puller, tag string, limits Limits) (content, error) {
	text, err := s.file("index.json")
	if err != nil {
		return content{}, err
	}
	m, err := v1.ParseIndexManifest(bytes.NewReader(text))
	if err != nil {
		return content{}, fmt.Errorf("index.json: %w", err)
	}
	if m.Manifests, err = tagged(m.Manifests, tag); err != nil {
		return content{}, err
	}
	// An index in the layout is an image for several platforms.
	if len(m.Manifests) == 1 && m.Manifests[0].MediaType.IsIndex() {
		if text, err = s.blob(m.Manifests[0].Digest, maxManifest); err != nil {
			return content{}, err
		}
		if m, err = v1.ParseIndexManifest(bytes.NewReader(text)); err != nil {
			return content{}, err
		}
	}
	d, err := p.best(m)
	if err != nil {
		return content{}, err
	}
	if text, err = s.blob(d.Digest, maxManifest); err != nil {
		return content{}, err
	}
	return s.image(text, d.MediaType, limits)
}

// refName is the annotation with the tag of an image in a layout.
const refName = "org.opencontainers.image.ref.name"

// tagged returns the images of a layout that have the tag. If tag is empty, it
// returns all images, unless they have several tags.
func tagged(list []v1.Descriptor, tag string) ([]v1.Descriptor, error) {
	var out []v1.Descriptor
	var tags []string
	for _, d := range list {
		name := d.Annotations[refName]
		if name != "" {
			tags = append(tags, name)
		}
		if tag == "" || name == tag {
			out = append(out, d)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	switch {
	case len(out) == 0 && tag != "" && len(tags) == 0:
		return nil, &TagError{Tag: tag}
	case len(out) == 0 && tag != "", tag == "" && len(tags) > 1:
		return nil, &TagError{Tag: tag, Tags: tags}
	}
	return out, nil
}

// dir returns the image of a directory with a manifest and blobs.
func (s *stored) dir(p *Puller, text []byte, limits Limits) (content, error) {
	var about struct {
		MediaType types.MediaType `json:"mediaType"`
		Manifests json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return content{}, fmt.Errorf("manifest.json: %w", err)
	}
	if about.Manifests == nil {
		return s.image(text, about.MediaType, limits)
	}
	m, err := v1.ParseIndexManifest(bytes.NewReader(text))
	if err != nil {
		return content{}, fmt.Errorf("manifest.json: %w", err)
	}
	d, err := p.best(m)
	if err != nil {
		return content{}, err
	}
	f, err := s.fsys.Open(d.Digest.Hex + ".manifest.json")
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	r, err := verify(f, d.Digest)
	if err != nil {
		return content{}, err
	}
	if text, err = readSmall(r, d.Digest.String(), maxManifest); err != nil {
		return content{}, err
	}
	return s.image(text, d.MediaType, limits)
}

// image returns the image of a manifest.
func (s *stored) image(manifest []byte, t types.MediaType, limits Limits) (content, error) {
	m, err := v1.ParseManifest(bytes.NewReader(manifest))
	if err != nil {
		return content{}, err
	}
	if m.SchemaVersion == 1 {
		return content{}, &FormatError{MediaType: string(types.DockerManifestSchema1)}
	}
	if err := checkManifest(m, limits); err != nil {
		return content{}, err
	}
	config, err := s.blob(m.Config.Digest, maxConfig)
	if err != nil {
		return content{}, err
	}
	img, err := partial.CompressedToImage(&storedImage{s, m, manifest, config, t})
	if err != nil {
		return content{}, err
	}
	return contentOf(img, limits)
}

// A storedImage implements partial.CompressedImageCore.
type storedImage struct {
	*stored
	manifest    *v1.Manifest
	raw, config []byte
	mediaType   types.MediaType
}

func (i *storedImage) RawManifest() ([]byte, error)   { return i.raw, nil }
func (i *storedImage) RawConfigFile() ([]byte, error) { return i.config, nil }
func (i *storedImage) MediaType() (types.MediaType, error) {
	return i.mediaType, nil
}

func (i *storedImage) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	for _, d := range i.manifest.Layers {
		if d.Digest == h {
			return storedLayer{i.stored, d}, nil
		}
	}
	return nil, fmt.Errorf("the manifest has no layer %s", h)
}

// A storedLayer implements partial.CompressedLayer.
type storedLayer struct {
	store *stored
	d     v1.Descriptor
}

func (l storedLayer) Digest() (v1.Hash, error)            { return l.d.Digest, nil }
func (l storedLayer) Size() (int64, error)                { return l.d.Size, nil }
func (l storedLayer) MediaType() (types.MediaType, error) { return l.d.MediaType, nil }
func (l storedLayer) Compressed() (io.ReadCloser, error)  { return l.store.open(l.d.Digest) }

// verify returns a reader that fails at the end of the content if its digest is
// not h.
func verify(r io.ReadCloser, h v1.Hash) (io.ReadCloser, error) {
	if h.Algorithm != "sha256" {
		r.Close()
		return nil, fmt.Errorf("digest %s: only sha256 is supported", h)
	}
	return &verified{r, sha256.New(), h.Hex}, nil
}

type verified struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.want {
			return n, &DigestError{Want: "sha256:" + v.want, Got: "sha256:" + got}
		}
	}
	return n, err
}
