package content

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// Sources configures where the catalogs of CatalogSources are read from. The
// zero value supports only catalogs served over HTTP.
type Sources struct {
	// Named holds the sources of some catalogs. They take precedence over the
	// spec of the CatalogSource.
	Named map[resolver.CatalogID]Source
	// Global is the namespace whose CatalogSources the administrator controls.
	// CatalogSources in other namespaces belong to tenants, who are trusted
	// less. Default: olm.
	Global string
	// HTTP holds the options for catalogs served over HTTP. Its Header, Token
	// and client certificates are used only for sources from [Sources.Parse],
	// never for the address in a CatalogSource; for those, see Origins. Tenants'
	// catalogs are read without HTTP.HTTP.
	HTTP *catalogd.Options
	// Origins holds options with credentials for servers, by exact origin, such
	// as "https://catalogs.example:8443". They apply only to CatalogSources in
	// the global namespace, so that tenants cannot read with the
	// administrator's credentials.
	Origins map[string]*catalogd.Options
	// Allow, if not nil, returns an error if a CatalogSource in a namespace may
	// not use an http:// or https:// address or an image reference.
	Allow func(namespace, address string) error
	// Private allows loopback and link-local addresses for tenants' catalogs. At
	// these addresses, the process itself, its node and the cloud's metadata
	// service can be reached.
	Private bool
	// TenantText limits the text of tenants' catalogs that are served over
	// HTTP, if HTTP.Limits.Text is larger. Default: 128 MiB.
	TenantText int64
	// Tenants pulls catalog and bundle images for tenants. By default, Images
	// pulls their catalogs and Options.Bundles their bundles, both with the
	// administrator's credentials.
	Tenants *oci.Puller
	// Images pulls catalog images. If nil, spec.image is an error.
	Images *oci.Puller
	// Secrets, if not nil, reads the pull secrets that spec.secrets names, from
	// the namespace of the CatalogSource; see [Secrets]. They are used for that
	// catalog and its bundles only. If nil, spec.secrets is ignored.
	Secrets func(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// Graph holds the options for catalogs in directories and images.
	Graph *graph.Options
}

// A SpecError reports a CatalogSource whose catalog cannot be read as
// specified. Retrying does not help until the CatalogSource or the program's
// configuration changes.
type SpecError struct{ Err error }

// Error returns the text of Err.
func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

func specErrorf(format string, args ...any) error {
	return &SpecError{fmt.Errorf(format, args...)}
}

// Of returns the source for a CatalogSource. The error is a [*SpecError].
func (s *Sources) Of(c *olm.CatalogSource) (Source, error) {
	source, _, err := s.of(c, nil)
	return source, err
}

// pullers returns the pullers of catalog and bundle images for a namespace.
func (s *Sources) pullers(namespace string, bundles *oci.Puller) (images, _ *oci.Puller) {
	if s.isTenant(namespace) && s.Tenants != nil {
		return s.Tenants, s.Tenants
	}
	return s.Images, bundles
}

// of returns the source for a CatalogSource and the puller of its bundles.
func (s *Sources) of(c *olm.CatalogSource, bundles *oci.Puller) (Source, *oci.Puller, error) {
	images, bundles := s.pullers(c.Metadata.Namespace, bundles)
	if names := clusterstatus.PullSecrets(c); len(names) > 0 && s.Secrets != nil {
		if len(names) > maxSecrets {
			return nil, nil, specErrorf("spec.secrets has %d names; the limit is %d", len(names), maxSecrets)
		}
		images, bundles = s.withSecrets(c.Metadata.Namespace, names, images, bundles)
	}
	source, err := s.source(c, images)
	return source, bundles, err
}

func (s *Sources) source(c *olm.CatalogSource, images *oci.Puller) (Source, error) {
	if named, ok := s.Named[idOf(c)]; ok {
		return named, nil
	}
	if where := cmp.Or(c.Spec.Image, c.Spec.Address); where != "" && s.Allow != nil {
		if err := s.Allow(c.Metadata.Namespace, where); err != nil {
			return nil, specErrorf("%q is not allowed: %w", where, err)
		}
	}
	image, address, err := clusterstatus.Location(c)
	switch {
	case err != nil:
		return nil, &SpecError{err}
	case image != "" && images == nil:
		return nil, specErrorf("spec.image %q: %w", image, errNoPuller)
	case image != "":
		return Image(images, image, s.Graph), nil
	}
	client, err := catalogd.New(address, s.optionsFor(c.Metadata.Namespace, address))
	if err != nil {
		return nil, specErrorf("spec.address: %w", err)
	}
	return Served(client), nil
}

// Parse returns the source for a command-line argument: "dir:path",
// "index:file", "image:reference", or an http:// or https:// address.
func (s *Sources) Parse(text string) (Source, error) {
	scheme, rest, ok := strings.Cut(text, ":")
	switch {
	case !ok || rest == "":
	case scheme == "http" || scheme == "https":
		client, err := catalogd.New(text, once(s.HTTP))
		if err != nil {
			return nil, err
		}
		return Served(client), nil
	case scheme == "dir":
		return Dir(rest, s.Graph), nil
	case scheme == "index":
		return IndexFile(rest, s.Graph), nil
	case scheme == "image" && s.Images == nil:
		return nil, errNoPuller
	case scheme == "image":
		return Image(s.Images, rest, s.Graph), nil
	}
	hint := ""
	if u, err := url.Parse(text); err == nil && u.Scheme == "" {
		if info, err := os.Stat(text); err == nil && info.IsDir() {
			hint = fmt.Sprintf("; did you mean %q?", "dir:"+text)
		}
	}
	return nil, fmt.Errorf("source %q: want dir:path, index:file, image:reference, or an http:// or https:// address%s", text, hint)
}

func idOf(c *olm.CatalogSource) resolver.CatalogID {
	return resolver.CatalogID{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace}
}
