package impact

import (
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/permissions"
)

// webhooks compares the webhooks and API services of the bundles (K227).
func (c *comparison) webhooks() ([]Change, error) {
	old, created := c.old.CSV(), c.new.CSV()
	var out []Change
	before := map[string]*v1alpha1.WebhookDescription{}
	for i := range old.Spec.WebhookDefinitions {
		w := &old.Spec.WebhookDefinitions[i]
		before[webhookName(w)] = w
	}
	after := map[string]bool{}
	for i := range created.Spec.WebhookDefinitions {
		w := &created.Spec.WebhookDefinitions[i]
		object, at := webhookName(w), c.at("spec", "webhookdefinitions", i)
		after[object] = true
		was := before[object]
		if was == nil {
			out = append(out, c.receiving(w.Rules, Added, object, at, "is added"+intercepted(w)))
			continue
		}
		for _, r := range w.Rules {
			if !intercepts(was.Rules, r) {
				out = append(out, c.receiving([]admissionv1.RuleWithOperations{r}, Changed, object, at, "now also receives "+ruleText(r)))
			}
		}
		for _, text := range widened(was, w) {
			out = append(out, c.coded(codes.ImpactWebhook, Changed, object, "", at, "%s: %s", object, text))
		}
	}
	for _, name := range union(before, nil) {
		if !after[name] {
			out = append(out, safe(Removed, name, "%s is removed", name))
			out = append(out, c.unserved(name, before[name])...)
		}
	}
	services := func(csv *v1alpha1.ClusterServiceVersion) map[string]int {
		out := map[string]int{}
		for i, s := range csv.Spec.APIServiceDefinitions.Owned {
			out[s.Version+"."+s.Group] = i
		}
		return out
	}
	a, b := services(old), services(created)
	for _, name := range union(a, b) {
		_, had := a[name]
		i, has := b[name]
		object := "APIService " + name
		switch {
		case !had:
			at := c.at("spec", "apiservicedefinitions", "owned", i)
			out = append(out, c.coded(codes.ImpactAPIService, Added, object, "", at, "%s is added: the API server forwards all requests for its group and version to the operator", object))
		case !has:
			out = append(out, safe(Removed, object, "%s is removed", object))
		}
	}
	return out, nil
}

// receiving returns a change for a webhook that receives new requests. It is dangerous if these are for all
// resources of a group.
func (c *comparison) receiving(rules []admissionv1.RuleWithOperations, op Op, object string, at place, text string) Change {
	ch := c.coded(codes.ImpactWebhook, op, object, "", at, "%s %s", object, text)
	if risk, ok := permissions.Interception(&v1alpha1.WebhookDescription{Rules: rules}); ok {
		ch.Code, ch.Message = risk.Code, "dangerous: "+ch.Message
	}
	return ch
}

// unserved returns a change for each CRD that still names a conversion webhook, although the
// definition of the webhook is removed.
func (c *comparison) unserved(name string, w *v1alpha1.WebhookDescription) (out []Change) {
	for i := range c.new.CRDs {
		x := &c.new.CRDs[i]
		if w.Type == v1alpha1.ConversionWebhook && slices.Contains(w.ConversionCRDs, x.Object.Name) && converts(&x.Object) {
			out = append(out, c.coded(codes.ImpactWebhook, Removed, name, "", place{Pos: x.Pos}, "CRD %s still names a conversion webhook, although %s is removed; requests for versions that are not stored fail unless something else serves it", x.Object.Name, name))
		}
	}
	return out
}

func webhookName(w *v1alpha1.WebhookDescription) string {
	return string(w.Type) + " " + w.GenerateName
}

// intercepted describes the requests that a webhook receives.
func intercepted(w *v1alpha1.WebhookDescription) string {
	if w.Type == v1alpha1.ConversionWebhook {
		return " for " + strings.Join(w.ConversionCRDs, ", ")
	}
	var list []string
	for _, r := range w.Rules {
		list = append(list, ruleText(r))
	}
	policy := "; while it is unavailable, these requests fail"
	if failurePolicy(w) == admissionv1.Ignore {
		policy = ""
	}
	if len(list) == 0 {
		return policy
	}
	return " and receives " + strings.Join(list, ", ") + policy
}

func ruleText(r admissionv1.RuleWithOperations) string {
	var verbs []string
	for _, o := range r.Operations {
		verbs = append(verbs, string(o))
	}
	var groups []string
	for _, g := range r.APIGroups {
		if g == "" {
			g = "core"
		}
		groups = append(groups, g)
	}
	return strings.Join(verbs, ", ") + " of " + strings.Join(r.Resources, ", ") + " (" + strings.Join(groups, ", ") + "/" + strings.Join(r.APIVersions, ", ") + ")"
}

func failurePolicy(w *v1alpha1.WebhookDescription) admissionv1.FailurePolicyType {
	if w.FailurePolicy == nil {
		return admissionv1.Fail
	}
	return *w.FailurePolicy
}

func matchPolicy(w *v1alpha1.WebhookDescription) admissionv1.MatchPolicyType {
	if w.MatchPolicy == nil {
		return admissionv1.Equivalent
	}
	return *w.MatchPolicy
}

// widened returns in which ways, other than by its rules, a webhook affects more requests than before.
func widened(old, created *v1alpha1.WebhookDescription) (out []string) {
	for _, name := range created.ConversionCRDs {
		if !slices.Contains(old.ConversionCRDs, name) {
			out = append(out, "it now also converts "+name)
		}
	}
	if created.Type != v1alpha1.ConversionWebhook && failurePolicy(old) == admissionv1.Ignore && failurePolicy(created) == admissionv1.Fail {
		out = append(out, "requests now fail while it is unavailable (failurePolicy Fail)")
	}
	if matchPolicy(old) == admissionv1.Exact && matchPolicy(created) == admissionv1.Equivalent && created.Type != v1alpha1.ConversionWebhook {
		out = append(out, "it now also receives requests for other versions of its resources (matchPolicy Equivalent)")
	}
	if !selects(old.ObjectSelector, created.ObjectSelector) {
		out = append(out, "its objectSelector may select more objects")
	}
	return out
}

// selects reports whether the selector old selects every object that created does. Every
// requirement of old must then be one of created.
func selects(old, created *metav1.LabelSelector) bool {
	if old == nil {
		return true
	}
	if created == nil {
		created = &metav1.LabelSelector{}
	}
	for k, v := range old.MatchLabels {
		if created.MatchLabels[k] != v {
			return false
		}
		if _, ok := created.MatchLabels[k]; !ok {
			return false
		}
	}
	for _, r := range old.MatchExpressions {
		if !slices.ContainsFunc(created.MatchExpressions, func(s metav1.LabelSelectorRequirement) bool {
			return r.Key == s.Key && r.Operator == s.Operator && slices.Equal(r.Values, s.Values)
		}) {
			return false
		}
	}
	return true
}

// intercepts reports whether a webhook with the given rules receives every request that the
// rule r matches. Rules with more than maxAtoms combinations count as not covered, unless an
// equal rule exists.
func intercepts(rules []admissionv1.RuleWithOperations, r admissionv1.RuleWithOperations) bool {
	for _, one := range rules {
		if slices.Equal(one.Operations, r.Operations) && slices.Equal(one.APIGroups, r.APIGroups) && slices.Equal(one.APIVersions, r.APIVersions) &&
			slices.Equal(one.Resources, r.Resources) && inScope(one.Scope, r.Scope) {
			return true
		}
	}
	if slices.Contains(r.Operations, admissionv1.OperationAll) && !slices.ContainsFunc(rules, func(one admissionv1.RuleWithOperations) bool {
		return slices.Contains(one.Operations, admissionv1.OperationAll)
	}) {
		r.Operations = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete, admissionv1.Connect} // all that exist
	}
	n := len(rules)
	for _, size := range []int{len(r.Operations), len(r.APIGroups), len(r.APIVersions), len(r.Resources)} {
		if n *= size; n > maxAtoms {
			return false
		}
	}
	for _, op := range r.Operations {
		for _, group := range r.APIGroups {
			for _, version := range r.APIVersions {
				for _, resource := range r.Resources {
					if !slices.ContainsFunc(rules, func(old admissionv1.RuleWithOperations) bool {
						return (slices.Contains(old.Operations, op) || slices.Contains(old.Operations, admissionv1.OperationAll)) &&
							matches(old.APIGroups, group) && matches(old.APIVersions, version) && matchesResource(old.Resources, resource) && inScope(old.Scope, r.Scope)
					}) {
						return false
					}
				}
			}
		}
	}
	return true
}

func matches(list []string, s string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, s)
}

// matchesResource reports whether the resources of a webhook include one, which may itself be
// a pattern, as the API server decides it: "*" means all resources without subresources, and "pods/*" means
// pods with and without a subresource.
func matchesResource(list []string, resource string) bool {
	name, sub, _ := strings.Cut(resource, "/")
	return slices.ContainsFunc(list, func(s string) bool {
		n, su, _ := strings.Cut(s, "/")
		return (n == "*" || n == name) && (su == "*" || su == sub)
	})
}

func inScope(old, created *admissionv1.ScopeType) bool {
	return old == nil || *old == admissionv1.AllScopes || created != nil && *created == *old
}
