package fact

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
)

// String returns the fact as a sentence.
func (f *Subscribed) String() string {
	s := &f.Subscription
	var b strings.Builder
	fmt.Fprintf(&b, "subscription %s requests package %s", s.Name, s.Package)
	if s.Channel != "" {
		fmt.Fprintf(&b, " from channel %s", s.Channel)
	}
	if s.Source() != (CatalogID{}) {
		fmt.Fprintf(&b, " of catalog %s", s.Source())
	}
	var offered []Ref
	current := ""
	for _, c := range f.Candidates {
		if c.Installed() && c.Name == s.InstalledCSV {
			current = c.Name
		} else {
			offered = append(offered, c)
		}
	}
	switch {
	case current != "" && len(offered) == 0:
		fmt.Fprintf(&b, ", and the installed %s has no successor there", current)
	case current != "":
		fmt.Fprintf(&b, ": the installed %s or its successor %s", current, nameList(offered))
	default:
		fmt.Fprintf(&b, ": %s", nameList(offered))
	}
	return b.String()
}

// String returns the fact as a sentence.
func (f *Unavailable) String() string {
	s := &f.Subscription
	where := "no catalog has"
	if s.Source() != (CatalogID{}) {
		where = "catalog " + s.Source().String() + " does not have"
	}
	text := fmt.Sprintf("subscription %s cannot be satisfied: ", s.Name)
	switch f.What {
	case "catalog":
		switch {
		case f.Err != nil:
			text += f.Err.Error()
		case s.CatalogNamespace == "":
			text += fmt.Sprintf("it names catalog %s without its namespace; set both", s.Catalog)
		case s.Catalog == "":
			text += fmt.Sprintf("it names catalog namespace %s without a catalog; set both or neither", s.CatalogNamespace)
		default:
			text += fmt.Sprintf("catalog %s does not exist", s.Source())
		}
	case "package":
		text += fmt.Sprintf("%s package %s", where, s.Package)
	case "channel":
		text += fmt.Sprintf("%s channel %s of package %s", where, s.Channel, s.Package)
	case "startingCSV":
		if f.Err != nil {
			text += fmt.Sprintf("its startingCSV %s cannot be installed: %v in channel %s of package %s", s.StartingCSV, f.Err, f.Channel, s.Package)
			break
		}
		text += fmt.Sprintf("its startingCSV %s is not in %s of package %s", s.StartingCSV, cmp.Or(prefixed("channel ", s.Channel), "any channel"), s.Package)
		if n := len(f.Elsewhere); n > 0 {
			return fmt.Sprintf("%s, but in %s %s", text, phrase.Plural(n, "channel"), phrase.And(f.Elsewhere))
		}
	default:
		text += fmt.Sprintf("channel %s of package %s is broken: %s", f.Channel, s.Package, phrase.Reason(f.Err))
	}
	switch {
	case f.Crowded:
		text += "; many packages have similar names, such as " + phrase.And(f.Nearest)
	case f.What == "channel" && len(f.Nearest) > 0 && len(f.Known) > maxKnown:
		text += fmt.Sprintf("; it has %d channels, such as %s", len(f.Known), phrase.And(f.Nearest))
	case f.What != "channel" && len(f.Nearest) > 0 && (len(f.Known) == 0 || len(f.Known) > phrase.MaxOr):
		text += nearestText(f.Nearest)
	case len(f.Known) > 0:
		text += fmt.Sprintf("; available: %s", phrase.And(f.Known))
	}
	return text
}

// maxKnown is the number of channels of a package that a text lists.
const maxKnown = 6

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// String returns the fact as a sentence.
func (f *MustStay) String() string {
	if f.Held != "" {
		return fmt.Sprintf("the installed %s must stay: %s", f.Operator.Name, f.Held)
	}
	return fmt.Sprintf("%s is installed without a subscription and must stay", f.Operator.Name)
}

// String returns the fact as a sentence.
func (f *Requires) String() string {
	var b strings.Builder
	if f.Bundle.Installed() {
		fmt.Fprintf(&b, "the installed %s", f.Bundle.Name)
	} else {
		b.WriteString(f.Bundle.Name)
	}
	fmt.Fprintf(&b, " requires %s", f.Requirement)
	if m := f.Requirement.Message(); m != "" {
		fmt.Fprintf(&b, " (%q)", m)
	}
	if len(f.Candidates) == 0 {
		b.WriteString(", which no bundle satisfies")
	} else {
		fmt.Fprintf(&b, ", satisfied by %s", nameList(f.Candidates))
	}
	return b.String()
}

// String returns the fact as a sentence.
func (f *OnePerPackage) String() string {
	return fmt.Sprintf("a namespace can hold only one version of package %s", f.Package)
}

// String returns the fact as a sentence.
func (f *OneProvider) String() string {
	return fmt.Sprintf("a namespace can hold only one provider of %s: %s", f.API, nameList(f.Providers))
}

// String returns the fact as a sentence.
func (f *Replaced) String() string {
	return fmt.Sprintf("%s replaces the installed %s", f.Bundle.Name, f.Operator.Name)
}

// String returns the fact as a sentence.
func (f *Prohibited) String() string {
	return fmt.Sprintf("%s has the property olm.deprecated, which excludes it", f.Bundle.Name)
}

// String returns the fact as a sentence.
func (f *Unusable) String() string {
	return fmt.Sprintf("%s cannot be used: %v", f.Bundle.Name, f.Err)
}

// String returns the fact as a sentence.
func (f *PolicyBlocked) String() string {
	return fmt.Sprintf("%s is blocked by a policy: %s", f.Bundle.Name, f.Reason())
}

// Reason returns the policy, and why its pin cannot be chosen or reached.
func (f *PolicyBlocked) Reason() string {
	text := f.Policy.String()
	switch f.PinFault {
	case "absent":
		text += ", which no catalog has" + nearestText(f.Nearest)
	case "not-offered":
		text += ", which no channel offers" + nearestText(f.Nearest)
	case "ahead":
		text += fmt.Sprintf(", which is %d steps away from the installed %s, but the pin also blocks the steps before it", f.Steps, f.From)
	case "behind":
		text += fmt.Sprintf(", which is older than the installed %s, and OLM does not go back to it", f.From)
	case "unreachable":
		text += fmt.Sprintf(", to which no upgrades in the channel lead from the installed %s", f.From)
	}
	return text
}

// String returns the fact as a sentence.
func (f *InstallMode) String() string {
	return f.Bundle.Name + " cannot run in this namespace: " + f.Err.Error()
}

// nameList returns the names of bundles in order, without duplicates.
func nameList(refs []Ref) string { return phrase.Or(Names(refs)) }

// nearestText returns the suggestions for a missing name as the end of a clause, or "".
func nearestText(nearest []string) string {
	switch len(nearest) {
	case 0:
		return ""
	case 1:
		return "; the closest is " + nearest[0]
	}
	return "; the closest are " + phrase.And(nearest)
}
