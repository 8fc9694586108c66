package impact

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/olmkit/olmkit/internal/codes"
)

// workloads compares the deployments of the bundles (K229).
func (c *comparison) workloads() ([]Change, error) {
	security, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	type deployment struct {
		*v1alpha1.StrategyDeploymentSpec
		i int
	}
	list := func(b Bundle) map[string]deployment {
		out := map[string]deployment{}
		specs := b.CSV().Spec.InstallStrategy.StrategySpec.DeploymentSpecs
		for i := range specs {
			out[specs[i].Name] = deployment{&specs[i], i}
		}
		return out
	}
	before, after := list(c.old), list(c.new)
	// A deployment that is new may replace another one, so it is compared with all of them.
	all, loosest := map[string]bool{}, api.LevelRestricted
	for _, d := range before {
		maps.Copy(all, privileges(pods(d.StrategyDeploymentSpec)))
		if l := level(security, d.StrategyDeploymentSpec); api.CompareLevels(l, loosest) < 0 {
			loosest = l
		}
	}
	var out []Change
	for _, name := range union(before, after) {
		a, had := before[name]
		b, has := after[name]
		object := "Deployment " + c.opts.Namespace + "/" + name
		at := c.at("spec", "install", "spec", "deployments", b.i)
		switch {
		case !has:
			out = append(out, safe(Removed, object, "%s is removed", object))
			continue
		case !had:
			out = append(out, safe(Added, object, "%s is added", object))
		default:
			out = append(out, c.selectors(object, at, selector(a.StrategyDeploymentSpec), selector(b.StrategyDeploymentSpec))...)
		}
		was, from := all, loosest
		if had {
			was, from = privileges(pods(a.StrategyDeploymentSpec)), level(security, a.StrategyDeploymentSpec)
			switch m, n := replicas(a.StrategyDeploymentSpec), replicas(b.StrategyDeploymentSpec); {
			case m == n:
			case n == 0:
				out = append(out, c.coded(codes.ImpactStopped, Changed, object, ".spec.replicas", at, "%s stops, because its replicas change from %d to 0%s", object, m, c.calls(name)))
			default:
				out = append(out, safe(Changed, object, "%s: replicas change from %d to %d", object, m, n))
			}
			out = append(out, resources(object, pods(a.StrategyDeploymentSpec), pods(b.StrategyDeploymentSpec))...)
		}
		is, to := privileges(pods(b.StrategyDeploymentSpec)), level(security, b.StrategyDeploymentSpec)
		for _, p := range union(was, is) {
			path, read := strings.CutPrefix(p, "read access ")
			switch {
			case read && (was["write access "+path] || is["write access "+path]): // which includes it
			case !was[p]:
				out = append(out, c.coded(codes.ImpactPrivilege, Added, object, "", at, "%s now has %s", object, p))
			case !is[p] && had:
				out = append(out, safe(Removed, object, "%s no longer has %s", object, p))
			}
		}
		switch order := api.CompareLevels(to, from); {
		case order < 0 && !had:
			out = append(out, c.coded(codes.ImpactPodSecurity, Added, object, "", at, "%s needs Pod Security level %s, while %s was enough before: %s", object, to, from, because(security, b.StrategyDeploymentSpec, to)))
		case order < 0:
			out = append(out, c.coded(codes.ImpactPodSecurity, Changed, object, "", at, "%s needs Pod Security level %s instead of %s: %s", object, to, from, because(security, b.StrategyDeploymentSpec, to)))
		case order > 0 && had:
			out = append(out, safe(Changed, object, "%s needs Pod Security level %s instead of %s", object, to, from))
		case order == 0 && had:
			lost := slices.DeleteFunc(unrestricted(security, b.StrategyDeploymentSpec), func(reason string) bool {
				return slices.Contains(unrestricted(security, a.StrategyDeploymentSpec), reason)
			})
			if len(lost) > 0 {
				out = append(out, c.coded(codes.ImpactPodSecurity, Changed, object, "", at, "%s still needs Pod Security level %s, but gives up more of level %s: %s", object, to, api.LevelRestricted, strings.Join(lost, ", ")))
			}
		}
	}
	return out, nil
}

func pods(d *v1alpha1.StrategyDeploymentSpec) *corev1.PodSpec { return &d.Spec.Template.Spec }

// calls states which requests fail while a deployment of the new bundle does not run.
func (c *comparison) calls(deployment string) string {
	spec := &c.new.CSV().Spec
	var list []string
	for i := range spec.WebhookDefinitions {
		if w := &spec.WebhookDefinitions[i]; w.DeploymentName == deployment && (w.Type == v1alpha1.ConversionWebhook || failurePolicy(w) == admissionv1.Fail) {
			list = append(list, webhookName(w))
		}
	}
	for _, s := range spec.APIServiceDefinitions.Owned {
		if s.DeploymentName == deployment {
			list = append(list, "APIService "+s.Version+"."+s.Group)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; requests that it serves fail: " + strings.Join(list, ", ")
}

func replicas(d *v1alpha1.StrategyDeploymentSpec) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// selector returns the selector of a deployment, without empty lists.
func selector(d *v1alpha1.StrategyDeploymentSpec) metav1.LabelSelector {
	var out metav1.LabelSelector
	if s := d.Spec.Selector; s != nil {
		if len(s.MatchLabels) > 0 {
			out.MatchLabels = s.MatchLabels
		}
		if len(s.MatchExpressions) > 0 {
			out.MatchExpressions = s.MatchExpressions
		}
	}
	return out
}

// selectors compares the selectors of a deployment.
func (c *comparison) selectors(object string, at place, old, created metav1.LabelSelector) []Change {
	if reflect.DeepEqual(old, created) {
		return nil
	}
	was, is := text(old), text(created)
	ch := c.coded(codes.ImpactSelector, Changed, object, ".spec.selector", at, "the selector of %s changes from %s to %s, which the API server refuses; OLM v1 cannot apply the new version", object, short(was), short(is))
	if c.opts.Classic {
		ch = c.coded(codes.ImpactRecreated, Changed, object, ".spec.selector", at, "%s is deleted and created again, because its selector changes from %s to %s", object, short(was), short(is))
	}
	ch.Old, ch.New = was, is
	return []Change{ch}
}

// resources returns how the requests and limits of containers change.
func resources(object string, old, created *corev1.PodSpec) (out []Change) {
	of := func(p *corev1.PodSpec) map[string]string {
		all := map[string]string{}
		for _, container := range slices.Concat(p.InitContainers, p.Containers) {
			for kind, list := range map[string]corev1.ResourceList{"limit": container.Resources.Limits, "request": container.Resources.Requests} {
				for name, q := range list {
					all[fmt.Sprintf("%s %s of container %s", name, kind, container.Name)] = q.String()
				}
			}
		}
		return all
	}
	a, b := of(old), of(created)
	for _, k := range union(a, b) {
		switch {
		case a[k] == b[k]:
		case a[k] == "":
			out = append(out, safe(Added, object, "%s: the %s is now %s", object, k, b[k]))
		case b[k] == "":
			out = append(out, safe(Removed, object, "%s: the %s is removed; it was %s", object, k, a[k]))
		default:
			out = append(out, safe(Changed, object, "%s: the %s changes from %s to %s", object, k, a[k], b[k]))
		}
	}
	return out
}

// privileges returns what the containers of a pod may do to their host.
func privileges(p *corev1.PodSpec) map[string]bool {
	out := map[string]bool{}
	for has, set := range map[string]bool{
		"access to the network of its node": p.HostNetwork, "access to the processes of its node": p.HostPID, "access to the shared memory of its node": p.HostIPC,
	} {
		if set {
			out[has] = true
		}
	}
	containers := slices.Concat(p.InitContainers, p.Containers)
	for _, v := range p.Volumes {
		if v.HostPath == nil {
			continue
		}
		access := "read access to "
		if slices.ContainsFunc(containers, func(x corev1.Container) bool {
			return slices.ContainsFunc(x.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name && !m.ReadOnly })
		}) {
			access = "write access to "
		}
		out[access+v.HostPath.Path+" on its node"] = true
	}
	privileged := 0
	for _, container := range containers {
		for _, port := range container.Ports {
			if port.HostPort != 0 {
				out["port "+strconv.Itoa(int(port.HostPort))+" of its node"] = true
			}
		}
		s := container.SecurityContext
		if s == nil {
			continue
		}
		if s.Privileged != nil && *s.Privileged {
			privileged++
		}
		if s.Capabilities != nil {
			for _, name := range s.Capabilities.Add {
				out["the capability "+string(name)] = true
			}
		}
	}
	switch {
	case privileged == 1:
		out["a privileged container"] = true
	case privileged > 1:
		out[fmt.Sprintf("%d privileged containers", privileged)] = true
	}
	if runsAsRoot(p) {
		out["a container that runs as root"] = true
	}
	return out
}

func runsAsRoot(p *corev1.PodSpec) bool {
	root := func(id *int64) bool { return id != nil && *id == 0 }
	inherited := p.SecurityContext != nil && root(p.SecurityContext.RunAsUser)
	for _, container := range slices.Concat(p.InitContainers, p.Containers) {
		if s := container.SecurityContext; s != nil && s.RunAsUser != nil {
			if root(s.RunAsUser) {
				return true
			}
		} else if inherited {
			return true
		}
	}
	return false
}

// level returns the loosest Pod Security level that allows the pods of a deployment.
func level(security policy.Evaluator, d *v1alpha1.StrategyDeploymentSpec) api.Level {
	for _, l := range []api.Level{api.LevelRestricted, api.LevelBaseline} {
		if evaluate(security, d, l).Allowed {
			return l
		}
	}
	return api.LevelPrivileged
}

func evaluate(security policy.Evaluator, d *v1alpha1.StrategyDeploymentSpec, l api.Level) policy.AggregateCheckResult {
	meta := d.Spec.Template.ObjectMeta
	return policy.AggregateCheckResults(security.EvaluatePod(api.LevelVersion{Level: l, Version: api.LatestVersion()}, &meta, pods(d)))
}

// because returns why the pods of a deployment need a level: what the next stricter one
// forbids.
func because(security policy.Evaluator, d *v1alpha1.StrategyDeploymentSpec, l api.Level) string {
	stricter := api.LevelRestricted
	if l == api.LevelPrivileged {
		stricter = api.LevelBaseline
	}
	return strings.Join(reasons(security, d, stricter), ", ")
}

// unrestricted returns what only the level restricted forbids in the pods of a deployment. To run as root is
// a privilege instead.
func unrestricted(security policy.Evaluator, d *v1alpha1.StrategyDeploymentSpec) []string {
	loose := reasons(security, d, api.LevelBaseline)
	return slices.DeleteFunc(reasons(security, d, api.LevelRestricted), func(reason string) bool {
		return slices.Contains(loose, reason) || strings.HasPrefix(reason, "runAs") && runsAsRoot(pods(d))
	})
}

// reasons returns why a level forbids the pods of a deployment, sorted.
func reasons(security policy.Evaluator, d *v1alpha1.StrategyDeploymentSpec, l api.Level) []string {
	out := evaluate(security, d, l).ForbiddenReasons
	slices.Sort(out)
	return slices.Compact(out)
}
