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

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/regular"
	"github.com/olmkit/olmkit/kube/crdsafety"
)

// A crdProblem holds two versions of a CRD to compare. Its JSON may have further members, such
// as the expected verdict.
type crdProblem struct {
	// ID is the caller's name for the problem; the answer repeats it.
	ID string `json:"id,omitempty"`
	// Old and New are CRDs, or paths of files with one, relative to --root. Old is null if
	// the CRD does not exist yet.
	Old json.RawMessage `json:"old,omitzero"`
	New json.RawMessage `json:"new,omitzero"`
	// OldPath and NewPath are the paths of files. They are used if Old and New are absent.
	OldPath string `json:"oldPath,omitempty"`
	NewPath string `json:"newPath,omitempty"`
}

// UnmarshalJSONFrom ignores further members.
func (p *crdProblem) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain crdProblem
	return jsonv2.UnmarshalDecode(d, (*plain)(p), jsonv2.RejectUnknownMembers(false))
}

// A crdAnswer is the verdict on a CRD.
type crdAnswer struct {
	ID      string            `json:"id"`
	Verdict crdsafety.Verdict `json:"verdict,omitempty"`
	// Fails lists the reasons, each with its scope, version, path and validation.
	Fails [][4]string `json:"fails"`
	// Error states why the problem cannot be answered. The verdict is then empty.
	Error string `json:"error,omitempty"`
}

// stream answers the problems of a file.
func (c *crdSafety) stream(ctx context.Context, in *problemInput) error {
	root, err := disk.OpenRoot(in.root)
	if err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	defer root.Close()
	s := &crdStream{crdSafety: c, in: in, root: root}
	q := requests[crdProblem]{
		kind:   "problem",
		id:     func(p *crdProblem) string { return p.ID },
		answer: func(ctx context.Context, p *crdProblem) (any, error) { return s.answer(ctx, p) },
		failed: func(p *crdProblem, err error) (any, bool) {
			return &crdAnswer{ID: p.ID, Fails: [][4]string{}, Error: err.Error()}, true
		},
	}
	return q.stream(ctx, c.env, in.file, &c.out)
}

// A crdStream answers the problems of one input.
type crdStream struct {
	*crdSafety
	in   *problemInput
	root *disk.Root
}

// answer answers a problem. If Old is null, the CRD does not exist yet.
func (s *crdStream) answer(ctx context.Context, p *crdProblem) (*crdAnswer, error) {
	new, err := s.crd(ctx, p.New, p.NewPath)
	if err != nil {
		return nil, fmt.Errorf("/new: %w", err)
	}
	old := new
	if string(p.Old) != "null" || p.OldPath != "" {
		if old, err = s.crd(ctx, p.Old, p.OldPath); err != nil {
			return nil, fmt.Errorf("/old: %w", err)
		}
	}
	r, err := crdsafety.Compare(ctx, old, new, &s.opts)
	if err != nil {
		return nil, err
	}
	return &crdAnswer{ID: p.ID, Verdict: r.Verdict, Fails: r.Fails()}, nil
}

// crd returns the CRD in a problem, or in a file that the problem names.
func (s *crdStream) crd(ctx context.Context, value json.RawMessage, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	var list crds
	var inValue string
	switch err := json.Unmarshal(value, &inValue); {
	case err == nil: // a path, or null
		if name = cmp.Or(inValue, name); name == "" {
			return nil, errors.New("is null; set it to a CRD or to the path of one")
		}
	case len(value) > 0:
		if err := list.add(value); err != nil {
			return nil, err
		}
		return list[0], nil
	case name == "":
		return nil, errors.New("missing; set it to a CRD or to the path of one")
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, &outsideError{name, s.in.root}
	}
	info, err := fs.Stat(s.root.FS(), path.Clean(filepath.ToSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", display(name), regular.Cause(err))
	}
	if err := s.file(ctx, s.files(s.root), path.Clean(filepath.ToSlash(name)), fs.FileInfoToDirEntry(info), name, &list); err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s: holds %d CRDs; name a file with one", display(name), len(list))
	}
	return list[0], nil
}
