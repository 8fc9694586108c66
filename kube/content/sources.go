package content

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
	corev1 "k8s.io/api/core/v1"
)

// Sources says where the catalogs of CatalogSources are. Its zero value knows
// those that are served over HTTP.
type Sources struct {
	// Named are sources that the program gives, whatever the CatalogSource says.
	Named map[resolver.CatalogID]Source
	// Global is the namespace whose CatalogSources the administrator writes; all
	// others are those of tenants, whom less is trusted with. Default: olm.
	Global string
	// HTTP are the options for catalogs that are served. Header, Token and client
	// certificates are for the sources that the program names (Parse) and never
	// sent to what a CatalogSource names: see Origins. Tenants' catalogs are read
	// without HTTP.HTTP.
	HTTP *catalogd.Options
	// Origins are options, with credentials, for servers by their exact origin,
	// such as "https://catalogs.example:8443". They count for the CatalogSources of
	// the global namespace only: with them a tenant would read what the
	// administrator may.
	Origins map[string]*catalogd.Options
	// Allow, if any, is asked whether a CatalogSource of a namespace may be read at
	// an address with http:// or https://, or an image reference.
	Allow func(namespace, address string) error
	// Private lets tenants' catalogs be at loopback and link-local addresses,
	// where a process finds itself, its node and the metadata of its cloud.
	Private bool
	// TenantText bounds the text of tenants' catalogs that are served, where
	// HTTP.Limits.Text allows more. Default: 128 MiB.
	TenantText int64
	// Tenants pulls catalog and bundle images for tenants. Default: Images, and
	// for bundles Options.Bundles, whose credentials tenants use then.
	Tenants *oci.Puller
	// Images pulls catalog images. Without it, spec.image is an error.
	Images *oci.Puller
	// Secrets, if any, reads the pull secrets that spec.secrets names, of the
	// namespace of the CatalogSource: see [Secrets]. The catalog and its bundles are
	// pulled with them, and by nothing else. Without it they are ignored.
	Secrets func(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// Graph is for catalogs in directories and images.
	Graph *graph.Options
}

// A SpecError says that a CatalogSource names no catalog that can be read. Only
// a change of the CatalogSource, or of the program, helps.
type SpecError struct{ Err error }

// Error says what is wrong.
func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

func specErrorf(format string, args ...any) error {
	return &SpecError{fmt.Errorf(format, args...)}
}

// Of returns the source of a CatalogSource. The error is a [*SpecError].
func (s *Sources) Of(c *olm.CatalogSource) (Source, error) {
	source, _, err := s.of(c, nil)
	return source, err
}

// pullers returns what pulls the catalog images and the bundles of a namespace.
func (s *Sources) pullers(namespace string, bundles *oci.Puller) (images, _ *oci.Puller) {
	if s.isTenant(namespace) && s.Tenants != nil {
		return s.Tenants, s.Tenants
	}
	return s.Images, bundles
}

// of returns the source of a CatalogSource, and what pulls its bundles.
func (s *Sources) of(c *olm.CatalogSource, bundles *oci.Puller) (Source, *oci.Puller, error) {
	images, bundles := s.pullers(c.Metadata.Namespace, bundles)
	if names := secretsOf(c); len(names) > 0 && s.Secrets != nil {
		if len(names) > maxSecrets {
			return nil, nil, specErrorf("spec.secrets has %d names, and %d are the most that are read", len(names), maxSecrets)
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
		return nil, specErrorf("spec.sourceType %q is not supported: give the catalog's spec.image, or an spec.address at which it is served over HTTP", c.Spec.SourceType)
	case image != "" && images == nil:
		return nil, specErrorf("spec.image %q: %w", image, errNoPuller)
	case image != "":
		return Image(images, image, s.Graph), nil
	case strings.HasPrefix(address, "http://"), strings.HasPrefix(address, "https://"):
		client, err := catalogd.New(address, s.optionsFor(c.Metadata.Namespace, address))
		if err != nil {
			return nil, specErrorf("spec.address: %w", err)
		}
		return Served(client), nil
	case address != "":
		return nil, specErrorf("spec.address %q is that of a gRPC registry, which is not supported: serve the catalog over HTTP as catalogd does, and give its address with http:// or https://", address)
	}
	return nil, specErrorf("it has neither spec.image nor spec.address: nothing says where the catalog is")
}

// Parse returns the source that a text names, as a flag of a program does:
// "dir:path", "index:file", "image:reference", or an address with http:// or
// https://.
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
			hint = fmt.Sprintf("; do you mean %q?", "dir:"+text)
		}
	}
	return nil, fmt.Errorf("source %q: want dir:path, index:file, image:reference, or an address with http:// or https://%s", text, hint)
}

func idOf(c *olm.CatalogSource) resolver.CatalogID {
	return resolver.CatalogID{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace}
}

// defaultPoll is how often OLM looks for a new image when the interval that it
// was told makes no sense.
const defaultPoll = 15 * time.Minute

// pollOf returns how often a CatalogSource wants to be looked at; 0 when it does
// not say. With an error it returns OLM's default.
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
		return defaultPoll, fmt.Errorf("spec.updateStrategy.registryPoll.interval %q is no duration such as 30m; %v is used instead", poll.Interval, defaultPoll)
	}
	return d, nil
}
