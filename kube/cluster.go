package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/olm"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Cluster is a real cluster, as package reconcile wants it. It is safe for use
// by several goroutines.
type Cluster struct {
	opts   ClusterOptions
	config *rest.Config
	client client.Client
	live   live
	source source
	recent *recent
	wants  interests

	mu       sync.Mutex
	accounts map[string]client.Client // by user name
	version  asked[string]
	platform asked[*olm.Object]
}

var _ reconcile.Cluster = (*Cluster)(nil)

// ClusterOptions adjust a Cluster. The zero value means the defaults.
type ClusterOptions struct {
	// GlobalNamespace holds the catalogs that every namespace sees. Default: olm.
	GlobalNamespace string
	// RoleNaming must be that of reconcile.Options.
	RoleNaming operatorgroup.Naming
	// Cache is where snapshots are read from; what was written since is laid over
	// it. It must not have started. Without one every snapshot is read from the
	// API server: right for a single run, slow for many namespaces.
	Cache cache.Cache
	// Mapper and HTTPClient are those of a manager. Default: new ones.
	Mapper     meta.RESTMapper
	HTTPClient *http.Client
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// NewCluster returns the cluster of a client configuration. The context is for
// making it alone.
func NewCluster(ctx context.Context, config *rest.Config, opts ClusterOptions) (*Cluster, error) {
	if opts.GlobalNamespace == "" {
		opts.GlobalNamespace = "olm"
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	config = rest.CopyConfig(config)
	// Each call has its own warnings: they travel with its context.
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
