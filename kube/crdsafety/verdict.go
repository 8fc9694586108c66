package crdsafety

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A Verdict is the result of comparing two CRDs.
type Verdict string

const (
	// Safe means that nothing was found.
	Safe Verdict = "safe"
	// Unsafe means that there are findings.
	Unsafe Verdict = "unsafe"
	// Panic means that operator-controller crashes on these CRDs, because a
	// version has no schema. It occurs only with Options.AsUpstream.
	Panic Verdict = "panic"
	// Skipped means that the enforcement is None and nothing was compared.
	Skipped Verdict = "skipped"
)

// A Scope is the part of the comparison that a finding comes from.
type Scope string

const (
	ScopeCRD    Scope = "crd"    // everything outside the versions, and removed fields
	ScopeSame   Scope = "same"   // a version and the same version of the new CRD
	ScopeServed Scope = "served" // two served versions of the new CRD
)

// A Result is the verdict on one CRD.
type Result struct {
	// Name is the name of the CRD.
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Findings are the reasons for an unsafe verdict, sorted by scope, version,
	// path and validation.
	Findings []Finding `json:"findings,omitempty"`
	// FalseAlarm reports that operator-controller's verdict is unsafe although
	// the default comparison finds the upgrade safe. It is set only with
	// Options.AsUpstream.
	FalseAlarm bool `json:"falseAlarm,omitzero"`
	// Upstream is the verdict of operator-controller where it differs.
	Upstream Verdict `json:"upstream,omitzero"`
}

// Refused reports whether operator-controller refuses the change, or crashes on it.
func (r *Result) Refused() bool { // K54
	v := cmp.Or(r.Upstream, r.Verdict)
	return v == Unsafe || v == Panic
}

// A Finding is a reason why an upgrade is unsafe.
type Finding struct {
	Scope Scope `json:"scope"`
	// Version is a version, or a pair such as "v1 -> v2". It is empty if the
	// finding concerns the whole CRD.
	Version string `json:"version,omitzero"`
	// Path is the place in the schema, for example ^.spec.list.items.
	Path string `json:"path,omitzero"`
	// Validation is the name of the violated validation of operator-controller,
	// or of the schema keyword that changed.
	Validation string `json:"validation"`
	// Old and New are the values before and after the change, as JSON. Either is
	// absent if there is no such value. For lists, Old holds only the removed
	// elements and New only the added ones.
	Old json.RawMessage `json:"old,omitzero"`
	New json.RawMessage `json:"new,omitzero"`
	// FalseAlarm reports that the default comparison does not confirm the
	// finding. It is set only with Options.AsUpstream.
	FalseAlarm bool `json:"falseAlarm,omitzero"`
}

// Compare orders findings by scope, version, path, validation and values.
func (f Finding) Compare(g Finding) int {
	return cmp.Or(
		strings.Compare(string(f.Scope), string(g.Scope)),
		strings.Compare(f.Version, g.Version),
		strings.Compare(f.Path, g.Path),
		strings.Compare(f.Validation, g.Validation),
		slices.Compare(f.Old, g.Old),
		slices.Compare(f.New, g.New))
}

// String returns the finding as one line of English, without the name of the CRD.
func (f Finding) String() string {
	var b strings.Builder
	if f.Version != "" {
		b.WriteString("version " + f.Version + ": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.change())
	if f.FalseAlarm {
		b.WriteString(" (false alarm)")
	}
	return b.String()
}

// change states what changed.
func (f Finding) change() string {
	before, after := short(f.Old), short(f.New)
	what := f.Validation
	switch what {
	case "storedVersionRemoval":
		return "stored versions removed: " + before
	case "existingFieldRemoval":
		return "field removed"
	case "required":
		return "new required fields: " + after
	case "enum":
		if after == "" {
			return "enum values removed: " + before
		}
	case unhandled:
		what = "keywords without a validation"
	}
	switch {
	case before == "":
		return what + " added: " + after
	case after == "":
		return what + " removed: " + before
	default:
		return what + " changed from " + before + " to " + after
	}
}

// short returns a JSON value for a message, truncated if it is long.
func short(value []byte) string {
	const limit = 300
	if len(value) > limit {
		return strings.ToValidUTF8(string(value[:limit]), "") + "…"
	}
	return string(value)
}

// Fails returns the scope, version (or pair of versions), path and validation
// of each finding, as operator-controller reports them, sorted and without
// duplicates. Findings about the whole CRD have neither version nor path.
func (r *Result) Fails() [][4]string {
	out := make([][4]string, 0, len(r.Findings))
	for _, f := range r.Findings {
		if f.Scope == ScopeCRD {
			f.Version, f.Path = "", ""
		}
		out = append(out, [4]string{string(f.Scope), f.Version, f.Path, f.Validation})
	}
	slices.SortFunc(out, func(a, b [4]string) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}
