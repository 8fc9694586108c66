package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	utilduration "k8s.io/apimachinery/pkg/util/duration"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
)

func newCache(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List or delete fetched catalogs and bundles",
		Long: `Catalogs in images and on servers are kept in a cache after they are fetched: the
directory olmkit in the user's cache directory, or --cache-dir. "olmkit impact
CATALOG" keeps its verdicts there. The cache is safe to delete; missing content is
fetched again.`,
		Example: `  olmkit cache list
  olmkit cache prune --older-than 168h`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("cache has no command %q%s", args[0], hint(args[0], subcommands(cmd)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{newCacheList(e), newCachePrune(e)} {
		e.timed(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newCacheList(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the content of the cache, most recently used first",
		Long: `List prints each image, server and set of verdicts in the cache with the references
that led to it, the size of its files and when it was last used.`,
		Example: `  olmkit cache list
  olmkit cache list -o json`,
		Args: cobra.NoArgs,
	}
	f := addFormat(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		list, err := e.images.cached()
		if err != nil {
			return err
		}
		var rows []row
		for _, c := range list {
			if c.Kind != temporary {
				rows = append(rows, c)
			}
		}
		return printRows(&printer{w: e.stdout, format: *f}, []string{"KIND", "REFERENCE", "DIGEST", "SIZE", "USED"}, rows)
	}
	return cmd
}

func newCachePrune(e *env) *cobra.Command {
	older := duration(30 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete what has not been used for some time",
		Long: `Prune deletes the images, servers and verdicts in the cache that were last used too
long ago.`,
		Example: `  olmkit cache prune
  olmkit cache prune --older-than 0s`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().Var(&older, "older-than", "delete what was last used more than this `DURATION` ago")
	completeFlag(cmd, "older-than", cobra.NoFileCompletions)
	cmd.RunE = func(*cobra.Command, []string) error {
		list, err := e.images.cached()
		if err != nil {
			return err
		}
		count, size := 0, int64(0)
		for _, c := range list {
			if time.Since(c.Used) < time.Duration(older) || c.Kind == temporary && time.Since(c.Used) < maxPull {
				continue
			}
			for _, f := range c.files {
				if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if c.Kind != temporary {
				count++
			}
			size += c.Size
		}
		visible.Fprintf(e.stdout, "deleted %s, %s\n", phrase.Count(count, "item"), mebibytes(size))
		return nil
	}
	return cmd
}

// maxPull is the age after which a temporary file is taken to be left over from an interrupted
// command.
const maxPull = time.Hour

// The kinds of entries in the cache.
const (
	cachedCatalog = "catalog"
	cachedBundle  = "bundle"
	cachedServer  = "server"
	// cachedVerdicts are the verdicts of one build of olmkit on upgrades of catalogs, with the
	// same options.
	cachedVerdicts = "verdicts"
	temporary      = "temporary" // being fetched, or left by an interrupted command
)

// A cached is an entry of the cache.
type cached struct {
	Kind string `json:"kind"`
	// References are the image references or URLs that resolve to this entry, sorted.
	References []string  `json:"references"`
	Digest     string    `json:"digest,omitzero"`
	Size       int64     `json:"size"` // bytes
	Used       time.Time `json:"used"`

	files []string
}

func (c *cached) cells() []string {
	digest := c.Digest
	if len(digest) > 19 {
		digest = digest[:19] // "sha256:" and twelve digits, as docker prints it
	}
	return []string{c.Kind, strings.Join(c.References, " "), digest, mebibytes(c.Size), utilduration.HumanDuration(time.Since(c.Used)) + " ago"}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// cached returns the entries of the cache, most recently used first.
func (i *images) cached() ([]*cached, error) {
	if err := i.openDir(); err != nil {
		return nil, err
	}
	imageFile := regexp.MustCompile(`^(catalog|bundle)-(sha256|sha512)-([0-9a-f]+)(-.*\.zip|\.index)$`)
	serverFile := regexp.MustCompile(`^([0-9a-f]{16})(-[0-9a-f]{16}\.(jsonl|index)|\.json)$`)
	verdictsFile := regexp.MustCompile(`^([0-9a-f]{16})-[0-9a-f]{16}\.json$`)
	var list []*cached
	add := func(kind, key, name string) *cached {
		at := slices.IndexFunc(list, func(c *cached) bool { return c.Kind == kind && c.Digest == key })
		if at < 0 || kind == temporary {
			at, list = len(list), append(list, &cached{Kind: kind, Digest: key, References: []string{}})
		}
		c := list[at]
		if info, err := os.Stat(name); err == nil {
			c.Size += info.Size()
			if info.ModTime().After(c.Used) {
				c.Used = info.ModTime().UTC().Truncate(time.Second)
			}
			c.files = append(c.files, name)
		}
		return c
	}
	for _, dir := range []string{imagesDir, serversDir, verdictsDir} {
		entries, err := os.ReadDir(filepath.Join(i.dir, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			name := filepath.Join(i.dir, dir, entry.Name())
			if m := imageFile.FindStringSubmatch(entry.Name()); m != nil && dir == imagesDir {
				add(m[1], m[2]+":"+m[3], name)
			} else if m := serverFile.FindStringSubmatch(entry.Name()); m != nil && dir == serversDir {
				c := add(cachedServer, m[1], name)
				var state struct{ URL string }
				if readJSON(name, &state) == nil && state.URL != "" {
					c.References = append(c.References, state.URL)
				}
			} else if m := verdictsFile.FindStringSubmatch(entry.Name()); m != nil && dir == verdictsDir {
				add(cachedVerdicts, m[1], name)
			} else if !entry.IsDir() {
				add(temporary, "", name)
			}
		}
	}
	if err := i.addReferences(list); err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Kind == cachedServer || c.Kind == cachedVerdicts {
			c.Digest = "" // the hash of the URL, or of the program and its options, was only a key
		}
	}
	slices.SortStableFunc(list, func(a, b *cached) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Digest, b.Digest))
	})
	return list, nil
}

// addReferences adds to the entries in list the remembered references to their digests, and
// the files in which these references are stored.
func (i *images) addReferences(list []*cached) error {
	dir := filepath.Join(i.dir, referencesDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		var r remembered
		name := filepath.Join(dir, entry.Name())
		if readJSON(name, &r) != nil {
			continue
		}
		for _, c := range list {
			if c.Digest == r.Digest {
				c.References = append(c.References, r.Reference)
				c.files = append(c.files, name)
			}
		}
	}
	for _, c := range list {
		slices.Sort(c.References)
	}
	return nil
}

// readJSON reads a small file that olmkit wrote.
func readJSON(name string, to any) error {
	if !strings.HasSuffix(name, ".json") {
		return fmt.Errorf("%s is not a JSON file", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
