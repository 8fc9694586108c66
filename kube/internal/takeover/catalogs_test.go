package takeover_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// catalogsOf returns the catalogs of a snapshot that are healthy, with the bundles that were
// installed or are in an install plan. The cluster gets the CatalogSources of the global
// namespace, which snapshots lack.
func catalogsOf(t *testing.T, c *memcluster.Cluster, objects []olm.Object) *reconcile.Catalogs {
	t.Helper()
	out := &reconcile.Catalogs{StandIns: true}
	healthy := map[resolver.CatalogID]bool{}
	for _, o := range objects {
		if o.Kind == olm.KindCatalogSource {
			state := as[olm.CatalogSource](t, o).Status.ConnectionState
			healthy[resolver.CatalogID{Name: o.Metadata.Name, Namespace: o.Metadata.Namespace}] = state != nil && state.LastObservedState == olm.ConnectionReady
		}
	}
	text := map[resolver.CatalogID]*strings.Builder{}
	written := map[[3]string]bool{} // packages in catalogs, to which several subscriptions may refer
	for _, s := range objects {
		if s.Kind != olm.KindSubscription {
			continue
		}
		sub := as[olm.Subscription](t, s)
		id := resolver.CatalogID{Name: sub.Spec.Source, Namespace: sub.Spec.SourceNamespace}
		if id.Namespace == c.GlobalNamespace && text[id] == nil {
			src := &olm.CatalogSource{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindCatalogSource, Metadata: olm.Metadata{Name: id.Name, Namespace: id.Namespace}}}
			src.Status.ConnectionState = &olm.ConnectionState{LastObservedState: olm.ConnectionReady}
			must(t, c.Put(src))
		} else if !healthy[id] {
			continue
		}
		if text[id] == nil {
			text[id] = &strings.Builder{}
		}
		if k := [3]string{id.Namespace, id.Name, sub.Spec.Package}; !written[k] {
			written[k] = true
			writePackage(t, text[id], sub, objects)
		}
	}
	for id, b := range text {
		blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(b.String()+otherPackage), id.Name+".json", nil)
		must(t, err)
		must(t, out.Add(t.Context(), id, blobs))
	}
	return out
}

// otherPackage is in each catalog, which would be empty otherwise.
const otherPackage = `{"schema": "olm.package", "name": "other", "defaultChannel": "stable"}
			{"schema": "olm.channel", "package": "other", "name": "stable", "entries": [{"name": "other.v1.0.0"}]}
			{"schema": "olm.bundle", "package": "other", "name": "other.v1.0.0", "image": "registry.example/other", "properties": [{"type": "olm.package", "value": {"packageName": "other", "version": "1.0.0"}}]}`

// catalogOf returns the text of a catalog with the operators that subscriptions to the catalogs
// of a namespace have.
func catalogOf(t *testing.T, namespace string, objects []olm.Object) []byte {
	t.Helper()
	var b strings.Builder
	for _, o := range objects {
		if o.Kind != olm.KindSubscription {
			continue
		}
		if sub := as[olm.Subscription](t, o); sub.Spec.SourceNamespace == namespace {
			writePackage(t, &b, sub, objects)
		}
	}
	return []byte(b.String() + otherPackage)
}

// writePackage writes the package of a subscription as a file-based catalog.
func writePackage(t *testing.T, b *strings.Builder, sub *olm.Subscription, objects []olm.Object) {
	t.Helper()
	type entry struct {
		Name     string `json:"name"`
		Replaces string `json:"replaces,omitempty"`
	}
	write := func(blob map[string]any) {
		text, err := json.Marshal(blob)
		must(t, err)
		b.Write(append(text, '\n'))
	}
	pkg, seen := sub.Spec.Package, map[string]bool{}
	var entries []entry
	add := func(o olm.Object) {
		csv := as[olm.ClusterServiceVersion](t, o)
		var properties struct {
			Properties []struct {
				Type  string          `json:"type"`
				Value json.RawMessage `json:"value"`
			} `json:"properties"`
		}
		if csv.Metadata.Namespace != sub.Metadata.Namespace || seen[csv.Metadata.Name] || json.Unmarshal([]byte(csv.Metadata.Annotations["operatorframework.io/properties"]), &properties) != nil {
			return
		}
		for _, p := range properties.Properties {
			var v struct{ PackageName string }
			if p.Type == "olm.package" && json.Unmarshal(p.Value, &v) == nil && v.PackageName == pkg {
				seen[csv.Metadata.Name] = true
				entries = append(entries, entry{csv.Metadata.Name, csv.Spec.Replaces})
				write(map[string]any{"schema": "olm.bundle", "package": pkg, "name": csv.Metadata.Name, "image": "registry.example/" + csv.Metadata.Name, "properties": properties.Properties})
			}
		}
	}
	for _, o := range objects {
		switch o.Kind {
		case olm.KindClusterServiceVersion:
			add(o)
		case olm.KindInstallPlan:
			for _, s := range as[olm.InstallPlan](t, o).Status.Plan {
				if step, err := s.Resource.Object(); err == nil && step.Kind == olm.KindClusterServiceVersion {
					step.Metadata.Namespace = o.Metadata.Namespace
					add(step)
				}
			}
		}
	}
	if len(entries) > 0 {
		write(map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": sub.Spec.Channel})
		write(map[string]any{"schema": "olm.channel", "package": pkg, "name": sub.Spec.Channel, "entries": entries})
	}
}
