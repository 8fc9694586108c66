package kube_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube"
)

// TestManifests compares the permissions with a golden file, so that every
// change is reviewed.
func TestManifests(t *testing.T) {
	got, err := kube.Manifests("olm", "olmkit")
	must(t, err)
	golden.File(t, "rbac.yaml", string(got))
}

// An audit records the writes of a client.
type audit struct {
	mu     sync.Mutex
	writes []auditEntry
}

type auditEntry struct{ method, path, user string }

func (a *audit) list() []auditEntry {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]auditEntry(nil), a.writes...)
}

type auditor struct {
	next  http.RoundTripper
	audit *audit
}

// RoundTrip records a request.
func (a auditor) RoundTrip(r *http.Request) (*http.Response, error) {
	record(r)
	if r.Method != http.MethodGet {
		a.audit.mu.Lock()
		a.audit.writes = append(a.audit.writes, auditEntry{r.Method, r.URL.Path, r.Header.Get("Impersonate-User")})
		a.audit.mu.Unlock()
	}
	return a.next.RoundTrip(r)
}

// restricted returns the configuration of a client with only the permissions of
// kube.Manifests, and the audit of its writes.
//
// The client uses a token of the service account, because a client that
// impersonates it could not impersonate others.
func restricted(t testing.TB) (*rest.Config, *audit) {
	t.Helper()
	c, ctx := admin(t), context.Background()
	namespace(t, c, globalNamespace)
	text, err := kube.Manifests(globalNamespace, "olmkit")
	must(t, err)
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		u := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(doc, &u.Object))
		must(t, client.IgnoreAlreadyExists(c.Create(ctx, u)))
	}
	waitAllowed(t, c, "system:serviceaccount:"+globalNamespace+":olmkit", "", permission{olmGroup, "subscriptions", "watch"})
	config := accountConfig(t, "olmkit")
	a := &audit{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return auditor{next, a} })
	return config, a
}

// accountConfig returns the configuration of a service account of the global
// namespace.
func accountConfig(t testing.TB, name string) *rest.Config {
	t.Helper()
	config := rest.AnonymousClientConfig(env.Config)
	config.QPS = -1
	config.BearerToken = token(t, globalNamespace, name)
	return config
}

// waitAllowed waits until the API server grants a permission to a user, because
// it notices new roles and bindings with a delay.
func waitAllowed(t testing.TB, c client.Client, user, namespace string, p permission) {
	t.Helper()
	groups := []string{"system:authenticated", "system:serviceaccounts"}
	eventually(t, patience, func() error {
		r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, Groups: groups,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: p.group, Resource: p.resource, Verb: p.verb, Namespace: namespace},
		}}
		if err := c.Create(context.Background(), r); err != nil {
			return err
		}
		if !r.Status.Allowed {
			return fmt.Errorf("%s may not %s: %s", user, p, r.Status.Reason)
		}
		return nil
	})
}

// outside returns the writes of an audit to namespaces other than the given
// ones.
func outside(a *audit, allowed ...string) []auditEntry {
	var out []auditEntry
	for _, w := range a.list() {
		_, rest, ok := strings.Cut(w.path, "/namespaces/")
		if !ok {
			continue
		}
		ns, _, _ := strings.Cut(rest, "/")
		inside := false
		for _, x := range allowed {
			inside = inside || x == ns
		}
		if !inside {
			out = append(out, w)
		}
	}
	return out
}
