package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A catalogArg is the only catalog that a command reads: its first argument,
// --catalog or --sample.
type catalogArg struct {
	flag   string
	sample *bool
}

// addCatalog adds the flags that can replace a CATALOG argument.
func addCatalog(cmd *cobra.Command) *catalogArg {
	c := &catalogArg{sample: addSample(cmd)}
	cmd.Flags().StringVar(&c.flag, "catalog", "", "the catalog, as `PATH`, in place of the argument")
	completeCatalogFlag(cmd)
	return c
}

// take returns the path of the catalog and the remaining arguments.
func (c *catalogArg) take(args []string) (path string, rest []string, err error) {
	switch {
	case *c.sample && c.flag != "":
		return "", nil, usagef("--sample and --catalog both name a catalog; give only one")
	case *c.sample:
		return samplePath, args, nil
	case c.flag != "":
		s, err := parseSource(c.flag, resolver.DefaultGlobalNamespace)
		if err == nil && (s.hasPriority || s.labels != nil || s.files != "" || s.namespace != resolver.DefaultGlobalNamespace) {
			err = usagef("--catalog %s: options are for commands that read several catalogs; leave them out", c.flag)
		}
		return s.path, args, err
	case len(args) == 0:
		return "", nil, usagef("no catalog; name its directory, or give --catalog or --sample")
	}
	return args[0], args[1:], nil
}

// alone is take for commands without other arguments.
func (c *catalogArg) alone(args []string) (string, error) {
	path, rest, err := c.take(args)
	if err == nil && len(rest) > 0 {
		err = usagef("unexpected argument %s; give only one catalog", strings.Join(rest, ", "))
	}
	return path, err
}

// pkg returns the package that the next argument names, and the arguments after
// it.
func (c *catalogArg) pkg(ctx context.Context, l *loader, args []string) (graph.Package, []string, error) {
	path, args, err := c.take(args)
	if err != nil {
		return graph.Package{}, nil, err
	}
	if len(args) == 0 {
		return graph.Package{}, nil, usagef("no package; name one after the catalog")
	}
	cat, err := l.index(ctx, path)
	if err != nil {
		return graph.Package{}, nil, err
	}
	l.note(path, cat)
	p, ok := cat.Package(args[0])
	if !ok {
		return graph.Package{}, nil, noPackage(path, args[0], namesOf([]*graph.Catalog{cat}))
	}
	return p, args[1:], nil
}

// noPackage returns the error for a package that a catalog does not have.
func noPackage(path, name string, known []string) error {
	return fmt.Errorf("catalog %s has no package %q%s", display(path), name, cmp.Or(hint(name, known), "; \"olmkit list packages\" lists them"))
}

// known returns the catalog, without the parts that cannot be read, and the
// arguments after it, for completion.
func (c *catalogArg) known(cmd *cobra.Command, e *env, args []string) ([]*graph.Catalog, []string) {
	path, rest, err := c.take(args)
	if err != nil {
		return nil, nil
	}
	return openAll(cmd, e, []source{{path: path}}), rest
}

// completeArgs completes a CATALOG, a PACKAGE, and then bundles of the package.
func (c *catalogArg) completeArgs(e *env, operands int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if _, _, err := c.take(args); err != nil {
			return nil, cobra.ShellCompDirectiveDefault // a file or directory
		}
		cats, rest := c.known(cmd, e, args)
		switch n := len(rest); {
		case n == 0:
			return offered(namesOf(cats)), cobra.ShellCompDirectiveNoFileComp
		case n <= operands:
			return operandWords(packagesOf(cats, rest[0])), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCatalog completes a CATALOG and nothing else.
func (c *catalogArg) completeCatalog() cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if _, _, err := c.take(args); err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOf completes a flag with words that depend on the catalog and the
// arguments after it.
func (c *catalogArg) completeOf(e *env, words func(cats []*graph.Catalog, rest []string, word string) ([]string, cobra.ShellCompDirective)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		cats, rest := c.known(cmd, e, args)
		return words(cats, rest, word)
	}
}

// completePackage completes a flag that names a package and, if channels is
// set, a channel after a colon.
func (c *catalogArg) completePackage(e *env, channels bool) cobra.CompletionFunc {
	return c.completeOf(e, func(cats []*graph.Catalog, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return packageWords(cats, word, channels), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeInstalled completes a flag that names installed bundles.
func (c *catalogArg) completeInstalled(e *env) cobra.CompletionFunc {
	return c.completeOf(e, func(cats []*graph.Catalog, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return installedWords(cats, word)
	})
}

// completeOperand completes a flag that names a bundle of the package among the
// arguments.
func (c *catalogArg) completeOperand(e *env) cobra.CompletionFunc {
	return c.completeOf(e, func(cats []*graph.Catalog, rest []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(rest) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return operandWords(packagesOf(cats, rest[0])), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeChannel completes a flag that names a channel of the package among the
// arguments.
func (c *catalogArg) completeChannel(e *env) cobra.CompletionFunc {
	return c.completeOf(e, func(cats []*graph.Catalog, rest []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(rest) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return channelWords(packagesOf(cats, rest[0])), cobra.ShellCompDirectiveNoFileComp
	})
}

// operandWords returns the names and versions of the bundles of packages.
func operandWords(list []graph.Package) []string {
	var words []string
	for _, p := range list {
		words = append(words, versionWords(p)...)
		for b := range p.Bundles() {
			words = append(words, b.Name())
		}
	}
	return offered(words)
}
