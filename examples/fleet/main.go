// Fleet resolves the namespaces of many clusters with Apache Beam, a distributed engine.
// Each cluster is a file of problem documents, and the clusters share compiled indexes.
//
//	olmkit index CATALOG -o DIR/community.index
//	fleet generate -root DIR -index community.index -clusters 1000 -namespaces 1000 DIR/problems
//	fleet run -root DIR -problems 'DIR/problems/*.jsonl' -answers DIR/answers
//
// Run starts a worker process, which resolves, and Beam's local runner, which assigns the
// files. Each answer file has a hash of its problems in its name and appears only when it is
// complete. Run skips answer files that exist, so after a crash, run it again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fleet(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: fleet generate|run|worker [flags]")

// fleet runs one of the commands.
func fleet(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	root := flags.String("root", ".", "`directory` of the compiled indexes")
	switch args[0] {
	case "generate":
		g := generator{}
		flags.StringVar(&g.index, "index", "", "`file` in -root of the index from which namespaces choose operators")
		flags.IntVar(&g.clusters, "clusters", 1000, "number of files")
		flags.IntVar(&g.namespaces, "namespaces", 1000, "number of documents in each file")
		flags.IntVar(&g.subscriptions, "subscriptions", 10, "number of subscriptions in each namespace")
		flags.Uint64Var(&g.seed, "seed", 1, "seed of the random choices")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 1 {
			return errors.New("generate: want one directory to write to")
		}
		return g.write(ctx, *root, flags.Arg(0))
	case "run":
		problems := flags.String("problems", "", "`pattern` of the files of problem documents")
		answers := flags.String("answers", "", "`directory` of the answers")
		attempts := flags.Int("attempts", 3, "how often to start a worker before giving up")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return run(ctx, job{Root: *root, Problems: *problems, Answers: *answers}, *attempts)
	case "worker":
		return work(ctx, os.Stdin, os.Stdout)
	}
	return errUsage
}
