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
	"github.com/olmkit/olmkit/reconcile/memcluster"
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

// neighbors begins the names of workloads that plan one namespace among others.
const neighbors = "namespaces "

// among returns a function that reads and plans a namespace of a cluster in memory that has n other namespaces with
// an operator, its permissions and an Operator each. It does so several times, as a simulation does.
func among(t testing.TB, n int) func() error {
	c := &memcluster.Cluster{GlobalNamespace: "olm"}
	put := func(list ...olm.Resource) {
		if err := c.Put(list...); err != nil {
			t.Fatal(err)
		}
	}
	in := func(apiVersion, kind, namespace, name string) olm.Header {
		return olm.Header{APIVersion: apiVersion, Kind: kind, Metadata: olm.Metadata{Namespace: namespace, Name: name}}
	}
	put(&olm.OperatorGroup{Header: in(olm.V1, olm.KindOperatorGroup, "operators", "group")}, csv("own.v1", "1.0.0"))
	for i := range n {
		ns := fmt.Sprint("other-", i)
		other := csv("other.v1", "1.0.0")
		other.Metadata.Namespace = ns
		group := &olm.OperatorGroup{Header: in(olm.V1, olm.KindOperatorGroup, ns, "group")}
		group.Spec.TargetNamespaces, group.Status.Namespaces = []string{ns}, []string{ns}
		put(other, group, &olm.RoleBinding{
			Header:  in(olm.RBACV1, "RoleBinding", ns, "other"),
			RoleRef: olm.RoleRef{Kind: "Role", Name: "other"}, Subjects: []olm.Subject{{Kind: "ServiceAccount", Name: "other", Namespace: ns}},
		}, &olm.Operator{Header: in(olm.V1, olm.KindOperator, "", "other."+ns)})
	}
	return func() error {
		for range 20 {
			s, err := c.Read(context.Background(), "operators")
			if err != nil {
				return err
			}
			if _, err := reconcile.Decide(context.Background(), s, nil, nil); err != nil {
				return err
			}
		}
		return nil
	}
}
