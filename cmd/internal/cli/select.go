package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
)

func newSelect(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "select [CATALOG...] --package PACKAGE",
		Short: "Show which bundle OLM v1 would install or upgrade to",
		Long: `Select shows which bundle OLM v1 would install for a ClusterExtension, and how many
bundles were left after each stage. If none is left, it names the nearest available
versions, and the steps to the requested one. Where the catalogs have the manifests,
it also shows which upgrade OLM v1 refuses because of its CRDs or, with a
ClusterExtension, of its configuration; for other catalogs,
"olmkit path --reading v1 --impact" reads them from the images.

The version is a range in the syntax of Masterminds/semver: ">=1.2, <2", "^1.2",
"1.2.x". The skipRange of catalogs has a different syntax.

With --cluster or --filename, the request is the ClusterExtension of the package, if
there is one, and the catalogs are the ClusterCatalogs. Flags replace fields of the
request, and --catalog replaces the content of the catalog of its name.

With --problem, select reads request documents instead: one JSON document, or a
stream of them, each answered in turn. Directories in them are relative to
--root.

Exit codes: 0 a bundle was selected, 1 none was, 2 the input could not be read.
With --problem, a refusal is an answer like any other: 0 if every request was
answered.`,
		Example: `  olmkit select ./catalog --package etcd --version "0.9.x"
  olmkit select ./catalog -p etcd --channel stable --installed etcd=0.9.0
  olmkit select --cluster --package etcd --version "<2"
  olmkit select --problem requests.jsonl -o json`,
	}
	var (
		r         olmv1.Request
		q         request
		policy    = string(olmv1.CatalogProvided)
		installed string
		semverIs  string
		selects   string
	)
	f := addFormat(cmd)
	q.sample = addSample(cmd)
	fl := cmd.Flags()
	q.addCluster(cmd)
	addCatalogs(cmd, &q.catalogs, "another catalog")
	fl.StringVarP(&r.Package, "package", "p", "", "the `PACKAGE` to install")
	fl.StringVar(&r.Version, "version", "", "the `RANGE` of versions (default any)")
	addList(fl, &r.Channels, "channel", "c", "a `CHANNEL` to choose from (repeatable; default all)")
	fl.StringVarP(&installed, "installed", "i", "", "what is installed: "+installedUsage)
	fl.StringVarP(&selects, "selector", "l", "", "use only catalogs whose labels match: `KEY=VALUE`, KEY!=VALUE, KEY, !KEY, \"KEY in (A,B)\" or \"KEY notin (A,B)\"; separate several with commas")
	addChoice(cmd, &policy, "policy", "", "which upgrades are allowed", string(olmv1.CatalogProvided), string(olmv1.SelfCertified))
	addChoice(cmd, &semverIs, "semver", "", "upgrade by version order, in addition to or instead of the edges of the catalog", string(olmv1.SemverAlso), string(olmv1.SemverInstead))
	fl.BoolVar(&r.Options.OtherEdges, "other-edges", false, "also use edges of channels that were not requested")
	in := addProblem(cmd, "request documents", true)
	completeFlag(cmd, "package", q.completePackages(e, false))
	completeFlag(cmd, "channel", q.completeChannels(e, func() string { return r.Package }))
	completeFlag(cmd, "installed", q.completeInstalled(e))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := in.check(cmd, args); err != nil {
			return err
		}
		l := newLoader(e)
		l.onDemand = true
		s := &selector{loader: l, out: printer{w: e.stdout, format: *f}, open: in.open(l)}
		if in.file != "" {
			return s.stream(cmd.Context(), in.file)
		}
		if r.Package == "" {
			return usagef("no package; name it with --package, or give --problem")
		}
		if strings.TrimSpace(selects) != "" {
			sel, err := olmv1.ParseLabelSelector(selects)
			if err != nil {
				return usagef("--selector: %v", err)
			}
			r.Selector = sel
		}
		if r.Options.Semver = olmv1.SemverMode(semverIs); !q.given() || fl.Changed("policy") {
			r.Policy = olmv1.UpgradePolicy(policy)
		}
		list, err := sources(args, q.catalogs, *q.sample, resolver.DefaultGlobalNamespace)
		if err != nil {
			return err
		}
		if q.given() {
			if list, err = q.extension(cmd.Context(), l, &r, list); err != nil {
				return err
			}
		}
		if len(list) == 0 && !q.given() {
			return usagef("no catalog; name its directory, or give --catalog, --sample or --problem")
		}
		var known []resolver.Catalog
		for _, src := range list {
			g, err := q.content(cmd.Context(), s.loader, src)
			if err != nil {
				return err
			}
			if g == nil {
				continue // a note reports it
			}
			s.loader.note(src.path, g)
			if q.kubeVersion != "" {
				s.loader.noteKubernetes(src)
			}
			r.Catalogs = append(r.Catalogs, olmv1.Catalog{Name: src.name, Priority: src.priority, Labels: src.labels, Graph: g})
			known = append(known, resolver.Catalog{Name: src.name, Graph: g})
		}
		noteAll(s.loader, q.inferred)
		switch {
		case len(list) == 0:
			return errors.New("no ClusterCatalog serves a catalog; give one with --catalog NAME=PATH")
		case len(r.Catalogs) == 0:
			return errors.New("no catalog could be read; give the content of one with --catalog NAME=PATH")
		}
		if installed != "" {
			if r.Installed, err = installedBundle(s.loader, installed, graphs(known), r.Package, r.Policy); err != nil {
				return err
			}
		}
		if r.Options.KubeVersion = q.kubeVersion; q.cluster != nil {
			r.Options.KubeVersion = q.cluster.KubeVersion
		}
		if !q.given() {
			r.Options.Command = l.commandLine()
		}
		a, err := s.answer(cmd.Context(), r)
		var bad *document.Error
		switch {
		case errors.As(err, &bad) && bad.Path == "/version":
			return usagef("--version: %v", bad.Err)
		case err != nil:
			return err
		}
		if s.extensions, err = q.extensions(platform.Object{Name: r.ID}); err != nil {
			return err
		}
		if err := s.checked(cmd.Context(), a, r); err != nil {
			return err
		}
		if err := s.out.print(a); err != nil {
			return err
		}
		if a.selection == nil {
			return errNegative
		}
		return nil
	}
	return cmd
}

// installedBundle returns the bundle that --installed names.
func installedBundle(l *loader, arg string, known []*graph.Catalog, pkg string, policy olmv1.UpgradePolicy) (*olmv1.Installed, error) {
	if len(packagesOf(known, pkg)) == 0 {
		pkg = "" // the answer reports that no catalog has it
	}
	o, err := l.findInstalled(arg, known, pkg)
	var bad *versionError
	if errors.As(err, &bad) && bad.name != "" && policy == olmv1.SelfCertified {
		o.Node, err = graph.Node{Name: bad.name, Version: bad.version}, nil // nothing depends on it (C4)
	}
	if err == nil && o.channel != "" {
		err = errors.New("a channel is not allowed here; name channels with --channel")
	}
	if err != nil {
		return nil, fmt.Errorf("--installed %s: %w", arg, err)
	}
	return &olmv1.Installed{Name: o.Name, Version: o.Version}, nil
}

// A selector answers requests and prints the answers.
type selector struct {
	loader *loader
	out    printer
	open   func(context.Context, string) (*graph.Catalog, error)
	// extensions has the ClusterExtension of a request if it is known.
	extensions []*api.ClusterExtension
}

// A selectAnswer is a selection, a refusal, or an error.
type selectAnswer struct {
	selection *olmv1.Selection
	refusal   *olmv1.Refusal
	id        string
	err       error
}

// answer answers one request. An error means that the request is invalid.
func (s *selector) answer(ctx context.Context, r olmv1.Request) (*selectAnswer, error) {
	l := &s.loader.limits
	r.Options.LoadLimits, r.Options.ConstraintLimits = l.fbc(), &l.rules
	if err := r.Open(ctx, s.open); err != nil {
		return nil, err
	}
	sel, err := olmv1.Select(ctx, r)
	var no *olmv1.Refusal
	switch {
	case errors.As(err, &no):
		return &selectAnswer{refusal: no}, nil
	case err != nil:
		return nil, err
	}
	return &selectAnswer{selection: sel}, nil
}

// isAnswer reports whether an error answers a request: OLM v1 reports an invalid range,
// selector or installed version, and a catalog that cannot be read, as its answer (C6). A
// path outside the root is an error in the document.
func isAnswer(err error) bool {
	var fault *document.Error
	switch {
	case !errors.As(err, &fault), errors.Is(err, disk.ErrOutside):
		return false
	case fault.Path == "/version", fault.Path == "/selector", fault.Path == "/installed/version":
		return true
	}
	return errors.As(err, new(*catalogError)) || errors.As(err, new(fbc.Diagnostics))
}

// stream answers the requests of a file.
func (s *selector) stream(ctx context.Context, file string) error {
	q := requests[olmv1.Request]{
		kind:   "request",
		id:     func(r *olmv1.Request) string { return r.ID },
		answer: func(ctx context.Context, r *olmv1.Request) (any, error) { return s.answer(ctx, *r) },
		failed: func(r *olmv1.Request, err error) (any, bool) {
			return &selectAnswer{id: r.ID, err: err}, !isAnswer(err)
		},
	}
	return q.stream(ctx, s.loader.env, file, &s.out)
}

// MarshalJSON returns the JSON of the selection, or of the refusal or error.
func (a *selectAnswer) MarshalJSON() ([]byte, error) {
	return json.Marshal(a.value(), json.Deterministic(true))
}

func (a *selectAnswer) value() any {
	switch {
	case a.selection != nil:
		return a.selection
	case a.refusal != nil:
		return a.refusal
	}
	return unselected{ID: a.id, Error: a.err.Error()}
}

// An unselected is the answer to a request that failed. It holds only the error.
type unselected struct {
	ID    string `json:"id,omitempty"`
	OK    bool   `json:"ok"` // always false
	Error string `json:"error"`
}

func (a *selectAnswer) text(w io.Writer) error {
	t := proseWriter(w)
	var funnel *olmv1.Funnel
	switch {
	case a.selection != nil:
		s := a.selection
		funnel = &s.Funnel
		t.Line(nil, fmt.Sprintf("%s %s from catalog %s", s.Bundle, s.Version, s.Catalog), "", "")
		writeNotesV1(t, s.Notes)
		for _, d := range s.Deprecated {
			t.Line(nil, fmt.Sprintf("warning: %s is deprecated: %s", strings.TrimSpace(d.Scope+" "+d.Name), visible.Words(d.Message)), "", "  ")
		}
	case a.refusal != nil:
		funnel = &a.refusal.Funnel
		a.refused(t)
	case isAnswer(a.err):
		_, err := visible.Fprintf(w, "Not selected: %s\n", bare(a.err))
		return err
	default:
		_, err := visible.Fprintf(w, "Not answered: %s\n", bare(a.err))
		return err
	}
	if _, err := io.WriteString(w, t.String()); err != nil {
		return err
	}
	return writeFunnel(w, funnel)
}

// maxHops is the number of upgrades to a requested bundle that text lists.
const maxHops = 6

// refused writes why no bundle was selected, the way to the requested one, and fixes.
func (a *selectAnswer) refused(t *prose.Writer) {
	t.Line(t.Style.Headline, fmt.Sprintf("Not selected (%s): %s.", a.refusal.Code, a.refusal), "", "  ")
	n := len(a.refusal.Hops)
	for i, h := range a.refusal.Hops {
		if n > maxHops && i >= maxHops/2 && i < n-maxHops/2 {
			if i == maxHops/2 {
				t.Line(nil, fmt.Sprintf("%d more", n-maxHops), "     ", "     ")
			}
			continue
		}
		t.Line(nil, fmt.Sprintf("%s -> %s (%s; catalog %s)", h.From, h.To, h.Step.Why(), h.Catalog), fmt.Sprintf("%3d. ", i+1), "     ")
	}
	writeFixesV1(t, "", a.refusal.Fixes)
}

// writeNotesV1 writes notes about a selection of OLM v1, with their commands.
func writeNotesV1(t *prose.Writer, notes []olmv1.Note) {
	for _, n := range notes {
		kind := "note"
		if n.Code == olmv1.NoteCloses || n.Code == olmv1.NoteDeadEnd || n.Code == olmv1.NoteCRDs || n.Code == olmv1.NoteConfig {
			kind = "warning"
		}
		t.Line(nil, labeled(kind, n.Code, n.Text), "", "  ")
		writeCommandsV1(t, n.Commands, "  ")
	}
}

// writeCommandsV1 writes commands, each with the bundle that must be installed before.
func writeCommandsV1(t *prose.Writer, list []olmv1.Command, indent string) {
	for _, c := range list {
		if c.After.Name != "" {
			t.Line(nil, "when "+cmp.Or(c.After.Version, c.After.Name)+" is installed:", indent, indent)
		}
		t.Verbatim(c.Line, indent)
	}
}

// writeFixesV1 writes fixes for a refusal of OLM v1, each with its command. of is "", or " for" with the
// name of a package.
func writeFixesV1(t *prose.Writer, of string, fixes []*olmv1.Fix) {
	if len(fixes) > 0 {
		t.Line(nil, "Possible fixes"+of+", least disruptive first:", "", "")
	}
	for i, f := range fixes {
		t.Line(t.Style.Help, f.String(), fmt.Sprintf("%3d. ", i+1), "     ")
		if f.Command != "" {
			t.Verbatim(f.Command, "     ")
			writeCommandsV1(t, f.Then, "     ")
		}
	}
}

// writeFunnel writes the stages of a selection that dropped something, up to the one that leaves nothing.
func writeFunnel(w io.Writer, funnel *olmv1.Funnel) error {
	t := table{header: []string{"STAGE", "LEFT", "DROPPED"}}
	for _, s := range funnel.Stages {
		var dropped []string
		left := phrase.Count(s.Bundles, "bundle")
		if names := droppedAt(funnel, s.Stage); len(names) > 0 {
			dropped = append(dropped, names)
		}
		for _, c := range funnel.Catalogs {
			if c.Dropped == s.Stage {
				dropped = append(dropped, c.Name+" "+c.Reason)
				left = phrase.Count(s.Catalogs, "catalog")
			}
		}
		if len(dropped) == 0 {
			continue
		}
		t.add(string(s.Stage), left, strings.Join(dropped, ", "))
		if s.Bundles == 0 {
			break // nothing reaches the others
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t.text(w)
}

// droppedAt returns the names of the bundles that a stage dropped, by version, or how many they are.
func droppedAt(funnel *olmv1.Funnel, stage olmv1.Stage) string {
	var list []olmv1.Dropped
	for _, d := range funnel.Dropped {
		if d.Stage == stage {
			list = append(list, d)
		}
	}
	release := func(d olmv1.Dropped) graph.VersionRelease {
		v, _ := version.Parse(d.Version) // it is that of a bundle
		return graph.ReadRelease(v)
	}
	slices.SortStableFunc(list, func(a, b olmv1.Dropped) int { return release(a).Compare(release(b)) })
	if n := len(list); n > maxNearest {
		return fmt.Sprintf("%d bundles, %s to %s", n, list[0].Version, list[n-1].Version)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Bundle)
	}
	return strings.Join(names, ", ")
}
