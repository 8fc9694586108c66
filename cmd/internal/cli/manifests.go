package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/bundlelint"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/property"
)

func newManifests(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifests BUNDLE|CATALOG+PACKAGE[@VERSION] --namespace NAMESPACE",
		Short: "Print what OLM v1 would apply for a bundle",
		Long: `Manifests prints the objects that OLM v1 would apply for a bundle, in the order in
which it applies them. You can read or compare them, or apply them without OLM.

  BUNDLE                     a bundle directory, with manifests/ and metadata/, or a
                             bundle image
  CATALOG+PACKAGE            the head of the default channel of a package
  CATALOG+PACKAGE@VERSION    one of its versions. The catalog must have the
                             manifests (olm.bundle.object); otherwise name the
                             image of the bundle

By default the result is what a cluster accepts. If it differs from what OLM v1
renders, a note on standard error explains the difference. --as-upstream prints
exactly what OLM v1 renders, with its known bugs.

-o kustomize writes a kustomization and a file for each phase to --dir.

With --problem, manifests reads requests instead, one JSON document each, and prints
one line for each: {"id","ok","objects","phases"}, or
{"id","ok":false,"error":{"stage","codes","message"}}. A request has the members
id, bundle (or path), installNamespace, config, and certProvider. The bundle is a
directory relative to --root or, if it is not there, to the directory bundles/ in
--root.

Exit codes: 0 the objects were printed; 1 OLM v1 does not install the bundle with this
configuration, for example because a manifest is invalid or too large; 2 there is no
such bundle, or another file could not be read. With --problem, a refusal is an answer
like any other: 0 if every request was answered.`,
		Example: `  olmkit manifests ./etcd/0.9.4 --namespace operators
  olmkit manifests ./etcd/0.9.4 -n operators --watch-namespace apps --config config.yaml
  olmkit manifests ./etcd/0.9.4 --config-schema
  olmkit manifests --problem requests.jsonl --root ./bundles --as-upstream -o json`,
	}
	m := &manifests{env: e, provider: registryv1.CertManager.String(), format: string(formatYAML)}
	fl := cmd.Flags()
	addChoice(cmd, &m.format, "output", "o", "how to print: yaml, json (a List), or kustomize to write a directory", string(formatYAML), string(formatJSON), kustomize)
	fl.StringVarP(&m.opts.Namespace, "namespace", "n", "", "the `NAMESPACE` to install into")
	fl.StringVar(&m.watch, "watch-namespace", "", "the `NAMESPACE` that the operator watches (default: from the configuration)")
	fl.StringVar(&m.config, "config", "", "read the configuration, spec.config.inline of a ClusterExtension, from `FILE`; - is standard input")
	addChoice(cmd, &m.provider, "cert-provider", "", "what provides certificates for webhooks", "cert-manager", "service-ca", "none")
	fl.BoolVar(&m.opts.AddNamespaces, "create-namespace", false, "add the namespaces to the objects, with the labels and annotations that the bundle suggests")
	fl.BoolVar(&m.opts.AsUpstream, "as-upstream", false, "print exactly what OLM v1 renders, with its known bugs")
	fl.BoolVar(&m.schema, "config-schema", false, "print the JSON schema of the bundle's configuration instead; with --namespace, for that install namespace")
	fl.StringVar(&m.dir, "dir", "", "the `DIR` that -o kustomize writes to")
	in := addProblem(cmd, "requests", true)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := in.check(cmd, args, "as-upstream"); err != nil {
			return err
		}
		m.opts.Certificates, _ = registryv1.ParseCertProvider(m.provider)
		if in.file != "" {
			if m.format != string(formatJSON) {
				return usagef("--problem is answered in JSON; add -o json")
			}
			return m.stream(cmd.Context(), in)
		}
		if len(args) != 1 {
			return usagef("name one bundle directory or image, or CATALOG+PACKAGE")
		}
		if (m.format == kustomize) != (m.dir != "") {
			return usagef("-o kustomize and --dir go together; give both or neither")
		}
		return m.run(cmd.Context(), args[0])
	}
	return cmd
}

// kustomize is the format of a kustomization in a directory.
const kustomize = "kustomize"

// manifests is one run of the command.
type manifests struct {
	*env
	opts                                 registryv1.RenderOptions
	format, watch, config, provider, dir string
	schema                               bool
	shared                               *registryv1.Cache // for commands that read many bundles, or nil
}

func (m *manifests) run(ctx context.Context, arg string) error {
	b, dir, err := m.bundle(ctx, arg)
	if err != nil {
		return m.refused(dir, err, errNegative)
	}
	if m.schema {
		_, err := machine(m.stdout).Write(b.ConfigSchema(m.opts.Namespace))
		return err
	}
	if m.opts.Namespace == "" {
		return usagef("no namespace; name it with --namespace")
	}
	if m.opts.Config, err = m.configuration(ctx); err != nil {
		return err
	}
	out, err := b.Render(ctx, m.opts)
	if err != nil {
		return m.refused(dir, err, errNegative)
	}
	m.differences(out.Differences)
	if err := bundlelint.LongName(b.CSV().Name); err != nil {
		visible.Fprintf(m.stderr, "note: %v; OLM v1 shortens the names of roles instead\n", err)
	}
	return m.print(out)
}

// differences prints how objects differ from those of OLM v1, a line for those that differ alike.
func (m *manifests) differences(list []registryv1.Difference) {
	type kind struct{ rule, message string }
	objects := map[kind][]string{}
	for _, d := range list {
		k := kind{d.Rule, d.Message}
		objects[k] = append(objects[k], d.Object)
	}
	for _, d := range list {
		k := kind{d.Rule, d.Message}
		switch same := objects[k]; {
		case same == nil: // printed
		case len(same) == 1:
			visible.Fprintf(m.stderr, "note: %s %s (%s)\n", d.Object, d.Message, d.Rule)
		default:
			visible.Fprintf(m.stderr, "note: %s %s (%s); likewise: %s\n", d.Object, d.Message, d.Rule, strings.Join(same[1:], ", "))
		}
		delete(objects, k)
	}
}

// refused prints the problems of a bundle and returns failure if it has any, and err otherwise.
func (m *manifests) refused(dir string, err, failure error) error {
	var e *registryv1.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, p := range e.Problems {
		if p.Pos.IsValid() {
			p.Pos.File = path.Join(filepath.ToSlash(dir), p.Pos.File)
		}
		visible.Fprintf(m.stderr, "error: %s (%s)\n", p.String(), p.Code)
	}
	if slices.ContainsFunc(e.Problems, func(p registryv1.Problem) bool { return p.Code == "missing" && p.Subject == "watchNamespace" }) {
		visible.Fprintf(m.stderr, "note: set watchNamespace with --watch-namespace, or in the file of --config\n")
	}
	if registryv1.ClassicAccepts(e.Problems) {
		visible.Fprintf(m.stderr, "note: only OLM v1 refuses the bundle; classic OLM accepts it\n")
	}
	if slices.ContainsFunc(e.Problems, func(p registryv1.Problem) bool { return p.Code == "limit" }) {
		visible.Fprintf(m.stderr, "note: --limit NAME=NUMBER raises a limit; \"olmkit help limits\" lists all\n")
	}
	return failure
}

// bundle reads the bundle that an argument names. It also returns the name of the bundle's
// directory for messages.
func (m *manifests) bundle(ctx context.Context, arg string) (*registryv1.Bundle, string, error) {
	dir := arg
	var files fs.FS
	if ref, ok := referenceOf(arg); ok && !isServer(ref.text) {
		var err error
		if files, _, err = newLoader(m.env).bundleFiles(ctx, arg); err != nil {
			return nil, "", err
		}
		dir = ref.dir()
	} else if isDir(arg) {
		root, err := disk.OpenRoot(arg)
		if err != nil {
			return nil, "", err
		}
		defer root.Close()
		files = root.FS()
	}
	if files == nil {
		if catalog, name := splitPackage(arg); name != "" {
			b, err := m.inCatalog(ctx, catalog, name)
			return b, arg, err
		}
		return nil, "", fmt.Errorf("%s is not a bundle directory or image; name one, or CATALOG+PACKAGE", display(arg))
	}
	b, err := registryv1.Read(ctx, files, m.readOptions())
	if _, err2 := fs.Stat(files, "metadata/dependencies.yaml"); err == nil && err2 == nil {
		visible.Fprintf(m.stderr, "note: metadata/dependencies.yaml is not used here; OLM v1 installs no dependencies, and refuses a bundle with any in a catalog\n")
	}
	return b, dir, err
}

func (m *manifests) readOptions() *registryv1.ReadOptions {
	return &registryv1.ReadOptions{Limits: m.limits.forBundles(), Cache: m.shared}
}

// inCatalog returns a bundle whose manifests are in a catalog.
func (m *manifests) inCatalog(ctx context.Context, catalog, text string) (*registryv1.Bundle, error) {
	blobs, err := newLoader(m.env).keep(ctx, catalog)
	if err != nil {
		return nil, notLoaded(ctx, catalog, err)
	}
	g, err := graph.Build(ctx, blobs, m.limits.graph())
	if err != nil {
		return nil, notLoaded(ctx, catalog, err)
	}
	found, err := chosen(g, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", display(text), err)
	}
	for _, b := range blobs.Bundles {
		if b.Name == found.Name() && b.Package == found.Package().Name() {
			return m.fromBlob(ctx, b)
		}
	}
	return nil, fmt.Errorf("%s: the catalog has no bundle %s", display(text), found.Name())
}

// chosen returns the bundle that PACKAGE or PACKAGE@VERSION names.
func chosen(g *graph.Catalog, text string) (graph.Bundle, error) {
	if p, ok := g.Package(text); ok {
		if ch, ok := p.DefaultChannel(); ok {
			if head, ok := ch.Head(); ok {
				if b, ok := p.Bundle(head.Name()); ok {
					return b, nil
				}
			}
		}
		return graph.Bundle{}, errors.New("the package has no default channel with a head; write PACKAGE@VERSION")
	}
	o, err := findOperand(text, []*graph.Catalog{g}, "")
	if h := hint(text, namesOf([]*graph.Catalog{g})); err != nil && h != "" {
		return graph.Bundle{}, errors.New("the catalog has no package of this name" + h)
	}
	if err == nil && o.bundle == (graph.Bundle{}) {
		err = errors.New("the catalog has no such bundle")
	}
	return o.bundle, err
}

// fromBlob reads the manifests in the properties of a bundle.
func (m *manifests) fromBlob(ctx context.Context, b *fbc.Bundle) (*registryv1.Bundle, error) {
	found, err := m.fromProperties(ctx, b.Package, b.Properties)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Pos, err)
	}
	if found == nil {
		return nil, fmt.Errorf("the catalog does not have the manifests of bundle %s, which are in its image; name the image %s, or its directory if it is unpacked", b.Name, b.Image)
	}
	return found, nil
}

// fromProperties reads the manifests in properties. It returns nil if there are none.
func (m *manifests) fromProperties(ctx context.Context, pkg string, properties []property.Property) (*registryv1.Bundle, error) {
	var objects [][]byte
	for _, p := range properties {
		if p.Type != property.TypeBundleObject {
			continue
		}
		var value struct {
			Data []byte `json:"data"`
		}
		if err := json.Unmarshal(p.Value, &value); err != nil {
			return nil, fmt.Errorf("property olm.bundle.object: %w", err)
		}
		objects = append(objects, value.Data)
	}
	if len(objects) == 0 {
		return nil, nil
	}
	return registryv1.FromObjects(ctx, pkg, objects, m.readOptions())
}

func (m *manifests) configLimit() fbc.LimitError {
	return fbc.LimitError{Limit: "DocumentSize", What: "configuration", Max: m.limits.load.WithDefaults().DocumentSize}
}

// readStdin returns the text of standard input.
func (m *manifests) readStdin(ctx context.Context) ([]byte, error) {
	in, err := m.input(ctx, stdinPath)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	limit := m.configLimit()
	text, err := io.ReadAll(io.LimitReader(in, limit.Max+1))
	if int64(len(text)) > limit.Max {
		return nil, &limit
	}
	return text, err
}

// configuration returns the configuration of --config, with --watch-namespace.
func (m *manifests) configuration(ctx context.Context) ([]byte, error) {
	var text []byte
	if m.config != "" {
		var err error
		if m.config == stdinPath {
			text, err = m.readStdin(ctx)
		} else {
			text, err = (*disk.Root)(nil).ReadFile(ctx, m.config, m.configLimit())
		}
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	if m.watch == "" {
		return text, nil
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("--config %s: %w", display(m.config), err)
	}
	if have, ok := fields["watchNamespace"]; ok && have != m.watch {
		return nil, usagef("--watch-namespace %s contradicts watchNamespace in %s; remove one", m.watch, display(m.config))
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["watchNamespace"] = m.watch
	return json.Marshal(fields)
}

func (m *manifests) print(out *registryv1.Manifests) error {
	switch m.format {
	case string(formatJSON):
		list := objectList{APIVersion: "v1", Items: contents(out), Kind: "List"}
		return (&printer{w: m.stdout, format: formatJSON}).encode(list)
	case kustomize:
		return m.kustomize(out)
	}
	return writeObjects(machine(m.stdout), contents(out))
}

// An objectList is a Kubernetes List.
type objectList struct {
	APIVersion string `json:"apiVersion"`
	Items      []any  `json:"items"`
	Kind       string `json:"kind"`
}

// contents returns the objects as JSON values.
func contents(out *registryv1.Manifests) []any {
	list := []any{}
	for _, o := range out.Objects() {
		list = append(list, o.Object)
	}
	return list
}

func writeObjects(w io.Writer, objects []any) error {
	p := printer{w: w, format: formatYAML}
	for _, o := range objects {
		if err := p.encode(o); err != nil {
			return err
		}
	}
	return nil
}

// kustomize writes a file for each phase and a kustomization that lists them.
func (m *manifests) kustomize(out *registryv1.Manifests) error {
	if list, err := os.ReadDir(m.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--dir: %w", err)
	} else if len(list) > 0 {
		return fmt.Errorf("--dir: %s is not empty; name a new directory", display(m.dir))
	}
	var files disk.Batch
	defer files.Discard()
	dir, err := files.Dir(m.dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	var index strings.Builder
	index.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n")
	add := func(name string, write func(io.Writer) error) error {
		if err := files.Add(dir, name, newFile, write); err != nil {
			return fmt.Errorf("--dir: nothing was written: %w", err)
		}
		return nil
	}
	for i, p := range out.Phases {
		name := fmt.Sprintf("%02d-%s.yaml", i+1, p.Name)
		index.WriteString("- " + name + "\n")
		var text bytes.Buffer
		if err := writeObjects(&text, contents(&registryv1.Manifests{Phases: []registryv1.Phase{p}})); err != nil {
			return err
		}
		if err := add(name, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
			return err
		}
	}
	if err := add("kustomization.yaml", func(w io.Writer) error { _, err := io.WriteString(w, index.String()); return err }); err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	return nil
}
