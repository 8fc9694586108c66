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

// registries returns where images are pulled from, as files with the mirror sets of
// OpenShift have it, and otherwise as podman and skopeo do on this host.
func registries(mirrors []string) ([]oci.Registry, error) {
	var list []oci.Registry
	for _, name := range mirrors {
		sets, err := readMirrorSets(name)
		if err != nil {
			return nil, fmt.Errorf("--mirrors %s: %v", name, err) // not a catalog that does not exist
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

// override returns the registries of two lists. The later list replaces those of the
// same prefix.
func override(list, later []oci.Registry) []oci.Registry {
	list = slices.DeleteFunc(list, func(r oci.Registry) bool {
		return slices.ContainsFunc(later, func(l oci.Registry) bool { return l.Prefix == r.Prefix })
	})
	return append(list, later...)
}

// registriesFiles returns the files of containers-registries.conf(5), in the order in
// which the later override the earlier.
func registriesFiles() []string {
	if name := os.Getenv("CONTAINERS_REGISTRIES_CONF"); name != "" {
		return []string{name}
	}
	main, dirs := "/etc/containers/registries.conf", []string{"/etc/containers/registries.conf.d"}
	if home, err := os.UserHomeDir(); err == nil {
		user := filepath.Join(home, ".config", "containers", "registries.conf")
		dirs = append(dirs, user+".d")
		if _, err := os.Stat(user); err == nil { // then those of the system do not count
			main, dirs = user, dirs[1:]
		}
	}
	var files []string
	if _, err := os.Stat(main); err == nil {
		files = append(files, main)
	}
	for _, d := range dirs {
		entries, _ := os.ReadDir(d) // which most hosts lack
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".conf") {
				files = append(files, filepath.Join(d, e.Name()))
			}
		}
	}
	return files
}

// readRegistries reads the [[registry]] tables of a file.
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
	}
	if _, err := toml.DecodeFile(name, &conf); err != nil {
		if file := (*fs.PathError)(nil); errors.As(err, &file) {
			err = file.Err
		}
		return nil, err
	}
	var list []oci.Registry
	for _, r := range conf.Registries {
		out := oci.Registry{
			Prefix: cmp.Or(location(r.Prefix), location(r.Location)), Location: location(r.Location),
			Insecure: r.Insecure, Blocked: r.Blocked,
		}
		if out.Prefix == "" {
			return nil, errors.New("a [[registry]] has neither prefix nor location")
		}
		for _, m := range r.Mirrors {
			use, ok := map[string]oci.MirrorUse{
				"": oci.DigestsAndTags, "all": oci.DigestsAndTags, "digest-only": oci.Digests, "tag-only": oci.Tags,
			}[m.Pull]
			switch {
			case m.Location == "":
				return nil, fmt.Errorf("a mirror of registry %s has no location", out.Prefix)
			case !ok:
				return nil, fmt.Errorf("mirror %s of registry %s: pull-from-mirror %q is not all, digest-only or tag-only", m.Location, out.Prefix, m.Pull)
			case r.ByDigest:
				use = oci.Digests
			}
			out.Mirrors = append(out.Mirrors, oci.Mirror{Location: location(m.Location), Insecure: m.Insecure, Use: use})
		}
		list = override(list, []oci.Registry{out})
	}
	return list, nil
}

// location returns a location as a prefix of references.
func location(text string) string { return strings.TrimRight(text, "/") }
