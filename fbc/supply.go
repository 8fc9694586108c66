package fbc

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

type prop = property.Property

// A supply records what the bundles of a catalog provide.
type supply struct {
	apis     map[property.GVK]bool
	labels   map[string]bool
	versions map[string][]semver.Version // by package
}

// provide fills v.provided from all bundles.
func (v *validator) provide() {
	s := supply{apis: map[property.GVK]bool{}, labels: map[string]bool{}, versions: map[string][]semver.Version{}}
	read := map[string]bool{} // the values of APIs, because most bundles repeat those of the one before
	for _, b := range v.c.Bundles {
		for _, p := range b.Properties {
			switch p.Type {
			case property.TypeGVK:
				if read[string(p.Value)] {
					continue
				}
				read[string(p.Value)] = true
				if g, err := property.Parse[property.GVK](p); err == nil {
					s.apis[g] = true
				}
			case property.TypeLabel:
				if l, err := property.Parse[property.Label](p); err == nil {
					s.labels[l.Label] = true
				}
			case property.TypePackage:
				if x, err := property.Parse[property.Package](p); err == nil {
					if version, err := semver.Parse(x.Version); err == nil {
						s.versions[x.PackageName] = append(s.versions[x.PackageName], version)
					}
				}
			}
		}
	}
	v.provided = s
}

// unmet returns the parts of a requirement that nothing in the catalog satisfies. Parts
// that only a resolution can decide, negation and CEL, count as satisfied.
func (s *supply) unmet(x constraints.Expr) []constraints.Expr {
	switch x := x.(type) {
	case *constraints.All:
		var out []constraints.Expr
		for _, part := range x.Of {
			out = append(out, s.unmet(part)...)
		}
		return out
	case *constraints.Any:
		var out []constraints.Expr
		for _, part := range x.Of {
			missing := s.unmet(part)
			if len(missing) == 0 {
				return nil
			}
			out = append(out, missing...)
		}
		return out
	case *constraints.GVK:
		if s.apis[x.GVK] {
			return nil
		}
	case *constraints.Label:
		if s.labels[x.Label] {
			return nil
		}
	case *constraints.Package:
		for _, version := range s.versions[x.Name] {
			if x.Range.Contains(version) {
				return nil
			}
		}
	default:
		return nil
	}
	return []constraints.Expr{x}
}

// required warns if nothing in the catalog satisfies a requirement.
func (v *validator) required(m *Meta, path string, x constraints.Expr) {
	missing := v.provided.unmet(x)
	if len(missing) == 0 {
		return
	}
	names := make([]string, len(missing))
	for i, part := range missing {
		names[i] = part.String()
	}
	v.report(codes.Unmet, m, path, fmt.Errorf("no bundle in the catalog provides %s; users need another catalog that does", strings.Join(names, " or ")))
}
