package content

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube/oci"
)

// maxSecrets limits the pull secrets of a catalog. Each is read at each pull.
const maxSecrets = 16

// Secrets returns a function for Sources.Secrets that reads from an API server.
// Pass an uncached reader, such as a manager's GetAPIReader. It needs only get
// on secrets; a cache would need list, and would hold every secret of the
// cluster.
func Secrets(r client.Reader) func(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return func(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
		s := &corev1.Secret{}
		if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
			return nil, err
		}
		return s, nil
	}
}

// withSecrets returns pullers that also use pull secrets. Images that a tenant
// pulls with the secrets are cached separately, so that they are not served to
// tenants without the secrets.
func (s *Sources) withSecrets(namespace string, names []string, images, bundles *oci.Puller) (*oci.Puller, *oci.Puller) {
	dir := ""
	if s.isTenant(namespace) {
		dir = filepath.Join("namespaces", namespace)
	}
	with := func(p *oci.Puller) *oci.Puller {
		if p == nil {
			return nil
		}
		return p.With(&pullSecrets{read: s.Secrets, namespace: namespace, names: names}, dir)
	}
	if images == bundles {
		p := with(images)
		return p, p
	}
	return with(images), with(bundles)
}

// A pullSecrets is a keychain of pull secrets. They are read at each pull, so
// that changes take effect at once. As in a kubelet, a secret that is missing
// or has another type provides no credentials. If the pull fails, Explain
// returns these errors.
type pullSecrets struct {
	read      func(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	namespace string
	names     []string

	mu    sync.Mutex
	fault error
}

var (
	_ authn.Keychain        = (*pullSecrets)(nil)
	_ authn.ContextKeychain = (*pullSecrets)(nil)
	_ oci.Explainer         = (*pullSecrets)(nil)
)

// Resolve returns the credentials for a repository.
func (k *pullSecrets) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(context.Background(), target)
}

// ResolveContext returns the credentials for a repository.
func (k *pullSecrets) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	auth, err := k.resolve(ctx, target)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fault = err
	return auth, nil
}

// Explain returns what was wrong with the secrets at the last pull, or nil.
func (k *pullSecrets) Explain() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fault
}

func (k *pullSecrets) resolve(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	var faults []error
	for _, name := range k.names {
		auth, err := k.from(ctx, name, target)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("spec.secrets: %q: %w", name, err))
		case auth != authn.Anonymous:
			return auth, nil
		}
	}
	return authn.Anonymous, errors.Join(faults...)
}

// from returns a secret's credentials for a repository.
func (k *pullSecrets) from(ctx context.Context, name string, target authn.Resource) (authn.Authenticator, error) {
	s, err := k.read(ctx, k.namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("secret not found in namespace %q", k.namespace)
	case err != nil:
		return nil, err
	case s.Type != corev1.SecretTypeDockerConfigJson && s.Type != corev1.SecretTypeDockercfg:
		return nil, fmt.Errorf("the secret has type %q, want %s", s.Type, corev1.SecretTypeDockerConfigJson)
	}
	// Match as a kubelet does: by host, with wildcards, and by path.
	keychain, err := kubernetes.NewFromPullSecrets(ctx, []corev1.Secret{*s})
	if err != nil {
		return nil, errors.New("the secret does not hold a valid Docker configuration") // the cause is left out, because it may quote the secret
	}
	return authn.Resolve(ctx, keychain, target)
}
