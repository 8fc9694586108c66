package impact

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/crdsafety"
)

// A Verdict is the severity of a change, of a class of changes, or of a whole upgrade.
type Verdict string

const (
	Safe   Verdict = "safe"
	Look   Verdict = "look"
	Breaks Verdict = "breaks"
)

// rank orders verdicts: the larger number is the more serious verdict.
func (v Verdict) rank() int { return slices.Index([]Verdict{Safe, Look, Breaks}, v) }

// AtLeast reports whether v is as serious as w, or more serious.
func (v Verdict) AtLeast(w Verdict) bool { return v.rank() >= w.rank() }

func worse(a, b Verdict) Verdict {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// A Class is a kind of change.
type Class string

const (
	Objects      Class = "objects"
	CRDs         Class = "crds"
	Permissions  Class = "permissions"
	Webhooks     Class = "webhooks"
	Images       Class = "images"
	Workloads    Class = "workloads"
	Requirements Class = "requirements"
)

// Classes returns all classes in the order of a report.
func Classes() []Class {
	return []Class{Objects, CRDs, Permissions, Webhooks, Images, Workloads, Requirements}
}

// A Report is what an upgrade changes.
type Report struct {
	Package string `json:"package"`
	// Namespace is the install namespace of the operator in a cluster.
	Namespace string `json:"namespace,omitempty"`
	// From and To are the bundles before and after the upgrade.
	From BundleID `json:"from"`
	To   BundleID `json:"to"`
	// OLM is the system that installs the bundles: v1 or classic.
	OLM string `json:"olm"`
	// Verdict is the most serious verdict of all classes.
	Verdict Verdict `json:"verdict"`
	// Classes has an entry for each class, in the order of [Classes].
	Classes []ClassReport `json:"classes,omitzero"`
	// CRDs has the result of the safety check for each CRD that both bundles have and that
	// changes, sorted by name.
	CRDs []*crdsafety.Result `json:"crds,omitempty"`
}

// A BundleID names a bundle.
type BundleID struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A ClassReport lists the changes of one class.
type ClassReport struct {
	Class Class `json:"class"`
	// Verdict is the most serious verdict of the changes.
	Verdict Verdict `json:"verdict"`
	// Changes are sorted by verdict, the most serious first, then by object, path and
	// message.
	Changes []Change `json:"changes,omitempty"`
}

// An Op is what happens to an object, a field or an element of a set.
type Op string

const (
	Added   Op = "added"
	Changed Op = "changed"
	Removed Op = "removed"
)

// A Change is one difference between two bundles.
type Change struct {
	Verdict Verdict `json:"verdict"`
	// Code is the code of a change that is not safe.
	Code fbc.Code `json:"code,omitempty"`
	Op   Op       `json:"op"`
	// Object names what changes, such as "Deployment demo/controller".
	Object string `json:"object,omitempty"`
	// Path is the field of the object, such as ".spec.replicas".
	Path string `json:"path,omitempty"`
	// Old and New are the values of the field. Either is absent if there is no such value.
	Old json.RawMessage `json:"old,omitzero"`
	New json.RawMessage `json:"new,omitzero"`
	// Message describes the change in one sentence without a period.
	Message string `json:"message"`

	at place
	// Message is subject, the field and effect, in other words, if effect is not empty. See Line.
	subject, effect string
	// rule is what is gained, for a permission and for the danger of a wildcard in it, and where.
	rule string
}

// Pos returns a position in the new bundle that causes the change, if there is one. It may
// parse the CSV again.
func (c *Change) Pos() fbc.Pos {
	if len(c.at.path) == 0 {
		return c.at.Pos
	}
	return c.at.csv.At(c.at.path...)
}

func (c *Change) compare(d *Change) int {
	return cmp.Or(
		cmp.Compare(d.Verdict.rank(), c.Verdict.rank()),
		cmp.Compare(c.Object, d.Object),
		cmp.Compare(c.Path, d.Path),
		cmp.Compare(c.Op, d.Op),
		cmp.Compare(c.Message, d.Message),
		cmp.Compare(c.Code, d.Code),
	)
}

// class returns the report of a class, with its changes sorted and without repetitions.
func class(name Class, changes []Change) ClassReport {
	slices.SortStableFunc(changes, func(a, b Change) int { return a.compare(&b) })
	changes = slices.CompactFunc(changes, func(a, b Change) bool { return a.compare(&b) == 0 })
	r := ClassReport{Class: name, Verdict: Safe, Changes: changes}
	for i := range changes {
		r.Verdict = worse(r.Verdict, changes[i].Verdict)
	}
	return r
}

// verdictOf returns the verdict of changes with a code.
func verdictOf(code fbc.Code) Verdict {
	switch {
	case code == "":
		return Safe
	case code.Severity() == fbc.Error:
		return Breaks
	}
	return Look
}

// Findings returns the changes that are not safe as findings, in the order of the report.
// Positions are relative to the directory of the new bundle.
func (r *Report) Findings() fbc.Diagnostics {
	var out fbc.Diagnostics
	for _, c := range r.Classes {
		for _, x := range c.Changes {
			if x.Code == "" {
				continue
			}
			out = append(out, &fbc.Diagnostic{
				Code: x.Code, Severity: x.Code.Severity(), Pos: x.Pos(), Package: r.Package, Name: r.To.Name,
				Err: message(x.Message),
			})
		}
	}
	return out
}

// Codes returns the codes of the changes that are not safe, each once, sorted.
func (r *Report) Codes() []fbc.Code {
	var out []fbc.Code
	for _, c := range r.Classes {
		for i := range c.Changes {
			if code := c.Changes[i].Code; code != "" {
				out = append(out, code)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A message is the error of a finding.
type message string

func (m message) Error() string { return string(m) }

// Of returns the report of a class.
func (r *Report) Of(c Class) *ClassReport {
	for i := range r.Classes {
		if r.Classes[i].Class == c {
			return &r.Classes[i]
		}
	}
	return nil
}

// shortPair returns two different JSON values for a message. It leaves out a common beginning if they would be
// truncated before they differ.
func shortPair(a, b json.RawMessage) (was, is string) {
	const context = 20
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if same < shortLimit-context {
		return short(a), short(b)
	}
	from := same - context
	rest := func(v json.RawMessage) string { return "…" + strings.ToValidUTF8(short(v[from:]), "") }
	return rest(a), rest(b)
}

// shortLimit is the number of bytes of a value in a message.
const shortLimit = 120

// short returns a JSON value for a message, truncated if it is long.
func short(v json.RawMessage) string {
	if len(v) > shortLimit {
		return strings.ToValidUTF8(string(v[:shortLimit]), "") + "…"
	}
	return string(v)
}
