package content

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/olmkit/olmkit/graph"
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
	if names := secretsOf(c); len(names) > 0 && s.Secrets != nil {
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
	image, address := c.Spec.Image, c.Spec.Address
	if where := cmp.Or(image, address); where != "" && s.Allow != nil {
		if err := s.Allow(c.Metadata.Namespace, where); err != nil {
			return nil, specErrorf("%q is not allowed: %w", where, err)
		}
	}
	switch {
	case c.Spec.SourceType != "" && c.Spec.SourceType != "grpc":
		return nil, specErrorf("spec.sourceType %q is not supported; set it to grpc, and either spec.image, or spec.address to where the catalog is served over HTTP", c.Spec.SourceType)
	case image != "" && images == nil:
		return nil, specErrorf("spec.image %q: %w", image, errNoPuller)
	case image != "":
		return Image(images, image, s.Graph), nil
	case address != "" && !isGRPC(address):
		client, err := catalogd.New(address, s.optionsFor(c.Metadata.Namespace, address))
		if err != nil {
			return nil, specErrorf("spec.address: %w", err)
		}
		return Served(client), nil
	case address != "":
		return nil, specErrorf("spec.address %q is the address of a gRPC registry, which is not supported; serve the catalog over HTTP with catalogd's API and give an http:// or https:// address", address)
	}
	return nil, specErrorf("spec.image and spec.address are both empty; set one of them")
}

// isGRPC reports whether an address is that of a gRPC server, and not of one that serves
// catalogs over HTTP.
func isGRPC(address string) bool {
	return address != "" && !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://")
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

// defaultPoll is the polling interval that OLM uses if the CatalogSource's is
// invalid.
const defaultPoll = 15 * time.Minute

// pollOf returns the polling interval of a CatalogSource, or 0 if it sets none.
// If the interval is invalid, it returns OLM's default and an error.
func pollOf(c *olm.CatalogSource) (time.Duration, error) {
	if len(c.Spec.Rest) == 0 {
		return 0, nil
	}
	var rest struct {
		UpdateStrategy struct {
			RegistryPoll *struct {
				Interval string `json:"interval"`
			} `json:"registryPoll"`
		} `json:"updateStrategy"`
	}
	if err := c.Spec.Rest.Decode(&rest); err != nil {
		return defaultPoll, fmt.Errorf("spec.updateStrategy: %w", err)
	}
	poll := rest.UpdateStrategy.RegistryPoll
	if poll == nil || poll.Interval == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(poll.Interval)
	if err != nil || d < 0 {
		return defaultPoll, fmt.Errorf("spec.updateStrategy.registryPoll.interval %q is not a valid duration such as 30m; using %v", poll.Interval, defaultPoll)
	}
	return d, nil
}
