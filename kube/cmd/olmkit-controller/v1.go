package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// v1Flags holds the flags that configure OLM v1.
type v1Flags struct {
	olm                     []string
	namespace, certificates string
}

const (
	olmClassic = "classic"
	olmV1      = "v1"
)

func (f *v1Flags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.olm, "olm", []string{olmClassic}, "which OLM to run: classic for Subscriptions, v1 for ClusterExtensions, or classic,v1")
	fs.StringVar(&f.namespace, "v1-namespace", "olmv1-system", "namespace of the Secrets that record what OLM v1 installs; it must exist")
	fs.StringVar(&f.certificates, "v1-certificates", "cert-manager", "what issues the certificates of webhooks in OLM v1: cert-manager, service-ca or none")
}

func (f *v1Flags) check() error {
	for _, name := range f.olm {
		if name != olmClassic && name != olmV1 {
			return fmt.Errorf("--olm: %q is neither %s nor %s", name, olmClassic, olmV1)
		}
	}
	if len(f.olm) == 0 {
		return fmt.Errorf("--olm is empty; want %s, %s or both", olmClassic, olmV1)
	}
	return nil
}

func (f *v1Flags) runs(name string) bool { return slices.Contains(f.olm, name) }

// setup adds the controller of ClusterExtensions to a manager.
func (f *v1Flags) setup(m ctrl.Manager, sources *content.Options) error {
	certificates, ok := registryv1.ParseCertProvider(f.certificates)
	if !ok {
		return fmt.Errorf("--v1-certificates: %q is not cert-manager, service-ca or none", f.certificates)
	}
	live, err := client.New(m.GetConfig(), client.Options{HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper()})
	if err != nil {
		return err
	}
	return (&extension.Reconciler{
		Client: m.GetClient(), Catalogs: &extension.Served{Options: sources.Sources.HTTP},
		Rollouts: &extension.Rollouts{Client: live, Namespace: f.namespace, Bundles: images{sources.Sources.Images}, Certificates: certificates},
	}).SetupWithManager(m)
}

// images reads bundles from registries.
type images struct{ puller *oci.Puller }

func (i images) Bundle(ctx context.Context, ref string) (*registryv1.Bundle, error) {
	b, err := i.puller.Bundle(ctx, ref)
	if err != nil {
		return nil, err
	}
	return registryv1.Read(ctx, b.FS, nil)
}

// manifests returns what grants a service account the permissions that OLM v1 needs: all,
// because bundles may contain any permission.
func (f *v1Flags) manifests(namespace, account string) ([]byte, error) { // K52
	text, err := yaml.Marshal(&rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: account + "-v1"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	})
	return append([]byte("---\n"), text...), err
}
