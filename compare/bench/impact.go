package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// impactCopies is the number of copies of a catalog of 210 upgrades that have about as many upgrades as the
// catalog of all community operators.
const impactCopies = 24

// impacts judges upgrades of bundles in directories: all of a large catalog, and one in a process.
func (r *run) impacts(ctx context.Context) error {
	dir, err := r.catalog("openshift-v4.16")
	if err != nil {
		return r.absent("impact", err)
	}
	olmkit, err := r.build(ctx, "../cmd/olmkit")
	if err != nil {
		return err
	}
	from, err := declcfg.LoadFS(ctx, os.DirFS(dir))
	if err != nil {
		return err
	}
	tree := &unpacked{catalog: filepath.Join(r.tmp, "impact"), bundles: filepath.Join(r.tmp, "impact-bundles"), dirs: map[string]string{}}
	defer os.RemoveAll(tree.bundles)
	if err := os.Mkdir(tree.catalog, 0o777); err != nil {
		return err
	}
	for n := range impactCopies {
		if err := tree.add(from, n); err != nil {
			return err
		}
	}

	var out bytes.Buffer
	all := olmkit.with("impact", tree.catalog, "--bundles", tree.bundles, "--no-cache", "-o", "json")
	all.stdout = &out
	watch, err := r.build(ctx, "child/watch")
	if err != nil {
		return err
	}
	var peak float64
	ms, cpu, err := measure(func() (err error) { peak, err = all.peakBy(ctx, watch); return err })
	if err != nil {
		return err
	}
	var report struct {
		Packages []struct {
			Unavailable int
			Edges       []struct{ From, To string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return err
	}
	upgrades := 0
	var some [][]string // directories of the first copy
	for _, p := range report.Packages {
		if p.Unavailable > 0 {
			return fmt.Errorf("%d upgrades were not compared", p.Unavailable)
		}
		for _, e := range p.Edges {
			if upgrades++; upgrades%97 == 0 { // of various packages
				some = append(some, []string{tree.dirs[e.From], tree.dirs[e.To]})
			}
		}
	}
	r.add(Row{
		Group: "impact", Case: fmt.Sprintf("%d upgrades: %d copies of openshift-v4.16 with different CRDs", upgrades, impactCopies), Unit: "ms", Ours: ms,
		Note: fmt.Sprintf("%.0f s of CPU time, %.0f MiB resident", cpu/1e3, peak),
	})
	for _, system := range []string{"v1", "classic"} {
		var elapsed, used []float64
		for _, args := range some {
			ms, cpu, err := measure(olmkit.with(append([]string{"impact", "--olm", system}, args...)...).job(ctx))
			if err != nil {
				return err
			}
			elapsed, used = append(elapsed, ms), append(used, cpu)
		}
		slices.Sort(elapsed)
		slices.Sort(used)
		r.add(Row{
			Group: "impact", Case: fmt.Sprintf("one upgrade with --olm %s, %d processes", system, len(some)), Unit: "ms", Ours: elapsed[len(elapsed)/2],
			Note: fmt.Sprintf("median %.0f ms of CPU time, most %.0f ms, with the start and reading", used[len(used)/2], used[len(used)-1]),
		})
	}
	return nil
}

// An unpacked is a catalog without manifests, and the directories of its bundles.
type unpacked struct {
	catalog, bundles string
	dirs             map[string]string // of the first copy, by name of bundle
}

// add adds copy n of the packages of a catalog whose bundles have manifests. The CRDs of each copy differ, so
// that no comparison serves two of them.
func (u *unpacked) add(from *declcfg.DeclarativeConfig, n int) error {
	has := map[string]bool{} // packages with manifests
	for _, b := range from.Bundles {
		has[b.Package] = has[b.Package] || len(b.Objects) > 0
	}
	rename := func(name string) string { return fmt.Sprintf("%s-%d", name, n) }
	var to declcfg.DeclarativeConfig
	for _, p := range from.Packages {
		if has[p.Name] {
			p.Name = rename(p.Name)
			to.Packages = append(to.Packages, p)
		}
	}
	for _, c := range from.Channels {
		if has[c.Package] {
			c.Package = rename(c.Package)
			to.Channels = append(to.Channels, c)
		}
	}
	for _, b := range from.Bundles {
		if !has[b.Package] {
			continue
		}
		properties, err := property.Parse(b.Properties)
		if err != nil {
			return err
		}
		version, objects := properties.Packages[0].Version, b.Objects
		b.Package = rename(b.Package)
		b.Properties = []property.Property{property.MustBuildPackage(b.Package, version)}
		b.Objects, b.CsvJSON = nil, ""
		to.Bundles = append(to.Bundles, b)
		if err := u.unpack(b, version, objects, n); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
	}
	file, err := os.Create(filepath.Join(u.catalog, fmt.Sprintf("%d.json", n)))
	if err != nil {
		return err
	}
	return errors.Join(declcfg.WriteJSON(to, file), file.Close())
}

// unpack writes the directory of a bundle.
func (u *unpacked) unpack(b declcfg.Bundle, version string, objects []string, n int) error {
	dir := filepath.Join(u.bundles, b.Package, version)
	if n == 0 {
		u.dirs[b.Name] = dir
	}
	files := map[string]any{"metadata/annotations.yaml": map[string]any{"annotations": map[string]string{
		"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
		"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
		"operators.operatorframework.io.bundle.package.v1":   b.Package,
	}}}
	for i, text := range objects {
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON([]byte(text)); err != nil {
			return err
		}
		if o.GetKind() == "CustomResourceDefinition" {
			versions, _, err := unstructured.NestedSlice(o.Object, "spec", "versions")
			if err != nil {
				return err
			}
			for _, v := range versions {
				if err := unstructured.SetNestedField(v.(map[string]any), fmt.Sprintf("copy %d", n), "schema", "openAPIV3Schema", "description"); err != nil {
					return err
				}
			}
			if err := unstructured.SetNestedSlice(o.Object, versions, "spec", "versions"); err != nil {
				return err
			}
		}
		files[fmt.Sprintf("manifests/%d.yaml", i)] = o.Object
	}
	for name, value := range files {
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, text, 0o666)); err != nil {
			return err
		}
	}
	return nil
}
