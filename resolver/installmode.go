package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// An OperatorGroup is the operator group of the namespace, as far as it decides
// which operators can run there (F2).
type OperatorGroup struct {
	// TargetNamespaces are the namespaces that the group selects, as its status
	// lists them; [""] stands for all.
	TargetNamespaces []string `json:"targetNamespaces"`
}

// Unsupported says that the install modes of an operator do not serve the
// targets of the operator group of the namespace (G7, F2).
// In SAT terms: (¬b).
type Unsupported struct {
	Bundle Ref
	Pos    fbc.Pos
	// Targets are the namespaces that the operator group selects.
	Targets []string
	// Err says which install mode is missing.
	Err error
}

func (*Unsupported) isFact() {}

// Code returns "install-mode".
func (*Unsupported) Code() string { return "install-mode" }

// String tells the fact in one sentence.
func (f *Unsupported) String() string {
	return f.Bundle.Name + " cannot run here: " + f.Err.Error()
}

// unsupported returns the fact that a candidate of a catalog does not serve the
// operator group, or nil. A bundle that does not tell its install modes is not
// held against it. Manifests are large: they are read again from the source, once,
// and only for what a resolution reaches.
func (u *universe) unsupported(ctx context.Context, c cand) Fact {
	g := u.p.OperatorGroup
	if g == nil || u.err != nil {
		return nil
	}
	_, b := u.entry(c)
	why, ok := u.modes[b]
	if !ok {
		list, told, err := installModes(ctx, b)
		if err != nil {
			u.err = fmt.Errorf("reading the install modes of %s from %s: %w", b.Name(), b.Pos(), err)
			return nil
		}
		if told {
			why = operatorgroup.Supports(list, u.p.Namespace, g.TargetNamespaces)
		}
		if u.modes == nil {
			u.modes = map[graph.Bundle]error{}
		}
		u.modes[b] = why
	}
	if why == nil {
		return nil
	}
	return &Unsupported{Bundle: u.ref(c), Pos: b.Pos(), Targets: slices.Clip(g.TargetNamespaces), Err: why}
}

// installModes returns the install modes that a bundle states, in
// olm.csv.metadata or in the ClusterServiceVersion among its olm.bundle.object
// properties; told is false when it states none.
func installModes(ctx context.Context, b graph.Bundle) (list []olm.InstallMode, told bool, err error) {
	heavy := false
	for p := range b.Properties() {
		heavy = heavy || property.IsHeavy(p.Type)
	}
	if !heavy || b.Package().Catalog().Blobs() == nil {
		return nil, false, nil
	}
	raw, err := b.Raw(ctx)
	if err != nil {
		return nil, false, err
	}
	var blob struct {
		Properties []struct {
			Type  string         `json:"type"`
			Value jsontext.Value `json:"value"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(raw, &blob); err != nil {
		return nil, false, err
	}
	for _, p := range blob.Properties {
		var modes []olm.InstallMode
		switch p.Type {
		case property.TypeCSVMetadata:
			var csv struct {
				InstallModes []olm.InstallMode `json:"installModes"`
			}
			if json.Unmarshal(p.Value, &csv) == nil {
				modes = csv.InstallModes
			}
		case property.TypeBundleObject:
			modes = manifestModes(p.Value)
		}
		if modes != nil {
			return modes, true, nil
		}
	}
	return nil, false, nil
}

// manifestModes returns the install modes of an olm.bundle.object that holds a
// ClusterServiceVersion, else nil.
func manifestModes(value jsontext.Value) []olm.InstallMode {
	var object struct {
		Data []byte `json:"data"` // base64 of JSON
	}
	var manifest struct {
		Kind string `json:"kind"`
		Spec struct {
			InstallModes []olm.InstallMode `json:"installModes"`
		} `json:"spec"`
	}
	err := errors.Join(json.Unmarshal(value, &object), json.Unmarshal(object.Data, &manifest))
	if err != nil || manifest.Kind != "ClusterServiceVersion" {
		return nil
	}
	return manifest.Spec.InstallModes
}
