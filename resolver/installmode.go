package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// An OperatorGroup is the operator group of the namespace, as far as it decides
// which operators can run there (F2).
type OperatorGroup struct {
	// TargetNamespaces are the namespaces that the group selects, as its status
	// lists them; [""] stands for all.
	TargetNamespaces []string `json:"targetNamespaces"`
}

// InstallMode says that the install modes of an operator do not serve the
// targets of the operator group of the namespace (G7, F2).
// In SAT terms: (¬b).
type InstallMode struct {
	Bundle Ref
	Pos    fbc.Pos
	// Targets are the namespaces that the operator group selects.
	Targets []string
	// Err says which install mode is missing.
	Err error
}

func (*InstallMode) isFact() {}

// Code returns CodeInstallMode.
func (*InstallMode) Code() Code { return CodeInstallMode }

// String tells the fact in one sentence.
func (f *InstallMode) String() string {
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
	return &InstallMode{Bundle: u.ref(c), Pos: b.Pos(), Targets: slices.Clip(g.TargetNamespaces), Err: why}
}

// installModes returns the install modes that a bundle states; told is false when
// it states none.
func installModes(ctx context.Context, b graph.Bundle) (list []olm.InstallMode, told bool, err error) {
	stated, told, err := b.InstallModes(ctx)
	for _, m := range stated {
		list = append(list, olm.InstallMode{Type: olm.InstallModeType(m.Type), Supported: m.Supported})
	}
	return list, told, err
}
