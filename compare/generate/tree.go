package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// Tree describes the form of a copy of a catalog.
type Tree struct {
	// YAML writes YAML in opm's style. Otherwise the copy is JSON with one blob per line.
	YAML bool
	// Copies is the number of copies of each package, each under another name and with separate APIs.
	Copies int
	// Light leaves out the largest properties.
	Light bool
}

// Files returns the files of the copy, one for each package.
func (t Tree) Files(ctx context.Context, from fs.FS) (fstest.MapFS, error) {
	cat, err := fbc.Load(ctx, from, &fbc.LoadOptions{KeepAll: !t.Light})
	if err != nil {
		return nil, err
	}
	out := fstest.MapFS{}
	ext := "json"
	if t.YAML {
		ext = "yaml"
	}
	for blob := range cat.Blobs() {
		text, err := cat.Raw(ctx, blob)
		if err != nil {
			return nil, err
		}
		for k := range max(t.Copies, 1) {
			var v map[string]any
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				return nil, err
			}
			if t.Light {
				lighten(v)
			}
			if k > 0 {
				rename(v, fmt.Sprintf("-c%d", k))
			}
			one, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			pkg, ok := v["package"].(string)
			if !ok {
				pkg, _ = v["name"].(string)
			}
			name := pkg + "/catalog." + ext
			f := out[name]
			if f == nil {
				f = &fstest.MapFile{}
				out[name] = f
			}
			if t.YAML {
				y, err := yaml.JSONToYAML(one)
				if err != nil {
					return nil, err
				}
				f.Data = append(append(f.Data, "---\n"...), y...)
			} else {
				f.Data = append(append(f.Data, one...), '\n')
			}
		}
	}
	return out, nil
}

// Write writes files below a directory.
func Write(files fstest.MapFS, dir string) error {
	for name, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func lighten(v map[string]any) {
	list, _ := v["properties"].([]any)
	kept := list[:0]
	for _, p := range list {
		if m, ok := p.(map[string]any); ok {
			if typ, _ := m["type"].(string); property.IsHeavy(typ) {
				continue
			}
		}
		kept = append(kept, p)
	}
	if list != nil {
		v["properties"] = kept
	}
	delete(v, "icon")
	delete(v, "description")
	delete(v, "relatedImages")
}

// rename renames the package, the bundles and the APIs of a blob.
func rename(v map[string]any, suffix string) {
	add := func(m map[string]any, keys ...string) {
		for _, k := range keys {
			if s, ok := m[k].(string); ok && s != "" {
				m[k] = s + suffix
			}
		}
	}
	add(v, "package")
	switch v["schema"] {
	case fbc.SchemaPackage, fbc.SchemaBundle:
		add(v, "name")
	case fbc.SchemaChannel:
		entries, _ := v["entries"].([]any)
		for _, e := range entries {
			e, _ := e.(map[string]any)
			add(e, "name", "replaces")
			skips, _ := e["skips"].([]any)
			for i, s := range skips {
				skips[i] = fmt.Sprint(s, suffix)
			}
		}
	case fbc.SchemaDeprecations:
		entries, _ := v["entries"].([]any)
		for _, e := range entries {
			e, _ := e.(map[string]any)
			r, _ := e["reference"].(map[string]any)
			if r["schema"] == fbc.SchemaBundle {
				add(r, "name")
			}
		}
	}
	props, _ := v["properties"].([]any)
	for _, p := range props {
		p, _ := p.(map[string]any)
		value, _ := p["value"].(map[string]any)
		switch p["type"] {
		case property.TypePackage, property.TypePackageRequired:
			add(value, "packageName")
		case property.TypeGVK, property.TypeGVKRequired:
			add(value, "group")
		}
	}
}
