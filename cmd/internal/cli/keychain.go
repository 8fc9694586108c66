package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/olmkit/olmkit/kube/oci"
)

// keychain returns the credentials for registries: those of --authfile or
// REGISTRY_AUTH_FILE alone, and otherwise those of podman and then of docker.
func (i *images) keychain() (authn.Keychain, error) {
	for _, only := range []struct{ name, file string }{
		{"--authfile", i.authFile}, {"REGISTRY_AUTH_FILE", os.Getenv("REGISTRY_AUTH_FILE")},
	} {
		if only.file != "" {
			k := oci.AuthFile(only.file)
			if err := k.Check(); err != nil {
				return nil, fmt.Errorf("%s: %v", only.name, err) // not wrapped, or a missing file would be reported as a missing catalog
			}
			return k, nil
		}
	}
	var list []authn.Keychain
	for _, file := range authFiles() {
		if _, err := os.Stat(file); err == nil {
			list = append(list, oci.AuthFile(file))
		}
	}
	return authn.NewMultiKeychain(list...), nil
}

// authFiles returns the files in which podman and docker store credentials, in podman's
// order.
func authFiles() []string {
	var files []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	}
	home, _ := os.UserHomeDir()
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".config", "containers", "auth.json"))
	}
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		files = append(files, filepath.Join(dir, "config.json"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".docker", "config.json"))
	}
	return files
}
