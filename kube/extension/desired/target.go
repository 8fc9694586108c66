package desired

import "github.com/olmkit/olmkit/kube/rollout"

// Target returns the bundle that an extension should have now, or why there is none. While a
// revision rolls out, that is its bundle, and d is not read. If nothing can be selected because
// the catalogs are gone, it is the installed bundle. The revisions are those that
// [rollout.Snapshot.Installed] returns. The error is that of the decision.
func Target(installed *rollout.Revision, rolling []*rollout.Revision, d *Decision) (*rollout.Bundle, error) { // K67, K105
	if len(rolling) > 0 {
		return &rolling[0].Bundle, nil
	}
	if s := d.Selection; s != nil {
		return &rollout.Bundle{Name: s.Bundle, Package: d.Request.Package, Version: s.Version, Image: s.Graph.Image()}, nil
	}
	if installed == nil || d.Request.Package == "" {
		return nil, d.Err
	}
	if v := d.Request.Version; v != "" && v != installed.Bundle.Version {
		return nil, d.Err
	}
	for _, c := range d.Request.Catalogs {
		if d.Request.Selector.Matches(c.Labels) {
			return nil, d.Err
		}
	}
	return &installed.Bundle, nil
}
