// Olmkit answers, without a cluster, what Operator Lifecycle Manager would
// install or upgrade. Run "olmkit help" for its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

func main() {
	// The first interrupt ends the work in hand, a second one the process. What
	// cannot be interrupted, such as reading a pipe that nobody writes to, gets a
	// moment and no more.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(2 * time.Second)
		os.Exit(cli.ExitInterrupted)
	})
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
