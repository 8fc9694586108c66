package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/olmkit/olmkit/internal/bundledir"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/olm"
)

func newCRDSafety(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "crd-safety {OLD|--cluster|-f FILE...} NEW",
		Short: "Check whether CRDs can be upgraded, as OLM v1 does",
		Long: `Crd-safety compares CustomResourceDefinitions as OLM v1 does before it installs or
upgrades a bundle, and lists each change that can break stored objects or clients.

OLD and NEW are files with CRDs, - for standard input, or bundle directories. Each CRD
in NEW is compared with the CRD of that name in OLD; a CRD that OLD lacks is safe.
Other objects are skipped, so OLD can be the output of "kubectl get crds -o yaml".
With --cluster or --filename, OLD is the CRDs of a cluster.

By default nested schemas are compared field by field. If OLM v1 gives another
verdict, a note on standard error reports it. --as-upstream gives the verdict of OLM
v1 and marks its false alarms.

With --problem, crd-safety reads problems instead, one JSON document each, and prints
one line for each: {"id","verdict","fails"}. A problem has the members id, old and
new: CRDs, or paths of files relative to --root, which may also be in oldPath and
newPath. Old is null if the CRD does not exist yet. The verdict is safe, unsafe,
skipped, or panic if OLM v1 crashes. Each element of fails is a list: scope (crd,
same or served), version, path, validation.

Exit codes: 0 all CRDs can be upgraded, 1 some cannot, 2 the input could not be read.
With --problem: 0 if every problem was answered.`,
		Example: `  olmkit crd-safety ./etcd/0.9.2 ./etcd/0.9.4
  olmkit crd-safety --cluster ./etcd/0.9.4
  kubectl get crds -o yaml | olmkit crd-safety - ./etcd/0.9.4 --as-upstream
  olmkit crd-safety --problem problems.jsonl --root . --as-upstream -o json`,
	}
	enforcement := string(crdsafety.Strict)
	c := &crdSafety{loader: newLoader(e)}
	var s clusterState
	s.addCluster(cmd)
	f := addFormat(cmd)
	addChoice(cmd, &enforcement, "enforcement", "", "spec.install.preflight.crdUpgradeSafety.enforcement of the ClusterExtension; None compares nothing", string(crdsafety.Strict), string(crdsafety.None))
	cmd.Flags().BoolVar(&c.opts.AsUpstream, "as-upstream", false, "give the verdict of OLM v1, with its false alarms")
	in := addProblem(cmd, "problems", true)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := in.check(cmd, args, "as-upstream", "enforcement"); err != nil {
			return err
		}
		c.opts.Enforcement = crdsafety.Enforcement(enforcement)
		c.out = printer{w: e.stdout, format: *f}
		switch {
		case in.file != "" && *f != formatJSON:
			return usagef("--problem is answered in JSON; add -o json")
		case in.file != "":
			return c.stream(cmd.Context(), in)
		case s.given() && len(args) != 1:
			return usagef("name the new CRDs, to compare them with those of the cluster: a file or a bundle directory")
		case s.given():
			old, err := c.ofCluster(cmd.Context(), &s)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), old, args[0])
		case len(args) != 2:
			return usagef("name the old and the new CRDs: files or bundle directories; or only the new ones, with --cluster or --filename")
		}
		old, err := c.read(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return c.run(cmd.Context(), old, args[1])
	}
	return cmd
}

// crdSafety is one run of the command.
type crdSafety struct {
	*loader
	opts crdsafety.Options
	out  printer
}

type crds []*apiextensionsv1.CustomResourceDefinition

// run compares CRDs with those of a file or directory.
func (c *crdSafety) run(ctx context.Context, old crds, to string) error {
	new, err := c.read(ctx, to)
	if err != nil {
		return err
	}
	if len(new) == 0 {
		return nothingIn(to, apiextensionsv1.SchemeGroupVersion.String()+" CustomResourceDefinitions")
	}
	results, err := crdsafety.CompareAll(ctx, old, new, &c.opts)
	if err != nil {
		return err
	}
	refused := false
	for _, r := range results {
		refused = refused || r.Verdict == crdsafety.Unsafe || r.Verdict == crdsafety.Panic
		if r.Upstream != "" {
			visible.Fprintf(c.stderr, "note: the verdict of OLM v1 on CRD %s is %s; --as-upstream shows why\n", r.Name, r.Upstream)
		}
		if err := c.out.print(&crdResult{r, c.opts.AsUpstream}); err != nil {
			return err
		}
	}
	if refused {
		return errNegative
	}
	return nil
}

// A crdResult is the verdict on one CRD.
type crdResult struct {
	*crdsafety.Result
	upstream bool // paths are as OLM v1 prints them, with ^ for the root of the schema
}

func (r *crdResult) text(w io.Writer) error {
	note := ""
	switch {
	case r.Verdict == crdsafety.Panic:
		note = ": OLM v1 crashes, because a version has no schema"
	case r.FalseAlarm:
		note = ", a false alarm"
	}
	if _, err := visible.Fprintf(w, "CRD %s: %s%s\n", r.Name, r.Verdict, note); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if !r.upstream {
			f.Path = strings.TrimPrefix(f.Path, "^")
		}
		if _, err := visible.Fprintf(w, "  %s\n", f.String()); err != nil {
			return err
		}
	}
	return nil
}

// read returns the CRDs of a file, or of the manifests of a bundle directory.
func (c *crdSafety) read(ctx context.Context, name string) (crds, error) {
	var out crds
	if !isDir(name) {
		err := c.objects(ctx, name, func(olm.GroupKind) {}, out.put)
		return out, err
	}
	root, err := disk.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := c.files(root)
	dir := "manifests"
	entries, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		dir = "."
		entries, err = files.List(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", display(filepath.Join(name, dir)), err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		inside := path.Join(dir, e.Name())
		if err := c.file(ctx, files, inside, e, filepath.Join(name, inside), &out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// files returns a reader of the files below a root.
func (c *crdSafety) files(root *disk.Root) *bundledir.Reader {
	l := c.limits.forBundles().WithDefaults()
	return bundledir.New(root.FS(), bundledir.Limits{Files: int64(l.Files), BundleSize: l.BundleSize, Expansion: l.Expansion})
}

// file adds the CRDs of a file.
func (c *crdSafety) file(ctx context.Context, files *bundledir.Reader, name string, e fs.DirEntry, shown string, to *crds) error {
	text, err := files.Read(name, e)
	if err != nil {
		return fmt.Errorf("%s: %w", display(shown), err)
	}
	for doc, err := range bundledir.Documents(text) {
		line := doc.Line
		var value []byte
		if err == nil {
			value, line, err = files.JSON(ctx, doc)
		}
		if err == nil && value != nil {
			err = objectsOf(value, func(olm.GroupKind) {}, to.put)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", display(shown), line, err)
		}
	}
	return nil
}

// ofCluster returns the CRDs of a cluster.
func (c *crdSafety) ofCluster(ctx context.Context, s *clusterState) (crds, error) {
	cluster, err := s.read(ctx, c.loader)
	if err != nil {
		return nil, err
	}
	if err := s.readable(olm.GroupCRD); err != nil {
		return nil, err
	}
	if !slices.Contains(cluster.Known, olm.GroupKind{Group: olm.GroupCRD, Kind: olm.KindCRD}) {
		return nil, errors.New("the files of --filename have no CustomResourceDefinitions, so those of the cluster are unknown; add the output of \"kubectl get crds -o yaml\"")
	}
	var out crds
	for _, o := range cluster.List() {
		if err := out.put(o); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s of the cluster: %w", o.Metadata.Name, err)
		}
	}
	return out, nil
}

// put adds an object if it is a CRD that OLM v1 compares (K54).
func (l *crds) put(o olm.Object) error {
	if o.Kind != "CustomResourceDefinition" || o.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
		return nil
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	return l.add(text)
}

// add adds the CRD of a JSON text.
func (l *crds) add(text []byte) error {
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	crd, err := crdsafety.Decode(manifest)
	if err != nil {
		return err
	}
	*l = append(*l, crd)
	return nil
}
