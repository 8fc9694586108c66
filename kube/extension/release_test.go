package extension_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// release installs a bundle as operator-controller does with Helm.
func (s *stage) release(ts *testscript.TestScript, _ bool, args []string) {
	ctx := s.t.Context()
	name, number, status, version := args[0], args[1], args[2], args[3]
	var e api.ClusterExtension
	ts.Check(s.client.Get(ctx, client.ObjectKey{Name: name}, &e))
	image := "registry.example/" + name + ":" + version
	b, err := s.Bundle(ctx, image)
	ts.Check(err)
	m, err := b.Render(ctx, registryv1.RenderOptions{Namespace: e.Spec.Namespace, Certificates: registryv1.ServiceCA})
	ts.Check(err)
	var manifest bytes.Buffer
	for _, p := range slices.Backward(m.Phases) { // Helm has another order
		for _, o := range p.Objects {
			o.SetLabels(map[string]string{"olm.operatorframework.io/owner-kind": "ClusterExtension", "olm.operatorframework.io/owner-name": name})
			text, err := yaml.Marshal(o)
			ts.Check(err)
			fmt.Fprintf(&manifest, "---\n# Source: %s/templates/x.yaml\n%s", name, text)
			if status == "deployed" {
				o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: api.GroupVersion.String(), Kind: "ClusterExtension", Name: name, UID: e.UID, Controller: new(true), BlockOwnerDeletion: new(true)}})
				ts.Check(s.client.Create(ctx, o, client.FieldOwner("operator-controller")))
			}
		}
	}
	const prefix = "olm.operatorframework.io/"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	ts.Check(json.NewEncoder(z).Encode(map[string]any{
		"name": name, "namespace": e.Spec.Namespace, "manifest": manifest.String(), "info": map[string]any{"status": status},
		"labels": map[string]string{prefix + "bundle-name": b.CSV().Name, prefix + "package-name": b.Package, prefix + "bundle-version": version, prefix + "bundle-reference": image},
	}))
	ts.Check(z.Close())
	key := "sh.helm.release.v1." + name + ".v" + number
	text, half := packed.Bytes(), packed.Len()/2
	labels := map[string]string{"owner": "operator-controller", "key": key}
	rest := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: key + "-rest", Namespace: systemNamespace, Labels: labels}, Type: "operatorframework.io/chunk.v1", Data: map[string][]byte{"chunk": text[half:]}}
	ts.Check(s.client.Create(ctx, rest))
	index := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: systemNamespace, Labels: map[string]string{
		"owner": "operator-controller", "key": key, "type": "index", "name": name, "version": number, "status": status,
	}}, Type: "operatorframework.io/index.v1", Data: map[string][]byte{"chunk": text[:half], "extraChunks": fmt.Appendf(nil, "[%q]", rest.Name)}}
	ts.Check(s.client.Create(ctx, index))
}
