package registryv1

import (
	"maps"
	"reflect"
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/internal/apicheck"
)

// deployments adds the deployments of the CSV (K42).
func (g *generator) deployments() {
	serving := map[string]bool{}
	for _, w := range g.csv.Spec.WebhookDefinitions {
		serving[w.DeploymentName] = true
	}
	for _, strategy := range g.strategy().DeploymentSpecs {
		d := appsv1.Deployment{
			TypeMeta:   typeOf(appsv1.SchemeGroupVersion.String(), "Deployment"),
			ObjectMeta: g.meta(strategy.Name),
			Spec:       *strategy.Spec.DeepCopy(),
		}
		d.Labels = strategy.Label
		history := int32(1)
		d.Spec.RevisionHistoryLimit = &history
		pod := &d.Spec.Template
		annotations := map[string]string{}
		maps.Copy(annotations, g.csv.Annotations)
		maps.Copy(annotations, pod.Annotations)
		annotations["olm.targetNamespaces"] = g.target
		annotations["olm.operatorNamespace"] = g.opts.Namespace
		pod.Annotations = annotations
		left := false
		if serving[strategy.Name] && g.opts.Certificates != NoCertificates {
			left = g.mountCertificate(&pod.Spec, certName(serviceName(strategy.Name)))
		}
		if g.config != nil {
			configure(&d, g.config)
		}
		if !g.opts.AsUpstream {
			g.check(&d)
		}
		o := g.add(&d)
		if left {
			g.differs("K208", o, "has init containers without mounts of volumes that the certificate replaces")
		}
	}
}

// check checks a deployment as it is rendered (K238). What is wrong with that of a valid bundle
// comes from the configuration, or from annotations of the CSV.
func (g *generator) check(d *appsv1.Deployment) {
	errs := apivalidation.ValidateAnnotations(d.Annotations, field.NewPath("metadata", "annotations"))
	errs = append(errs, apicheck.Deployment(&d.Spec, field.NewPath("spec"))...)
	csv := origin{at: func(...any) fbc.Pos { return g.bundle.csv().Pos }}
	for _, p := range invalidObject("invalidObject", "Deployment", d.Name, csv, errs) {
		if p.Stage = StageGenerate; g.config != nil {
			p.Stage, p.Pos = StageConfig, fbc.Pos{}
		}
		g.problems = append(g.problems, p)
	}
}

// configure merges the configuration into a deployment (K29).
func configure(d *appsv1.Deployment, c *v1alpha1.SubscriptionConfig) {
	pod := &d.Spec.Template.Spec
	for i := range pod.Containers {
		container := &pod.Containers[i]
		container.Env = replaceByName(container.Env, c.Env, func(e *corev1.EnvVar) string { return e.Name })
		container.EnvFrom = appendMissing(container.EnvFrom, c.EnvFrom)
		container.VolumeMounts = replaceByName(container.VolumeMounts, c.VolumeMounts, func(m *corev1.VolumeMount) string { return m.Name })
		if c.Resources != nil {
			container.Resources = *c.Resources
		}
	}
	pod.Volumes = replaceByName(pod.Volumes, c.Volumes, func(v *corev1.Volume) string { return v.Name })
	pod.Tolerations = appendMissing(pod.Tolerations, c.Tolerations)
	if c.NodeSelector != nil {
		pod.NodeSelector = c.NodeSelector
	}
	pod.Affinity = mergeAffinity(pod.Affinity, c.Affinity)
	d.Annotations = addMissing(d.Annotations, c.Annotations)
	d.Spec.Template.Annotations = addMissing(d.Spec.Template.Annotations, c.Annotations)
}

// replaceByName puts the items of with into list. Each replaces the last item of list
// with the same name, or is appended if there is none.
func replaceByName[T any](list, with []T, name func(*T) string) []T {
	at := map[string]int{}
	for i := range list {
		at[name(&list[i])] = i
	}
	for i := range with {
		if n, ok := at[name(&with[i])]; ok {
			list[n] = with[i]
		} else {
			list = append(list, with[i])
		}
	}
	return list
}

// appendMissing appends the items that are not in the list.
func appendMissing[T any](list, items []T) []T {
	for _, item := range items {
		if !slices.ContainsFunc(list, func(have T) bool { return reflect.DeepEqual(have, item) }) {
			list = append(list, item)
		}
	}
	return list
}

// addMissing adds the keys that are not in the map.
func addMissing(to, from map[string]string) map[string]string {
	if len(from) == 0 {
		return to
	}
	out := maps.Clone(from)
	maps.Copy(out, to)
	return out
}

// mergeAffinity replaces the parts of an affinity that the configuration has. A part
// that the configuration sets but leaves empty is removed, and so is an affinity
// without parts.
func mergeAffinity(have, config *corev1.Affinity) *corev1.Affinity {
	if config == nil {
		return have
	}
	if config.NodeAffinity == nil && config.PodAffinity == nil && config.PodAntiAffinity == nil {
		return nil
	}
	var out corev1.Affinity
	if have != nil {
		out = *have
	}
	if a := config.NodeAffinity; a != nil {
		if out.NodeAffinity = a; a.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(a.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.NodeAffinity = nil
		}
	}
	if a := config.PodAffinity; a != nil {
		if out.PodAffinity = a; len(a.RequiredDuringSchedulingIgnoredDuringExecution) == 0 && len(a.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.PodAffinity = nil
		}
	}
	if a := config.PodAntiAffinity; a != nil {
		if out.PodAntiAffinity = a; len(a.RequiredDuringSchedulingIgnoredDuringExecution) == 0 && len(a.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			out.PodAntiAffinity = nil
		}
	}
	if out == (corev1.Affinity{}) {
		return nil
	}
	return &out
}
