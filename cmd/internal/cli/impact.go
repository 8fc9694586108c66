package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/collect"
	"github.com/olmkit/olmkit/fbc"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/buildversion"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/registryv1"
)

func newImpact(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "impact {OLD NEW|CATALOG PACKAGE OLD NEW|CATALOG|--cluster [PACKAGE [NEW]]}",
		Short: "Show what an upgrade changes on a cluster",
		Long: `Impact compares the bundles before and after an upgrade, and lists what changes
on a cluster: objects, CRDs, permissions, webhooks, images, workloads and
requirements. Each change has a verdict: safe; look, if an administrator should
read it before approving the upgrade; or breaks, if the upgrade fails, loses
data or breaks users. "olmkit explain CODE" describes each code.

OLD and NEW are bundle directories, bundle images, or CATALOG+PACKAGE@VERSION
for a catalog that has the manifests (olm.bundle.object). After CATALOG and
PACKAGE they are versions or names of bundles. With --path, each upgrade on the
shortest path between them is shown, as classic OLM or OLM v1 finds it.

If a catalog is the only argument, every upgrade whose bundles are available is
judged. A table has the number of verdicts for each package, and the upgrades that
break something follow; with --package, also those to look at. -o markdown lists as
many of them as a comment holds; with -o sarif, each has a result for each code, at
its entry of the channel. The verdicts are kept in the cache, so the next run judges
only upgrades of new or changed bundles, and an interrupted command can be repeated.

With --cluster or --filename, OLD is what is installed in a cluster, and NEW what
OLM would install next: for one package, or for all operators. NEW can also be a
version or a bundle directory or image. The versions that the cluster stores and
the existing custom resources are checked against the new CRDs. Reading them needs
permission to list them; with --filename, include them in the files. --olm cannot
be given: the OLM that manages the operator is used.

The manifests of a bundle in a catalog come from its olm.bundle.object
properties, from --bundles, or else from its image. If a catalog is the only
argument, images are read only with --pull.

--olm classic compares the objects that classic OLM creates instead of those of
OLM v1.

Exit codes: 0 the upgrade was compared, 1 a verdict is at least --fail-on, 2 the
input could not be read, 3 of the operators of a cluster, some could not be compared,
such as one whose bundle image cannot be pulled from here; the output has the reason,
and no other verdict is at least --fail-on.`,
		Example: `  olmkit impact ./etcd/0.9.2 ./etcd/0.9.4
  olmkit impact ./etcd/0.9.2 ./etcd/0.9.4 -o markdown --fail-on breaks
  olmkit impact ./catalog etcd 0.9.0 0.9.4 --path --olm classic
  olmkit impact --cluster etcd --catalog community=./catalog
  olmkit impact ./catalog --bundles ./operators`,
	}
	i := newImpactRun(e)
	i.system, i.failOn = "v1", "never"
	i.state.addCluster(cmd)
	addCatalogs(cmd, &i.state.catalogs, "with --cluster, the content of a catalog, in place of what the cluster serves")
	i.format = addFormats(cmd, "markdown for a pull request, sarif for code scanners", string(formatMarkdown), string(fbcreport.SARIF))
	fl := cmd.Flags()
	fl.StringVarP(&i.opts.Namespace, "namespace", "n", "", "the `NAMESPACE` of the operator (default: the name of the package, or with --cluster all)")
	addList(fl, &i.opts.Watch, "watch-namespace", "", "a `NAMESPACE` that the operator watches (repeatable with --olm classic; default: all, if both bundles support that)")
	addChoice(cmd, &i.system, "olm", "", "which OLM upgrades the operator", "v1", "classic")
	addChoice(cmd, &i.failOn, "fail-on", "", "exit with status 1 if a verdict is at least this", string(impact.Breaks), string(impact.Look), "never")
	fl.BoolVar(&i.path, "path", false, "show each upgrade on the shortest path from OLD to NEW")
	fl.StringVar(&i.tree, "bundles", "", "the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog")
	fl.BoolVar(&i.pull, "pull", false, "if a catalog is the only argument, also read bundle images")
	addList(fl, &i.only, "package", "p", "if a catalog is the only argument, judge only this `PACKAGE` (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		defer collect.Less()()
		i.opts.Classic = i.system == "classic"
		switch {
		case i.state.given():
			return i.onCluster(cmd, args)
		case len(i.state.catalogs) > 0:
			return usagef("--catalog needs --cluster or --filename; name one catalog as the first argument")
		case len(i.opts.Watch) > 1 && !i.opts.Classic:
			return usagef("OLM v1 watches one namespace or all; give --watch-namespace once, or add --olm classic")
		case len(args) == 1:
			return i.catalog(cmd.Context(), args[0])
		case i.pull || len(i.only) > 0:
			return usagef("--pull and --package apply only if a catalog is the only argument; remove them, or name only a catalog")
		case len(args) == 2 && !i.path:
			return i.bundles(cmd.Context(), args[0], args[1])
		case len(args) == 4:
			return i.inCatalog(cmd.Context(), args[0], args[1], args[2], args[3])
		case len(args) == 2:
			return usagef("--path needs a catalog; name CATALOG PACKAGE OLD NEW")
		}
		return usagef("name two bundles, or CATALOG PACKAGE OLD NEW, or one catalog, or give --cluster")
	}
	return cmd
}

// impactRun is one run of the command.
type impactRun struct {
	*manifests
	opts           impact.Options
	format         *format
	system, failOn string
	path, pull     bool
	tree           string
	only           []string
	keep           bool          // whether the bundles of a package are still needed once its upgrades are judged
	store          *verdictStore // or nil
	state          clusterState

	out     printer
	reports int             // that were made
	found   fbc.Diagnostics // for SARIF, at most mostFindings
	dropped int             // the number of findings that are not in found
	prefix  string          // of their files
	verdict impact.Verdict  // the most serious so far
}

// mostFindings is the number of results that code scanners show.
const mostFindings = 5000

// newImpactRun returns a run without output, for a command that shows verdicts.
func newImpactRun(e *env) *impactRun {
	return &impactRun{manifests: &manifests{env: e, shared: &registryv1.Cache{}}, opts: impact.Options{Cache: &impact.Cache{}}}
}

// bundles compares two bundles.
func (i *impactRun) bundles(ctx context.Context, from, to string) error {
	if isDir(to) && !isBundleDir(to) && !isDir(from) && !isReference(from) {
		return swapped(from, to, "OLD", "NEW")
	}
	if isDir(from) && !isBundleDir(from) && !isDir(to) && !isReference(to) {
		return usagef("name versions too: olmkit impact %s %s OLD NEW; or judge all upgrades of the package: olmkit impact %s --package %s", display(from), display(to), display(from), display(to))
	}
	for _, arg := range []string{from, to} {
		if isDir(arg) && !isBundleDir(arg) {
			return usagef("two arguments must be bundles, but directory %s has neither manifests nor metadata; for a catalog, name CATALOG PACKAGE OLD NEW, or only the catalog", display(arg))
		}
	}
	old, _, err := i.read(ctx, from)
	if err != nil {
		return err
	}
	created, dir, err := i.read(ctx, to)
	if err != nil {
		return err
	}
	if err := i.compare(ctx, old, created, dir); err != nil {
		return err
	}
	return i.end(ctx)
}

// isBundleDir reports whether a directory is that of a bundle, not of a catalog.
func isBundleDir(name string) bool {
	return isDir(filepath.Join(name, "manifests")) || isDir(filepath.Join(name, "metadata"))
}

// swapped is the error about a package that is named before its catalog.
func swapped(pkg, catalog, from, to string) error {
	return usagef("the catalog is the first argument: olmkit impact %s %s %s %s", display(catalog), display(pkg), display(from), display(to))
}

// read reads the bundle that an argument names. It also returns the directory of the bundle
// for positions.
func (i *impactRun) read(ctx context.Context, arg string) (impact.Bundle, string, error) {
	b, dir, err := i.bundle(ctx, arg)
	if err != nil {
		return impact.Bundle{}, "", i.refused(dir, err, errReported)
	}
	out := impact.Bundle{Bundle: b}
	files, closer, err := newLoader(i.env).bundleFiles(ctx, arg)
	if err != nil || files == nil { // a bundle in a catalog
		return out, dir, err
	}
	defer closer.Close()
	out.Properties, err = i.properties(ctx, files)
	return out, dir, err
}

// compare compares two bundles and prints the report. Dir is the directory of the new one.
func (i *impactRun) compare(ctx context.Context, old, created impact.Bundle, dir string) error {
	r, err := impact.Compare(ctx, old, created, &i.opts)
	if err != nil {
		return err
	}
	if r.Verdict.AtLeast(i.verdict) {
		i.verdict = r.Verdict
	}
	switch *i.format {
	case format(fbcreport.SARIF):
		for _, d := range r.Findings() {
			if len(i.found) == mostFindings {
				i.dropped++
				continue
			}
			if d.Pos.File == "" {
				d.Pos.File = "manifests"
			}
			d.Pos.File = path.Join(filepath.ToSlash(dir), d.Pos.File)
			i.found = append(i.found, d)
		}
		return nil
	case formatMarkdown:
		i.gap()
		return writeMarkdown(i.stdout, r)
	}
	return i.print((*impactAnswer)(r))
}

// gap prints an empty line, except before the first report.
func (i *impactRun) gap() {
	if i.reports++; i.reports > 1 {
		visible.Fprintf(i.stdout, "\n")
	}
}

// print prints a report. In formats for code scanners, it is only a note.
func (i *impactRun) print(d printable) error {
	i.out.w, i.out.format = i.stdout, *i.format
	switch *i.format {
	case formatText, formatMarkdown:
		i.gap()
		return d.text(i.stdout)
	case format(fbcreport.SARIF):
		return d.text(i.stderr)
	}
	return i.out.print(d)
}

// end prints what is printed once, and returns the error for the exit code.
func (i *impactRun) end(ctx context.Context) error {
	if *i.format == format(fbcreport.SARIF) {
		err := fbcreport.Write(ctx, machine(i.stdout), fbcreport.SARIF, i.found, &fbcreport.Options{Prefix: i.prefix, ToolVersion: buildversion.Read().Version})
		if err != nil {
			return err
		}
		if i.dropped > 0 {
			visible.Fprintf(i.stderr, "note: left out %s, because code scanners show at most %d; -o json has all\n", phrase.Count(i.dropped, "finding"), mostFindings)
		}
	}
	if i.failOn != "never" && i.verdict.AtLeast(impact.Verdict(i.failOn)) {
		return errNegative
	}
	return nil
}

// inCatalog compares two bundles of a package, or each pair on the path between them.
func (i *impactRun) inCatalog(ctx context.Context, catalog, pkg, from, to string) error {
	if _, err := os.Stat(catalog); err != nil && !isReference(catalog) && isDir(pkg) {
		return swapped(catalog, pkg, from, to)
	}
	index, err := newLoader(i.env).wholeIndex(ctx, catalog)
	if err != nil {
		return err
	}
	p, ok := index.Package(pkg)
	if !ok {
		return noPackage(catalog, pkg, namesOf([]*graph.Catalog{index}))
	}
	nodes := make([]graph.Node, 2)
	for n, text := range []string{from, to} {
		if nodes[n], err = findNode(p, text); err != nil {
			return fmt.Errorf("%s: %w", display(text), err)
		}
	}
	steps := []graph.Step{{From: nodes[0], To: nodes[1]}}
	reading, force := graph.V1, "; OLM v1 needs the policy SelfCertified"
	if i.opts.Classic {
		reading, force = graph.Classic, ""
	}
	u := p.Upgrades(reading, &graph.UpgradeOptions{Installed: nodes})
	if u.Err() != nil {
		return u.Err()
	}
	switch way, ok := u.Path(nodes[0], nodes[1]); {
	case i.path && !ok:
		return fmt.Errorf("no upgrade path leads from %s to %s; \"olmkit path\" shows how far upgrades lead", nodes[0], nodes[1])
	case i.path:
		steps = way
	case !ok:
		visible.Fprintf(i.stderr, "note: no upgrade path in the catalog leads from %s to %s%s\n", nodes[0], nodes[1], force)
	}
	bundles := i.bundlesOf(true, p)
	for _, step := range steps {
		old, err := bundles.get(ctx, step.From.Name)
		if err != nil {
			return err
		}
		created, err := bundles.get(ctx, step.To.Name)
		if err != nil {
			return err
		}
		if err := i.compare(ctx, old.Bundle, created.Bundle, created.dir); err != nil {
			return err
		}
	}
	return i.end(ctx)
}

// readErrorText returns the problems of a bundle on one line.
func readErrorText(err error) string {
	var e *registryv1.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Replace(err.Error(), e.Error(), strings.Join(slices.Compact(lines), "; "), 1)
}
