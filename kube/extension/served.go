package extension

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/extension/api"
)

// Served is an Opener that fetches ClusterCatalogs from the addresses in their
// status. Content is fetched again only if the status shows that it was
// unpacked again. The zero value is ready to use. It is safe for concurrent
// use.
type Served struct {
	// Options configure the clients, for example with certificate authorities.
	Options *catalogd.Options

	mu     sync.Mutex
	byName map[string]*servedCatalog
}

type servedCatalog struct {
	client *catalogd.Client
	base   string

	mu      sync.Mutex
	version string // the result of versionOf at the last fetch
}

// Open returns the content of a catalog. A catalog that is not served now is an
// error, even if its content is cached.
func (s *Served) Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	if cond := meta.FindStatusCondition(c.Status.Conditions, typeServing); cond == nil || cond.Status != "True" {
		text := "the catalog is not served"
		if cond != nil && cond.Message != "" {
			text += ": " + cond.Message
		}
		return nil, errors.New(text)
	}
	if c.Status.URLs == nil {
		return nil, errors.New("status.urls is missing")
	}
	served, err := s.at(c.Name, c.Status.URLs.Base)
	if err != nil {
		return nil, err
	}
	version := versionOf(c)
	served.mu.Lock()
	known := version != "" && served.version == version
	served.mu.Unlock()
	if known {
		if cat := served.client.Last(ctx); cat != nil {
			return cat.Graph, nil
		}
	}
	cat, err := served.client.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	served.mu.Lock()
	served.version = version
	served.mu.Unlock()
	return cat.Graph, nil
}

// versionOf returns a text that identifies the unpacked content of a catalog,
// or "" if the status does not identify it.
func versionOf(c *api.ClusterCatalog) string {
	if c.Status.LastUnpacked == nil || c.Status.ResolvedSource == nil || c.Status.ResolvedSource.Image == nil {
		return ""
	}
	return fmt.Sprint(c.UID, " ", c.Status.ResolvedSource.Image.Ref, " ", c.Status.LastUnpacked.Unix())
}

// at returns the client and version of a catalog. If the catalog is new or its
// address has changed, the client is new.
func (s *Served) at(name, base string) (*servedCatalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.byName[name]; old != nil && old.base == base {
		return old, nil
	}
	client, err := catalogd.New(base, s.Options)
	if err != nil {
		return nil, err
	}
	if s.byName == nil {
		s.byName = map[string]*servedCatalog{}
	}
	s.byName[name] = &servedCatalog{client: client, base: base}
	return s.byName[name], nil
}

// Retain discards the cached content of all catalogs that are not in names.
func (s *Served) Retain(names map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.byName {
		if !names[name] {
			delete(s.byName, name)
		}
	}
}
