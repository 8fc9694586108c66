package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A clusterState is a cluster as files describe it: the objects of kubectl get
// -o yaml, and catalogs.
type clusterState struct {
	files       []string
	catalogs    []string
	sample      *bool
	namespace   string
	global      string
	kubeVersion string
}

func (s *clusterState) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&s.files, "filename", "f", nil, "read objects of the cluster from `FILE`, YAML or JSON, or from standard input when it is - (repeatable)")
	f.StringArrayVar(&s.catalogs, "catalog", nil, "the content of a catalog, as `[NAME=]PATH[,priority=N][,namespace=NS]` (repeatable)")
	completeCatalogFlag(cmd)
	s.sample = addSample(cmd)
	f.StringVarP(&s.namespace, "namespace", "n", "", "the `NAMESPACE` to look at (default: the one with subscriptions)")
	completeFlag(cmd, "namespace", cobra.NoFileCompletions)
	f.StringVar(&s.global, "global-namespace", globalNamespace, "the `NAMESPACE` of the catalogs that every namespace sees")
	f.StringVar(&s.kubeVersion, "kube-version", "", "the `VERSION` of the cluster, for minKubeVersion and image templates")
}

// load returns the cluster in memory with the content of its catalogs. A
// catalog that no object describes gets a CatalogSource, and a namespace that
// none describes exists if something is in it.
func (s *clusterState) load(ctx context.Context, l *loader, paths []string) (*memcluster.Cluster, *reconcile.Catalogs, error) {
	list, err := sources(paths, s.catalogs, *s.sample)
	if err != nil {
		return nil, nil, err
	}
	if len(s.files) == 0 {
		return nil, nil, usagef("no cluster; name a file with its objects with --filename")
	}
	c := &memcluster.Cluster{GlobalNamespace: s.global, KubeVersion: s.kubeVersion, Controllers: true}
	for _, name := range s.files {
		if err := l.objects(name, func(o olm.Object) error { return c.Put(&o) }); err != nil {
			return nil, nil, err
		}
	}
	catalogs := &reconcile.Catalogs{StandIns: true}
	for _, src := range list {
		blobs, err := l.wholeBlobs(ctx, src.path)
		if err == nil {
			err = catalogs.Add(ctx, resolver.CatalogID{Name: src.name, Namespace: src.namespace}, blobs)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			return nil, nil, &catalogError{src.path, err}
		}
		if err := describe(c, src); err != nil {
			return nil, nil, err
		}
	}
	if err := addNamespaces(c); err != nil {
		return nil, nil, err
	}
	if c.InstancesRead, err = described(c); err != nil {
		return nil, nil, err
	}
	s.namespace, err = theNamespace(c, s.namespace)
	return c, catalogs, err
}

// wholeBlobs loads the blobs of a catalog with what installing needs: where the
// text cannot be read again, all of it is kept.
func (l *loader) wholeBlobs(ctx context.Context, path string) (*fbc.Catalog, error) {
	keep := fbc.KeepResolution
	if path != samplePath {
		if info, err := os.Stat(path); path == stdinPath || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			keep = fbc.KeepAll
		}
	}
	return l.keep(ctx, path, keep)
}

// describe adds the CatalogSource of a catalog that has none.
func describe(c *memcluster.Cluster, src source) error {
	obj := &olm.CatalogSource{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindCatalogSource, Metadata: olm.Metadata{Name: src.name, Namespace: src.namespace}}}
	if _, err := c.Get(obj.Key()); err == nil {
		return nil
	}
	obj.Spec.SourceType, obj.Spec.Priority = "grpc", src.priority
	obj.Status.ConnectionState = &olm.ConnectionState{LastObservedState: olm.ConnectionReady}
	return c.Put(obj)
}

// described returns the CRDs of which the files have custom resources. Whoever
// wrote the files out of a cluster left out those of the others, more likely
// than that there are none.
func described(c *memcluster.Cluster) ([]string, error) {
	list := c.List()
	kinds := map[[2]string]bool{}
	for _, o := range list {
		kinds[[2]string{o.Key().Group, o.Kind}] = true
	}
	names := []string{}
	for _, o := range list {
		if o.Kind != olm.KindCRD {
			continue
		}
		crd, err := olm.As[olm.CustomResourceDefinition](o)
		if err != nil {
			return nil, err
		}
		if kinds[[2]string{crd.Spec.Group, crd.Spec.Names.Kind}] {
			names = append(names, crd.Metadata.Name)
		}
	}
	return names, nil
}

func addNamespaces(c *memcluster.Cluster) error {
	names := map[string]bool{}
	for _, o := range c.List() {
		if ns := o.Metadata.Namespace; ns != "" {
			names[ns] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ns := &olm.Namespace{Header: olm.Header{APIVersion: "v1", Kind: "Namespace", Metadata: olm.Metadata{Name: name}}}
		if _, err := c.Get(ns.Key()); err == nil {
			continue
		}
		if err := c.Put(ns); err != nil {
			return err
		}
	}
	return nil
}

// theNamespace returns the namespace that is meant: the one that is named, or
// the only one with something to do in it.
func theNamespace(c *memcluster.Cluster, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	for _, kind := range []string{olm.KindSubscription, olm.KindOperatorGroup} {
		found := map[string]bool{}
		for _, o := range c.List() {
			if o.Kind == kind {
				found[o.Metadata.Namespace] = true
			}
		}
		switch names := slices.Sorted(maps.Keys(found)); len(names) {
		case 0:
		case 1:
			return names[0], nil
		default:
			return "", usagef("namespaces %s have %ss; say which one with --namespace", strings.Join(names, ", "), kind)
		}
	}
	return "", usagef("no subscription and no operator group in the cluster; say which namespace is meant with --namespace")
}

// objects passes the objects of a file to put: the documents of a YAML or JSON
// stream, and the items of lists.
func (l *loader) objects(name string, put func(olm.Object) error) error {
	in, err := l.input(name)
	if err != nil {
		return err
	}
	defer in.Close()
	d := yamlv3.NewDecoder(in)
	for n := 1; ; n++ {
		var node yamlv3.Node
		err := d.Decode(&node)
		if err == io.EOF {
			if n == 1 {
				return nothingIn(name, "objects of a cluster")
			}
			return nil
		}
		if err == nil {
			err = objectsOf(&node, put)
		}
		if err != nil {
			return fmt.Errorf("%s: document %d: %w", display(name), n, err)
		}
	}
}

// objectsOf passes on the objects of one document.
func objectsOf(node *yamlv3.Node, put func(olm.Object) error) error {
	text, err := yamlv3.Marshal(node)
	if err != nil {
		return err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return err
	}
	if string(text) == "null" {
		return nil
	}
	var o olm.Object
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	items, isList := o.Get("items")
	if !isList || !strings.HasSuffix(o.Kind, "List") {
		return putOne(o, put)
	}
	var list []olm.Object
	if err := json.Unmarshal(items, &list); err != nil {
		return fmt.Errorf("/items: %w", err)
	}
	for i, item := range list {
		if err := putOne(item, put); err != nil {
			return fmt.Errorf("/items/%d: %w", i, err)
		}
	}
	return nil
}

func putOne(o olm.Object, put func(olm.Object) error) error {
	switch {
	case o.Kind == "":
		return errors.New("an object without a kind")
	case o.APIVersion == "":
		return fmt.Errorf("%s %q has no apiVersion", o.Kind, o.Metadata.Name)
	case o.Metadata.Name == "":
		return fmt.Errorf("%s without /metadata/name", o.Kind)
	}
	return put(o)
}

// refusal returns why a plan resolved nothing, or nothing.
func refusal(p *reconcile.Plan) string {
	if p == nil || p.Refused == nil {
		return ""
	}
	return cmp.Or(p.Refused.Error(), "refused")
}
