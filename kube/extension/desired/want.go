package desired

import (
	"context"
	"time"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// Want returns the revision that an extension needs for a bundle, which has the given content.
// opts are choices of the cluster; namespace and configuration are those of the extension. The
// error is that of [registryv1.Bundle.Render].
func Want(ctx context.Context, e *api.ClusterExtension, b *rollout.Bundle, content *registryv1.Bundle, opts registryv1.RenderOptions) (*rollout.Revision, error) { // K70
	opts.Namespace, opts.Config = e.Spec.Namespace, nil
	if c := e.Spec.Config; c != nil && c.Inline != nil {
		opts.Config = c.Inline.Raw
	}
	m, err := content.Render(ctx, opts)
	if err != nil {
		return nil, err
	}
	want := &rollout.Revision{
		Bundle: *b, Phases: m.Phases, Collision: rollout.Prevent, Probes: rollout.DefaultProbes(), Deadline: time.Duration(e.Spec.ProgressDeadlineMinutes) * time.Minute,
	}
	want.Bundle.Properties = content.CSV().Annotations["olm.properties"]
	return want, nil
}
