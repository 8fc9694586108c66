package resolver

import (
	"cmp"
	"fmt"
	"slices"
)

// An Unowned is an installed operator that no subscription owns although one requests its
// package. It stays as it is. Usually the subscription's InstalledCSV was not set.
type Unowned struct {
	Operator string // the ClusterServiceVersion
	Package  string
	// Subscription is the name of the subscription, or its package if it has no name. Of
	// several, it is the first by name.
	Subscription string
}

// String describes the operator and what to set.
func (x Unowned) String() string {
	return fmt.Sprintf("the installed %s belongs to no subscription and stays as it is; if it was installed for subscription %s, set its InstalledCSV to %q",
		x.Operator, x.Subscription, x.Operator)
}

// Unowned returns the installed operators that no subscription owns although one without an
// InstalledCSV requests their package, by operator. An operator whose package is not known is
// not listed.
func (p *Problem) Unowned() []Unowned { // D11
	open, owned := map[string]string{}, map[string]bool{} // open has subscriptions by package
	for _, s := range p.Subscriptions {
		if s.InstalledCSV != "" {
			owned[s.InstalledCSV] = true
		} else {
			name := cmp.Or(s.Name, s.Package)
			open[s.Package] = min(cmp.Or(open[s.Package], name), name)
		}
	}
	var out []Unowned
	for i := range p.Installed {
		in := &p.Installed[i]
		if owned[in.Name] {
			continue
		}
		for _, pkg := range in.packages() {
			if name, ok := open[pkg]; ok {
				out = append(out, Unowned{in.Name, pkg, name})
			}
		}
	}
	slices.SortFunc(out, func(a, b Unowned) int {
		return cmp.Or(cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Package, b.Package))
	})
	return out
}
