package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/olmkit/olmkit/olm"
)

// A cachedAnswer is an answer that expires.
type cachedAnswer[T any] struct {
	answer T
	at     time.Time
}

func (a cachedAnswer[T]) isFresh(now time.Time, most time.Duration) bool {
	return !a.at.IsZero() && now.Sub(a.at) <= most
}

// kubeVersion returns the version of the cluster. It is cached, and the cached
// version is used if the server is unavailable.
func (c *Cluster) kubeVersion(ctx context.Context, now time.Time) (string, error) {
	c.mu.Lock()
	have := c.version
	c.mu.Unlock()
	if have.isFresh(now, 10*time.Minute) {
		return have.answer, nil
	}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, c.opts.HTTPClient)
	if err != nil {
		return "", err
	}
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	text, err := d.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	switch {
	case err == nil:
	case ctx.Err() == nil && have.answer != "":
		return have.answer, nil
	default:
		return "", fmt.Errorf("getting the version of the cluster: %w", err)
	}
	c.mu.Lock()
	c.version = cachedAnswer[string]{v.GitVersion, now}
	c.mu.Unlock()
	return v.GitVersion, nil
}

// The object with OpenShift's current and desired version (C7).
var (
	clusterVersion     = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "ClusterVersion"}
	clusterVersionCRD  = "clusterversions.config.openshift.io"
	clusterVersionName = "version"
)

// platformVersion adds the ClusterVersion object if its CRD exists. The object
// is cached for a minute, which is soon enough for gating upgrades.
func (r *reading) platformVersion() {
	c, now := r.cluster, r.out.Now
	isIt := func(crd *olm.CustomResourceDefinition) bool {
		return crd.Metadata.Name == clusterVersionCRD && crd.Status.IsEstablished()
	}
	if r.err != nil || !slices.ContainsFunc(r.out.CRDs, isIt) {
		return
	}
	c.mu.Lock()
	have := c.platform
	c.mu.Unlock()
	if !have.isFresh(now, time.Minute) {
		u, err := c.live.unstructured(r.ctx, clusterVersion, "", clusterVersionName)
		if err != nil && !isForbidden(err) {
			r.err = err
			return
		}
		have = cachedAnswer[*olm.Object]{at: now}
		if u != nil {
			if have.answer, r.err = decodeObject(u); r.err != nil {
				return
			}
		}
		c.mu.Lock()
		c.platform = have
		c.mu.Unlock()
	}
	if have.answer != nil {
		r.add(have.answer)
	}
}
