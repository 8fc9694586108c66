package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
)

// A catalogError reports that the catalog at a path cannot be used.
type catalogError struct {
	path string
	err  error
}

func (e *catalogError) Error() string {
	if image := (*oci.Error)(nil); errors.As(e.err, &image) {
		return (&imageError{"catalog", e.path, e.err}).Error()
	}
	if server := (*catalogd.Error)(nil); errors.As(e.err, &server) {
		if full := fullDisk(e.err); full != "" {
			return "catalog " + display(e.path) + ": " + full
		}
		return string(visible.Line(server.Error())) + serverAdvice(server)
	}
	if errors.Is(e.err, fs.ErrNotExist) {
		return "catalog " + display(e.path) + " does not exist; " + pathAdvice(e.path)
	}
	return unusable("catalog", e.path, e.err, `; "olmkit validate" lists them all`)
}

func (e *catalogError) Unwrap() error { return e.err }

func (e *catalogError) Lists() {} // see errorText

// A sourceError reports that a bundle directory or a template cannot be rendered.
type sourceError struct {
	what, path string
	err        error
}

func (e *sourceError) Error() string { return unusable(e.what, e.path, e.err, "") }

func (e *sourceError) Unwrap() error { return e.err }

func (e *sourceError) Lists() {} // see errorText

// maxFindings is how many findings an error lists before it counts the rest.
const maxFindings = 10

// unusable returns the error for something invalid at a path: the first findings, one per
// line, or another error on one line. all is the advice that follows truncated findings.
func unusable(what, path string, err error, all string) string {
	name := what + " " + display(path)
	var findings fbc.Diagnostics
	var file *fs.PathError
	switch {
	case errors.As(err, &findings):
		return string(listed(visible.Block(name), findings, all))
	case errors.As(err, &file):
		return name + ": " + visible.Line(file.Err.Error())
	}
	return name + ": " + visible.Line(err.Error())
}

// listed returns the first findings after a name: a single one on the same line, several on
// separate lines.
func listed(name visible.Block, findings fbc.Diagnostics, all string) visible.Block {
	if len(findings) == 1 {
		return name + ": " + visible.Block(visible.Line(findings[0].Error()))
	}
	var b strings.Builder
	counts := phrase.Count(len(findings.Errors()), "error")
	if n := len(findings.Warnings()); n > 0 {
		counts += " and " + phrase.Count(n, "warning")
	}
	visible.Fprintf(&b, "%s has %s:", name, counts)
	for i, d := range findings {
		if i == maxFindings {
			visible.Fprintf(&b, "\n  and %d more%s", len(findings)-i, all)
			break
		}
		severity := ""
		if d.Severity == fbc.Warning {
			severity = "warning: "
		}
		visible.Fprintf(&b, "\n  %s%v", severity, d)
	}
	return visible.Block(b.String())
}

// fullDisk returns the message for an error that means that the cache has no space left, or
// "" for other errors.
func fullDisk(err error) string {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if !errors.Is(err, cause) {
			continue
		}
		where := "the cache"
		if file := (*fs.PathError)(nil); errors.As(err, &file) {
			where = "the cache in " + display(filepath.Dir(file.Path))
		}
		return where + " cannot be written: " + cause.Error() + "; free space, or name another directory with --cache-dir"
	}
	return ""
}

// pathAdvice returns the fix for a path that does not exist.
func pathAdvice(path string) string {
	transport, rest, _ := strings.Cut(path, ":")
	switch transport {
	case "containers-storage":
		return "to read an image of podman or buildah, run \"podman save IMAGE | olmkit … docker-archive:-\""
	case "docker-daemon":
		return "to read an image of docker, run \"docker save IMAGE | olmkit … docker-archive:-\""
	case "docker":
		return "for the image, write " + registryScheme + display(strings.TrimLeft(rest, "/"))
	}
	advice := "name a directory of .yaml or .json files, or one such file"
	if isBareImage(path + ":tag") {
		advice += "; for an image, add its tag: " + display(path) + ":TAG"
	}
	return advice
}

// serverAdvice returns the fix for the error of a server.
func serverAdvice(e *catalogd.Error) string {
	var status *catalogd.StatusError
	switch {
	case errors.As(e.Err, &status) && status.Code < 500, errors.Is(e.Err, context.Canceled):
		return "" // the message suffices
	case isTrust(e.Err):
		return "; name the certificate authority with --ca-file"
	}
	return "; check the address, and that the server runs"
}

func isTrust(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}

// registryAdvice returns the fix for the error of a registry.
func registryAdvice(e *oci.RegistryError) string {
	switch e.Fault {
	case oci.FaultCredentials:
		return "; check the name, and log in with \"podman login " + e.Registry + "\", or name a file with credentials with --authfile"
	case oci.FaultName:
		return "; check the repository and the tag"
	case oci.FaultTrust:
		if !isTrust(e.Err) {
			return "; check the name of the host and the clock"
		}
		return "; name the certificate authority with --ca-file"
	case oci.FaultNetwork:
		if cut := (*oci.CutError)(nil); errors.As(e.Err, &cut) {
			return "; try again"
		}
		return "; check the host and the proxy (HTTPS_PROXY)"
	case oci.FaultBusy:
		return "; try again later, or log in for a higher limit"
	case oci.FaultServer:
		return "; try again later"
	case oci.FaultContent:
		return "; try again, and if the error persists, push the image again"
	}
	return ""
}

// An imageError reports that an image cannot be read.
type imageError struct {
	what, ref string
	err       error
}

func (e *imageError) Error() string {
	text := e.what + " " + display(e.ref) + ": "
	if errors.Is(e.err, errOffline) {
		return text + errOffline.Error()
	}
	if full := fullDisk(e.err); full != "" {
		return text + full
	}
	image := (*oci.Error)(nil)
	if !errors.As(e.err, &image) {
		return text + visible.Line(e.err.Error())
	}
	text += visible.Line(image.Err.Error())
	if refused := (*oci.RegistryError)(nil); errors.As(image.Err, &refused) {
		text += registryAdvice(refused)
	}
	return text
}

func (e *imageError) Unwrap() error { return e.err }
