package generate

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"pault.ag/go/debian/control"
	"pault.ag/go/debian/dependency"
	"pault.ag/go/debian/version"

	"github.com/olmkit/olmkit/property"
)

// A Universe is the packages of a distribution, each in one version, by name.
type Universe []UniversePackage

// A UniversePackage refers to other packages by their place in the universe.
type UniversePackage struct {
	Name     string
	Requires [][]int // one of each list, which is sorted and may be empty
	Excludes []int   // none of these, sorted
}

// Debian reads the index of a Debian archive. Of each package, it takes the newest version. Recommended packages do not
// count.
func Debian(r io.Reader) (Universe, error) {
	list, err := control.ParseBinaryIndex(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b control.BinaryIndex) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), version.Compare(b.Version, a.Version))
	})
	list = slices.CompactFunc(list, func(a, b control.BinaryIndex) bool { return a.Package == b.Package })

	type provider struct {
		id      int
		version *version.Version // nil for a name without a version
	}
	providers := map[string][]provider{}
	for i := range list {
		x := &list[i]
		providers[x.Package] = append(providers[x.Package], provider{i, &x.Version})
		provides, err := dependency.Parse(x.Values["Provides"])
		if err != nil {
			return nil, fmt.Errorf("package %s: Provides: %w", x.Package, err)
		}
		for _, rel := range provides.Relations {
			for _, p := range rel.Possibilities {
				virtual := provider{id: i}
				if p.Version != nil {
					v, err := version.Parse(p.Version.Number)
					if err != nil {
						return nil, fmt.Errorf("package %s: Provides: %w", x.Package, err)
					}
					virtual.version = &v
				}
				providers[p.Name] = append(providers[p.Name], virtual)
			}
		}
	}
	// matching returns the packages that satisfy one of the alternatives.
	matching := func(alternatives []dependency.Possibility) (ids []int) {
		for _, p := range alternatives {
			for _, x := range providers[p.Name] {
				if p.Version == nil || x.version != nil && p.Version.SatisfiedBy(*x.version) {
					ids = append(ids, x.id)
				}
			}
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	u := make(Universe, len(list))
	for i := range list {
		x := &list[i]
		u[i].Name = x.Package
		for _, field := range []string{"Pre-Depends", "Depends"} {
			d, err := dependency.Parse(x.Values[field])
			if err != nil {
				return nil, fmt.Errorf("package %s: %s: %w", x.Package, field, err)
			}
			for _, rel := range d.Relations {
				if ids := matching(rel.Possibilities); !slices.Contains(ids, i) {
					u[i].Requires = append(u[i].Requires, ids)
				}
			}
		}
		slices.SortFunc(u[i].Requires, slices.Compare)
		u[i].Requires = slices.CompactFunc(u[i].Requires, slices.Equal)
		for _, field := range []string{"Conflicts", "Breaks"} {
			d, err := dependency.Parse(x.Values[field])
			if err != nil {
				return nil, fmt.Errorf("package %s: %s: %w", x.Package, field, err)
			}
			for _, rel := range d.Relations {
				u[i].Excludes = append(u[i].Excludes, matching(rel.Possibilities)...)
			}
		}
		slices.Sort(u[i].Excludes)
		u[i].Excludes = slices.DeleteFunc(slices.Compact(u[i].Excludes), func(id int) bool { return id == i })
	}
	return u, nil
}

// nowhere is the package that stands for requirements that no package satisfies.
const nowhere = "not-in-the-archive"

// Check returns an error unless the installed packages include the requested ones, and everything that they require and
// nothing that they exclude.
func (u Universe) Check(requested, installed []string) error {
	names := make(map[string]bool, len(installed))
	for _, name := range installed {
		names[name] = true
	}
	for _, name := range requested {
		if !names[name] {
			return fmt.Errorf("package %s was requested and is not installed", name)
		}
	}
	is := func(id int) bool { return names[u[id].Name] }
	for i, x := range u {
		if !is(i) {
			continue
		}
		for _, ids := range x.Requires {
			if !slices.ContainsFunc(ids, is) {
				return fmt.Errorf("package %s is installed, but nothing that satisfies its requirement for one of %d packages", x.Name, len(ids))
			}
		}
		if n := slices.IndexFunc(x.Excludes, is); n >= 0 {
			return fmt.Errorf("packages %s and %s are installed, but the first excludes the second", x.Name, u[x.Excludes[n]].Name)
		}
	}
	return nil
}

// Catalog writes the universe as a catalog in which each package has one bundle.
func (u Universe) Catalog(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	of := func(ids []int) (list []any) {
		for _, id := range ids {
			list = append(list, map[string]any{"package": property.PackageRequired{PackageName: u[id].Name, VersionRange: ">=0.0.0"}})
		}
		return list
	}
	enc := json.NewEncoder(out)
	for _, x := range u {
		props := []any{typed(property.TypePackage, property.Package{PackageName: x.Name, Version: "1.0.0"})}
		for _, ids := range x.Requires {
			switch len(ids) {
			case 0:
				props = append(props, typed(property.TypePackageRequired, property.PackageRequired{PackageName: nowhere, VersionRange: ">=0.0.0"}))
			case 1:
				props = append(props, typed(property.TypePackageRequired, property.PackageRequired{PackageName: u[ids[0]].Name, VersionRange: ">=0.0.0"}))
			default:
				props = append(props, typed(property.TypeConstraint, map[string]any{"any": map[string]any{"constraints": of(ids)}}))
			}
		}
		if len(x.Excludes) > 0 {
			props = append(props, typed(property.TypeConstraint, map[string]any{"not": map[string]any{"constraints": of(x.Excludes)}}))
		}
		for _, blob := range []any{
			map[string]any{"schema": "olm.package", "name": x.Name, "defaultChannel": "main"},
			map[string]any{"schema": "olm.channel", "package": x.Name, "name": "main", "entries": []any{map[string]any{"name": x.Name}}},
			map[string]any{"schema": "olm.bundle", "package": x.Name, "name": x.Name, "image": "example.com/" + x.Name, "properties": props},
		} {
			if err := enc.Encode(blob); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func typed(typ string, value any) any { return map[string]any{"type": typ, "value": value} }

// Solvables writes the universe as the solvables of libsolv/universe.c.
func (u Universe) Solvables(w io.Writer) error {
	provides := make([][]string, len(u))
	var sets []string
	known := map[string]int{}
	// set returns a capability that exactly these packages provide.
	set := func(ids []int) string {
		key := fmt.Sprint(ids)
		n, ok := known[key]
		if !ok {
			n = len(known)
			known[key] = n
			sets = append(sets, fmt.Sprintf("set(%d)", n))
			for _, id := range ids {
				provides[id] = append(provides[id], sets[n])
			}
		}
		return sets[n]
	}
	needs := make([][]string, len(u))
	for i, x := range u {
		for _, ids := range x.Requires {
			needs[i] = append(needs[i], "r "+set(ids))
		}
		if len(x.Excludes) > 0 {
			needs[i] = append(needs[i], "c "+set(x.Excludes))
		}
	}
	out := bufio.NewWriter(w)
	for i, x := range u {
		fmt.Fprintf(out, "s %s 1-1\n", x.Name)
		for _, p := range provides[i] {
			fmt.Fprintf(out, "p %s\n", p)
		}
		for _, n := range needs[i] {
			fmt.Fprintln(out, n)
		}
	}
	return out.Flush()
}
