package cli

import (
	"errors"
	"io/fs"
	"strings"

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
		return "catalog " + visible.Line(server.Error())
	}
	if errors.Is(e.err, fs.ErrNotExist) {
		return "catalog " + display(e.path) + " does not exist; name a directory of .yaml or .json files, or one such file"
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

// registryAdvice returns the fix for the error of a registry.
func registryAdvice(e *oci.RegistryError) string {
	switch e.Fault {
	case oci.FaultCredentials:
		return "; check the name, and log in with \"podman login " + e.Registry + "\", or name a file with credentials with --authfile"
	case oci.FaultName:
		return "; check the repository and the tag"
	case oci.FaultTrust:
		return "; name the certificate authority with --ca-file"
	case oci.FaultNetwork:
		return "; check the host and the proxy (HTTPS_PROXY)"
	case oci.FaultBusy:
		return "; try again later, or log in for a higher limit"
	case oci.FaultServer:
		return "; try again later"
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
