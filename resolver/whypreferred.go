package resolver

import (
	"fmt"
	"slices"
	"strings"
)

// decided returns the rules by which c is preferred over the options after it: those in
// other catalogs, those in other channels, and those in the same channel. It returns "" if
// c is the only option or is installed.
func (w *why) decided(c cand, by cause) string {
	u := w.r.u
	if len(by.list) < 2 || u.isInstalled(c) {
		return ""
	}
	var catalog, channel, place string
	x, _ := u.entry(c)
	for _, o := range by.list[slices.Index(by.list, c)+1:] {
		if u.isInstalled(o) {
			continue
		}
		y, _ := u.entry(o)
		rule := &place
		switch {
		case u.source(o) != u.source(c):
			rule = &catalog
		case x.Channel() != y.Channel():
			rule = &channel
		}
		if *rule == "" {
			*rule = w.preferred(c, o, by)
		}
	}
	var rules []string
	for _, rule := range []string{catalog, channel, place} {
		if rule != "" && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return strings.Join(rules, "; ")
}

// preferred returns the rule by which a is preferred over b (D8, H13; B4 for a
// subscription).
func (w *why) preferred(a, b cand, by cause) string {
	u, sub := w.r.u, by.sub
	if u.isInstalled(a) {
		return "it is already installed"
	}
	x, _ := u.entry(a)
	y, _ := u.entry(b)
	from, other := u.source(a), u.source(b)
	upgrade := sub != nil && sub.current != nil
	switch {
	case from == other:
	case upgrade && sub.Source() != (CatalogID{}) && sub.Source() == from.ID():
		return fmt.Sprintf("subscription %s names its catalog %s", sub.Name, from.Name)
	case upgrade && next(x) < next(y):
		return fmt.Sprintf("it is the head of channel %s of catalog %s", x.Channel().Name(), from.Name)
	case by.owner != noCand && !u.isInstalled(by.owner) && u.source(by.owner) == from:
		return fmt.Sprintf("its catalog %s is that of %s", from.Name, u.ref(by.owner).Name)
	case from.Priority > other.Priority:
		return fmt.Sprintf("its catalog %s has a higher priority (%d) than %s (%d)", from.Name, from.Priority, other.Name, other.Priority)
	case from.Namespace != other.Namespace && from.Namespace == u.p.Namespace:
		return fmt.Sprintf("its catalog %s is in the same namespace, and %s is not", from.Name, other.Name)
	case from.Priority == other.Priority:
		return fmt.Sprintf("its catalog %s comes before %s by name, at the same priority", from.ID(), other.ID())
	default:
		return fmt.Sprintf("its catalog %s comes before %s", from.Name, other.Name)
	}
	if x.Channel() != y.Channel() {
		if sub != nil && compareEntries(x, y) > 0 {
			return fmt.Sprintf("another channel of the subscription lists %s first", x.Name())
		}
		switch p, q := x.Channel().Package().Name(), y.Channel().Package().Name(); {
		case x.Channel().IsDefault() && !y.Channel().IsDefault() && p == q:
			return fmt.Sprintf("%s is the default channel", x.Channel().Name())
		case x.Channel().IsDefault() && !y.Channel().IsDefault():
			return y.Name() + " is not in the default channel of its package"
		case p != q:
			return fmt.Sprintf("package %s comes before %s by name", p, q)
		}
		return fmt.Sprintf("channel %s comes before %s by name", x.Channel().Name(), y.Channel().Name())
	}
	if next(x) == 0 {
		return "it is the head of channel " + x.Channel().Name()
	}
	return "it is closer to the head of channel " + x.Channel().Name()
}
