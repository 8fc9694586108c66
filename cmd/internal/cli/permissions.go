package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/internal/buildversion"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/permissions"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// anyRisk is the value of --fail-on for all codes.
const anyRisk = "any"

func newPermissions(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions BUNDLE|CATALOG+PACKAGE[@VERSION]",
		Short: "List what an operator may do, and which permissions are dangerous",
		Long: `Permissions lists what each service account of an operator may do once its bundle is
installed, cluster-wide and in each namespace, and warns of what is dangerous:
wildcards, access to secrets, nodes or pods, and ways to get further permissions.
"olmkit explain CODE" describes each risk.

  BUNDLE                     a bundle directory, with manifests/ and metadata/, or a
                             bundle image
  CATALOG+PACKAGE            the head of the default channel of a package
  CATALOG+PACKAGE@VERSION    one of its versions. The catalog must have the
                             manifests (olm.bundle.object); otherwise name the
                             image of the bundle

Roles and bindings in the bundle are included. If a binding names a role that is not
in the bundle, its rules are unknown, unless it is cluster-admin.

Exit codes: 0 the permissions were listed, 1 there is a risk that --fail-on names,
2 the bundle could not be read.`,
		Example: `  olmkit permissions ./etcd/0.9.4
  olmkit permissions ./etcd/0.9.4 --fail-on grants-wildcard,grants-secrets
  olmkit permissions ./etcd/0.9.4 --olm classic -n operators --watch-namespace apps -o json`,
	}
	var (
		opts   permissions.Options
		failOn []string
	)
	system := "v1"
	f := addFormats(cmd, "sarif for code scanners", string(fbcreport.SARIF))
	fl := cmd.Flags()
	fl.StringVarP(&opts.Namespace, "namespace", "n", "", "the `NAMESPACE` to install into (default: the name of the package)")
	addList(fl, &opts.Watch, "watch-namespace", "", "a `NAMESPACE` that the operator watches (repeatable with --olm classic; default: all, if the bundle supports that)")
	addChoice(cmd, &system, "olm", "", "which OLM installs the bundle", "v1", "classic")
	fl.StringSliceVar(&failOn, "fail-on", nil, "exit with status 1 if there is a risk with one of these `CODES`, or any")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("name one bundle directory or image, or CATALOG+PACKAGE")
		}
		for _, code := range failOn {
			if len(listCodes().pages(code)) == 0 && code != anyRisk {
				return usagef("--fail-on %q is not a code%s", code, hint(code, listCodes().codes()))
			}
		}
		opts.Classic = system == "classic"
		r, at, err := permissionsOf(cmd.Context(), e, args[0], opts)
		if err != nil {
			return err
		}
		if *f == format(fbcreport.SARIF) {
			err = fbcreport.Write(cmd.Context(), machine(e.stdout), fbcreport.SARIF, r.findings(at), &fbcreport.Options{ToolVersion: buildversion.Read().Version})
		} else {
			err = (&printer{w: e.stdout, format: *f}).print(r)
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Risks, func(x permissions.Risk) bool {
			return slices.Contains(failOn, anyRisk) || slices.Contains(failOn, string(x.Code))
		}) {
			return errNegative
		}
		return nil
	}
	return cmd
}

// permissionsOf returns what a bundle allows, and the place that grants it.
func permissionsOf(ctx context.Context, e *env, arg string, opts permissions.Options) (*allowed, fbc.Pos, error) {
	m := &manifests{env: e}
	b, dir, err := m.bundle(ctx, arg)
	if err != nil {
		return nil, fbc.Pos{}, m.refused(dir, err, errReported)
	}
	if err := opts.Possible(b); err != nil {
		return nil, fbc.Pos{}, err
	}
	r, err := permissions.Of(b, opts)
	if err != nil {
		return nil, fbc.Pos{}, err
	}
	if !opts.Classic {
		if err := warnRefused(ctx, e, b); err != nil {
			return nil, fbc.Pos{}, err
		}
	}
	at := b.CSVs[len(b.CSVs)-1].At("spec", "install")
	at.File = path.Join(filepath.ToSlash(dir), at.File)
	return (*allowed)(r), at, nil
}

// warnRefused prints a note if OLM v1 does not install a bundle.
func warnRefused(ctx context.Context, e *env, b *registryv1.Bundle) error {
	verdict, err := registryv1.Eligible(ctx, nil, b, registryv1.EligibleOptions{Certificates: registryv1.CertManager})
	if err != nil || len(verdict.Problems) == 0 {
		return err
	}
	classic := ""
	if registryv1.ClassicAccepts(verdict.Problems) {
		classic = "; classic OLM accepts it (--olm classic)"
	}
	visible.Fprintf(e.stderr, "note: OLM v1 refuses the bundle%s; olmkit eligible lists the reasons\n", classic)
	return nil
}

// An allowed is a report of what an operator may do, with a method that prints it.
type allowed permissions.Report

// findings returns the risks as findings at a place.
func (a *allowed) findings(at fbc.Pos) (out fbc.Diagnostics) {
	for _, risk := range a.Risks {
		out = append(out, &fbc.Diagnostic{Code: risk.Code, Severity: risk.Code.Severity(), Pos: at, Err: errors.New(risk.Message)})
	}
	return out
}

func (a *allowed) text(w io.Writer) error {
	out := proseWriter(w)
	out.Line(nil, fmt.Sprintf("Permissions of bundle %s of package %s", a.Bundle, a.Package), "", "")
	for i, role := range a.Roles {
		if i == 0 || role.Subject != a.Roles[i-1].Subject || role.Namespace != a.Roles[i-1].Namespace {
			where := "in all namespaces and cluster-wide"
			if role.Namespace != "" {
				where = "in namespace " + role.Namespace
			}
			out.Blank()
			out.Line(nil, role.Subject+", "+where+":", "", "  ")
		}
		for _, rule := range role.Rules {
			out.Line(nil, rule.String(), "  ", "    ")
		}
		if role.Outside != "" {
			out.Line(nil, "what role "+role.Outside+" allows, which has rules from outside of the bundle", "  ", "    ")
		}
	}
	if len(a.Roles) == 0 {
		out.Blank()
		out.Line(nil, "None.", "", "")
	}
	if len(a.Risks) > 0 {
		out.Blank()
		out.Line(nil, "Risks:", "", "")
	}
	for _, risk := range a.Risks {
		if risk.Included() {
			continue
		}
		code := "[" + string(risk.Code) + "]"
		out.Line(paintEnd(w, yellow, code), risk.Message+" "+code, "  ", "    ")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
