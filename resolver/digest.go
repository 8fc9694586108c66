package resolver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Digest returns a hash of the problem, the contents of its catalogs, and the selected
// bundles. It does not depend on the order in which the problem was written.
func (s *Solution) Digest() (string, error) {
	h := sha256.New()
	in, err := s.r.u.p.canonical()
	if err != nil {
		return "", err
	}
	h.Write(in)
	out, err := json.Marshal(s.Selected)
	if err != nil {
		return "", err
	}
	h.Write(out)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Digest returns a hash of the problem and the contents of its catalogs. Order matters only
// for subscriptions with [AsGiven]. All catalogs must be loaded.
func (p *Problem) Digest() (string, error) {
	in, err := p.canonical()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(in)
	return hex.EncodeToString(sum[:]), nil
}

// canonical returns the problem as JSON in canonical order, with catalogs by
// content.
func (p *Problem) canonical() ([]byte, error) {
	q := *p
	q.ID = ""
	q.Catalogs = slices.Clone(p.Catalogs)
	for i := range q.Catalogs {
		c := &q.Catalogs[i]
		if c.Unhealthy == "" && p.sees(c.ID()) {
			if c.Graph == nil {
				return nil, fmt.Errorf("catalog %q is not loaded; set Graph or call Open", c.Name)
			}
			c.Digest = c.Graph.Digest()
		}
		c.FBC, c.Dir = nil, ""
	}
	slices.SortStableFunc(q.Catalogs, func(a, b Catalog) int { return a.ID().Compare(b.ID()) })
	q.Installed = slices.Clone(p.Installed)
	slices.SortStableFunc(q.Installed, func(a, b Installed) int { return strings.Compare(a.Name, b.Name) })
	q.Subscriptions = slices.Clone(p.Subscriptions)
	for i := range q.Subscriptions {
		if s := &q.Subscriptions[i]; s.Name == "" {
			s.Name = s.Package
		}
	}
	if q.Options.SubscriptionOrder != AsGiven {
		slices.SortStableFunc(q.Subscriptions, func(a, b Subscription) int { return strings.Compare(a.Name, b.Name) })
	}
	q.Policies = slices.Clone(p.Policies)
	slices.SortStableFunc(q.Policies, func(a, b Policy) int { return comparePolicies(&a, &b) })
	return json.Marshal(q, json.Deterministic(true))
}
