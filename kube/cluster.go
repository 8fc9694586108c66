package kube

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// A Cluster implements reconcile.Cluster for a real cluster. It is safe for
// concurrent use.
type Cluster struct {
	opts   ClusterOptions
	config *rest.Config
	client client.Client
	live   live
	source source
	recent *recent
	turns  turns
	wants  interests
	basis  basis
	// olm is the last change by OLM that the watches saw.
	olm rewrite

	mu       sync.Mutex
	accounts map[string]client.Client // by the name of the impersonated user
	version  cachedAnswer[string]
	platform map[string]cachedAnswer[*olm.Object] // by CRD
}

var _ reconcile.Cluster = (*Cluster)(nil)

// ClusterOptions configure a Cluster. The zero value means the defaults.
type ClusterOptions struct {
	// GlobalNamespace is the namespace whose catalogs are visible in every
	// namespace. Default: olm.
	GlobalNamespace string
	// RoleNaming must equal reconcile.Options.RoleNaming.
	RoleNaming operatorgroup.Naming
	// Cache is the cache that snapshots are read from, overlaid with this
	// process's recent writes. It must not have been started. Without a cache,
	// every snapshot is read from the API server, which suits a single run but
	// is slow for many namespaces.
	Cache cache.Cache
	// Mapper and HTTPClient are usually a manager's. Default: new ones.
	Mapper     meta.RESTMapper
	HTTPClient *http.Client
	// Now returns the current time. Default: time.Now.
	Now func() time.Time
}

// NewCluster returns the cluster that a client configuration connects to.
// NewCluster uses ctx only until it returns.
func NewCluster(ctx context.Context, config *rest.Config, opts ClusterOptions) (*Cluster, error) {
	if opts.GlobalNamespace == "" {
		opts.GlobalNamespace = "olm"
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	config = rest.CopyConfig(config)
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	// Collect warnings for each call, through the call's context.
	config.WarningHandler, config.WarningHandlerWithContext = nil, warningHandler{}
	var err error
	if opts.HTTPClient == nil {
		if opts.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("connecting to the cluster: %w", err)
		}
	}
	c := &Cluster{config: config, recent: &recent{}, accounts: map[string]client.Client{}}
	c.client, err = client.New(config, client.Options{HTTPClient: opts.HTTPClient, Mapper: opts.Mapper, FieldOwner: FieldOwner})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	c.opts, c.live = opts, live{c.client}
	c.opts.Mapper = c.client.RESTMapper()
	c.source = c.live
	if opts.Cache != nil {
		if c.source, err = newCached(ctx, opts.Cache, c.recent); err != nil {
			return nil, err
		}
	}
	return c, nil
}
