package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/collect"
	"github.com/olmkit/olmkit/cmd/internal/view"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

// defaultListen can be reached only from this machine, and has any free port.
const defaultListen = "127.0.0.1:0"

func newView(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "view {[CATALOG...]|--cluster} -o PAGE | --serve",
		Short: "Make an HTML page to browse catalogs, resolutions and differences",
		Long: `View makes one self-contained HTML page, which needs no network and no server. It
shows the packages of the catalogs, with a search over names, APIs and descriptions,
the upgrade graph of each channel, and for each version its path to the head in
classic OLM and in OLM v1.

With --impact, it shows the verdict of "olmkit impact" on each upgrade in OLM v1. The
manifests come from the catalog or from --bundles; with --pull, also from images.
With --avoid breaks, it also shows, for each version, the shortest path to the head
without an upgrade that breaks something, or what blocks every path, and resolutions
are without such upgrades.

With --package and --installed, as in olmkit resolve, or with problem documents,
the page shows what a namespace would get and why, or the conflict and its possible
fixes. Without a CATALOG, it shows the catalogs of the problems. With --diff, it
shows what changed from an older catalog, as olmkit diff does.

With --cluster or --filename, the page shows what a namespace of a cluster would get,
and the catalogs that the cluster serves; with --all-namespaces, what each of its
namespaces would get. With a CATALOG, it shows that one, compared with the catalog of
the cluster that it would replace, as olmkit diff does.

--serve serves the page instead, until it is interrupted, and only to this machine
unless --listen names another address. --timeout limits how long making the page
takes.

Exit codes: 0 the page was made, 2 the input could not be read.`,
		Example: `  olmkit view ./catalog -o page.html
  olmkit view ./catalog --package etcd:stable --installed etcd=0.9.0 --serve
  olmkit view --cluster -n operators --serve
  olmkit view --problem conflict.json -o page.html
  olmkit view ./catalog-4.17 --diff ./catalog-4.16 -o page.html`,
	}
	cmd.Annotations = map[string]string{streams: "true"}
	v := &viewer{env: e, loader: newLoader(e), verdicts: addAvoid(cmd)}
	v.loader.whole = true
	f := cmd.Flags()
	f.StringVarP(&v.out, "output", "o", "", "write the page to a `FILE`, or to standard output when it is -")
	f.BoolVar(&v.serve, "serve", false, "serve the page until interrupted")
	f.StringVar(&v.listen, "listen", defaultListen, "with --serve, the `ADDRESS` to listen on; port 0 is any free one")
	f.BoolVar(&v.pull, "pull", false, "with --impact or --avoid, also read bundle images")
	f.StringVar(&v.old, "diff", "", "an older `CATALOG` to compare with")
	v.request.addFlags(cmd)
	v.problems = addProblem(cmd, "problem documents", false)
	completeRequest(cmd, e, &v.request)
	completeFlag(cmd, "listen", cobra.NoFileCompletions)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case v.serve == (v.out != ""):
			return usagef("name a file with --output, or give --serve")
		case cmd.Flags().Changed("listen") && !v.serve:
			return usagef("--listen is for --serve")
		case v.problems.file == "":
			if err := v.problems.check(cmd, args); err != nil {
				return err
			}
		}
		if err := v.verdicts.check(); err != nil {
			return err
		}
		if v.pull && !v.verdicts.on() {
			return usagef("--pull is for --impact and --avoid")
		}
		if err := checkFile(v.out, "a page"); err != nil {
			return err
		}
		// --timeout limits generating the page, not serving it.
		ctx, cancel := v.within(cmd.Context())
		asked := slices.ContainsFunc([]string{"package", "installed", "starting-csv", "namespace"}, cmd.Flags().Changed)
		page, err := v.page(ctx, args, asked)
		err = timedOut(ctx, err)
		cancel()
		if err != nil {
			return err
		}
		if v.serve {
			return v.serveOn(cmd.Context(), page)
		}
		return v.write(page)
	}
	return cmd
}

// A viewer generates a page.
type viewer struct {
	*env
	loader           *loader
	request          request
	problems         *problemInput
	out, listen, old string
	serve, pull      bool
	verdicts         *avoidance
}

// page loads the catalogs, resolves the problems and generates the page.
func (v *viewer) page(ctx context.Context, args []string, asked bool) (*view.Page, error) {
	in := &view.Input{}
	list, err := sources(args, v.request.catalogs, *v.request.sample, v.request.global)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		// The page needs the descriptions of all channel heads, which are faster to read
		// from the directory than from its index.
		c, err := v.catalog(ctx, s.name, cmp.Or(s.files, s.path))
		if err != nil {
			return nil, err
		}
		in.Catalogs = append(in.Catalogs, c)
	}
	if in.Problems, err = v.resolutions(ctx, args, asked); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		in.Catalogs = catalogsOf(in.Problems)
	}
	switch {
	case len(in.Catalogs) == 0 && len(in.Problems) == 0:
		return nil, usagef("nothing to show; name the directory of a catalog, or give --catalog, --sample or --problem")
	case v.old != "" && len(in.Catalogs) != 1:
		return nil, usagef("--diff compares a single catalog, not %d", len(in.Catalogs))
	case v.old != "":
		old, err := v.catalog(ctx, baseName(v.old), v.old)
		if err != nil {
			return nil, err
		}
		if len(list) == 1 && old.Name == in.Catalogs[0].Name {
			old.Name, in.Catalogs[0].Name = tellApart(v.old, list[0].path)
		}
		in.Old = &old
	case v.request.given() && len(list) == 1:
		if in.Old, err = v.replaced(ctx, list[0]); err != nil {
			return nil, err
		}
		if in.Old != nil && in.Old.Name == in.Catalogs[0].Name {
			in.Old.Name += " (cluster)"
		}
	}
	if v.verdicts.on() {
		for i := range in.Catalogs {
			if err := v.judge(ctx, &in.Catalogs[i]); err != nil {
				return nil, err
			}
		}
	}
	if v.verdicts.avoids() {
		for i := range in.Problems {
			if err := v.exclude(ctx, &in.Problems[i].Problem); err != nil {
				return nil, err
			}
		}
	}
	return view.New(ctx, in)
}

// judge adds the verdicts on the upgrades of a catalog.
func (v *viewer) judge(ctx context.Context, c *view.Catalog) error {
	defer collect.Less()()
	run := v.verdicts.run(v.env)
	run.pull = v.pull
	rows, err := run.judgeAll(ctx, c.Graph, namesOf([]*graph.Catalog{c.Graph}))
	if err != nil {
		return err
	}
	if v.verdicts.avoids() {
		c.Avoids = avoidText(v.verdicts.verdict)
	}
	c.Verdicts = map[string][]view.Verdict{}
	for _, r := range rows {
		for _, e := range r.Edges {
			c.Verdicts[r.Package] = append(c.Verdicts[r.Package], view.Verdict{From: e.From, To: e.To, Verdict: string(e.Verdict), Text: e.verdictText(), Avoid: v.verdicts.refuses(&e)})
		}
	}
	return nil
}

// exclude adds policies that exclude the upgrades to avoid from a problem.
func (v *viewer) exclude(ctx context.Context, p *resolver.Problem) error {
	run := v.verdicts.run(v.env)
	run.opts.Classic = true
	given := p.Policies
	_, _, err := v.verdicts.settling(ctx, func(pkg graph.Package) *edgeJudge { return run.judgeOf(run.bundlesOf(v.pull, pkg)) }, func(policies []resolver.Policy) (*resolver.Solution, []resolver.Installed, error) {
		p.Policies = slices.Concat(given, policies)
		sol, err := resolver.Resolve(ctx, *p)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil { // which the page shows
			return nil, nil, nil
		}
		return sol, p.Installed, nil
	})
	return err
}

// replaced returns the catalog in the cluster that next would replace, or nil if no content of the
// cluster's catalogs is known, with a note.
func (v *viewer) replaced(ctx context.Context, next source) (*view.Catalog, error) {
	r, err := v.request.readOperators(ctx, v.loader)
	if err != nil {
		return nil, err
	}
	old, err := r.replaced(next, false)
	if errors.Is(err, errNoneServed) {
		visible.Fprintf(v.stderr, "note: %s is not compared with a catalog of the cluster, because none has a known digest\n", display(next.path))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := v.catalog(ctx, old.name, old.path)
	return &c, err
}

func (v *viewer) catalog(ctx context.Context, name, path string) (view.Catalog, error) {
	c, err := v.loader.index(ctx, path)
	if err != nil {
		return view.Catalog{}, err
	}
	v.loader.note(path, c)
	return view.Catalog{Name: name, Graph: c}, nil
}

// resolutions returns the problem that flags describe, if any, and those in files.
func (v *viewer) resolutions(ctx context.Context, args []string, asked bool) ([]view.Problem, error) {
	var out []view.Problem
	if v.request.all && v.request.given() {
		err := v.request.problems(ctx, v.loader, args, func(namespace string, p *resolver.Problem, err error) error {
			if err != nil && ctx.Err() == nil {
				visible.Fprintf(v.stderr, "note: namespace %s is not shown: %s\n", namespace, bare(err))
				return nil
			}
			if err == nil {
				v.limits.bound(&p.Options)
				out = append(out, view.Problem{Name: "Namespace " + namespace, Problem: *p})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	} else if asked || v.request.given() || v.request.all {
		p, err := v.request.problem(ctx, v.loader, args)
		if err != nil {
			return nil, err
		}
		v.limits.bound(&p.Options)
		out = append(out, view.Problem{Name: "Namespace " + p.Namespace, Problem: *p})
	}
	if v.problems.file != "" {
		list, err := v.documents(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// documents reads and opens the problem documents of --problem.
func (v *viewer) documents(ctx context.Context) ([]view.Problem, error) {
	file := v.problems.file
	in, err := v.input(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("--problem: %w", err)
	}
	defer in.Close()
	open := v.problems.open(v.loader)
	var out []view.Problem
	for p, err := range documents[resolver.Problem](in) {
		if err == nil {
			v.limits.bound(&p.Options)
			p.Options.File = file
			err = p.Open(ctx, open)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := p.ID
		if name == "" {
			name = fmt.Sprintf("%s, problem %d", baseName(file), len(out)+1)
		}
		out = append(out, view.Problem{Name: name, Problem: p})
	}
	if len(out) == 0 {
		return nil, nothingIn(file, "problem documents")
	}
	return out, nil
}

// catalogsOf returns the catalogs of problems without duplicates, each under the name it has
// in the first problem that uses it.
func catalogsOf(problems []view.Problem) []view.Catalog {
	var out []view.Catalog
	for _, p := range problems {
		for _, c := range p.Catalogs {
			if c.Graph != nil && !slices.ContainsFunc(out, func(x view.Catalog) bool { return x.Graph == c.Graph || x.Name == c.Name }) {
				out = append(out, view.Catalog{Name: c.Name, Graph: c.Graph})
			}
		}
	}
	return out
}

// write writes the page, whole or not at all.
func (v *viewer) write(page *view.Page) error {
	write := func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	}
	if v.out == stdinPath {
		return write(exact(v.stdout))
	}
	return replaceOutput(v.out, write)
}

// serveOn serves the page until ctx ends, and then returns nil.
func (v *viewer) serveOn(ctx context.Context, page *view.Page) error {
	host, _, err := net.SplitHostPort(v.listen)
	if err != nil {
		return usagef("--listen %q is not an address; write HOST:PORT, such as %s", v.listen, defaultListen)
	}
	network := "tcp"
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, network, v.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	at := l.Addr().String()
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		visible.Fprintf(v.stderr, "note: other machines can reach %s and read the catalogs\n", a)
		if a.IP.IsUnspecified() { // browsers cannot open an unspecified address
			at = net.JoinHostPort("localhost", strconv.Itoa(a.Port))
		}
	}
	visible.Fprintf(v.stdout, "http://%s/ (interrupt to stop)\n", at)
	return view.Serve(ctx, l, page, host)
}

// tellApart returns different names for two catalogs with the same name: the ends of their
// paths, such as 4.16/catalog and 4.17/catalog.
func tellApart(old, path string) (string, string) {
	split := func(path string) []string {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/")
	}
	a, b := split(old), split(path)
	for n := 1; n <= min(len(a), len(b)); n++ {
		x, y := a[len(a)-n:], b[len(b)-n:]
		if x[0] == y[0] {
			continue
		}
		if n > 2 { // leave out the common parts at the end
			return x[0] + "/…/" + x[n-1], y[0] + "/…/" + y[n-1]
		}
		return strings.Join(x, "/"), strings.Join(y, "/")
	}
	return old, path
}
