package registryv1

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/property"
)

// BenchmarkHeads reads and renders unpacked bundles: all heads of channels in a real catalog that has
// manifests.
func BenchmarkHeads(b *testing.B) {
	var dirs []string
	size := 0
	cat, err := fbc.Load(b.Context(), realcat.FS(b, "openshift-v4.16"), &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		b.Fatal(err)
	}
	g, err := graph.Build(b.Context(), cat, nil)
	if err != nil {
		b.Fatal(err)
	}
	heads := map[[2]string]bool{}
	for p := range g.Packages() {
		for ch := range p.Channels() {
			if head, ok := ch.Head(); ok {
				heads[[2]string{p.Name(), head.Name()}] = true
			}
		}
	}
	for _, blob := range cat.Bundles {
		if !heads[[2]string{blob.Package, blob.Name}] {
			continue
		}
		dir := filepath.Join(b.TempDir(), blob.Name)
		write := func(name string, text []byte) {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
				b.Fatal(err)
			}
			size += len(text)
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
				b.Fatal(err)
			}
		}
		n := 0
		for _, p := range blob.Properties {
			var value struct{ Data []byte }
			if p.Type != property.TypeBundleObject || json.Unmarshal(p.Value, &value) != nil {
				continue
			}
			text, err := yaml.JSONToYAML(value.Data)
			if err != nil {
				b.Fatal(err)
			}
			write(fmt.Sprintf("manifests/%02d.yaml", n), text)
			n++
		}
		if n > 0 {
			write(annotationsFile, fmt.Appendf(nil, "annotations: {%s: %s}\n", packageAnnotation, blob.Package))
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		b.Fatal("no head has manifests")
	}
	rendered := 0
	for b.Loop() {
		rendered = 0
		for _, dir := range dirs {
			bundle, err := Read(b.Context(), os.DirFS(dir), nil)
			if err != nil {
				b.Fatal(err)
			}
			if m, _, err := bundle.renderSomehow(b.Context(), CertManager); err != nil {
				b.Fatal(err)
			} else if m != nil {
				rendered++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*len(dirs)), "ms/bundle")
	b.ReportMetric(float64(len(dirs)), "bundles")
	b.ReportMetric(float64(size)/float64(1000*len(dirs)), "kB/bundle")
	b.ReportMetric(float64(rendered), "rendered")
}
