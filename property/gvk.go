package property

import (
	"cmp"
	"errors"
	"fmt"
)

// A GVK identifies a Kubernetes API by group, version and kind: one that an
// olm.gvk property provides or an olm.gvk.required property requires. It is
// comparable. The zero value identifies no API.
type GVK struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Compare orders GVKs by group, then kind, then version, byte by byte. It
// returns -1, 0 or +1.
func (g GVK) Compare(o GVK) int {
	if c := cmp.Compare(g.Group, o.Group); c != 0 {
		return c
	}
	if c := cmp.Compare(g.Kind, o.Kind); c != 0 {
		return c
	}
	return cmp.Compare(g.Version, o.Version)
}

// String returns the GVK in a readable form, such as "EtcdCluster
// (etcd.database.coreos.com/v1beta2)".
func (g GVK) String() string {
	return g.Kind + " (" + g.Group + "/" + g.Version + ")"
}

// Validate returns nil if the parts are valid Kubernetes names: the group a DNS
// subdomain, the version a DNS-1035 label, and the kind a DNS-1035 label in
// which upper-case letters are allowed. Otherwise it returns a [*NameError] for
// each invalid part, joined, in the order group, version, kind. OLM and opm do
// not check this, so treat an error as a finding about the catalog rather than
// a reason to reject it.
func (g GVK) Validate() error {
	return errors.Join(
		part("group", g.Group, maxSubdomain, isSubdomain,
			"a DNS subdomain: lower-case letters, digits, '-' and '.', each part beginning and ending with a letter or digit"),
		part("version", g.Version, maxLabel, isVersion,
			"lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit, such as v1alpha1"),
		part("kind", g.Kind, maxLabel, isKind,
			"letters, digits and '-', beginning with a letter and ending with a letter or digit, such as EtcdCluster"),
	)
}

// Maximum lengths of names in bytes, from RFC 1123 and Kubernetes.
const (
	maxSubdomain = 253
	maxLabel     = 63
)

// A NameError reports a part of a GVK that is not a valid Kubernetes name.
type NameError struct {
	Part string // "group", "version" or "kind"
	Name string
	Want string // a description of valid names
}

// Error returns, for example, `version "1": want lower-case letters, …`.
func (e *NameError) Error() string {
	if len(e.Name) > maxSubdomain {
		return fmt.Sprintf("%s %.40q… of %d bytes: want %s", e.Part, e.Name, len(e.Name), e.Want)
	}
	return fmt.Sprintf("%s %q: want %s", e.Part, e.Name, e.Want)
}

func part(name, s string, limit int, ok func(string) bool, want string) error {
	switch {
	case s != "" && len(s) <= limit && ok(s):
		return nil
	case len(s) > limit:
		want = fmt.Sprintf("at most %d bytes, found %d", limit, len(s))
	}
	return &NameError{name, s, want}
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSubdomain(s string) bool {
	edge := true // at the beginning of a part, or after a '-'
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c) || isDigit(c):
			edge = false
		case c == '-':
			if i == 0 || s[i-1] == '.' {
				return false
			}
			edge = true
		case c == '.':
			if edge {
				return false
			}
			edge = true
		default:
			return false
		}
	}
	return !edge
}

func isVersion(s string) bool {
	if !isLower(s[0]) || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLower(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	return true
}

func isKind(s string) bool {
	if !isLower(s[0]) && !isUpper(s[0]) || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	return true
}

var (
	shapeGVK         = shape{TypeGVK, []string{"group", "version", "kind"}, 3}
	shapeGVKRequired = shape{TypeGVKRequired, []string{"group", "version", "kind"}, 3}
)

func (s *shape) gvk(raw []byte) (GVK, error) {
	f, err := s.decode(raw)
	if err != nil {
		return GVK{}, err
	}
	group, version, kind := f.text()
	return GVK{Group: group, Version: version, Kind: kind}, nil
}

// RepeatedGVK returns the first API that a list has in two olm.gvk properties,
// and false if there is none.
func RepeatedGVK(list []Property) (GVK, bool) {
	seen := map[GVK]bool{}
	for _, p := range list {
		if p.Type != TypeGVK {
			continue
		}
		if g, err := shapeGVK.gvk(p.Value); err == nil {
			if seen[g] {
				return g, true
			}
			seen[g] = true
		}
	}
	return GVK{}, false
}
