package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/version"
)

// uninstalls reports whether the change removes an operator, also to install it again.
func (c Change) uninstalls() bool {
	return c.Kind == RemoveSubscribed || c.Kind == RemoveOperator || c.Kind == Reinstall
}

// uninstalls returns the number of operators that a fix removes, also to install them again.
func (f *Fix) uninstalls() (n int) {
	for _, c := range f.Changes {
		if c.uninstalls() {
			n++
		}
	}
	return n
}

// rank returns the number of subscriptions and operators that a fix removes. Adopting an operator is not
// better if it stays stuck.
func (f *Fix) rank() int {
	if f.futile() != nil && f.Changes[0].Kind == AdoptOperator {
		return f.removals() + 1
	}
	return f.removals()
}

// removed returns the operators that a fix removes, by name, except those of whose package another one
// stays.
func (u *universe) removed(f *Fix) map[string]*installed {
	list := map[string]*installed{}
	for _, c := range f.Changes {
		in, ok := u.installedNamed(c.Operator)
		if !ok || !c.uninstalls() {
			continue
		}
		stays := func(o *installed) bool {
			return !slices.ContainsFunc(f.Changes, func(c Change) bool { return c.uninstalls() && c.Operator == o.Name }) &&
				slices.ContainsFunc(o.pkgs, func(p string) bool { return slices.Contains(in.pkgs, p) })
		}
		if !slices.ContainsFunc(u.installed, stays) {
			list[c.Operator] = in
		}
	}
	return list
}

// risk returns what may be lost with the operators that a fix removes, or "".
func (f *Fix) risk() string {
	var alone, again, down []string
	reinstall := false
	for _, c := range f.Changes {
		if !c.uninstalls() {
			continue
		}
		in, ok := f.removed[c.Operator]
		if !ok {
			continue
		}
		i := slices.IndexFunc(f.Selected, func(s Selected) bool { return slices.Contains(in.pkgs, s.Package) })
		if i < 0 {
			alone = append(alone, c.Operator)
			continue
		}
		switch v, err := version.Parse(f.Selected[i].Version); {
		case err == nil && v.LT(in.version):
			down = append(down, c.Operator+" back to "+f.Selected[i].Version)
		default:
			again, reinstall = append(again, c.Operator), reinstall || c.Kind == Reinstall
		}
	}
	switch {
	case len(down) > 0:
		return "it takes " + phrase.And(down) + ", so it may fail or lose data; back up its resources"
	case len(again) > 0 && !reinstall:
		return "it is installed afresh, not upgraded, so it may fail or lose data; back up its resources"
	case len(again) > 0:
		return "no upgrade leads there, so it may fail or lose data; back up its resources"
	case len(alone) > 0:
		return "nothing manages the resources of " + phrase.And(alone) + " from then on; back them up"
	}
	return ""
}

// distinct leaves one of the fixes that remove the same operators and install the same bundles: the
// cheapest, or the first.
func distinct(found []*Fix) (list []*Fix) {
	for _, f := range found {
		i := slices.IndexFunc(list, func(x *Fix) bool { return f.repeats(x) })
		switch {
		case i < 0:
			list = append(list, f)
		case f.cost < list[i].cost:
			list[i] = f
		}
	}
	return list
}

// repeats reports whether a fix removes the same operator as another one, and nothing else, and leads to
// the same bundles.
func (f *Fix) repeats(o *Fix) bool {
	if len(f.Changes) != 1 || len(o.Changes) != 1 || len(f.Selected) == 0 {
		return false
	}
	a, b := f.Changes[0], o.Changes[0]
	return a.uninstalls() && b.uninstalls() && a.Operator == b.Operator &&
		slices.EqualFunc(f.Selected, o.Selected, func(a, b Selected) bool { return a.Compare(b) == 0 })
}
