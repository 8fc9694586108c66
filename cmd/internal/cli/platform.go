package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/bundlelint"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/platform"
)

func newPlatform(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "platform {--from VERSION|--cluster} --to VERSION --catalog VERSION=PATH...",
		Short: "Plan the upgrade of a platform with its operators",
		Long: `Platform plans the upgrade of OpenShift from one minor version to another
together with the installed operators: what needs a person, and by when; the
steps in order; what blocks the platform (olm.maxOpenShiftVersion), what waits
for a newer Kubernetes (minKubeVersion), what uses APIs that Kubernetes removed,
what is left behind, and on which versions each operator is safe.

An operator follows its channel. The plan changes the channel, or holds the
operator back, where it would otherwise block the platform, be left behind, be
incompatible with the platform, become older, or lose the way to a newer version.

Where catalogs have lifecycle data (OpenShift enhancement 1991), the plan reports
the support phases of the installed versions and the versions of OpenShift that
they are compatible with. --on DATE reports their support on that day.

Name one or more catalogs for each version of the platform. A catalog has the name
of its file or directory, unless you write VERSION=NAME:PATH. Versions without a
catalog, and parts of a catalog that cannot be read, are not checked, and a warning
lists them.

In OLM v1, the plan takes no upgrade to a bundle that declares dependencies, and none
that OLM v1 refuses because of its CRDs or of the configuration of the
ClusterExtension, if the catalogs have the manifests. With --impact,
manifests in images and in --bundles are read too, each upgrade of an operator has
the verdict of "olmkit impact", and those that break something are among what needs
a person. With --avoid breaks, the plan takes none that breaks something: it finds a
way around, or lists the upgrades of which each path takes at least one. Upgrades
whose manifests are not available count as safe, and are marked.

With --cluster or --filename, the version, the installed operators, and the catalogs
of that version are those of a cluster, so only the catalogs of later versions are
needed. With --problem, everything comes from one JSON document, whose
directories are relative to --root.

Exit codes: 0 the platform and all operators reach the target by steps that OLM takes,
1 something needs a person, blocks the platform or leaves an operator behind, 2
the input could not be read, 3 none of that but something was not checked.
--allow-unchecked exits with 0 in place of 3. With -o json, needs, leftBehind of
each operator and the list unchecked give the reasons for codes 1 and 3.`,
		Example: `  olmkit platform --from 4.16.9 --to 4.18 --catalog 4.16=./c416 --catalog 4.17=./c417 --catalog 4.18=./c418 \
    --installed etcd=0.9.0:stable
  olmkit platform --cluster --to 4.18 --catalog 4.17=./c417 --catalog 4.18=./c418
  olmkit platform --problem cluster.json --root ./catalogs -o json`,
	}
	var (
		p                   platform.Problem
		catalogs, installed []string
		strategy            = string(platform.Latest)
		allowUnchecked      bool
	)
	f, reading := addFormat(cmd), addReading(cmd)
	avoid := addAvoid(cmd)
	var s clusterState
	s.addCluster(cmd)
	s.addNamespace(cmd)
	fl := cmd.Flags()
	fl.StringVar(&p.From, "from", "", "the `VERSION` of the platform (default: that of the cluster's ClusterVersion)")
	fl.StringVar(&p.To, "to", "", "the target `VERSION`")
	addList(fl, &catalogs, "catalog", "", "a catalog of a version of the platform, as `VERSION=[NAME:]PATH` (repeatable)")
	addList(fl, &installed, "installed", "i", "an installed operator: "+installedUsage+"; :CHANNEL may follow (repeatable)")
	addChoice(cmd, &strategy, "strategy", "", "how far to upgrade operators on the way", string(platform.Latest), string(platform.Minimal))
	fl.StringVar((*string)(&p.On), "on", "", "report which versions have support on this `DATE`, as YYYY-MM-DD")
	fl.BoolVar(&allowUnchecked, "allow-unchecked", false, "exit with 0 even if something could not be checked")
	in := addProblem(cmd, "a problem document", false)
	completeCatalogFlag(cmd)
	completeFlag(cmd, "installed", completePlatformInstalled(e, &catalogs))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l := newLoader(e)
		if err := in.check(cmd, nil, "allow-unchecked", "impact", "avoid", "bundles"); err != nil {
			return err
		}
		if err := avoid.check(); err != nil {
			return err
		}
		if len(args) > 0 {
			value := args[0]
			if !strings.Contains(value, "=") {
				value = "VERSION=" + value
			}
			return usagef("each catalog is for one version of the platform; write --catalog %s", value)
		}
		var err error
		if in.file != "" {
			p, err = readPlatform(cmd.Context(), l, in.file)
		} else {
			p.Strategy = platform.Strategy(strategy)
			if s.given() {
				if err := s.platform(cmd.Context(), l, &p, catalogs); err != nil {
					return err
				}
			} else if err := s.checkNamespace(); err != nil {
				return err
			}
			err = platformOf(cmd.Context(), l, &p, catalogs, installed, *reading)
		}
		if err != nil {
			return err
		}
		if err := checkKubernetes(s.kubeVersion, p.From); err != nil {
			return err
		}
		p.Removed = removedAPI
		p.LoadLimits, p.ConstraintLimits = l.limits.fbc(), &l.limits.rules
		if err := p.Open(cmd.Context(), in.open(l)); err != nil {
			return err
		}
		plan, err := avoid.upgrading(cmd.Context(), e, p, s.extensions)
		var bad *document.Error
		if in.file == "" && errors.As(err, &bad) {
			return bad.Err
		}
		if err != nil {
			return err
		}
		if err := (&printer{w: e.stdout, format: *f}).print(plan); err != nil {
			return err
		}
		switch {
		case !plan.OK || len(plan.Needs) > 0 || len(plan.LeftBehind()) > 0:
			return errNegative
		case len(plan.Unchecked) > 0 && !allowUnchecked:
			return errUnchecked
		}
		return nil
	}
	return cmd
}

// checkKubernetes returns an error if --kube-version is not the version of Kubernetes that the platform runs.
func checkKubernetes(given, from string) error {
	at, err := property.ParseMinorVersion(from)
	if given == "" || err != nil {
		return nil // the plan reports the error
	}
	kube, known := platform.Kubernetes(at)
	if v, err := property.ParseMinorVersion(given); known && (err != nil || v != kube) {
		return usagef("--kube-version %s: OpenShift %s runs Kubernetes %s; remove the flag, or give another version with --from", given, at, kube)
	}
	return nil
}

// removedAPI returns when Kubernetes stopped serving an API.
func removedAPI(api property.GVK) (platform.RemovedAPI, bool) {
	since, instead := bundlelint.Removed(schema.GroupVersionKind(api))
	if since == nil {
		return platform.RemovedAPI{}, false
	}
	return platform.RemovedAPI{Since: property.MinorVersion{Major: uint64(since.Major()), Minor: uint64(since.Minor())}, Instead: instead}, true
}

func readPlatform(ctx context.Context, l *loader, file string) (platform.Problem, error) {
	in, err := l.input(ctx, file)
	if err != nil {
		return platform.Problem{}, fmt.Errorf("--problem: %w", err)
	}
	defer in.Close()
	in.bound()
	text := bufio.NewReader(in)
	if _, err := text.Peek(1); err == io.EOF {
		return platform.Problem{}, nothingIn(file, "problem documents")
	}
	p, err := document.ReadOne[platform.Problem](text, documentKinds()...)
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, in.cause(err))
	}
	return p, nil
}

// platformOf adds to p what the flags --catalog, --installed and --reading name.
func platformOf(ctx context.Context, l *loader, p *platform.Problem, catalogs, installed []string, reading graph.Reading) error {
	if p.From == "" || p.To == "" {
		return usagef("the versions are missing; give --from and --to, or --cluster and --to, or --problem")
	}
	seen := map[[2]string]string{} // by version and name
	for _, arg := range catalogs {
		c, path, err := platformCatalog(arg)
		if err != nil {
			return err
		}
		version := c.Platform
		if v, err := property.ParseMinorVersion(version); err == nil {
			version = v.String()
		}
		key := [2]string{version, c.Name}
		if first, ok := seen[key]; ok {
			return usagef("--catalog %s and %s are both named %q; rename one: --catalog %s=NAME:%s", first, arg, c.Name, c.Platform, path)
		}
		seen[key] = arg
		c.Dir = path
		if c.Graph, err = l.wholeIndex(ctx, path); err != nil { // minKubeVersion is not in an index file
			return err
		}
		p.Catalogs = append(p.Catalogs, c)
	}
	for _, arg := range installed {
		o, err := platformOperator(l, p, arg)
		if err != nil {
			return err
		}
		o.Reading = reading
		p.Installed = append(p.Installed, o)
	}
	return nil
}

// platformCatalog parses VERSION=[NAME:]PATH and returns the catalog without
// its content, and the path. A colon does not end a name if the whole text is
// an existing path, or if the colon follows a path separator or a drive letter.
func platformCatalog(arg string) (platform.Catalog, string, error) {
	version, path, ok := strings.Cut(arg, "=")
	if !ok || version == "" || path == "" {
		return platform.Catalog{}, "", usagef("--catalog %q: write VERSION=PATH or VERSION=NAME:PATH", arg)
	}
	c := platform.Catalog{Platform: version}
	name, rest, named := strings.Cut(path, ":")
	if isReference(path) {
		c.Name = baseName(path)
		return c, path, nil
	}
	if named && len(name) != 1 && !strings.ContainsAny(name, `/\`) {
		if _, err := os.Stat(path); err != nil {
			if name == "" || rest == "" {
				return platform.Catalog{}, "", usagef("--catalog %q: write VERSION=PATH or VERSION=NAME:PATH", arg)
			}
			c.Name = name
			return c, rest, nil
		}
	}
	c.Name = baseName(path)
	return c, path, nil
}

// platformOperator returns the operator that --installed names, from the first
// catalog that has it.
func platformOperator(l *loader, p *platform.Problem, arg string) (platform.Operator, error) {
	var cats []*graph.Catalog
	for _, c := range p.Catalogs {
		cats = append(cats, c.Graph)
	}
	o, err := l.findInstalled(arg, cats, "")
	if err == nil && o.pkg == "" {
		err = fmt.Errorf("its package is unknown; write PACKAGE=%s%s", arg, hint(o.Name, namesOf(cats)))
	}
	if err != nil {
		return platform.Operator{}, fmt.Errorf("--installed %s: %w", arg, err)
	}
	return platform.Operator{Name: o.Name, Version: o.Version, Package: o.pkg, Channel: o.channel}, nil
}

// completePlatformInstalled completes --installed from the catalogs given so
// far.
func completePlatformInstalled(e *env, catalogs *[]string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		var list []source
		for _, arg := range *catalogs {
			if _, path, err := platformCatalog(arg); err == nil {
				list = append(list, source{path: path})
			}
		}
		return installedWords(openAll(cmd, e, list), word)
	}
}
