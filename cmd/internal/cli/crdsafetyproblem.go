package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crdsafety"
)

// A crdProblem is a document of --problem.
type crdProblem struct {
	ID      string          `json:"id"`
	Old     json.RawMessage `json:"old"`
	New     json.RawMessage `json:"new"`
	OldPath string          `json:"oldPath"`
	NewPath string          `json:"newPath"`
}

// A crdAnswer is the answer to one.
type crdAnswer struct {
	ID      string            `json:"id"`
	Verdict crdsafety.Verdict `json:"verdict"`
	Fails   [][4]string       `json:"fails"`
}

// stream answers a stream of problems. One that cannot be answered is reported, and
// the others are answered nevertheless.
func (c *crdSafety) stream(ctx context.Context, in *problemInput) error {
	r, err := c.input(ctx, in.file)
	if err != nil {
		return err
	}
	defer r.Close()
	root, err := disk.OpenRoot(in.root)
	if err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	defer root.Close()
	s := &crdStream{crdSafety: c, in: in, root: root}
	d := json.NewDecoder(r)
	count, failed := 0, false
	for {
		wait, cancel := r.next()
		var p crdProblem
		err := d.Decode(&p)
		err = r.cause(timedOut(wait, err))
		cancel()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: problem %d: %w", display(in.file), count+1, err)
		}
		count++
		a, err := s.answer(ctx, &p)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = true
			visible.Fprintf(c.stderr, "error: %s: problem %d (%s): %v\n", display(in.file), count, p.ID, err)
			continue
		}
		if err := c.out.encode(a); err != nil {
			return err
		}
	}
	if count == 0 {
		return nothingIn(in.file, "problems")
	}
	if failed {
		return errReported
	}
	return nil
}

// A crdStream answers the problems of one input.
type crdStream struct {
	*crdSafety
	in   *problemInput
	root *disk.Root
}

// answer answers a problem. Old may be null: then no CRD is there.
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
	return &crdAnswer{p.ID, r.Verdict, r.Fails()}, nil
}

// crd returns the CRD that a problem holds, or that it names the file of.
func (s *crdStream) crd(ctx context.Context, value json.RawMessage, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	var list crds
	var inValue string
	switch err := json.Unmarshal(value, &inValue); {
	case err == nil: // a path, or null
		if name = cmp.Or(inValue, name); name == "" {
			return nil, errors.New("null; write a CRD or a path")
		}
	case len(value) > 0:
		if err := list.add(value); err != nil {
			return nil, err
		}
		return list[0], nil
	case name == "":
		return nil, errors.New("absent; write a CRD or a path")
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, &outsideError{name, s.in.root}
	}
	if err := s.file(ctx, s.root, name, name, &list); err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s: holds %d CRDs; name a file with one", display(name), len(list))
	}
	return list[0], nil
}
