package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/bundlelint"
	"github.com/olmkit/olmkit/kube/registryv1"
)

func newEligible(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eligible CATALOG[+PACKAGE[@VERSION]]|BUNDLE",
		Short: "List which bundles OLM v1 can install, and why not the others",
		Long: `Eligible reports whether OLM v1 can install bundles at all, in any namespace and
with any configuration, with every reason if it cannot: dependencies, owned API
services, webhooks without a provider of certificates, install modes, invalid
manifests, and objects that OLM v1 renders but can never apply. "olmkit validate"
lists all faults of a bundle directory.

  CATALOG                    the head of the default channel of every package, or
                             with --all every bundle
  CATALOG+PACKAGE            the head of the default channel of a package
  CATALOG+PACKAGE@VERSION    one of its versions
  BUNDLE                     a bundle directory, with manifests/ and metadata/, or a
                             bundle image

A catalog often has only an excerpt of the manifests (olm.csv.metadata). The
verdict "unknown" means that the excerpt shows no reason against the bundle, and
that its image was not checked. Name the image to check it.

Exit codes: 0 the list was printed, or OLM v1 installs the only bundle named; 1
it does not, for example because a manifest is invalid or too large; 2 there is no
such bundle or catalog, or the catalog could not be read; 3 the manifests of the
only bundle are unknown.`,
		Example: `  olmkit eligible ./catalog
  olmkit eligible ./catalog --all --verdict no -o json
  olmkit eligible ./catalog+etcd@0.9.4
  olmkit eligible ./etcd/0.9.4 --cert-provider none`,
	}
	q := &eligible{env: e}
	var provider, only string
	f := addFormat(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&q.all, "all", false, "list every bundle of the catalog instead of heads")
	addChoice(cmd, &only, "verdict", "", "list only bundles with this verdict (default: all)", "", verdictYes, verdictNo, verdictUnknown)
	provider = registryv1.CertManager.String()
	addChoice(cmd, &provider, "cert-provider", "", "what provides certificates for webhooks", "cert-manager", "service-ca", "none")
	fl.BoolVar(&q.opts.AllNamespaces, "all-namespaces-only", false, "refuse bundles that cannot watch all namespaces, as OLM v1 does without SingleOwnNamespaceInstallSupport")
	fl.BoolVar(&q.opts.AsUpstream, "as-upstream", false, "leave out faults that olmkit finds and OLM v1 does not")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("name one catalog, CATALOG+PACKAGE, or bundle")
		}
		q.opts.Certificates, _ = registryv1.ParseCertProvider(provider)
		q.opts.Limits = e.limits.forBundles()
		one, err := q.run(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		apart := one && *f == formatText && len(q.rows[0].Reasons) > 1
		if apart {
			q.rows[0].apart = true
		}
		var rows []row
		for _, r := range q.rows {
			if only == "" || r.Verdict == only {
				rows = append(rows, r)
			}
		}
		p := &printer{w: e.stdout, format: *f}
		if err := printRows(p, []string{"PACKAGE", "BUNDLE", "VERSION", "OLM V1", "WHY"}, rows); err != nil {
			return err
		}
		if apart && len(rows) > 0 {
			if err := writeNotes(e.stdout, "- ", q.rows[0].why(), func(text string) string { return text }); err != nil {
				return err
			}
		}
		switch {
		case one && q.rows[0].Verdict == verdictNo:
			return errNegative
		case one && q.rows[0].Verdict == verdictUnknown:
			return errUnchecked
		case !one && *f == formatText:
			q.summary()
		}
		return nil
	}
	return cmd
}

// The verdicts on a bundle.
const (
	verdictYes     = "yes"
	verdictNo      = "no"
	verdictUnknown = "unknown"
)

// An eligibleRow states whether OLM v1 installs a bundle at all.
type eligibleRow struct {
	Package string `json:"package"`
	Bundle  string `json:"bundle"`
	Version string `json:"version,omitempty"`
	// Verdict is yes, no, or unknown if nothing is against the bundle but its manifests were
	// not available.
	Verdict string `json:"verdict"`
	// Reasons are all reasons against the bundle that were found.
	Reasons []ineligible `json:"reasons,omitempty"`
	// Classic is set if classic OLM accepts a bundle that OLM v1 refuses.
	Classic bool `json:"classic,omitzero"`
	// Partial is set if the manifests were not available.
	Partial bool `json:"partial,omitzero"`
	// Image has the manifests of a bundle whose verdict is unknown.
	Image string `json:"image,omitempty"`

	apart bool // the reasons follow below the table
}

// An ineligible is a reason why OLM v1 does not install a bundle.
type ineligible struct {
	Stage   registryv1.Stage `json:"stage"`
	Code    string           `json:"code"`
	Subject string           `json:"subject,omitempty"`
	At      string           `json:"at,omitempty"`
	Message string           `json:"message"`
}

func (r eligibleRow) cells() []string {
	why := strings.Join(r.why(), "; ")
	if r.apart {
		why = phrase.Count(len(r.Reasons), "reason") + ":"
	}
	return []string{r.Package, r.Bundle, r.Version, r.Verdict, why}
}

// why returns the reasons for the verdict, and what else is known.
func (r eligibleRow) why() (why []string) {
	for _, x := range r.Reasons {
		if x.At != "" && (x.Stage == registryv1.StageRead || r.apart) {
			x.Message = x.At + ": " + x.Message
		}
		why = append(why, x.Message)
	}
	if r.Classic {
		why = append(why, "classic OLM accepts it")
	}
	switch {
	case r.Verdict != verdictUnknown:
	case r.Image == "":
		why = append(why, "the catalog lacks its manifests")
	default:
		why = append(why, "its manifests are only in its image; check them with olmkit eligible docker://"+r.Image)
	}
	return why
}

// eligible is one run of the command.
type eligible struct {
	*env
	opts registryv1.EligibleOptions
	all  bool
	rows []eligibleRow
}

// run fills q.rows. It returns true if the argument names a single bundle.
func (q *eligible) run(ctx context.Context, arg string) (one bool, err error) {
	l := newLoader(q.env)
	files, close, err := l.bundleFiles(ctx, arg)
	if err != nil {
		return true, err
	}
	if files != nil {
		defer close.Close()
		return true, q.directory(ctx, arg, files)
	}
	catalog, name := splitPackage(arg)
	blobs, err := l.keep(ctx, catalog)
	if err != nil {
		return false, notLoaded(ctx, catalog, err)
	}
	g, err := graph.Build(ctx, blobs, q.limits.graph())
	if err != nil {
		return false, notLoaded(ctx, catalog, err)
	}
	var found graph.Bundle
	if name != "" {
		if q.all {
			return false, usagef("--all lists every bundle of a catalog; name the catalog without +%s", display(name))
		}
		if found, err = chosen(g, name); err != nil {
			return false, fmt.Errorf("%s: %w", display(name), err)
		}
	}
	for _, blob := range blobs.Bundles {
		p, ok := g.Package(blob.Package)
		if !ok {
			continue
		}
		b, ok := p.Bundle(blob.Name)
		if !ok || name != "" && b != found || name == "" && !q.all && !isHead(p, b) {
			continue
		}
		if err := q.add(ctx, blob, nil, versionText(b), ""); err != nil {
			return false, err
		}
	}
	return name != "", nil
}

// splitPackage splits CATALOG+PACKAGE. The package is "" if the argument is a catalog.
func splitPackage(arg string) (catalog, name string) {
	for i := range len(arg) {
		if arg[i] != '+' {
			continue
		}
		if _, err := os.Stat(arg[:i]); err == nil || isReference(arg[:i]) {
			return arg[:i], arg[i+1:]
		}
	}
	return arg, ""
}

// isHead reports whether a bundle is the head of the default channel.
func isHead(p graph.Package, b graph.Bundle) bool {
	ch, ok := p.DefaultChannel()
	if !ok {
		return false
	}
	head, ok := ch.Head()
	return ok && head.Name() == b.Name()
}

// directory adds the bundle in a directory. Its dependencies are those that its blob in a
// catalog would have. Files that cannot be read are reasons against it.
func (q *eligible) directory(ctx context.Context, arg string, files fs.FS) error {
	m := &manifests{env: q.env}
	blob := &fbc.Bundle{}
	var faults fbc.Diagnostics
	dir, err := bundle.Load(ctx, files, &bundle.Options{Limits: q.limits.fbc()})
	switch {
	case err == nil:
		blob = dir.Bundle
	case !errors.As(err, &faults):
		return err
	}
	content, err := registryv1.Read(ctx, files, m.readOptions())
	var bad *registryv1.Error
	switch {
	case errors.As(err, &bad):
		q.refuse(eligibleRow{Package: blob.Package, Bundle: cmp.Or(blob.Name, path.Base(filepath.ToSlash(arg))), Verdict: verdictNo}, bad.Problems, arg)
		return nil
	case err != nil:
		return err
	}
	version := content.CSV().Spec.Version.String()
	if faults == nil {
		return q.add(ctx, blob, content, version, arg)
	}
	e, err := eligibility(ctx, nil, content, q.opts)
	if err != nil {
		return err
	}
	problems := e.Problems
	for _, d := range faults.Errors() {
		if len(e.Problems) == 0 || !bundlelint.Repeated(d) {
			problems = append(problems, registryv1.Problem{Stage: registryv1.StageRead, Code: string(d.Code), Pos: d.Pos, Message: "no catalog can have the bundle: " + d.Text()})
		}
	}
	q.refuse(eligibleRow{Package: content.Package, Bundle: content.CSV().Name, Version: version, Verdict: verdictNo}, problems, arg)
	return nil
}

// add adds a bundle. Dir is the prefix of the files in its problems.
func (q *eligible) add(ctx context.Context, blob *fbc.Bundle, content *registryv1.Bundle, version, dir string) error {
	e, err := eligibility(ctx, blob, content, q.opts)
	if err != nil {
		return err
	}
	r := eligibleRow{Package: blob.Package, Bundle: blob.Name, Version: version, Verdict: verdictYes, Partial: e.Partial}
	if e.Partial {
		r.Verdict = verdictUnknown
	}
	if e.Partial && len(e.Problems) == 0 {
		r.Image = blob.Image
	}
	q.refuse(r, e.Problems, dir)
	return nil
}

// eligibility returns whether OLM v1 installs a bundle at all. Unlike [registryv1.Eligible], it also
// has problems that OLM v1 has only once it applies the bundle.
func eligibility(ctx context.Context, blob *fbc.Bundle, content *registryv1.Bundle, opts registryv1.EligibleOptions) (*registryv1.Eligibility, error) {
	e, err := registryv1.Eligible(ctx, blob, content, opts)
	if err != nil || e.Partial || len(e.Problems) > 0 || opts.AsUpstream {
		return e, err
	}
	opts.AsUpstream = true
	return registryv1.Eligible(ctx, blob, content, opts)
}

// refuse adds a row with problems, which may be none. Dir is the prefix of their files.
func (q *eligible) refuse(r eligibleRow, problems []registryv1.Problem, dir string) {
	for _, p := range problems {
		r.Verdict = verdictNo
		at := ""
		if p.Pos.IsValid() {
			if dir != "" {
				p.Pos.File = path.Join(filepath.ToSlash(dir), p.Pos.File)
			}
			at = p.Pos.String()
		}
		r.Reasons = append(r.Reasons, ineligible{p.Stage, p.Code, p.Subject, at, visible.Line(p.Message)})
	}
	r.Classic = registryv1.ClassicAccepts(problems)
	q.rows = append(q.rows, r)
}

// summary prints how many bundles have each verdict.
func (q *eligible) summary() {
	n, classic := map[string]int{}, 0
	for _, r := range q.rows {
		if n[r.Verdict]++; r.Classic {
			classic++
		}
	}
	text := fmt.Sprintf("of %s, OLM v1 installs %d and refuses %d", phrase.Count(len(q.rows), "bundle"), n[verdictYes], n[verdictNo])
	if classic > 0 {
		text += fmt.Sprintf("; classic OLM accepts %d of the refused", classic)
	}
	if n[verdictUnknown] > 0 {
		text += fmt.Sprintf("; the catalog lacks the manifests to judge the other %d", n[verdictUnknown])
	}
	visible.Fprintf(q.stderr, "note: %s\n", text)
}
