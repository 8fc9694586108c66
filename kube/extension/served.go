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

// Served opens ClusterCatalogs where their status says that they are served. The
// same content is opened once, and asked for again only when the status says that
// it was unpacked anew. Its zero value is ready for use by any number of
// goroutines.
type Served struct {
	// Options are for the clients, with the certificate authorities.
	Options *catalogd.Options

	mu     sync.Mutex
	byName map[string]*servedCatalog
}

type servedCatalog struct {
	client *catalogd.Client
	base   string

	mu      sync.Mutex
	version string // what the status said when it was fetched last
}

// Open returns the content of a catalog. One that is not served now is an error,
// whatever is remembered of it.
func (s *Served) Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	if cond := meta.FindStatusCondition(c.Status.Conditions, api.TypeServing); cond == nil || cond.Status != "True" {
		text := "it is not served"
		if cond != nil && cond.Message != "" {
			text += ": " + cond.Message
		}
		return nil, errors.New(text)
	}
	if c.Status.URLs == nil {
		return nil, errors.New("its status does not say where it is served")
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

// versionOf tells one unpacking from another; nothing when the status does not.
func versionOf(c *api.ClusterCatalog) string {
	if c.Status.LastUnpacked == nil || c.Status.ResolvedSource == nil || c.Status.ResolvedSource.Image == nil {
		return ""
	}
	return fmt.Sprint(c.UID, " ", c.Status.ResolvedSource.Image.Ref, " ", c.Status.LastUnpacked.Unix())
}

// at returns what is known of a catalog at an address.
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

// Retain forgets all catalogs but the named ones.
func (s *Served) Retain(names map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.byName {
		if !names[name] {
			delete(s.byName, name)
		}
	}
}
