package oci

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/google/go-containerregistry/pkg/authn"
)

// An AuthFile is a keychain that reads the credentials file at this path, in the format
// of docker and podman. The file is read for each pull, so credentials can be renewed
// without a restart. Credential helpers named in the file are run.
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
		return nil, &CredentialsError{string(f), err}
	}
	return file, nil
}

// Resolve returns the credentials for a repository: those for the longest prefix of its
// name that has any, or else those for its registry.
func (f AuthFile) Resolve(target authn.Resource) (authn.Authenticator, error) {
	file, err := f.read()
	if err != nil {
		return nil, err
	}
	auth, err := credentials(file, target)
	if err != nil {
		return nil, &CredentialsError{string(f), err}
	}
	return auth, nil
}

// An AuthText is a keychain that holds the content of such a file, for example from a
// pull secret. Credential helpers named in it are not run.
type AuthText []byte

// Resolve is like [AuthFile.Resolve]. The error does not quote the content.
func (a AuthText) Resolve(target authn.Resource) (authn.Authenticator, error) {
	file, err := config.LoadFromReader(bytes.NewReader(a))
	if err != nil {
		return nil, &CredentialsError{"", errors.New("not in the format of docker's config.json")} // the cause is left out, because it may quote the content
	}
	file.CredentialsStore, file.CredentialHelpers = "", nil
	return credentials(file, target)
}

func credentials(file *configfile.ConfigFile, target authn.Resource) (authn.Authenticator, error) {
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
			return nil, err
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
