// Package imageref checks references to images.
package imageref

import (
	"errors"
	"fmt"
	"strings"
)

// Check returns an error for an invalid image reference (A17). Like opm, it accepts references such as
// "quay.io/org/name:tag" and "quay.io/org/name@sha256:…". opm and most registry clients use an older version of the
// parser, which does not accept IPv6 addresses, treats a first component with upper-case letters as a registry only if
// it has a dot or a port, and limits the combined length of name and registry. Check applies the same restrictions.
func Check(image string) error {
	if image == "" {
		return errors.New("is missing or empty; write a reference such as quay.io/org/name:tag")
	}
	rest, d, hasDigest := strings.Cut(image, "@")
	if hasDigest {
		if err := checkDigest(d); err != nil {
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
	if err := checkReference(image); err != nil {
		return fmt.Errorf("image %q: %w; write a reference such as quay.io/org/name:tag", image, err)
	}
	return nil
}
