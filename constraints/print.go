package constraints

import (
	"strconv"
	"strings"
)

// String returns, for example, "all(package etcd >=0.9.0, label ready)".
func (x *All) String() string { return list("all", x.Of) }

// String returns, for example, "any(package etcd >=0.9.0, label ready)".
func (x *Any) String() string { return list("any", x.Of) }

// String returns "not" and the constraint, or "not(…, …)" if there are several.
func (x *Not) String() string {
	if len(x.Of) == 1 && x.Of[0] != nil {
		return "not " + x.Of[0].String()
	}
	return list("not", x.Of)
}

// String returns, for example, `gvk EtcdCluster (etcd.database.coreos.com/v1beta2)`.
func (x *GVK) String() string {
	return "gvk " + name(x.GVK.Kind) + " (" + name(x.GVK.Group) + "/" + name(x.GVK.Version) + ")"
}

// name returns a part of a GVK, quoted if it contains separators.
func name(s string) string {
	if s == "" {
		return s
	}
	return plain(s, "-._")
}

// String returns, for example, `package etcd >=0.9.0`.
func (x *Package) String() string {
	return "package " + word(x.Name) + " " + phrase(x.Range.text)
}

// String returns, for example, `label ready`.
func (x *Label) String() string { return "label " + word(x.Label) }

// String returns "cel" and the quoted rule.
func (x *CEL) String() string {
	if strconv.CanBackquote(x.Rule) {
		return "cel `" + x.Rule + "`"
	}
	return "cel " + strconv.Quote(x.Rule)
}

func list(op string, of []Expr) string {
	var b strings.Builder
	b.WriteString(op)
	b.WriteByte('(')
	for i, x := range of {
		if i > 0 {
			b.WriteString(", ")
		}
		if x == nil {
			b.WriteString("<nil>")
			continue
		}
		b.WriteString(x.String())
	}
	b.WriteByte(')')
	return b.String()
}

// word returns s, quoted unless it reads as one word.
func word(s string) string { return plain(s, "-._/:+@") }

// phrase returns s, quoted unless it looks like a range.
func phrase(s string) string { return plain(s, "-._+<>=!| ") }

func plain(s, also string) string {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') &&
			strings.IndexByte(also, c) < 0 {
			return strconv.Quote(s)
		}
	}
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' {
		return strconv.Quote(s)
	}
	return s
}
