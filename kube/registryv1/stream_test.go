package registryv1

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/olmkit/olmkit/internal/bundledir"
	"github.com/olmkit/olmkit/internal/yamljson"
)

// TestStream compares the documents of files with those that Kubernetes' decoder returns
// (K2, K3), with the exception of K213.
func TestStream(t *testing.T) {
	texts := map[string][]byte{
		"json":       []byte("\n{\"kind\":\"A\"}\n {\"kind\":\"B\"}{\"kind\":\"C\"}"),
		"json, yaml": []byte("{\"kind\":\"A\"}\n---\nkind: B\n"),
		"flow":       []byte("{kind: A, n: 017}\n---\n{kind: B}\n"),
		"comments":   []byte("# a\n---\n# b\n--- # c\nkind: A\n---\n---\n\n"),
		"separator":  []byte("kind: A\n--- b\nkind: B\n"),
		"json, bad":  []byte("{\"kind\":\"A\"}{\"kind\":\"B\"} x"),
		"crlf":       []byte("kind: A\r\n---\r\nkind: B\r\n"),
		"numbers":    []byte("kind: A\na: 123456789012345678901\nb: 1e3\nc: 0x10\nd: .5\ne: 12345678901234567\nf: 1_000\n"),
		"twice":      []byte("kind: A\nkind: B\n"),
		"alias":      []byte("kind: A\na: &a {b: c}\nd: {<<: *a}\n"),
	}
	files, err := filepath.Glob("testdata/case/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			texts[file+" "+f.Name] = f.Data
		}
	}
	err = filepath.WalkDir(filepath.Join(sharedDir, "bundles"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			texts[name], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for name, text := range texts {
		want, wantErr := peerDocuments(text)
		got, gotErr := ourDocuments(t, text)
		if errors.Is(gotErr, yamljson.ErrMore) {
			continue // Kubernetes ignores the rest of the document (K213)
		}
		if (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: error %v; want %v", name, gotErr, wantErr)
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// peerDocuments returns the values of a file, up to the first error.
func peerDocuments(text []byte) (out []any, err error) {
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var ext runtime.RawExtension
		if err := d.Decode(&ext); err == io.EOF {
			return out, nil
		} else if err != nil {
			return out, err
		}
		if raw := bytes.TrimSpace(ext.Raw); len(raw) > 0 && string(raw) != "null" {
			v, err := number(raw)
			if err != nil {
				return out, err
			}
			out = append(out, v)
		}
	}
}

func ourDocuments(t *testing.T, text []byte) (out []any, err error) {
	for doc, err := range bundledir.Documents(text) {
		if err != nil {
			return out, err
		}
		raw, err := yamljson.JSON(t.Context(), doc.Text, nil)
		if err != nil {
			return out, err
		}
		if string(raw) != "null" {
			v, err := number(raw)
			if err != nil {
				return out, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// number decodes JSON with integers as integers, as manifests are decoded.
func number(raw []byte) (out any, err error) {
	var wrap struct {
		Value map[string]any `json:"value"`
	}
	err = utiljson.Unmarshal(append(append([]byte(`{"value":{"v":`), raw...), "}}"...), &wrap)
	return wrap.Value["v"], err
}
