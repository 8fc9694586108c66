package olmv1

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// A Request requests one bundle of a package, as a ClusterExtension does. It marshals to
// one JSON document.
type Request struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	// ID is the caller's name for the request; answers repeat it.
	ID      string `json:"id,omitempty"`
	Package string `json:"package"`
	// Version is a range in the syntax of [VersionRange]. Default:
	// any version.
	Version string `json:"version,omitempty"`
	// Channels are the channels whose bundles and edges count.
	// Default: all.
	Channels []string      `json:"channels,omitempty"`
	Policy   UpgradePolicy `json:"policy,omitzero"`
	// Installed is the bundle to upgrade, nil for a fresh installation.
	Installed *Installed `json:"installed,omitzero"`
	// Catalogs may come in any order.
	Catalogs []Catalog `json:"catalogs"`
	// Selector selects catalogs by label. Default: all.
	Selector *LabelSelector `json:"selector,omitzero"`
	Options  Options        `json:"options,omitzero"`
}

// MarshalJSON returns the request as an object. Lists that it always has are never null.
func (r Request) MarshalJSON() ([]byte, error) {
	type plain Request
	return json.Marshal(plain(r), json.Deterministic(true))
}

// UpgradePolicy selects which upgrades are allowed.
type UpgradePolicy string

const (
	// CatalogProvided allows only successors of the installed bundle. It is the default.
	CatalogProvided UpgradePolicy = "CatalogProvided"
	// SelfCertified allows any version, including downgrades.
	SelfCertified UpgradePolicy = "SelfCertified"
)

// An Installed is the bundle to upgrade. Its name and version are not checked against the
// catalogs.
type Installed struct {
	Name string `json:"name"`
	// Version is a semantic version. Its build metadata may be a release. SelfCertified
	// does not use it and accepts any text.
	Version string `json:"version"`
}

// A Catalog is a catalog of a request.
type Catalog struct {
	Name string `json:"name"`
	// Priority decides between catalogs. The highest wins.
	Priority int `json:"priority"`
	// Labels are those of the ClusterCatalog. That with its name, olm.operatorframework.io/metadata.name, which OLM v1
	// adds, may be missing.
	Labels map[string]string `json:"labels,omitempty"`
	// Unavailable catalogs are skipped and never read.
	Unavailable bool `json:"unavailable,omitzero"`
	// FBC is the catalog itself, as text; Dir names its directory. At most one
	// of them is set. [Request.Open] turns them into Graph.
	FBC   *string        `json:"fbc,omitzero"`
	Dir   string         `json:"dir,omitempty"`
	Graph *graph.Catalog `json:"-"`
}

// labelCatalog is the label that OLM v1 adds to each ClusterCatalog; its value is the name of the catalog.
const labelCatalog = "olm.operatorframework.io/metadata.name"

// labels returns the labels of the ClusterCatalog.
func (c *Catalog) labels() map[string]string {
	if _, ok := c.Labels[labelCatalog]; ok {
		return c.Labels
	}
	out := map[string]string{labelCatalog: c.Name}
	maps.Copy(out, c.Labels)
	return out
}

// A SemverMode selects how versions restrict upgrades under CatalogProvided. By default,
// only the edges of the catalog count.
type SemverMode string

const (
	semverOff SemverMode = ""
	// SemverInstead ignores edges. It allows the installed version and higher ones with the same
	// major version. For 0.y versions, the minor version must also be the same. For 0.0.z
	// versions, only the installed version is allowed. Earlier versions of OLM v1 could be
	// configured this way.
	SemverInstead SemverMode = "instead"
	// SemverAlso requires both an edge and a version that SemverInstead allows. It prevents
	// automatic major upgrades and downgrades even if the catalog has an edge.
	SemverAlso SemverMode = "also"
)

// Options adjust a selection. The zero value means the defaults.
type Options struct {
	// OtherEdges also follows the edges of channels that were not requested, if they lead
	// to a bundle in Channels. The running OLM v1 does not.
	OtherEdges bool       `json:"otherEdges,omitzero"`
	Semver     SemverMode `json:"semver,omitzero"`
	// Excluded are upgrades that are not taken under any policy, such as those that break something.
	// Selections and refusals name those that kept a bundle out, with their reasons.
	Excluded []graph.Exclusion `json:"excluded,omitempty"`
	// OtherInstalled are the other operators in the cluster. They only affect the
	// dependencies in a refusal.
	OtherInstalled []resolver.Installed `json:"otherInstalled,omitempty"`
	// KubeVersion is the version of the cluster, or "". It does not affect the selection; a note reports a bundle that
	// requires a newer one.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// Command is the command line that gives the request. A fix that adds a catalog adds the flag --catalog to it.
	Command string `json:"-"`
	// LoadLimits bound the load of catalogs in text form, ConstraintLimits their
	// constraints.
	LoadLimits       *fbc.Limits         `json:"-"`
	ConstraintLimits *constraints.Limits `json:"-"`
}

// IsZero reports whether JSON can omit the options. It ignores limits, which are not
// written.
func (o Options) IsZero() bool {
	return !o.OtherEdges && o.Semver == semverOff && len(o.Excluded) == 0 && len(o.OtherInstalled) == 0 && o.KubeVersion == ""
}

// Open sets the Graph of catalogs that have a text or a directory, if they are available
// and selected. It does not read the others. The error is a [*document.Error] that names
// the catalog.
func (r *Request) Open(ctx context.Context, dir document.OpenDir) error {
	if err := r.Selector.Validate(); err != nil {
		return &document.Error{Path: "/selector", Err: err}
	}
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		if c.Graph != nil || c.Unavailable || !r.Selector.Matches(c.labels()) {
			continue
		}
		from := document.Catalog{Path: fmt.Sprintf("/catalogs/%d", i), Name: c.Name, FBC: c.FBC, Dir: c.Dir}
		var err error
		if c.Graph, err = from.Open(ctx, dir, document.TextOptions(r.Options.LoadLimits, r.Options.ConstraintLimits)); err != nil {
			return err
		}
	}
	return nil
}

// check returns the parsed parts of a request (C1). installed is nil if no installed version can
// be compared.
func (r *Request) check() (rng VersionRange, installed *semver.Version, err error) {
	if r.Package == "" {
		return rng, nil, document.Errorf("/package", "is missing; name the package to install")
	}
	if r.Version != "" {
		if rng, err = ParseVersionRange(r.Version); err != nil {
			return rng, nil, &document.Error{Path: "/version", Err: err}
		}
	}
	switch r.Policy {
	case "", CatalogProvided, SelfCertified:
	default:
		return rng, nil, document.Errorf("/policy", "%q is neither %s nor %s", r.Policy, CatalogProvided, SelfCertified)
	}
	switch r.Options.Semver {
	case semverOff, SemverInstead, SemverAlso:
	default:
		return rng, nil, document.Errorf("/options/semver", "%q is neither %q nor %q", r.Options.Semver, SemverInstead, SemverAlso)
	}
	if err := r.Selector.Validate(); err != nil {
		return rng, nil, &document.Error{Path: "/selector", Err: err}
	}
	if r.Installed != nil {
		v, err := semver.Parse(r.Installed.Version)
		if err != nil && r.Policy != SelfCertified {
			return rng, nil, &document.Error{Path: "/installed/version", Err: version.Error(r.Installed.Version, err)}
		}
		if err == nil {
			installed = &v
		}
	}
	seen := map[string]bool{}
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		switch {
		case c.Name == "":
			return rng, nil, document.Errorf(fmt.Sprintf("/catalogs/%d/name", i), "is missing; name the catalog")
		case seen[c.Name]:
			return rng, nil, document.Errorf(fmt.Sprintf("/catalogs/%d/name", i), "%q appears twice; give each catalog its own name", c.Name)
		}
		seen[c.Name] = true
	}
	return rng, installed, nil
}
