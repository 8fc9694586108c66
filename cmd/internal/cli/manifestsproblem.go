package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A manifestsRequest requests the manifests of a bundle. Its JSON may have further members,
// such as the expected answer.
type manifestsRequest struct {
	// ID is the caller's name for the request; the answer repeats it.
	ID string `json:"id,omitempty"`
	// Bundle, or else Path, is the directory of the bundle. It is relative to --root, or to the
	// directory "bundles" in --root.
	Bundle string `json:"bundle,omitempty"`
	Path   string `json:"path,omitempty"`
	// InstallNamespace is the namespace of the ClusterExtension.
	InstallNamespace string `json:"installNamespace,omitempty"`
	// Config is spec.config.inline of the ClusterExtension.
	Config json.RawMessage `json:"config,omitzero"`
	// CertProvider is cert-manager, service-ca or none. Default: cert-manager.
	CertProvider string `json:"certProvider,omitempty"`
}

// UnmarshalJSONFrom ignores further members.
func (r *manifestsRequest) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain manifestsRequest
	return jsonv2.UnmarshalDecode(d, (*plain)(r), jsonv2.RejectUnknownMembers(false))
}

// A manifestsAnswer holds the manifests of a bundle, or the reasons why OLM v1 does not
// install it.
type manifestsAnswer struct {
	ID          string           `json:"id"`
	OK          bool             `json:"ok"`
	Objects     []any            `json:"objects,omitempty"`
	Phases      []any            `json:"phases,omitempty"`
	Differences []difference     `json:"differences,omitempty"`
	Error       *manifestsReject `json:"error,omitempty"`
}

type difference struct {
	Rule    string `json:"rule"`
	Object  string `json:"object"`
	Message string `json:"message"`
}

type manifestsReject struct {
	Stage   registryv1.Stage `json:"stage"`
	Codes   [][2]string      `json:"codes"`
	Message string           `json:"message"`
}

// stageRequest is the stage of a request that cannot be answered.
const stageRequest registryv1.Stage = "request"

// stream answers the requests of a file.
func (m *manifests) stream(ctx context.Context, in *problemInput) error {
	root, err := disk.OpenRoot(in.root)
	if err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	defer root.Close()
	s := &manifestsStream{manifests: m, root: root}
	q := requests[manifestsRequest]{
		kind:   "request",
		id:     func(r *manifestsRequest) string { return r.ID },
		answer: func(ctx context.Context, r *manifestsRequest) (any, error) { return s.answer(ctx, r) },
		failed: func(r *manifestsRequest, err error) (any, bool) {
			return &manifestsAnswer{ID: r.ID, Error: &manifestsReject{Stage: stageRequest, Codes: [][2]string{}, Message: err.Error()}}, true
		},
	}
	return q.stream(ctx, m.env, in.file, &printer{w: m.stdout, format: formatJSON})
}

type manifestsStream struct {
	*manifests
	root *disk.Root

	last string // the directory of the bundle that was read last, because the next request may be about the same one
	read *registryv1.Bundle
	err  error
}

// answer answers a request.
func (s *manifestsStream) answer(ctx context.Context, q *manifestsRequest) (*manifestsAnswer, error) {
	provider, ok := registryv1.ParseCertProvider(cmp.Or(q.CertProvider, s.provider))
	if !ok {
		return nil, fmt.Errorf("certProvider %q; write cert-manager, service-ca or none", q.CertProvider)
	}
	name := cmp.Or(q.Bundle, q.Path)
	if name == "" {
		return nil, errors.New("it names no bundle")
	}
	if s.last != name {
		b, err := s.open(ctx, name)
		var bad *registryv1.Error
		if err != nil && !errors.As(err, &bad) {
			return nil, err
		}
		s.last, s.read, s.err = name, b, err
	}
	opts := registryv1.RenderOptions{Namespace: q.InstallNamespace, Certificates: provider, AsUpstream: s.opts.AsUpstream}
	if string(q.Config) != "null" {
		opts.Config = q.Config
	}
	err := s.err
	var out *registryv1.Manifests
	if err == nil {
		out, err = s.read.Render(ctx, opts)
	} else if opts.AsUpstream {
		err = registryv1.AsUpstream(err)
	}
	var bad *registryv1.Error
	switch {
	case errors.As(err, &bad):
		reject := &manifestsReject{Stage: bad.Stage(), Message: bad.Error()}
		for _, p := range bad.Problems {
			reject.Codes = append(reject.Codes, [2]string{p.Code, p.Subject})
		}
		return &manifestsAnswer{ID: q.ID, Error: reject}, nil
	case err != nil:
		return nil, err
	}
	a := &manifestsAnswer{ID: q.ID, OK: true, Objects: []any{}, Phases: []any{}}
	objects := out.Objects()
	slices.SortStableFunc(objects, func(x, y *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(x.GetAPIVersion(), y.GetAPIVersion()), cmp.Compare(x.GetKind(), y.GetKind()),
			cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	for _, o := range objects {
		a.Objects = append(a.Objects, o.Object)
	}
	for _, p := range out.Phases {
		keys := []string{}
		for _, o := range p.Objects {
			keys = append(keys, registryv1.Key(o))
		}
		a.Phases = append(a.Phases, []any{p.Name, keys})
	}
	for _, d := range out.Differences {
		a.Differences = append(a.Differences, difference(d))
	}
	return a, nil
}

// open reads the bundle of a request, which is below the root.
func (s *manifestsStream) open(ctx context.Context, dir string) (*registryv1.Bundle, error) {
	if !filepath.IsLocal(filepath.FromSlash(dir)) {
		return nil, &outsideError{dir, "--root"}
	}
	sub, err := s.root.Sub(filepath.FromSlash(dir))
	if errors.Is(err, fs.ErrNotExist) {
		if other, err2 := s.root.Sub(filepath.FromSlash(path.Join("bundles", dir))); err2 == nil {
			sub, err = other, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", display(dir), err)
	}
	defer sub.Close()
	return registryv1.Read(ctx, sub.FS(), s.readOptions())
}
