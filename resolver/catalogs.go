package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/resolver/document"
)

// DefaultGlobalNamespace is the default of [Problem.GlobalNamespace]. On OpenShift, set it
// to openshift-marketplace.
const DefaultGlobalNamespace = "olm"

// global returns the global namespace.
func (p *Problem) global() string { return cmp.Or(p.GlobalNamespace, DefaultGlobalNamespace) }

// sees reports whether the namespace of the problem sees a catalog: the catalog is in the
// same namespace or in the global one. Others are ignored.
func (p *Problem) sees(c CatalogID) bool { // D14, D19
	return p.clusterWide || c.Namespace == "" || c.Namespace == p.Namespace || c.Namespace == p.global()
}

// WhyUnseen explains why a catalog is ignored. It returns "" if the namespace of the
// problem sees the catalog, which is then in the same namespace or in the global one.
func (p *Problem) WhyUnseen(c CatalogID) string {
	if p.sees(c) {
		return ""
	}
	return fmt.Sprintf("catalog %s is ignored: namespace %s sees only its own catalogs and those in the global namespace %s", c, p.Namespace, p.global())
}

// addCatalogs adds the catalogs that the namespace sees (D14).
func (u *universe) addCatalogs() error {
	var sick []Catalog
	for i := range u.p.Catalogs {
		c := &u.p.Catalogs[i]
		path := fmt.Sprintf("/catalogs/%d", i)
		switch {
		case c.Name == "":
			return document.Errorf(path+"/name", "is missing; name the catalog")
		case !u.p.sees(c.ID()):
			u.unseen = append(u.unseen, c.ID())
			continue
		case c.Unhealthy != "":
			sick = append(sick, *c)
			continue
		case c.Graph == nil:
			return document.Errorf(path, "catalog %q is not loaded; set Graph or call Open", c.Name)
		}
		u.cats = append(u.cats, &source{Catalog: c, at: i})
	}
	if len(sick) > 0 && !u.p.Options.IgnoreUnhealthy {
		slices.SortFunc(sick, func(a, b Catalog) int { return a.ID().Compare(b.ID()) })
		return &UnhealthyError{Catalogs: sick}
	}
	slices.SortFunc(u.unseen, CatalogID.Compare)
	slices.SortStableFunc(u.cats, func(a, b *source) int { return a.ID().Compare(b.ID()) })
	next := cand(len(u.installed))
	for i, c := range u.cats {
		if i > 0 && u.cats[i-1].ID() == c.ID() {
			return document.Errorf(fmt.Sprintf("/catalogs/%d", c.at), "catalog %q appears twice in namespace %q", c.Name, c.Namespace)
		}
		c.index, c.first = i, next
		next += cand(c.Graph.Size().Entries)
	}
	return nil
}

// catalogName returns the name of a catalog, with its namespace if another catalog has the
// same name.
func (u *universe) catalogName(c *source) string {
	if slices.ContainsFunc(u.cats, func(o *source) bool { return o != c && o.Name == c.Name }) {
		return c.ID().String()
	}
	return c.Name
}

// catalogNamed returns the catalog with a name that catalogName returns.
func (u *universe) catalogNamed(name string) CatalogID {
	for _, c := range u.cats {
		if u.catalogName(c) == name {
			return c.ID()
		}
	}
	return CatalogID{}
}
