package olmv1

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/version"
)

// tooNew returns a note if the selected bundle is not installed yet and requires a newer version of Kubernetes than the
// cluster runs, which OLM v1 does not check. The note has the newest upper bound of the version, if any, with which OLM v1
// selects a bundle that runs, and which does not downgrade.
func (s *selecting) tooNew(ctx context.Context) ([]Note, error) {
	c := s.left[0]
	want, have, lacks := s.lacks(ctx, c)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !lacks || s.isInstalled(c) {
		return nil, nil
	}
	n := Note{Code: NoteKubernetes, Text: fmt.Sprintf("%s requires Kubernetes %s or later, and the cluster runs %s; OLM v1 does not check this, so the operator may not run", c.Name(), want, have)}
	older := slices.Clone(s.inRanges)
	slices.SortFunc(older, candidate.compare)
	for _, x := range older {
		if x.version.Compare(c.version) >= 0 {
			continue
		}
		if _, _, lacks := s.lacks(ctx, x); lacks {
			continue
		}
		f := Fix{Kind: FixVersion, Version: "<=" + x.text()}
		q := f.apply(*s.Request)
		after, err := selected(ctx, &q)
		if err != nil {
			return nil, err
		}
		if after == nil || after.left[0].Name() != x.Name() || s.installed != nil && x.version.Compare(s.release) < 0 {
			continue
		}
		verb := "selected"
		if s.isInstalled(x) {
			verb = "kept"
		}
		n.Text += fmt.Sprintf(". With version %q, %s is %s, which accepts Kubernetes %s", f.Version, x.Name(), verb, have)
		n.Commands = []Command{{Line: s.command(&f)}}
		break
	}
	return []Note{n}, nil
}

// lacks compares the version of Kubernetes that a bundle requires with that of the cluster, and reports whether the
// cluster is older. Manifests that cannot be read require nothing.
func (s *selecting) lacks(ctx context.Context, c candidate) (want, have semver.Version, lacks bool) {
	if s.Options.KubeVersion == "" {
		return want, have, false
	}
	least, err := c.Bundle.MinKubeVersion(ctx)
	if err != nil {
		return want, have, false
	}
	return version.Lacks(least, s.Options.KubeVersion)
}
