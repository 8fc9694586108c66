package registryv1

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	yamlv3 "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/yamljson"
)

// A Bundle is the content of a registry+v1 bundle.
type Bundle struct {
	// Package is the name of the package, from metadata/annotations.yaml.
	Package string
	// CSVs are the ClusterServiceVersions. There is at least one, and the last one is
	// used.
	CSVs []Manifest[v1alpha1.ClusterServiceVersion]
	// CRDs are the CustomResourceDefinitions, in the order of the files.
	CRDs []Manifest[apiextensionsv1.CustomResourceDefinition]
	// Others are all other manifests, in the order of the files.
	Others []Manifest[unstructured.Unstructured]
}

// CSV returns the ClusterServiceVersion that is used, the last of b.CSVs. It must not
// be modified.
func (b *Bundle) CSV() *v1alpha1.ClusterServiceVersion { return &b.csv().Object }

func (b *Bundle) csv() *Manifest[v1alpha1.ClusterServiceVersion] { return &b.CSVs[len(b.CSVs)-1] }

// supports reports whether the bundle supports an install mode. A mode that is listed
// twice is supported if one of the entries supports it.
func (b *Bundle) supports(mode v1alpha1.InstallModeType) bool {
	return slices.Contains(b.CSV().Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
}

// A Manifest is an object of a bundle and its place.
type Manifest[T any] struct {
	fbc.Pos
	Object T

	tree   func() *yamlv3.Node // returns the nodes of the manifest's document, or of an item of a list; may be nil
	shared *sharedCRD          // or nil
}

// treeOf returns a function that returns the nodes of a document. The first call of
// that function parses the document.
func treeOf(text []byte) func() *yamlv3.Node {
	return sync.OnceValue(func() *yamlv3.Node {
		root, err := yamljson.Tree(context.Background(), text)
		if err != nil || len(root.Content) == 0 {
			return nil
		}
		return root
	})
}

// treesOf returns the trees of the items of a list at paths of keys and indexes, and the lines at which
// they begin in the file. A tree is nil if there is none, and its line is that of the list.
func treesOf(text []byte, line int, paths [][]any) (trees []func() *yamlv3.Node, lines []int) {
	whole := Manifest[unstructured.Unstructured]{Pos: fbc.Pos{Line: line}, tree: treeOf(text)}
	for _, path := range paths {
		n, at := whole.find(path)
		trees, lines = append(trees, nil), append(lines, at.Line)
		if n != nil {
			trees[len(trees)-1] = func() *yamlv3.Node { return &yamlv3.Node{Kind: yamlv3.DocumentNode, Content: []*yamlv3.Node{n}} }
		}
	}
	return trees, lines
}

// At returns the place of the value at a path of keys and indexes, or of its nearest
// parent in the document. The first call parses the document again, so use At only to
// report findings.
func (m *Manifest[T]) At(path ...any) fbc.Pos {
	_, at := m.find(path)
	return at
}

// find returns the node at a path, or nil, and the place that At returns.
func (m *Manifest[T]) find(path []any) (*yamlv3.Node, fbc.Pos) {
	if m.tree == nil {
		return nil, m.Pos
	}
	root := m.tree()
	if root == nil {
		return nil, m.Pos
	}
	first := m.Line - root.Content[0].Line // the number of lines before the document
	n, line := root.Content[0], root.Content[0].Line
	for _, step := range path {
		if i, ok := step.(int); ok && n.Kind == yamlv3.MappingNode {
			step = strconv.Itoa(i)
		}
		if n.Kind == yamlv3.AliasNode {
			n = n.Alias
		}
		var next, mark *yamlv3.Node
		switch step := step.(type) {
		case string:
			for i := 0; n.Kind == yamlv3.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					mark, next = n.Content[i], n.Content[i+1]
				}
			}
		case int:
			if n.Kind == yamlv3.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
				mark = next
			}
		}
		if next == nil {
			return nil, fbc.Pos{File: m.File, Line: first + line}
		}
		n, line = next, mark.Line
	}
	return n, fbc.Pos{File: m.File, Line: first + line}
}

// deploymentAt is the path of a deployment in a CSV, and deploymentPath that of its name.
func deploymentAt(i int) []any   { return []any{"spec", "install", "spec", "deployments", i} }
func deploymentPath(i int) []any { return append(deploymentAt(i), "name") }
func webhookPath(i int) []any    { return []any{"spec", "webhookdefinitions", i} }

// Key names an object: apiVersion/kind/namespace/name.
func Key(o *unstructured.Unstructured) string {
	return o.GetAPIVersion() + "/" + o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetName()
}

func quoted(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += strconv.Quote(s)
	}
	return out
}
