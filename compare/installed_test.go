package compare_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
)

// TestInstalled checks that package reconcile derives the same data from the CSVs of installed
// operators as the running OLM (H22).
func TestInstalled(t *testing.T) {
	text, err := os.ReadFile("../reconcile/testdata/installed.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		t.Run(f[0], func(t *testing.T) {
			csv := &olm.ClusterServiceVersion{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindClusterServiceVersion, Metadata: olm.Metadata{Name: "x", Namespace: "ops"}}}
			csv.Spec.Version = f[1]
			csv.Spec.CRDs.Owned = []olm.CRDDescription{{Name: "as.x.io", Version: "v1", Kind: "A"}}
			csv.Spec.CRDs.Required = []olm.CRDDescription{{Name: "bs.x.io", Version: "v1", Kind: "B"}}
			if f[2] != "" {
				csv.Metadata.SetAnnotation(property.ProjectedAnnotation, f[2])
			}
			if f[3] != "" {
				csv.Metadata.SetAnnotation(property.Annotation, f[3])
			}
			og := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{Name: "og", Namespace: "ops"}}}
			s := &reconcile.Snapshot{Namespace: "ops", GlobalNamespace: "olm", CSVs: []*olm.ClusterServiceVersion{csv}, OperatorGroups: []*olm.OperatorGroup{og}}
			for i, pkg := range strings.Fields(f[4]) {
				sub := &olm.Subscription{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{Name: fmt.Sprint("s", i), Namespace: "ops"}}}
				sub.Spec.Package, sub.Status.InstalledCSV = pkg, "x"
				s.Subscriptions = append(s.Subscriptions, sub)
			}
			n, err := peer.NewNamespace(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := n.Installed()
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			var packages, versions, types []string
			for _, name := range []string{"a", "b", "x"} {
				if cache.PkgPredicate(name).Test(entries[0]) {
					packages = append(packages, name)
				}
			}
			for _, v := range []string{"0.0.0", "1.0.0", "2.0.0", "3.0.0"} {
				if cache.VersionInRangePredicate(semver.MustParseRange(v), v).Test(entries[0]) {
					versions = append(versions, v)
				}
			}
			for _, p := range entries[0].Properties {
				types = append(types, p.Type)
			}
			got := strings.Join([]string{strings.Join(packages, " "), strings.Join(versions, " "), strings.Join(types, " ")}, "\t")
			if want := strings.Join(f[5:], "\t"); got != want {
				t.Errorf("packages, versions, properties:\n got %q\nwant %q", got, want)
			}
		})
	}
	if rows == 0 {
		t.Error("the table has no rows")
	}
}
