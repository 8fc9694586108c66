package resolver

import (
	"cmp"
	"fmt"
	"strings"
)

// String tells the fact in one sentence.
func (f *Subscribed) String() string {
	s := &f.Subscription
	var b strings.Builder
	fmt.Fprintf(&b, "subscription %s wants package %s", s.Name, s.Package)
	if s.Channel != "" {
		fmt.Fprintf(&b, " from channel %s", s.Channel)
	}
	switch {
	case s.Catalog != "" && s.CatalogNamespace != "":
		fmt.Fprintf(&b, " of catalog %s/%s", s.Catalog, s.CatalogNamespace)
	case s.Catalog != "":
		fmt.Fprintf(&b, " of catalog %s", s.Catalog)
	}
	var offered []Ref
	current := ""
	for _, c := range f.Candidates {
		if c.Installed() {
			current = c.Name
		} else {
			offered = append(offered, c)
		}
	}
	switch {
	case current != "" && len(offered) == 0:
		fmt.Fprintf(&b, ", where nothing can follow the installed %s", current)
	case current != "":
		fmt.Fprintf(&b, ": the installed %s, or what can follow it: %s", current, nameList(offered))
	default:
		fmt.Fprintf(&b, ": %s", nameList(offered))
	}
	return b.String()
}

// String tells the fact in one sentence.
func (f *Unavailable) String() string {
	s := &f.Subscription
	catalog := "any catalog"
	if s.Catalog != "" || s.CatalogNamespace != "" {
		catalog = "catalog " + cmp.Or(s.Catalog, "*") + "/" + cmp.Or(s.CatalogNamespace, "*")
	}
	var missing string
	switch f.What {
	case "catalog":
		missing = fmt.Sprintf("%s, which does not exist", catalog)
	case "package":
		missing = fmt.Sprintf("package %s, which is not in %s", s.Package, catalog)
	case "channel":
		missing = fmt.Sprintf("channel %s of package %s, which is not in %s", s.Channel, s.Package, catalog)
	case "startingCSV":
		missing = fmt.Sprintf("startingCSV %s, which is not in channel %s of package %s", s.StartingCSV, cmp.Or(s.Channel, "any"), s.Package)
	default:
		missing = fmt.Sprintf("channel %s of package %s, which is broken: %v", s.Channel, s.Package, f.Err)
	}
	text := fmt.Sprintf("subscription %s names %s", s.Name, missing)
	if len(f.Known) > 0 {
		text += fmt.Sprintf("; there is %s", wordList(f.Known))
	}
	return text
}

// String tells the fact in one sentence.
func (f *MustStay) String() string {
	return fmt.Sprintf("%s is installed without a subscription and must stay", f.Operator.Name)
}

// String tells the fact in one sentence.
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
		b.WriteString(", which nothing provides")
	} else {
		fmt.Fprintf(&b, ", which %s can meet", nameList(f.Candidates))
	}
	return b.String()
}

// String tells the fact in one sentence.
func (f *OnePerPackage) String() string {
	return fmt.Sprintf("a namespace holds one version of package %s", f.Package)
}

// String tells the fact in one sentence.
func (f *OneProvider) String() string {
	return fmt.Sprintf("a namespace holds one provider of %s: %s", f.API, nameList(f.Providers))
}

// String tells the fact in one sentence.
func (f *Replaced) String() string {
	return fmt.Sprintf("%s takes the place of the installed %s", f.Bundle.Name, f.Operator.Name)
}

// String tells the fact in one sentence.
func (f *Prohibited) String() string {
	return fmt.Sprintf("%s has the property olm.deprecated, which forbids choosing it", f.Bundle.Name)
}

// String tells the fact in one sentence.
func (f *Unusable) String() string {
	return fmt.Sprintf("%s cannot be used: %v", f.Bundle.Name, f.Err)
}

// maxNames is how many names a sentence lists before it counts the rest.
const maxNames = 4

// nameList returns the names of bundles, each once, in order.
func nameList(refs []Ref) string {
	var names []string
	seen := map[string]bool{}
	for _, r := range refs {
		if !seen[r.Name] {
			seen[r.Name] = true
			names = append(names, r.Name)
		}
	}
	return wordList(names)
}

// wordList joins words with commas and "or", and counts what is too many.
func wordList(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	if len(words) > maxNames {
		return fmt.Sprintf("%s or %d others", strings.Join(words[:maxNames-1], ", "), len(words)-maxNames+1)
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
