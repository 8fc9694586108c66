package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/property"
)

// verdictsDir is the directory in the cache with verdicts on the upgrades of catalogs. Each
// file has those of a package, by this program with these options, below a line with their
// SHA-256 checksum. It is written as a whole, so an interrupted command loses only the packages
// that it had not finished.
const verdictsDir = "verdicts"

// A verdictStore keeps verdicts on upgrades in the cache, by the content of the bundles.
type verdictStore struct {
	dir string
	run string // the digest of the program and its options
}

// verdictStore returns where verdicts are kept, or nil if the user has no cache.
func (i *impactRun) verdictStore() (*verdictStore, error) {
	if i.images.noCache {
		return nil, nil
	}
	if err := i.images.openDir(); err != nil || i.images.temp {
		return nil, err
	}
	h := sha256.New()
	program, err := os.Executable()
	if err != nil {
		return nil, nil
	}
	file, err := os.Open(program)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	if _, err := io.Copy(h, file); err != nil {
		return nil, nil
	}
	options, err := json.Marshal([]any{i.opts.Namespace, i.opts.Watch, i.opts.Classic, i.limits.forBundles()})
	if err != nil {
		return nil, err
	}
	h.Write(options)
	return &verdictStore{filepath.Join(i.images.dir, verdictsDir), hex.EncodeToString(h.Sum(nil)[:8])}, nil
}

// A storedVerdict is the verdict on an upgrade.
type storedVerdict struct {
	Verdict impact.Verdict `json:"verdict"`
	Codes   []fbc.Code     `json:"codes,omitempty"`
}

// packageVerdicts are the stored verdicts of a package by the digests of both bundles.
type packageVerdicts struct {
	file    string
	had     map[string]storedVerdict
	now     map[string]storedVerdict
	changed bool
}

// of returns the verdicts of a package. A nil store has none, and keeps none.
func (s *verdictStore) of(pkg string) *packageVerdicts {
	if s == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(pkg))
	v := &packageVerdicts{file: filepath.Join(s.dir, s.run+"-"+hex.EncodeToString(sum[:8])+".json"), now: map[string]storedVerdict{}}
	v.had = readVerdicts(v.file)
	return v
}

// readVerdicts returns the verdicts in a file, or none if it is damaged.
func readVerdicts(name string) map[string]storedVerdict {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	sum, text, _ := bytes.Cut(text, []byte("\n"))
	if string(sum) != checksum(text) {
		return nil
	}
	var out map[string]storedVerdict
	if json.Unmarshal(text, &out) != nil {
		return nil // written by another program, since the checksum is right
	}
	return out
}

// checksum returns the first line of a file with verdicts, which has the given text below.
func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// write replaces the verdicts of the package by those of this run or, if it was not complete,
// adds them. It ignores errors.
func (v *packageVerdicts) write(complete bool) {
	if v == nil {
		return
	}
	if !complete {
		maps.Copy(v.now, v.had)
	}
	if !v.changed && len(v.now) == len(v.had) {
		now := time.Now()
		_ = os.Chtimes(v.file, now, now)
		return
	}
	text, err := json.Marshal(v.now)
	if err == nil && os.MkdirAll(filepath.Dir(v.file), 0o700) == nil {
		_ = disk.Replace(v.file, 0o600, func(w io.Writer) error { _, err := w.Write(append([]byte(checksum(text)+"\n"), text...)); return err })
	}
}

// key returns the key of an upgrade, or "" if its verdict cannot be kept.
func (v *packageVerdicts) key(ctx context.Context, bundles *packageBundles, from, to string) string {
	if v == nil {
		return ""
	}
	old, created := bundles.digest(ctx, from), bundles.digest(ctx, to)
	if old == "" || created == "" {
		return ""
	}
	return old + "-" + created
}

// get sets the verdict of an upgrade if it is known.
func (v *packageVerdicts) get(key string, e *edgeImpact) bool {
	if key == "" {
		return false
	}
	known, ok := v.had[key]
	if ok {
		e.Verdict, e.Codes = known.Verdict, known.Codes
		v.now[key] = known
	}
	return ok
}

// put keeps the verdict of an upgrade.
func (v *packageVerdicts) put(key string, e *edgeImpact) {
	if key != "" && e.Error == "" {
		v.now[key], v.changed = storedVerdict{e.Verdict, e.Codes}, true
	}
}

// A bundleDigest is a digest of all that a comparison reads about a bundle. It is empty if that
// is not known without reading the bundle.
type bundleDigest struct {
	text string
	dir  string // that of the bundle in a readBundle, if it is the one that the digest is about
}

// digest returns the digest of a bundle.
func (p *packageBundles) digest(ctx context.Context, name string) string {
	d, ok := p.digests[name]
	if !ok {
		var err error
		if d, err = p.hash(ctx, name); err != nil {
			d = bundleDigest{}
		}
		if p.digests == nil {
			p.digests = map[string]bundleDigest{}
		}
		p.digests[name] = d
	}
	return d.text
}

// digested reports whether a bundle was read from where its digest was.
func (p *packageBundles) digested(name string) bool { return p.read[name].dir == p.digests[name].dir }

// errNoDigest is the error for a bundle without digest.
var errNoDigest = errors.New("the bundle has no digest")

func (p *packageBundles) hash(ctx context.Context, name string) (d bundleDigest, err error) {
	b, ok := p.find(name)
	if !ok {
		return d, errNoDigest
	}
	properties, err := propertiesOf(ctx, b)
	if err != nil {
		return d, err
	}
	text, err := json.Marshal([]any{b.Package().Name(), name, properties})
	if err != nil {
		return d, err
	}
	h := sha256.New()
	h.Write(text)
	d.dir = name
	switch dir := p.directory(b); {
	case slices.ContainsFunc(properties, func(p property.Property) bool { return p.Type == property.TypeBundleObject }):
	case dir != "":
		d.dir = dir
		if err := hashFiles(h, dir, p.run.limits.forBundles().WithDefaults().BundleSize); err != nil {
			return d, err
		}
	case p.images && (p.run.tree == "" || !isDir(filepath.Join(p.run.tree, p.packages[0].Name()))) && strings.Contains(b.Image(), "@sha256:"):
		h.Write([]byte("image " + b.Image()))
	default:
		return d, errNoDigest
	}
	d.text = hex.EncodeToString(h.Sum(nil)[:16])
	return d, nil
}

// directory returns the directory that inTree tries first for a bundle, or "" if there is none.
func (p *packageBundles) directory(b graph.Bundle) string {
	if p.run.tree == "" || b == (graph.Bundle{}) || !b.HasVersion() {
		return ""
	}
	dir := filepath.Join(p.run.tree, p.packages[0].Name(), b.Version().String())
	if !isDir(dir) {
		return ""
	}
	return dir
}

// hashFiles adds the names and contents of the files in a bundle directory to a digest.
func hashFiles(h io.Writer, dir string, limit int64) error {
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files := root.FS()
	return fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if limit -= info.Size(); !info.Mode().IsRegular() || limit < 0 {
			return errNoDigest
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		_, err = h.Write(fmt.Appendf(nil, "%q %d\n%s", name, len(text), text))
		return err
	})
}
