package repo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// manifests generates a CSV for each bundle of a catalog.
type manifests struct{ graph *graph.Catalog }

func (c manifests) Catalog(context.Context, resolver.CatalogID) (*graph.Catalog, error) {
	return c.graph, nil
}

func (c manifests) Manifests(_ context.Context, _ resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	o, err := olm.ToObject(csv(b.Name(), b.Version().String()))
	return []olm.Object{o}, err
}

// csv returns a CSV that owns an API and has a deployment.
func csv(name, version string) *olm.ClusterServiceVersion {
	c := &olm.ClusterServiceVersion{Header: header(olm.KindClusterServiceVersion, name)}
	c.Spec.Version = version
	pkg, _, _ := strings.Cut(name, ".")
	c.Spec.CRDs.Owned = []olm.CRDDescription{{Name: pkg + "s.gen.example.com", Kind: pkg, Version: "v1"}}
	c.Spec.Install.Spec.Deployments = []olm.StrategyDeploymentSpec{{Name: pkg}}
	return c
}

func header(kind, name string) olm.Header {
	return olm.Header{APIVersion: olm.Group + "/v1alpha1", Kind: kind, Metadata: olm.Metadata{Namespace: "operators", Name: name}}
}

// planned returns a function that plans a namespace with the subscriptions and operators of a problem.
func planned(t testing.TB, p resolver.Problem) func() error {
	s := &reconcile.Snapshot{Namespace: "operators", GlobalNamespace: "olm"}
	group := &olm.OperatorGroup{Header: header(olm.KindOperatorGroup, "group")}
	group.Status.Namespaces = []string{""}
	source := &olm.CatalogSource{Header: header(olm.KindCatalogSource, p.Catalogs[0].Name)}
	source.Metadata.Namespace = p.Catalogs[0].Namespace
	s.OperatorGroups, s.CatalogSources = []*olm.OperatorGroup{group}, []*olm.CatalogSource{source}
	for _, x := range p.Installed {
		c := csv(x.Name, x.Version)
		text, err := json.Marshal(map[string]any{"properties": x.Properties})
		if err != nil {
			t.Fatal(err)
		}
		c.Metadata.SetAnnotation(property.ProjectedAnnotation, string(text))
		c.Status.Phase = olm.PhaseSucceeded
		s.CSVs = append(s.CSVs, c)
	}
	for _, x := range p.Subscriptions {
		sub := &olm.Subscription{Header: header(olm.KindSubscription, x.Package)}
		sub.Spec.Package, sub.Spec.Source, sub.Spec.SourceNamespace = x.Package, p.Catalogs[0].Name, p.Catalogs[0].Namespace
		sub.Status.InstalledCSV, sub.Status.CurrentCSV = x.InstalledCSV, x.InstalledCSV
		s.Subscriptions = append(s.Subscriptions, sub)
	}
	content := manifests{p.Catalogs[0].Graph}
	return func() error {
		plan, err := reconcile.Decide(context.Background(), s, content, nil)
		if err == nil && len(plan.Changes) == 0 {
			err = fmt.Errorf("nothing to do: %v", plan.Notes)
		}
		return err
	}
}
