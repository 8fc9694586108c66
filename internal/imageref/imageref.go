// Package imageref checks references to images.
package imageref

import (
	_ "crypto/sha256" // register the algorithms that digests are checked for
	_ "crypto/sha512"
	"errors"
	"fmt"
	"strings"

	imageref "github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// Check returns an error for an invalid image reference (A17). Like opm, it accepts references such as
// "quay.io/org/name:tag" and "quay.io/org/name@sha256:…". opm and most registry clients use an older version of the
// parser, which does not accept IPv6 addresses, treats a first component with upper-case letters as a registry only if
// it has a dot or a port, and limits the combined length of name and registry. Check applies the same restrictions.
func Check(image string) error {
	if plain(image) {
		return nil
	}
	return check(image)
}

// check is Check for references of any form.
func check(image string) error {
	if image == "" {
		return errors.New("is missing or empty; write a reference such as quay.io/org/name:tag")
	}
	rest, d, hasDigest := strings.Cut(image, "@")
	if hasDigest {
		if err := digest.Digest(d).Validate(); err != nil {
			return fmt.Errorf("image %q has an invalid digest: %w; write sha256: and 64 lower-case hexadecimal digits", image, err)
		}
	}
	if registry, after, ok := strings.Cut(rest, "/"); ok && strings.ContainsAny(registry, ".:") {
		rest = after
	}
	if name, _, _ := strings.Cut(rest, ":"); strings.ToLower(name) != name {
		return fmt.Errorf("image %q has upper-case letters in its name; registries have only lower-case names", image)
	}
	if strings.HasPrefix(image, "[") {
		return fmt.Errorf("image %q names its registry by an IPv6 address, which many clients do not accept; use the host name", image)
	}
	named, err := imageref.ParseNormalizedNamed(image)
	if err == nil && len(named.Name()) > imageref.RepositoryNameTotalLengthMax {
		err = imageref.ErrNameTooLong
	}
	if err != nil {
		return fmt.Errorf("image %q: %w; write a reference such as quay.io/org/name:tag", image, err)
	}
	return nil
}
