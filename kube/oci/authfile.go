package oci

import (
	"fmt"
	"os"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/google/go-containerregistry/pkg/authn"
)

// An AuthFile is the path of a file with credentials, in the format of docker
// and podman, as a keychain. The file is read for each pull, so that credentials
// can be renewed without a restart. Credential helpers that it names are run.
type AuthFile string

// Check returns an error if the file cannot be read.
func (f AuthFile) Check() error {
	_, err := f.read()
	return err
}

func (f AuthFile) read() (*configfile.ConfigFile, error) {
	r, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	file, err := config.LoadFromReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", string(f), err)
	}
	return file, nil
}

// Resolve returns the credentials for a repository, for the longest prefix of it
// that has some, or for its registry.
func (f AuthFile) Resolve(target authn.Resource) (authn.Authenticator, error) {
	file, err := f.read()
	if err != nil {
		return nil, err
	}
	for key := target.String(); ; {
		at := strings.LastIndexByte(key, '/')
		if at < 0 {
			key = target.RegistryStr()
		}
		name := key
		if key == "index.docker.io" {
			name = authn.DefaultAuthKey
		}
		c, err := file.GetAuthConfig(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", string(f), err)
		}
		if c.Username != "" || c.Password != "" || c.IdentityToken != "" || c.RegistryToken != "" || c.Auth != "" {
			return authn.FromConfig(authn.AuthConfig{
				Username: c.Username, Password: c.Password, Auth: c.Auth,
				IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken,
			}), nil
		}
		if at < 0 {
			return authn.Anonymous, nil
		}
		key = key[:at]
	}
}
