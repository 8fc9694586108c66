package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/olmkit/olmkit/kube/oci"
)

// registries returns the configuration of registries: from mirrors, which are files with
// OpenShift's mirror sets, or else from cluster, or else from the files of podman and skopeo
// on this host.
func registries(mirrors []string, cluster []oci.Registry) ([]oci.Registry, error) {
	list := cluster
	for _, name := range mirrors {
		sets, err := readMirrorSets(name)
		if err != nil {
			return nil, fmt.Errorf("--mirrors %s: %v", name, err) // not wrapped, or a missing file would be reported as a missing catalog
		}
		list = override(list, sets)
	}
	var host []oci.Registry
	for _, name := range registriesFiles() {
		found, err := readRegistries(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", name, err)
		}
		host = override(host, found)
	}
	return override(host, list), nil
}

// override returns the registries of two lists. If both have one with the same prefix, it
// returns that of later.
func override(list, later []oci.Registry) []oci.Registry {
	list = slices.DeleteFunc(list, func(r oci.Registry) bool {
		return slices.ContainsFunc(later, func(l oci.Registry) bool { return l.Prefix == r.Prefix })
	})
	return append(list, later...)
}

// registriesFiles returns the configuration files that containers-registries.conf(5)
// describes. Later files override earlier ones.
func registriesFiles() []string {
	if name := os.Getenv("CONTAINERS_REGISTRIES_CONF"); name != "" {
		return []string{name}
	}
	main, dirs := "/etc/containers/registries.conf", []string{"/etc/containers/registries.conf.d"}
	if home, err := os.UserHomeDir(); err == nil {
		user := filepath.Join(home, ".config", "containers", "registries.conf")
		dirs = append(dirs, user+".d")
		if _, err := os.Stat(user); err == nil { // then the system's files are ignored
			main, dirs = user, dirs[1:]
		}
	}
	var files []string
	if _, err := os.Stat(main); err == nil {
		files = append(files, main)
	}
	for _, d := range dirs {
		entries, _ := os.ReadDir(d) // most hosts have no such directory
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".conf") {
				files = append(files, filepath.Join(d, e.Name()))
			}
		}
	}
	return files
}

// readRegistries reads the [[registry]] tables of a file. It rejects what podman and skopeo
// reject.
func readRegistries(name string) ([]oci.Registry, error) {
	type endpoint struct {
		Location string `toml:"location"`
		Insecure bool   `toml:"insecure"`
		Pull     string `toml:"pull-from-mirror"`
	}
	var conf struct {
		Registries []struct {
			endpoint
			Prefix   string     `toml:"prefix"`
			Blocked  bool       `toml:"blocked"`
			ByDigest bool       `toml:"mirror-by-digest-only"`
			Mirrors  []endpoint `toml:"mirror"`
		} `toml:"registry"`
		// The lists of version 1 of the format.
		V1 struct {
			Insecure struct{ Registries []string } `toml:"insecure"`
			Block    struct{ Registries []string } `toml:"block"`
		} `toml:"registries"`
	}
	if _, err := toml.DecodeFile(name, &conf); err != nil {
		if file := (*fs.PathError)(nil); errors.As(err, &file) {
			err = file.Err
		}
		return nil, err
	}
	var list []oci.Registry
	for _, r := range conf.V1.Insecure.Registries {
		list = override(list, []oci.Registry{{Prefix: location(r), Insecure: true}})
	}
	for _, r := range conf.V1.Block.Registries {
		list = override(list, []oci.Registry{{Prefix: location(r), Blocked: true}})
	}
	byLocation := map[string]oci.Registry{}
	var tables []oci.Registry
	for _, r := range conf.Registries {
		out := oci.Registry{
			Prefix: cmp.Or(location(r.Prefix), location(r.Location)), Location: location(r.Location),
			Insecure: r.Insecure, Blocked: r.Blocked,
		}
		at := cmp.Or(out.Location, out.Prefix)
		same, ok := byLocation[at]
		switch {
		case out.Prefix == "":
			return nil, errors.New("a [[registry]] has neither prefix nor location")
		case out.Location == "" && !strings.HasPrefix(out.Prefix, "*."):
			return nil, fmt.Errorf("registry %s has a prefix but no location, which only a prefix such as *.example.com allows; add location = %q", out.Prefix, out.Prefix)
		case hasScheme(out.Prefix) || hasScheme(out.Location):
			return nil, fmt.Errorf("registry %s: remove http:// or https://; for HTTP, set insecure = true", out.Prefix)
		case r.Pull != "":
			return nil, fmt.Errorf("registry %s: pull-from-mirror applies only to a [[registry.mirror]]", out.Prefix)
		case ok && (same.Insecure != out.Insecure || same.Blocked != out.Blocked):
			return nil, fmt.Errorf("location %s appears twice, and the values of insecure or blocked differ", at)
		}
		byLocation[at] = out
		for _, m := range r.Mirrors {
			use, ok := map[string]oci.MirrorUse{
				"": oci.DigestsAndTags, "all": oci.DigestsAndTags, "digest-only": oci.Digests, "tag-only": oci.Tags,
			}[m.Pull]
			switch {
			case m.Location == "":
				return nil, fmt.Errorf("a mirror of registry %s has no location", out.Prefix)
			case hasScheme(m.Location):
				return nil, fmt.Errorf("mirror %s of registry %s: remove http:// or https://; for HTTP, set insecure = true", m.Location, out.Prefix)
			case !ok:
				return nil, fmt.Errorf("mirror %s of registry %s: pull-from-mirror %q is not all, digest-only or tag-only", m.Location, out.Prefix, m.Pull)
			case r.ByDigest && m.Pull != "":
				return nil, fmt.Errorf("mirror %s of registry %s: pull-from-mirror and mirror-by-digest-only exclude each other; remove one", m.Location, out.Prefix)
			case r.ByDigest:
				use = oci.Digests
			}
			out.Mirrors = append(out.Mirrors, oci.Mirror{Location: location(m.Location), Insecure: m.Insecure, Use: use})
		}
		if !slices.ContainsFunc(tables, func(t oci.Registry) bool { return t.Prefix == out.Prefix }) {
			tables = append(tables, out) // the first of a file applies
		}
	}
	return override(list, tables), nil
}

// hasScheme reports whether a location is a URL.
func hasScheme(location string) bool {
	return strings.HasPrefix(location, "http://") || strings.HasPrefix(location, "https://")
}

// location converts a location to a prefix of references.
func location(text string) string { return strings.TrimRight(text, "/") }
