package cli

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

func newSnapshot(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot {--cluster|-f FILE...} -o FILE",
		Short: "Save everything that olmkit reads from a cluster in one file",
		Long: `Snapshot writes everything that commands read from a cluster to one file, for a
support case, another machine or a test. All commands that read a cluster accept it
with --filename and give the same answers, without access to the cluster.

The file has one JSON document per line: the version of the cluster and the kinds
that you are not allowed to read, then a list for each kind. Catalogs are digests in
the objects; with --with-catalogs, the file has their content, too, and no registry
is needed later. It has no Secrets, and only those pods that serve catalogs. Objects
are without managedFields, the annotation of kubectl apply, and the icons of CSVs,
which no answer depends on.

With --filename, the input is files, such as an OpenShift must-gather, instead of a
cluster.

Exit codes: 0 the file was written, 2 the cluster could not be read.`,
		Example: `  olmkit snapshot --cluster -o cluster.json
  olmkit snapshot --context prod --with-catalogs -o cluster.json
  olmkit status -f cluster.json`,
	}
	var s clusterState
	var out string
	var with bool
	s.addCluster(cmd)
	cmd.Flags().StringVarP(&s.namespace, "namespace", "n", "", "the `NAMESPACE` to read if you are not allowed to read all")
	completeFlag(cmd, "namespace", cobra.NoFileCompletions)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to a `FILE`, or to standard output when it is -")
	cmd.Flags().BoolVar(&with, "with-catalogs", false, "include the content of the catalogs that the cluster serves")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return usagef("%s: snapshot takes no arguments; pass files with --filename", args[0])
		case out == "":
			return usagef("name the file to write with --output")
		}
		if err := checkFile(out, "a snapshot"); err != nil {
			return err
		}
		s.on = s.on || len(s.files) == 0
		l := newLoader(e)
		docs, err := s.snapshot(cmd.Context(), l, with)
		if err != nil {
			return err
		}
		write := func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			for _, d := range docs {
				if err := enc.Encode(d); err != nil {
					return err
				}
			}
			return nil
		}
		if out == stdinPath {
			return write(machine(e.stdout))
		}
		return replaceOutput(out, write)
	}
	return cmd
}

// The kinds of the documents in a snapshot that are not lists of objects.
const (
	snapshotGroup   = "snapshot.olmkit"
	snapshotVersion = snapshotGroup + "/v1"
	kindSnapshot    = "Snapshot"
	kindContent     = "Content"
)

// A snapshotDocument is a document of a snapshot that is not a list of objects: the first one,
// of kind kindSnapshot, or the content of a catalog, of kind kindContent.
type snapshotDocument struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	// KubeVersion is the version of the cluster, and Unread lists the kinds that the user may not
	// read. Only the first document has them.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	Unread      []unread `json:"unread,omitempty"`
	// Image is the image of a catalog, and Files is a ZIP archive of its files.
	Image string `json:"image,omitempty"`
	Files []byte `json:"files,omitempty"`
}

// A snapshotList holds all objects of a kind. It may be empty.
type snapshotList struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Items      []olm.Object `json:"items"`
}

// A recording holds what was read from a cluster: the kinds, including those without objects,
// and the objects of each kind.
type recording struct {
	kinds   []olm.GroupKind
	objects map[olm.GroupKind][]olm.Object
}

func (r *recording) found(k olm.GroupKind) {
	if !slices.Contains(r.kinds, k) {
		r.kinds = append(r.kinds, k)
	}
}

func (r *recording) put(o olm.Object) {
	if r.objects == nil {
		r.objects = map[olm.GroupKind][]olm.Object{}
	}
	k := olm.GroupKind{Group: o.Key().Group, Kind: o.Kind}
	r.found(k)
	r.objects[k] = append(r.objects[k], o)
}

// snapshot reads the cluster and returns the documents of its snapshot.
func (s *clusterState) snapshot(ctx context.Context, l *loader, with bool) ([]any, error) {
	s.recording = &recording{}
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, u := range s.missing {
		visible.Fprintf(l.stderr, "note: %s\n", u)
	}
	docs := []any{&snapshotDocument{APIVersion: snapshotVersion, Kind: kindSnapshot, Metadata: map[string]string{"name": "cluster"}, KubeVersion: c.KubeVersion, Unread: s.missing}}
	live := liveKinds()
	slices.SortFunc(s.recording.kinds, func(a, b olm.GroupKind) int { // in the order in which a cluster is read
		place := func(k olm.GroupKind) int {
			return slices.IndexFunc(live, func(l liveKind) bool { return l.groupKind() == k })
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	for _, k := range s.recording.kinds {
		if k == (olm.GroupKind{Kind: "Secret"}) {
			continue // a reader of the snapshot does not know its content
		}
		list := snapshotList{APIVersion: apiVersionOf(k), Kind: k.Kind + "List", Items: s.recording.objects[k]}
		if len(list.Items) > 0 {
			list.APIVersion = list.Items[0].APIVersion
		} else {
			list.Items = []olm.Object{}
		}
		docs = append(docs, &list)
	}
	if !with {
		return docs, nil
	}
	s.inferred = nil
	v0, err := s.served(c, nil, func(resolver.CatalogID) bool { return true })
	if err != nil {
		return nil, err
	}
	v1, err := s.servedV1(c, nil)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, src := range append(v0, v1...) {
		if done[src.path] {
			continue
		}
		done[src.path] = true
		files, err := l.zipped(ctx, src.path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			s.noteContent(src.object(), "cannot be read from here: "+err.Error())
			continue
		}
		docs = append(docs, &snapshotDocument{APIVersion: snapshotVersion, Kind: kindContent, Metadata: map[string]string{"name": src.name}, Image: src.path, Files: files})
	}
	noteAll(l, s.inferred)
	return docs, nil
}

// slim removes what no answer depends on and is often most of an object: managedFields, the
// annotation with the object that kubectl applied, and the icons of a CSV.
func slim(o *olm.Object) error {
	delete(o.Metadata.Rest, "managedFields")
	delete(o.Metadata.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	if k := o.Key(); k.Group != olm.Group || k.Kind != olm.KindClusterServiceVersion {
		return nil
	}
	if _, ok := o.Get("spec", "icon"); !ok {
		return nil
	}
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(o.Rest["spec"], &spec); err != nil {
		return fmt.Errorf("%s: /spec: %w", o.Key(), err)
	}
	delete(spec, "icon")
	slimmed, err := o.Set("spec", spec)
	if err == nil {
		*o = slimmed
	}
	return err
}

// apiVersionOf returns the version of a kind in which it is read from a cluster.
func apiVersionOf(k olm.GroupKind) string {
	version := "v1"
	live := liveKinds()
	if i := slices.IndexFunc(live, func(l liveKind) bool { return l.groupKind() == k }); i >= 0 {
		version = live[i].version
	}
	if k.Group == "" {
		return version
	}
	return k.Group + "/" + version
}

// zipped returns a ZIP archive of the files of the catalog that a reference names. Equal files
// give equal archives.
func (l *loader) zipped(ctx context.Context, path string) ([]byte, error) {
	ref, ok := referenceOf(path)
	if !ok {
		return nil, &catalogError{path, fs.ErrNotExist}
	}
	fetched, err := l.fetch(ctx, ref)
	if err != nil {
		return nil, &catalogError{path, err}
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	err = fs.WalkDir(fetched.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := fetched.files.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = io.Copy(w, in)
		}
		return err
	})
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, &catalogError{path, err}
	}
	return b.Bytes(), nil
}

// fromSnapshot restores what a snapshotDocument holds.
func (s *clusterState) fromSnapshot(o olm.Object, to *images) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var d snapshotDocument
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	switch {
	case o.APIVersion != snapshotVersion || d.Kind != kindSnapshot && d.Kind != kindContent:
		return fmt.Errorf("%s %s is not supported by this version of olmkit; update olmkit", o.APIVersion, o.Kind)
	case d.Kind == kindSnapshot:
		s.snapshotVersion, s.missing = d.KubeVersion, append(s.missing, d.Unread...)
		return nil
	}
	files, err := zip.NewReader(bytes.NewReader(d.Files), int64(len(d.Files)))
	if err != nil {
		return fmt.Errorf("the content of %s: %w", d.Image, err)
	}
	if to.files == nil {
		to.files = map[string]fetched{}
	}
	to.files[d.Image] = fetched{place: fetchedCatalog{files: files}}
	return nil
}
