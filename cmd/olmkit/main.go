// Olmkit answers, without a cluster, what Operator Lifecycle Manager would
// install or upgrade. Run "olmkit help" for its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/olmkit/olmkit/internal/cli"
)

func main() {
	// The first interrupt ends the work in hand, a second one the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
