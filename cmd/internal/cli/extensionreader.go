package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// extensionReader reads ClusterExtensions with everything that their plans depend on.
type extensionReader struct {
	*clusterState
	loader   *loader
	census   *census
	catalogs []api.ClusterCatalog
	opener   catalogOpener
	bundles  *impactRun
	options  registryv1.RenderOptions
	offline  bool // whether images are not pulled
	avoid    *avoidance
	judge    *clusterImpact   // nil if upgrades are not judged
	client   *rest.RESTClient // nil if the cluster is in files
	groups   discovery
	secrets  []corev1.Secret // those that belong to ClusterExtensions
	// made has the objects of the extensions that were read, as they are after the plans that
	// were made so far. Those that are removed by then are nil.
	made map[olm.Key]*unstructured.Unstructured
	// inhabited are the namespaces with objects, or nil before that is needed.
	inhabited map[string]bool
	// ending are the namespaces that were looked up and exist, and whether they are being deleted.
	ending map[string]bool
}

// A catalogOpener has the content of ClusterCatalogs by name.
type catalogOpener map[string]*graph.Catalog

// Open returns the content of a catalog.
func (o catalogOpener) Open(_ context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	serving := meta.FindStatusCondition(c.Status.Conditions, "Serving")
	if serving != nil && serving.Status != metav1.ConditionTrue {
		return nil, errors.New("it is not served: " + visible.Line(cmp.Or(serving.Message, serving.Reason)))
	}
	if g := o[c.Name]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("its content is unknown; give it with --catalog %s=PATH", visible.Line(c.Name))
}

// readExtensions reads the cluster, and the catalogs that it serves.
func (s *clusterState) readExtensions(ctx context.Context, l *loader, paths []string, bundles *impactRun, options registryv1.RenderOptions) (*extensionReader, error) {
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := s.readable(groupV1); err != nil {
		return nil, err
	}
	// The namespaces of CatalogSources matter only for classic OLM.
	s.inferred = slices.DeleteFunc(s.inferred, func(n reconcile.Note) bool { return n.Object.Kind == "Namespace" })
	t, err := s.takeCensus()
	if err != nil {
		return nil, err
	}
	given, err := sources(paths, s.catalogs, *s.sample, s.global)
	if err != nil {
		return nil, err
	}
	given = s.knownV1(given)
	served, err := s.servedV1(c, given)
	if err != nil {
		return nil, err
	}
	if err := s.label(given, served); err != nil {
		return nil, err
	}
	for _, src := range append(given, served...) {
		g, err := s.content(ctx, l, src)
		if err != nil {
			return nil, err
		}
		t.contentV1 = append(t.contentV1, olmv1.Catalog{Name: src.name, Priority: src.priority, Labels: src.labels, Graph: g})
	}
	r, err := s.newExtensionReader(l, t, bundles, options)
	if err != nil {
		return nil, err
	}
	if s.wanted(s.cmd) {
		if r.client, err = s.client(); err != nil {
			return nil, err
		}
	}
	return r, r.readSecrets(ctx)
}

// newExtensionReader returns a reader with the catalogs of a census, and without a client and Secrets.
func (s *clusterState) newExtensionReader(l *loader, t *census, bundles *impactRun, options registryv1.RenderOptions) (*extensionReader, error) {
	r := &extensionReader{clusterState: s, loader: l, census: t, bundles: bundles, options: options, opener: catalogOpener{}, groups: discovery{}, made: map[olm.Key]*unstructured.Unstructured{}}
	for _, o := range t.served {
		var x api.ClusterCatalog
		if err := asTyped(o, &x); err != nil {
			return nil, err
		}
		r.catalogs = append(r.catalogs, x)
	}
	for _, c := range t.contentV1 {
		i := slices.IndexFunc(r.catalogs, func(x api.ClusterCatalog) bool { return x.Name == c.Name })
		if i < 0 {
			i = len(r.catalogs)
			r.catalogs = append(r.catalogs, api.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: map[string]string{labelCatalogName: c.Name}}})
		}
		r.catalogs[i].Spec.Priority = int32(c.Priority)
		if c.Labels != nil {
			r.catalogs[i].Labels = c.Labels
		}
		r.opener[c.Name] = c.Graph
	}
	return r, nil
}

// readSecrets reads the Secrets of revisions.
func (r *extensionReader) readSecrets(ctx context.Context) error {
	var objects []olm.Object
	if r.client != nil {
		var err error
		objects, err = list(ctx, r.client, liveKind{version: "v1", kind: "Secret", resource: "secrets", selector: labelOwner}, "", r.groups)
		if err != nil && !apierrors.IsForbidden(err) {
			return fmt.Errorf("list secrets: %w", liveError(ctx, err))
		}
	} else {
		for _, o := range r.cluster.List() {
			if k := o.Key(); k.Group == "" && k.Kind == "Secret" && o.Metadata.Labels[labelOwner] != "" {
				objects = append(objects, o)
			}
		}
	}
	for _, o := range objects {
		var s corev1.Secret
		if err := asTyped(o, &s); err != nil {
			return err
		}
		r.secrets = append(r.secrets, s)
	}
	return nil
}

// names returns the names of the ClusterExtensions of the cluster.
func (r *extensionReader) names() (out []string) {
	for _, x := range r.census.extensions {
		out = append(out, x.Metadata.Name)
	}
	return out
}
