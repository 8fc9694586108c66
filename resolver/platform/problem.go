package platform

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/shell"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A Problem is an upgrade of a platform to plan. It marshals to one JSON
// document.
type Problem struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	ID            string                 `json:"id,omitempty"`
	// From is the version of the cluster, and To the target version. Only major and minor
	// count.
	From string `json:"from"`
	To   string `json:"to"`
	// Catalogs are the catalogs of the versions from From to To, in any order. Without a
	// catalog for a version, operators stay as they are at that version, and the plan warns
	// that nothing was checked there.
	Catalogs  []Catalog  `json:"catalogs"`
	Installed []Operator `json:"installed"`
	Strategy  Strategy   `json:"strategy,omitzero"`
	// On is the day for which support is reported, if catalogs state it. Default: all days.
	On lifecycle.Date `json:"on,omitzero"`
	// Removed returns when Kubernetes stopped serving a native API, and false if it is served or
	// not known. Bundles that need such an API, or ship objects of it, cannot be installed.
	// Default: APIs are not checked. Package kube/bundlelint has a table.
	Removed func(property.GVK) (RemovedAPI, bool) `json:"-"`
	// LoadLimits bound the load of catalogs in text form, ConstraintLimits their
	// constraints.
	LoadLimits       *fbc.Limits         `json:"-"`
	ConstraintLimits *constraints.Limits `json:"-"`
}

// MarshalJSON returns the problem as an object. Lists that it always has are never null.
func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	return json.Marshal(plain(p), json.Deterministic(true))
}

// A Catalog is a catalog for one version of the platform.
type Catalog struct {
	// Platform is that version, major.minor.
	Platform string `json:"platform"`
	// Name distinguishes several catalogs of one version.
	Name string `json:"name,omitempty"`
	// FBC is the catalog itself, as text; Dir names its directory. At most one of
	// them is set. [Problem.Open] turns them into Graph.
	FBC   *string        `json:"fbc,omitzero"`
	Dir   string         `json:"dir,omitempty"`
	Graph *graph.Catalog `json:"-"`
}

// An Operator is an installed operator.
type Operator struct {
	// Name is the name of the ClusterServiceVersion or bundle.
	Name string `json:"name"`
	// Version is a semantic version. Default: that of the bundle of this name in
	// the catalog of the cluster's version; where that has no such bundle, in the
	// nearest earlier catalog that has it, then in the nearest later one.
	Version string `json:"version,omitempty"`
	Package string `json:"package"`
	// Channel is the subscription's. Default: in classic the default channel, in
	// v1 all channels.
	Channel string `json:"channel,omitempty"`
	// Versions is the version range of a ClusterExtension, in the syntax of
	// [olmv1.ParseVersionRange]: OLM v1 installs no other version. Default: all versions.
	Versions string `json:"versions,omitempty"`
	// Catalog is the Name of its catalogs. Default: at each version, the first
	// catalog by name that has the package.
	Catalog string        `json:"catalog,omitempty"`
	Reading graph.Reading `json:"reading,omitzero"`
	// Manual reports whether install plans wait for approval anyway, so no command changes that. It matters
	// only in classic.
	Manual bool `json:"manual,omitzero"`
	// Objects are the Subscriptions of the operator or, in v1, its ClusterExtensions, for the
	// commands of steps. Default: one with the name of the package, in namespace operators.
	Objects []Object `json:"objects,omitempty"`
	// Properties are those of the installed bundle, and Annotations those of the
	// ClusterServiceVersion; only [property.Annotation] and
	// [property.ProjectedAnnotation] are used. Default: the properties of the bundle
	// with this name in the catalog that Version is looked up in.
	Properties  []property.Property `json:"properties,omitempty"`
	Annotations map[string]string   `json:"annotations,omitempty"`
	// Excluded are upgrades that the plan does not take. Where OLM would take one, the plan
	// holds the operator back.
	Excluded []graph.Exclusion `json:"excluded,omitempty"`
	// Refused are upgrades that OLM v1 would select, but refuses because of their CRDs or of the configuration. The plan
	// does not take them.
	Refused []Judgment `json:"refused,omitempty"`
	// Breaking are upgrades that break something. If the plan takes one, it is among the needs.
	Breaking []Judgment `json:"breaking,omitempty"`
}

// A Judgment is an upgrade with what it does to custom resources.
type Judgment struct {
	graph.Exclusion
	// Action is what lets OLM v1 take an upgrade that it refuses, and Commands do it. Default: the end of the check of CRDs.
	Action   string   `json:"action,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Harmless reports that all custom resources stay valid, so that OLM v1 refuses the upgrade by a false alarm.
	Harmless bool `json:"harmless,omitzero"`
	// Stored are the names of the CRDs that lose a version in which resources may be stored. The API server refuses that,
	// whatever OLM v1 checks.
	Stored []string `json:"stored,omitempty"`
	// Rejected reports that the API server refuses a part of the new version, such as another selector of a Deployment, so
	// that nothing lets OLM v1 take the upgrade.
	Rejected bool `json:"rejected,omitzero"`
	// Deletes are the names of the CRDs that the upgrade deletes with all of their custom resources.
	Deletes []string `json:"deletes,omitempty"`
}

// of reports whether the judgment is that of an upgrade.
func (j *Judgment) of(s graph.Step) bool { return j.From == s.From.Name && j.To == s.To.Name }

// backups are the commands that back up the custom resources that the upgrade deletes.
func (j *Judgment) backups() (out []string) {
	for _, crd := range j.Deletes {
		out = append(out, kubectl.All(crd)+" > "+shell.Quote(crd+".yaml"))
	}
	return out
}

// An Object is a Subscription or a ClusterExtension.
type Object struct {
	// Namespace is empty for a ClusterExtension.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A Strategy selects how far operators are upgraded along the way.
type Strategy string

const (
	// Latest upgrades operators at each version of the platform as close to the head of
	// their channel as possible without blocking the platform. It is the default.
	Latest Strategy = "latest"
	// Minimal takes the fewest steps that let the platform reach the target and the
	// operator follow as far as possible. At the end, operators are upgraded to the head.
	Minimal Strategy = "minimal"
)

// Open loads the catalogs that have a text or a directory and no Graph yet, texts
// within the limits of the problem. The error is a
// [*document.Error] that names the catalog.
func (p *Problem) Open(ctx context.Context, dir document.OpenDir) error {
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		if c.Graph != nil {
			continue
		}
		from := document.Catalog{Path: fmt.Sprintf("/catalogs/%d", i), Name: cmp.Or(c.Name, c.Platform), FBC: c.FBC, Dir: c.Dir}
		opts := document.TextOptions(p.LoadLimits, p.ConstraintLimits)
		opts.Load.KeepAll = true
		var err error
		if c.Graph, err = from.Open(ctx, dir, opts); err != nil {
			return err
		}
	}
	return nil
}

// A trip is a problem after parsing.
type trip struct {
	*Problem
	from, to property.MinorVersion
	catalogs map[property.MinorVersion][]*Catalog // by name
	installs []*Operator                          // by package, name and objects
	facts    factReader
	lives    lifecycleReader
	ranges   map[*Operator]olmv1.VersionRange // those of installs
	who      map[*Operator]who
}

func (p *Problem) check() (*trip, error) {
	t := &trip{Problem: p, catalogs: map[property.MinorVersion][]*Catalog{}, facts: factReader{map[graph.Bundle]*facts{}, p.Removed}, lives: lifecycleReader{}, ranges: map[*Operator]olmv1.VersionRange{}, who: map[*Operator]who{}}
	var err error
	if t.from, err = property.ParseMinorVersion(p.From); err != nil {
		return nil, &document.Error{Path: "/from", Err: err}
	}
	if t.to, err = property.ParseMinorVersion(p.To); err != nil {
		return nil, &document.Error{Path: "/to", Err: err}
	}
	switch {
	case t.to.Major != t.from.Major:
		return nil, document.Errorf("/to", "%s and %s have different major versions; a plan covers only minor versions", t.to, t.from)
	case t.to.Compare(t.from) < 0:
		return nil, document.Errorf("/to", "%s is before %s; a platform cannot be downgraded", t.to, t.from)
	case t.to.Minor-t.from.Minor > maxMinors:
		return nil, document.Errorf("/to", "%s is more than %d minor versions after %s", t.to, maxMinors, t.from)
	}
	if p.On != "" {
		if _, err := lifecycle.ParseDate(string(p.On)); err != nil {
			return nil, &document.Error{Path: "/on", Err: err}
		}
	}
	switch p.Strategy {
	case "", Latest, Minimal:
	default:
		return nil, document.Errorf("/strategy", "%q is neither %s nor %s", p.Strategy, Latest, Minimal)
	}
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		path := fmt.Sprintf("/catalogs/%d", i)
		v, err := property.ParseMinorVersion(c.Platform)
		if err != nil {
			return nil, &document.Error{Path: path + "/platform", Err: err}
		}
		if c.Graph == nil {
			return nil, document.Errorf(path, "is not loaded; set Graph or call Open")
		}
		if slices.ContainsFunc(t.catalogs[v], func(o *Catalog) bool { return o.Name == c.Name }) {
			return nil, document.Errorf(path, "repeats catalog %q of platform %s; use distinct names", c.Name, v)
		}
		t.catalogs[v] = append(t.catalogs[v], c)
	}
	for _, list := range t.catalogs {
		slices.SortFunc(list, func(a, b *Catalog) int { return cmp.Compare(a.Name, b.Name) })
	}
	for i := range p.Installed {
		o := &p.Installed[i]
		path := fmt.Sprintf("/installed/%d", i)
		switch {
		case o.Name == "":
			return nil, document.Errorf(path+"/name", "is missing; name the bundle")
		case o.Package == "":
			return nil, document.Errorf(path+"/package", "is missing; name the package of %s", o.Name)
		}
		if o.Version != "" {
			if _, err := semver.Parse(o.Version); err != nil {
				return nil, &document.Error{Path: path + "/version", Err: version.Error(o.Version, err)}
			}
		}
		if o.Versions != "" {
			var err error
			if t.ranges[o], err = olmv1.ParseVersionRange(o.Versions); err != nil {
				return nil, &document.Error{Path: path + "/versions", Err: err}
			}
		}
		t.installs = append(t.installs, o)
	}
	slices.SortStableFunc(t.installs, func(a, b *Operator) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name), cmp.Compare(a.where(), b.where()))
	})
	t.identify()
	return t, nil
}

// identify sets which operators the installed ones are.
func (t *trip) identify() {
	of := map[string]int{} // operators by package
	for _, o := range t.installs {
		of[o.Package]++
	}
	taken := map[who]int{}
	for _, o := range t.installs {
		w := who{pkg: o.Package}
		if of[o.Package] > 1 || len(o.Objects) > 1 {
			w.instance = cmp.Or(o.where(), o.Name)
			if taken[w]++; taken[w] > 1 {
				w.instance += fmt.Sprintf(", number %d", taken[w])
			}
		}
		t.who[o] = w
	}
}

// where returns the namespaces or the ClusterExtensions of an operator in words.
func (o *Operator) where() string {
	var names []string
	for _, x := range o.Objects {
		names = append(names, cmp.Or(x.Namespace, x.Name))
	}
	word := "namespace"
	if o.Reading == graph.V1 {
		word = "ClusterExtension"
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return word + " " + names[0]
	}
	return word + "s " + phrase.And(names)
}

// maxMinors bounds the length of a plan.
const maxMinors = 100

// source returns the catalog of an operator at a version of the platform.
func (t *trip) source(o *Operator, at property.MinorVersion) (*Catalog, graph.Package, bool) {
	for _, c := range t.catalogs[at] {
		if o.Catalog != "" && c.Name != o.Catalog {
			continue
		}
		if p, ok := c.Graph.Package(o.Package); ok {
			return c, p, true
		}
	}
	return nil, graph.Package{}, false
}

// known returns the installed bundle from the catalog of the cluster's version, the nearest
// earlier one, or the nearest later one.
func (t *trip) known(o *Operator) (graph.Bundle, bool) {
	versions := slices.Collect(maps.Keys(t.catalogs))
	slices.SortFunc(versions, func(a, b property.MinorVersion) int {
		switch x, y := a.Compare(t.from) > 0, b.Compare(t.from) > 0; {
		case x != y && x:
			return 1
		case x != y:
			return -1
		case x:
			return a.Compare(b)
		}
		return b.Compare(a)
	})
	for _, v := range versions {
		for _, c := range t.catalogs[v] {
			if o.Catalog != "" && c.Name != o.Catalog {
				continue
			}
			if p, ok := c.Graph.Package(o.Package); ok {
				if b, ok := p.Bundle(o.Name); ok {
					return b, true
				}
			}
		}
	}
	return graph.Bundle{}, false
}

// hasCatalog reports whether there is a catalog for a version.
func (t *trip) hasCatalog(at property.MinorVersion) bool { return len(t.catalogs[at]) > 0 }

// at returns the version of a level; level 0 is the start of the trip.
func (t *trip) at(k int) property.MinorVersion {
	return property.MinorVersion{Major: t.from.Major, Minor: t.from.Minor + uint64(k)}
}

// last returns the last level of the trip.
func (t *trip) last() int { return int(t.to.Minor - t.from.Minor) }
