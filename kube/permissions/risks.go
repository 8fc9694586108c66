package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A Risk is a rule that allows something dangerous, or a webhook.
type Risk struct {
	Code fbc.Code `json:"code"`
	// Subject and Namespace are those of the role; both are empty for a webhook.
	Subject   string `json:"subject,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Message describes what is allowed, and where.
	Message string `json:"message"`

	everything, included bool
}

// Included reports whether a risk before it includes this one: that of the same rule, which allows everything.
func (r Risk) Included() bool { return r.included }

// A danger is a kind of access that few operators need (K222). A rule allows it if it allows one
// of the verbs for one of the resources.
type danger struct {
	code      fbc.Code
	can       string // what follows "can" in a message
	verbs     []string
	resources []resource
	// named dangers exist even for a rule that is limited to objects by name.
	named bool
}

// A resource has a name such as "pods" or "pods/exec".
type resource struct{ group, name string }

// clusterScoped lists the resources of dangers that are not in namespaces, so that no role
// binding grants them.
var clusterScoped = []resource{
	{"", "nodes/proxy"}, {"", "persistentvolumes"}, {"", "users"}, {"", "groups"}, {authGroup, "uids"}, {rbacGroup, "clusterroles"}, {rbacGroup, "clusterrolebindings"},
	{certGroup, "certificatesigningrequests/approval"}, {certGroup, "signers"},
	{admissionGroup, "validatingwebhookconfigurations"}, {admissionGroup, "mutatingwebhookconfigurations"},
}

const (
	rbacGroup      = "rbac.authorization.k8s.io"
	certGroup      = "certificates.k8s.io"
	admissionGroup = "admissionregistration.k8s.io"
	authGroup      = "authentication.k8s.io"
)

var write = []string{"create", "update", "patch"}

// dangers lists all dangers except wildcards, in the order of the good practices.
var dangers = []danger{
	{codes.GrantsSecrets, "read secrets", []string{"get", "list", "watch"}, []resource{{"", "secrets"}}, false},
	{codes.GrantsExec, "run commands in pods", []string{"create", "get"}, []resource{{"", "pods/exec"}, {"", "pods/attach"}}, false},
	{codes.GrantsWorkloads, "create pods", []string{"create"}, workloads, false},
	{codes.GrantsVolumes, "create persistent volumes", []string{"create"}, []resource{{"", "persistentvolumes"}}, false},
	{codes.GrantsNodesProxy, "use the kubelet API", []string{"get", "create", "update", "patch", "delete"}, []resource{{"", "nodes/proxy"}}, true},
	{codes.GrantsEscalation, "give itself permissions that it lacks", []string{"escalate", "bind"}, []resource{{rbacGroup, "roles"}, {rbacGroup, "clusterroles"}}, true},
	{codes.GrantsImpersonation, "act as another user", []string{"impersonate"}, []resource{{"", "users"}, {"", "groups"}, {"", "serviceaccounts"}, {authGroup, "uids"}}, true},
	{codes.GrantsRBAC, "write roles or bindings", write, []resource{{rbacGroup, "roles"}, {rbacGroup, "clusterroles"}, {rbacGroup, "rolebindings"}, {rbacGroup, "clusterrolebindings"}}, false},
	{codes.GrantsCertificates, "approve certificates", []string{"update", "patch"}, []resource{{certGroup, "certificatesigningrequests/approval"}}, false},
	{codes.GrantsCertificates, "approve certificates", []string{"approve"}, []resource{{certGroup, "signers"}}, true},
	{codes.GrantsTokens, "create tokens of service accounts", []string{"create"}, []resource{{"", "serviceaccounts/token"}}, true},
	{codes.GrantsWebhooks, "write webhook configurations", write, []resource{{admissionGroup, "validatingwebhookconfigurations"}, {admissionGroup, "mutatingwebhookconfigurations"}}, false},
	{codes.GrantsNamespaces, "change namespaces", []string{"update", "patch"}, []resource{{"", "namespaces"}}, false},
}

// workloads are the resources that make pods.
var workloads = []resource{
	{"", "pods"}, {"", "replicationcontrollers"}, {"apps", "daemonsets"}, {"apps", "deployments"}, {"apps", "replicasets"}, {"apps", "statefulsets"}, {"batch", "cronjobs"}, {"batch", "jobs"},
}

// allows reports whether a rule, in a namespace or in the whole cluster, grants a kind of access
// that is dangerous.
func (r *Rule) allows(d *danger, namespace string) bool {
	if len(r.ResourceNames) > 0 && !d.named {
		return false
	}
	if !slices.Contains(r.Verbs, "*") && !slices.ContainsFunc(d.verbs, func(v string) bool { return slices.Contains(r.Verbs, v) }) {
		return false
	}
	return slices.ContainsFunc(d.resources, func(res resource) bool {
		_, sub, hasSub := strings.Cut(res.name, "/")
		return (namespace == "" || !slices.Contains(clusterScoped, res)) && (slices.Contains(r.APIGroups, "*") || slices.Contains(r.APIGroups, res.group)) &&
			(slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, res.name) || hasSub && slices.Contains(r.Resources, "*/"+sub))
	})
}

// wildcard reports whether a rule has a wildcard.
func (r *Rule) wildcard() bool {
	for _, list := range [][]string{r.Verbs, r.APIGroups, r.Resources, r.NonResourceURLs} {
		if slices.Contains(list, "*") {
			return true
		}
	}
	return false
}

// AllowsEverything reports whether a rule allows every verb for all resources.
func (r *Rule) AllowsEverything() bool {
	return slices.Contains(r.Verbs, "*") && slices.Contains(r.APIGroups, "*") && slices.Contains(r.Resources, "*") && len(r.ResourceNames) == 0
}

// Risks returns the risks of the rules of a role, in their order, each code once for each rule.
func (r *Role) Risks() (out []Risk) {
	where := "in all namespaces"
	if r.Namespace != "" {
		where = "in namespace " + r.Namespace
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		add := func(code fbc.Code, can string) {
			if !slices.ContainsFunc(out, func(x Risk) bool { return x.Code == code && strings.HasSuffix(x.Message, rule.String()) }) {
				everything := rule.AllowsEverything()
				out = append(out, Risk{code, r.Subject, r.Namespace, fmt.Sprintf("%s can %s %s: %s", r.Subject, can, where, rule), everything, everything && code != codes.GrantsWildcard})
			}
		}
		if rule.wildcard() {
			can := "act on everything that a wildcard covers"
			if rule.AllowsEverything() {
				can = "do everything, like cluster-admin,"
			}
			add(codes.GrantsWildcard, can)
		}
		for j := range dangers {
			if d := &dangers[j]; rule.allows(d, r.Namespace) {
				add(d.code, d.can)
			}
		}
	}
	return out
}

// intercepts returns a risk for each webhook that receives every resource.
func intercepts(b *registryv1.Bundle) (out []Risk) {
	webhooks := b.CSV().Spec.WebhookDefinitions
	for i := range webhooks {
		if risk, ok := Interception(&webhooks[i]); ok {
			out = append(out, risk)
		}
	}
	return out
}

// Interception returns the risk of a webhook that receives requests for all resources of a group.
func Interception(w *v1alpha1.WebhookDescription) (risk Risk, ok bool) {
	for _, rule := range w.Rules {
		if slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "*/*") {
			return Risk{Code: codes.GrantsInterception, Message: fmt.Sprintf("webhook %s receives requests for all resources of %s", w.GenerateName, groups(rule.APIGroups))}, true
		}
	}
	return Risk{}, false
}

// String returns the rule in words, such as "get, list pods, services of the core group" or
// "use every verb on all resources of all groups".
func (r Rule) String() string {
	text := strings.Join(r.Verbs, ", ")
	if slices.Contains(r.Verbs, "*") {
		text = "use every verb on"
	}
	if len(r.NonResourceURLs) > 0 {
		return text + " " + strings.Join(r.NonResourceURLs, ", ")
	}
	resources := strings.Join(r.Resources, ", ")
	if slices.Contains(r.Resources, "*") {
		resources = "all resources"
	}
	text += " " + resources + " of " + groups(r.APIGroups)
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	return text
}

func groups(list []string) string {
	var names []string
	for _, g := range list {
		switch g {
		case "":
			g = "the core group"
		case "*":
			g = "all groups"
		}
		names = append(names, g)
	}
	return strings.Join(names, ", ")
}
