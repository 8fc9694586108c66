package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// decided returns the rules by which c is preferred over the options after it: those in
// other catalogs, those in other channels, and those in the same channel. If c is the only
// option, or an installed operator at the head of its channel, it returns why nothing else
// is possible. It returns "" if there is no such rule.
func (w *why) decided(c cand, by cause) string {
	u := w.r.u
	if sub := by.sub; sub != nil {
		if text := w.alone(c, sub, by); text != "" {
			return text
		}
	}
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

// alone returns why a subscription has no option other than c, or "" if it has.
func (w *why) alone(c cand, sub *subscription, by cause) string {
	switch current := sub.current; {
	case current != nil && current.id == c:
		if w.r.stay(sub, by.list).Reason == StaysAtHead {
			return "it is the head of " + cmp.Or(prefixed("channel ", sub.Channel), "its channel")
		}
	case by.bundles() != 1 || w.r.u.isInstalled(c):
	case current != nil:
		return "it is the only upgrade from the installed " + current.Name
	case sub.StartingCSV != "":
		return "it is the startingCSV of the subscription"
	default:
		if x, _ := w.r.u.entry(c); next(x) == 0 {
			return "it is the head of channel " + x.Channel().Name()
		}
	}
	return ""
}

// bundles returns the number of options without the installed operator of the subscription.
func (by cause) bundles() int {
	n := len(by.list)
	if by.sub != nil && by.sub.current != nil && slices.Contains(by.list, by.sub.current.id) {
		n--
	}
	return n
}

// prefixed returns text with a prefix, or "" if text is empty.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
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
		return "it is the head of channel " + x.Channel().Name()
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
		if x.Channel().IsDefault() {
			return fmt.Sprintf("%s is the default channel", x.Channel().Name())
		}
		return fmt.Sprintf("package %s, channel %s comes first by name", x.Channel().Package().Name(), x.Channel().Name())
	}
	if next(x) == 0 {
		return "it is the head of channel " + x.Channel().Name()
	}
	return "it is closer to the head of channel " + x.Channel().Name()
}
