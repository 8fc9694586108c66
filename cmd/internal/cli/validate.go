package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/olmkit/olmkit/fbc"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/internal/buildversion"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/bundlelint"
)

func newValidate(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate CATALOG|BUNDLE",
		Short: "Check a catalog or a bundle and list all its faults",
		Long: `Validate checks a catalog: a directory, one file, or - for standard input. It also
checks a bundle: a directory with manifests/ and metadata/, or its image. It lists
every finding with its file and line. Errors are faults; warnings are legal content
that strands or surprises users. "olmkit explain CODE" describes each kind of finding.

With --base, the catalog before a change, the upgrades that the change adds are
judged as by "olmkit impact": what breaks is an error, what an administrator should
read a warning. The manifests of bundles come from the catalog, from --bundles or,
with --pull, from their images.

Exit codes: 0 the catalog is valid (warnings may be listed), 1 there are errors,
2 the catalog could not be read.`,
		Example: `  olmkit validate ./catalog
  olmkit validate ./catalog/etcd/catalog.yaml -o json
  olmkit validate ./catalog -o sarif > olmkit.sarif
  olmkit validate ./catalog --base ./base/catalog --bundles ./operators
  olmkit validate ./etcd/0.9.4 --kube-version 1.34
  olmkit explain stranded`,
	}
	f := addFormats(cmd, "sarif for code scanners, github for workflow annotations", string(fbcreport.SARIF), string(fbcreport.GitHub))
	from := addCatalog(cmd)
	cmd.ValidArgsFunction = from.completeCatalog()
	kubeVersion := cmd.Flags().String("kube-version", "", "the Kubernetes `VERSION` that a bundle is for (default: "+bundlelint.Newest().String()+")")
	edges, reading := &newEdges{}, addReading(cmd)
	cmd.Flags().StringVar(&edges.base, "base", "", "judge the upgrades that `CATALOG`, the catalog before a change, does not have")
	cmd.Flags().StringVar(&edges.tree, "bundles", "", "with --base, the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog")
	cmd.Flags().BoolVar(&edges.pull, "pull", false, "with --base, also read bundle images")
	quiet := cmd.Flags().Bool("no-warnings", false, "list errors only")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		special := fbcreport.Format(*f) == fbcreport.SARIF || fbcreport.Format(*f) == fbcreport.GitHub
		catalog, err := from.alone(args)
		if err != nil {
			return err
		}
		edges.reading = *reading
		switch {
		case edges.base == "" && (edges.tree != "" || edges.pull || cmd.Flags().Changed("reading")):
			return usagef("--bundles, --pull and --reading apply to --base; add the catalog before the change")
		case edges.base != "" && (catalog == stdinPath || edges.base == stdinPath):
			return usagef("--base needs catalogs that can be read again; name files instead of standard input")
		}
		lint := &bundlelint.Options{Limits: e.limits.forBundles(), Catalog: e.limits.fbc()}
		if *kubeVersion != "" {
			if lint.Kubernetes, err = version.ParseGeneric(*kubeVersion); err != nil {
				return usagef("--kube-version %q: write a version such as 1.34", *kubeVersion)
			}
		}
		r, err := validate(cmd.Context(), newLoader(e), catalog, lint, edges, *quiet)
		if err != nil {
			return err
		}
		if special {
			out := e.stdout
			if fbcreport.Format(*f) == fbcreport.SARIF {
				out = machine(out)
			}
			err = fbcreport.Write(cmd.Context(), out, fbcreport.Format(*f), r.Findings, &fbcreport.Options{Prefix: r.dir(), ToolVersion: buildversion.Read().Version})
		} else {
			err = (&printer{w: e.stdout, format: *f}).print(r)
		}
		if err != nil {
			return err
		}
		switch {
		case slices.ContainsFunc(r.Findings, func(d *fbc.Diagnostic) bool { return d.Code == codes.Unreadable }):
			return errReported
		case !r.Valid:
			return errNegative
		}
		return nil
	}
	return cmd
}

// A report is the result of validating a catalog or a bundle.
type report struct {
	Path  string `json:"path"`
	Valid bool   `json:"valid"`
	// Bundle is the name of the bundle, if the path is that of a bundle that can be read.
	Bundle string `json:"bundle,omitempty"`
	// The numbers of loaded packages, channels and bundles.
	Packages int             `json:"packages"`
	Channels int             `json:"channels"`
	Bundles  int             `json:"bundles"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Findings fbc.Diagnostics `json:"findings"`

	source string
	lint   *bundlelint.Options
	edges  *newEdges
	files  fs.FS // nil if they cannot be read again
	loaded bool
}

// validate returns a report on the catalog or bundle at a path. It returns an error if nothing
// at that path can be read.
func validate(ctx context.Context, l *loader, catalog string, lint *bundlelint.Options, edges *newEdges, errorsOnly bool) (*report, error) {
	r := &report{Path: display(catalog), source: catalog, lint: lint, edges: edges}
	found, err := r.check(ctx, l)
	if err != nil {
		return nil, err
	}
	if errorsOnly {
		found = found.Errors()
	}
	if r.files != nil {
		found = fbcreport.Locate(ctx, r.files, found)
	}
	r.Findings, r.Errors, r.Warnings = found, len(found.Errors()), len(found.Warnings())
	r.Valid = r.Errors == 0
	return r, nil
}

// check runs all checks.
func (r *report) check(ctx context.Context, l *loader) (fbc.Diagnostics, error) {
	files, closer, err := l.bundleFiles(ctx, r.source)
	if err != nil {
		return nil, err
	}
	if files != nil {
		defer closer.Close()
		if r.edges.base != "" {
			return nil, usagef("--base applies to catalogs; compare bundles with \"olmkit impact OLD NEW\"")
		}
		out, err := bundlelint.Lint(ctx, files, r.lint)
		if err != nil {
			return nil, err
		}
		r.Bundle = out.Name
		return fbcreport.Locate(ctx, files, out.Findings), nil
	}
	blobs, found, files, err := l.check(ctx, r.source, false)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &catalogError{r.source, err}
	}
	r.files = files
	if r.loaded = blobs.Len() > 0; r.loaded {
		r.Packages, r.Channels, r.Bundles = len(blobs.PackageNames()), len(blobs.Channels), len(blobs.Bundles)
	}
	if r.edges.base == "" || !r.loaded {
		return found, nil
	}
	r.edges.blobs = blobs
	upgrades, err := r.edges.judge(ctx, l.env, r.source)
	return append(found, upgrades...), err
}

func (r *report) text(w io.Writer) error {
	dir := r.dir()
	for _, f := range r.Findings {
		d := *f
		if d.Pos.IsValid() {
			d.Pos.File = path.Join(dir, d.Pos.File)
		}
		if f.FieldLine > 0 {
			d.Pos.Line = f.FieldLine
		}
		color := red
		if f.Severity == fbc.Warning {
			color = yellow
		}
		if _, err := visible.Fprintf(w, "%s %s\n", &d, paint(w, color, fmt.Sprintf("[%s %s]", f.Severity, f.Code))); err != nil {
			return err
		}
	}
	if len(r.Findings) > manyFindings {
		if err := r.summary(w); err != nil {
			return err
		}
	}
	verdict := "is valid"
	if !r.Valid {
		verdict = "is not valid"
	}
	switch {
	case r.Bundle != "":
		verdict += ": bundle " + r.Bundle
	case r.loaded:
		verdict += fmt.Sprintf(": %s, %s, %s", phrase.Count(r.Packages, "package"), phrase.Count(r.Channels, "channel"), phrase.Count(r.Bundles, "bundle"))
	}
	if r.Errors+r.Warnings > 0 {
		verdict += fmt.Sprintf("; %s, %s", phrase.Count(r.Errors, "error"), phrase.Count(r.Warnings, "warning"))
	}
	_, err := visible.Fprintf(w, "%s %s\n", r.Path, verdict)
	return err
}

// manyFindings is the number of findings above which they are also counted by code.
const manyFindings = 20

// summary writes how many findings have each code, errors and frequent ones first.
func (r *report) summary(w io.Writer) error {
	type kind struct {
		severity fbc.Severity
		code     fbc.Code
	}
	count := map[kind]int{}
	packages := map[kind]map[string]bool{}
	var kinds []kind
	for _, f := range r.Findings {
		k := kind{f.Severity, f.Code}
		if count[k]++; count[k] == 1 {
			kinds, packages[k] = append(kinds, k), map[string]bool{}
		}
		if f.Package != "" {
			packages[k][f.Package] = true
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(count[b], count[a]), cmp.Compare(a.code, b.code))
	})
	titles := map[fbc.Code]string{}
	for _, x := range fbc.Explanations() {
		titles[x.Code] = x.Title
	}
	t := table{header: []string{"FINDINGS", "PACKAGES", "SEVERITY", "CODE", "MEANING"}}
	for _, k := range kinds {
		t.add(strconv.Itoa(count[k]), strconv.Itoa(len(packages[k])), k.severity.String(), string(k.code), titles[k.code])
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := t.text(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// dir returns the directory that positions are relative to, so that the printed
// paths can be opened.
func (r *report) dir() string {
	if r.source == stdinPath || r.source == samplePath {
		return ""
	}
	if ref, ok := referenceOf(r.source); ok {
		return ref.dir()
	}
	if info, err := os.Stat(r.source); err == nil && !info.IsDir() {
		return filepath.ToSlash(filepath.Dir(r.source))
	}
	return filepath.ToSlash(r.source)
}
