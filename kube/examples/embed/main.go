// Embed is an operator that explains failed subscriptions. It shows how to use
// the resolver in a controller: the catalogs are indexed once and shared, and
// each namespace is resolved from memory in microseconds.
//
//	go run ./examples/embed -catalog operatorhubio-catalog/olm=/path/to/catalog
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/resolver"
)

func main() {
	indexes := map[resolver.CatalogID]*graph.Catalog{}
	flag.Func("catalog", "the content of a CatalogSource, as NAME/NAMESPACE=DIR (repeatable)", func(text string) error {
		return load(context.Background(), indexes, text)
	})
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), indexes); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, indexes map[resolver.CatalogID]*graph.Catalog) error {
	scheme := runtime.NewScheme()
	if err := kube.AddToScheme(scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	explainer := &Explainer{Client: mgr.GetClient(), Events: mgr.GetEventRecorder("explainer"), Index: lookUp(indexes)}
	if err := explainer.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// load adds the index of one catalog.
func load(ctx context.Context, indexes map[resolver.CatalogID]*graph.Catalog, text string) error {
	id, dir, _ := strings.Cut(text, "=")
	name, namespace, ok := strings.Cut(id, "/")
	if !ok || dir == "" {
		return fmt.Errorf("invalid catalog %q: want NAME/NAMESPACE=DIR", text)
	}
	index, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	indexes[resolver.CatalogID{Name: name, Namespace: namespace}] = index
	return nil
}

// lookUp returns an Index function for an Explainer. The map must not change.
func lookUp(indexes map[resolver.CatalogID]*graph.Catalog) func(context.Context, resolver.CatalogID) (*graph.Catalog, error) {
	return func(_ context.Context, id resolver.CatalogID) (*graph.Catalog, error) {
		index, ok := indexes[id]
		if !ok {
			return nil, fmt.Errorf("no content given for catalog %s", id)
		}
		return index, nil
	}
}
