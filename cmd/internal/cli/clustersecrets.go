package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// mirrors makes to fetch images from the mirrors that the cluster configures.
func (s *clusterState) mirrors(c *memcluster.Cluster, to *images) error {
	var list mirrorList
	for _, o := range c.List() {
		if !slices.Contains(mirrorKinds, o.Kind) {
			continue
		}
		var set mirrorSet
		if err := into(o, "spec", &set.Spec); err != nil {
			return err
		}
		if err := list.add(&set); err != nil {
			return fmt.Errorf("%s: %w", o.Key(), err)
		}
	}
	to.clusterMirrors = list
	return nil
}

// globalPullSecret is OpenShift's pull secret for all images.
var globalPullSecret = olm.Key{Kind: "Secret", Namespace: "openshift-config", Name: "pull-secret"}

// readPullSecrets reads the pull secrets of the cluster, which to then uses to fetch images.
// A note names each secret that cannot be used. The content of secrets is never printed.
func (s *clusterState) readPullSecrets(ctx context.Context, c *memcluster.Cluster, to *images) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	keys := []olm.Key{}
	openShift := false
	for _, o := range c.List() {
		switch k := o.Key(); {
		case k.Kind == "ClusterVersion":
			openShift = true
		case k.Group == olm.Group && k.Kind == olm.KindCatalogSource:
			var spec struct{ Secrets []string }
			if err := into(o, "spec", &spec); err != nil {
				return err
			}
			for _, name := range spec.Secrets {
				keys = append(keys, olm.Key{Kind: "Secret", Namespace: k.Namespace, Name: name})
			}
		}
	}
	if openShift {
		keys = append(keys, globalPullSecret)
	}
	slices.SortFunc(keys, olm.Key.Compare)
	for _, k := range slices.Compact(keys) {
		note := func(why string) {
			s.inferred = append(s.inferred, reconcile.Note{Object: k, Message: why + ", so no image is pulled with it"})
		}
		text, err := get(ctx, client.Get().AbsPath("/api/v1/namespaces/"+k.Namespace+"/secrets/"+k.Name))
		switch {
		case apierrors.IsForbidden(err):
			note("may not be read")
			continue
		case apierrors.IsNotFound(err):
			note("does not exist")
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", k, liveError(ctx, err))
		}
		var secret struct{ Data map[string][]byte }
		if json.Unmarshal(text, &secret) != nil || secret.Data[".dockerconfigjson"] == nil {
			note("has no .dockerconfigjson")
			continue
		}
		to.clusterKeys = append(to.clusterKeys, oci.AuthText(secret.Data[".dockerconfigjson"]))
	}
	return nil
}
