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

// A platformObject is an OpenShift object that plans depend on.
type platformObject struct {
	kind, crd, name string
	// optional is set if plans can do without the object when reading it is forbidden.
	optional bool
}

// platformObjects returns the objects with OpenShift's current and desired version (C7) and
// with the proxy that operators get (E35).
func platformObjects() []platformObject {
	return []platformObject{
		{"ClusterVersion", "clusterversions.config.openshift.io", "version", true},
		{"Proxy", "proxies.config.openshift.io", "cluster", false},
	}
}

// platform adds OpenShift's objects if their CRDs exist. They are cached for a minute, which
// is soon enough for gating upgrades.
func (r *reading) platform() {
	for _, o := range platformObjects() {
		isIt := func(crd *olm.CustomResourceDefinition) bool {
			return crd.Metadata.Name == o.crd && crd.Status.IsEstablished()
		}
		if r.err != nil || !slices.ContainsFunc(r.out.CRDs, isIt) {
			continue
		}
		have, err := r.cluster.platformObject(r.ctx, o, r.out.Now)
		if err != nil {
			r.err = err
		} else if have != nil {
			r.add(have)
		}
	}
}

func (c *Cluster) platformObject(ctx context.Context, o platformObject, now time.Time) (*olm.Object, error) {
	c.mu.Lock()
	have := c.platform[o.crd]
	c.mu.Unlock()
	if have.isFresh(now, time.Minute) {
		return have.answer, nil
	}
	u, err := c.live.unstructured(ctx, schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: o.kind}, "", o.name)
	switch {
	case isForbidden(err) && o.optional:
	case isForbidden(err):
		return nil, fmt.Errorf("%w; apply the role that olmkit-controller --print-rbac prints", err)
	case err != nil:
		return nil, err
	}
	have = cachedAnswer[*olm.Object]{at: now}
	if u != nil {
		if have.answer, err = decodeObject(u); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.platform == nil {
		c.platform = map[string]cachedAnswer[*olm.Object]{}
	}
	c.platform[o.crd] = have
	return have.answer, nil
}
