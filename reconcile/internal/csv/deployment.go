package csv

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// LabelSpecHash is the label of a deployment with the hash of its desired spec when it was
// last written. If the desired hash changes, the deployment is written again. Changes to
// the spec by others are detected separately.
const LabelSpecHash = "olm.deployment-spec-hash"

// envConditionName is the environment variable with the name of the operator's
// OperatorCondition (E18).
const envConditionName = "OPERATOR_CONDITION_NAME"

// desiredDeployment returns a deployment of the operator: that of its CSV, with the
// annotations of the CSV, which contain the operator's target namespaces, the configuration
// of its subscription (E20), the proxy of the cluster (E35), and the name of its
// OperatorCondition.
func (p *planner) desiredDeployment(c *olm.ClusterServiceVersion, spec olm.StrategyDeploymentSpec) (*olm.Deployment, error) {
	var s map[string]any
	if len(spec.Spec) == 0 {
		return nil, fmt.Errorf("deployment %q has no spec", spec.Name)
	}
	if err := olm.Unmarshal(spec.Spec, &s); err != nil {
		return nil, fmt.Errorf("deployment %q: %w", spec.Name, err)
	}
	hash, err := p.caHash(c, spec.Name)
	if err != nil {
		return nil, fmt.Errorf("deployment %q: %w", spec.Name, err)
	}
	serving.Mount(c, spec.Name, s, hash)
	template := object(s, "template")
	annotations := object(object(template, "metadata"), "annotations")
	for k, v := range c.Metadata.Annotations {
		annotations[k] = v
	}
	pod := object(template, "spec")
	var configured map[string]string
	config := p.config(c)
	if config != nil {
		configured = config.Annotations
		if err := configure(pod, annotations, config); err != nil {
			return nil, fmt.Errorf("deployment %q: subscription config: %w", spec.Name, err)
		}
	}
	env, err := p.proxyEnv(config)
	if err != nil {
		return nil, fmt.Errorf("deployment %q: the proxy of the cluster: %w", spec.Name, err)
	}
	env = append(env, map[string]any{"name": envConditionName, "value": c.Metadata.Name})
	eachContainer(pod, func(container map[string]any) {
		for _, v := range env {
			mergeNamed(container, "env", v)
		}
	})
	s["revisionHistoryLimit"] = 1
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	hash, err = p.specHash(text, p.Deployment(spec.Name))
	if err != nil {
		return nil, fmt.Errorf("deployment %q: %w", spec.Name, err)
	}
	labels := maps.Clone(spec.Label)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, ownerlabel.Of(c))
	labels[LabelSpecHash] = hash
	return &olm.Deployment{
		Header: olm.Header{APIVersion: "apps/v1", Kind: "Deployment", Metadata: olm.Metadata{
			Name: spec.Name, Namespace: p.Namespace, Labels: labels, Annotations: configured, OwnerReferences: []olm.OwnerReference{olm.OwnedBy(c)},
		}},
		Spec: text,
	}, nil
}

// specHash returns the hash to write for spec. If have already has a hash that some version of
// OLM computes for spec, it returns that hash (E23).
func (p *planner) specHash(spec []byte, have *olm.Deployment) (string, error) {
	if p.opts.DeploymentHashes == nil {
		sum := sha256.Sum256(spec)
		return hex.EncodeToString(sum[:16]), nil
	}
	list, err := p.opts.DeploymentHashes(spec)
	if err != nil {
		return "", err
	}
	if have != nil && slices.Contains(list, have.Metadata.Labels[LabelSpecHash]) {
		return have.Metadata.Labels[LabelSpecHash], nil
	}
	return list[0], nil
}

// config returns the configuration of the subscription that owns a CSV.
func (p *planner) config(c *olm.ClusterServiceVersion) *olm.SubscriptionConfig {
	for _, s := range p.Followers(c.Metadata.Name) {
		if s.Status.InstalledCSV == c.Metadata.Name || s.Status.CurrentCSV == c.Metadata.Name {
			return s.Spec.Config
		}
	}
	return nil
}

// configure applies a subscription's configuration to a pod. Lists are merged, by name if
// their elements have one. Other fields are replaced.
func configure(pod, annotations map[string]any, config *olm.SubscriptionConfig) error {
	for k, v := range config.Annotations {
		if _, ok := annotations[k]; !ok {
			annotations[k] = v
		}
	}
	if config.NodeSelector != nil {
		selector := map[string]any{}
		for k, v := range config.NodeSelector {
			selector[k] = v
		}
		pod["nodeSelector"] = selector
	}
	add := func(to map[string]any, list string, values []stdjson.RawMessage) error {
		for _, v := range values {
			var m map[string]any
			if err := olm.Unmarshal(v, &m); err != nil {
				return fmt.Errorf("%s: %w", list, err)
			}
			mergeNamed(to, list, m)
		}
		return nil
	}
	if err := add(pod, "volumes", config.Volumes); err != nil {
		return err
	}
	if err := add(pod, "tolerations", config.Tolerations); err != nil {
		return err
	}
	if len(config.Affinity) > 0 {
		var v any
		if err := olm.Unmarshal(config.Affinity, &v); err != nil {
			return fmt.Errorf("affinity: %w", err)
		}
		pod["affinity"] = v
	}
	var errs []error
	eachContainer(pod, func(c map[string]any) {
		for _, x := range []struct {
			list   string
			values []stdjson.RawMessage
		}{{"env", config.Env}, {"envFrom", config.EnvFrom}, {"volumeMounts", config.VolumeMounts}} {
			if err := add(c, x.list, x.values); err != nil {
				errs = append(errs, err)
			}
		}
		if len(config.Resources) > 0 {
			var v any
			if err := olm.Unmarshal(config.Resources, &v); err != nil {
				errs = append(errs, fmt.Errorf("resources: %w", err))
			}
			c["resources"] = v
		}
	})
	if len(errs) > 0 {
		return errs[0] // every container would return the same error
	}
	return nil
}

// object returns the object that is a member of another one, adding it if it is missing.
func object(m map[string]any, name string) map[string]any {
	child, ok := m[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[name] = child
	}
	return child
}

// eachContainer calls do for the containers of a pod but, like OLM, not for its init
// containers.
func eachContainer(pod map[string]any, do func(map[string]any)) {
	containers, _ := pod["containers"].([]any)
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok {
			do(c)
		}
	}
}

// mergeNamed adds an element to a list, replacing the one with its name. An element without
// a name is added unless it is already present.
func mergeNamed(m map[string]any, list string, element map[string]any) {
	all, _ := m[list].([]any)
	for i, x := range all {
		x, ok := x.(map[string]any)
		if !ok {
			continue
		}
		if name, has := element["name"]; has && x["name"] == name || !has && reflect.DeepEqual(x, element) {
			all[i] = element
			return
		}
	}
	m[list] = append(all, element)
}

// ownedBy reports whether a deployment names a CSV as an owner.
func ownedBy(d *olm.Deployment, c *olm.ClusterServiceVersion) bool {
	return slices.ContainsFunc(d.Metadata.OwnerReferences, func(r olm.OwnerReference) bool {
		return r.Kind == olm.KindClusterServiceVersion && r.Name == c.Metadata.Name && r.UID == c.Metadata.UID
	})
}

// takenDeployment returns the name of a deployment that both c and other describe and that
// belongs to other, because other already has the deployment or takes precedence. It returns
// "" if there is none. If both CSVs wrote the deployment, they would overwrite each other
// forever.
func (p *planner) takenDeployment(c, other *olm.ClusterServiceVersion) string {
	for _, spec := range c.Spec.Install.Spec.Deployments {
		if !slices.ContainsFunc(other.Spec.Install.Spec.Deployments, func(x olm.StrategyDeploymentSpec) bool { return x.Name == spec.Name }) {
			continue
		}
		owner := p.deploymentOwner(spec.Name)
		if owner == other.Metadata.Name || owner != c.Metadata.Name && goesBefore(other, c) {
			return spec.Name
		}
	}
	return ""
}

// deploymentOwner returns the name of the existing CSV that a deployment belongs to, if any.
func (p *planner) deploymentOwner(name string) string {
	d := p.Deployment(name)
	if d == nil || d.Metadata.Labels[ownerlabel.Namespace] != p.Namespace {
		return ""
	}
	if c := p.CSV(d.Metadata.Labels[ownerlabel.Name]); c != nil && ownedBy(d, c) {
		return c.Metadata.Name
	}
	return ""
}

// goesBefore reports whether a CSV takes precedence over another one: the CSV in the later
// phase does, then the older one, then the first by name.
func goesBefore(a, b *olm.ClusterServiceVersion) bool {
	return cmp.Or(
		cmp.Compare(world.Progress(b), world.Progress(a)),
		a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp),
		cmp.Compare(a.Metadata.Name, b.Metadata.Name),
	) < 0
}

// deploymentsOf returns the deployments that were created for a CSV and still belong to it.
// A newer version takes over those of the same name.
func (p *planner) deploymentsOf(c *olm.ClusterServiceVersion) []*olm.Deployment {
	var list []*olm.Deployment
	for _, d := range p.Deployed[c.Metadata.Name] {
		l := d.Metadata.Labels
		if l[ownerlabel.Name] == c.Metadata.Name && l[ownerlabel.Namespace] == p.Namespace && ownedBy(d, c) {
			list = append(list, d)
		}
	}
	return list
}
