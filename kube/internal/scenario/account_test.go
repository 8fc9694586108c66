package scenario_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// mayRead permits reading custom resources, which kube.Manifests leaves out on purpose.
// Without it, upgrades of CRDs do not check custom resources (E7).
const mayRead = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-examples}
rules:
- {apiGroups: [example.com], resources: ["*"], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-examples}
subjects: [{kind: ServiceAccount, name: olmkit, namespace: adapter}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-examples}
`

// account returns the configuration of a service account with the permissions of
// kube.Manifests and mayRead.
func account(t *testing.T, c client.Client) *rest.Config {
	t.Helper()
	ctx := t.Context()
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "adapter"}}}
	must(t, client.IgnoreAlreadyExists(c.Create(ctx, ns))) // another test may have created it
	text, err := kube.Manifests("adapter", "olmkit")
	must(t, err)
	for doc := range bytes.SplitSeq(append(append(text, "---"...), mayRead...), []byte("---\n")) {
		u := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(doc, &u.Object))
		must(t, client.IgnoreAlreadyExists(c.Create(ctx, u)))
	}
	k, err := kubernetes.NewForConfig(env.Config)
	must(t, err)
	token, err := k.CoreV1().ServiceAccounts("adapter").CreateToken(ctx, "olmkit", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	config := rest.AnonymousClientConfig(env.Config)
	config.QPS = -1
	config.BearerToken = token.Status.Token
	// The API server notices new roles with a delay.
	as, err := kubernetes.NewForConfig(config)
	must(t, err)
	for _, group := range []string{"operators.coreos.com", "example.com"} {
		for n := 0; ; n++ {
			r, err := as.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: group, Resource: "subscriptions", Verb: "list"},
			}}, metav1.CreateOptions{})
			must(t, err)
			if r.Status.Allowed {
				break
			}
			if n == 2_400 {
				t.Fatalf("the service account may not list %s", group)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return config
}
