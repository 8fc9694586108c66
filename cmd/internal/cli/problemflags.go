package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
)

// A problemInput holds --problem, a file of problem documents, and --root, the directory that
// these may read.
type problemInput struct {
	file, root string
}

// addRoot adds the flag for directories of documents.
func (p *problemInput) addRoot(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.root, "root", ".", "the `DIR` that directories in problem documents are relative to")
	if err := cmd.MarkFlagDirname("root"); err != nil {
		panic("internal error: " + err.Error())
	}
}

// addProblem adds --problem and --root. If stream is set, the command answers a
// stream of problems.
func addProblem(cmd *cobra.Command, what string, stream bool) *problemInput {
	p := &problemInput{}
	cmd.Flags().StringVar(&p.file, "problem", "", "read "+what+" from `FILE`; - is standard input")
	if stream {
		if err := cmd.Flags().SetAnnotation("problem", streams, []string{"true"}); err != nil {
			panic("internal error: " + err.Error())
		}
	}
	p.addRoot(cmd)
	return p
}

// check returns an error if --problem is combined with arguments, or with flags of the command
// other than --root, --output and those that allowed lists. It also returns an error if --root
// is set without --problem.
func (p *problemInput) check(cmd *cobra.Command, args []string, allowed ...string) error {
	if p.file == "" {
		if cmd.Flags().Changed("root") {
			return usagef("--root applies only to --problem; remove it, and give catalog directories as ordinary paths")
		}
		return nil
	}
	var err error
	if len(args) > 0 {
		err = usagef("%s cannot be combined with --problem", args[0])
	}
	allowed = append(allowed, "problem", "root", "output")
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(allowed, f.Name) && err == nil {
			err = usagef("--%s cannot be combined with --problem", f.Name)
		}
	})
	return err
}

// An outsideError reports a directory in a document that is not below the root.
type outsideError struct{ dir, root string }

func (e *outsideError) Error() string {
	return fmt.Sprintf("%q is not below the root directory %q; write it relative to the root, or set --root", e.dir, e.root)
}

func (e *outsideError) Unwrap() error { return disk.ErrOutside }

// open returns a function that loads a directory named by a document. Nothing
// outside the root can be read, not even through links (S4).
func (p *problemInput) open(l *loader) func(context.Context, string) (*graph.Catalog, error) {
	var root *disk.Root
	return func(ctx context.Context, dir string) (_ *graph.Catalog, err error) {
		name := filepath.FromSlash(dir)
		if !filepath.IsLocal(name) {
			return nil, &outsideError{dir, p.root}
		}
		if root == nil {
			if root, err = disk.OpenRoot(p.root); err != nil {
				return nil, fmt.Errorf("--root: %w", err)
			}
		}
		return l.indexOf(ctx, source{path: filepath.Join(p.root, name), root: root, inRoot: name})
	}
}
