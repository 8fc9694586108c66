package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// maxCRDs is the number of pairs of CRDs to compare.
const maxCRDs = 40

const crdifyConfig = `
validations:
- {name: description, enforcement: None}
- {name: enum, enforcement: Error, configuration: {additionPolicy: Allow}}
conversion: Ignore
`

// A crdPair is the files of a CRD before and after an upgrade.
type crdPair struct{ old, created string }

// crds compares the CRDs of upgrades with crdify, which OLM v1 uses, one process for each pair.
// The verdicts must be equal.
func (r *run) crds(ctx context.Context) error {
	dir, err := r.catalog("openshift-v4.16")
	if err != nil {
		return r.absent("crds", err)
	}
	pairs, err := r.changedCRDs(ctx, dir)
	if err != nil {
		return err
	}
	olmkit, err := r.build(ctx, "../cmd/olmkit")
	if err != nil {
		return err
	}
	crdify := program{file: filepath.Join(r.tmp, "crdify")}
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", crdify.file, "sigs.k8s.io/crdify").CombinedOutput(); err != nil {
		return fmt.Errorf("building crdify: %w: %s", err, text)
	}
	// The settings of operator-controller (K55).
	config := filepath.Join(r.tmp, "crdify.yaml")
	if err := os.WriteFile(config, []byte(crdifyConfig), 0o666); err != nil {
		return err
	}
	ours := func(p crdPair) (bool, error) {
		return safe(ctx, olmkit.with("crd-safety", p.old, p.created, "--as-upstream", "-o", "json"))
	}
	theirs := func(p crdPair) (bool, error) {
		return safe(ctx, crdify.with("file://"+p.old, "file://"+p.created, "--config", config))
	}
	for _, p := range pairs {
		a, err := ours(p)
		if err != nil {
			return err
		}
		b, err := theirs(p)
		if err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("%s -> %s: olmkit says safe=%t, crdify safe=%t", p.old, p.created, a, b)
		}
	}
	each := func(do func(crdPair) (bool, error)) job {
		return func() error {
			for _, p := range pairs {
				if _, err := do(p); err != nil {
					return err
				}
			}
			return nil
		}
	}
	row := Row{Group: "crds", Case: fmt.Sprintf("%d changed CRDs of openshift-v4.16, one process each", len(pairs)), Peer: "crdify"}
	return r.pair(ctx, row, each(ours), each(theirs))
}

// safe runs a program that exits with status 1 if an upgrade is not safe.
func safe(ctx context.Context, p program) (bool, error) {
	err := p.run(ctx)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// changedCRDs writes different CRDs that the upgrades of a catalog change, at most one for each
// upgrade.
func (r *run) changedCRDs(ctx context.Context, dir string) ([]crdPair, error) {
	catalog, err := declcfg.LoadFS(ctx, os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	crds := map[string]map[string][]byte{} // by bundle and name
	for _, b := range catalog.Bundles {
		crds[b.Name] = map[string][]byte{}
		for _, text := range b.Objects {
			var o struct {
				APIVersion, Kind string
				Metadata         struct{ Name string }
			}
			if err := json.Unmarshal([]byte(text), &o); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Name, err)
			}
			if o.Kind == "CustomResourceDefinition" && o.APIVersion == "apiextensions.k8s.io/v1" {
				crds[b.Name][o.Metadata.Name] = []byte(text)
			}
		}
	}
	var pairs []crdPair
	seen := map[string]bool{}
	for _, c := range catalog.Channels {
		for _, e := range c.Entries {
			names := []string{}
			for name, text := range crds[e.Name] {
				old := crds[e.Replaces][name]
				if old != nil && !bytes.Equal(old, text) && !seen[string(old)+string(text)] {
					names = append(names, name)
				}
			}
			if len(names) == 0 {
				continue
			}
			name := slices.Min(names)
			seen[string(crds[e.Replaces][name])+string(crds[e.Name][name])] = true
			p := crdPair{filepath.Join(r.tmp, fmt.Sprintf("crd-%d-old.json", len(pairs))), filepath.Join(r.tmp, fmt.Sprintf("crd-%d-new.json", len(pairs)))}
			if err := errors.Join(os.WriteFile(p.old, crds[e.Replaces][name], 0o666), os.WriteFile(p.created, crds[e.Name][name], 0o666)); err != nil {
				return nil, err
			}
			if pairs = append(pairs, p); len(pairs) == maxCRDs {
				return pairs, nil
			}
		}
	}
	return pairs, nil
}
