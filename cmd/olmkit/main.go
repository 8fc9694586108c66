// Olmkit shows, without a cluster, what Operator Lifecycle Manager would
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
	// The first interrupt cancels the command, a second one kills the process.
	// Operations that cannot be canceled, such as reading from an idle pipe,
	// are abandoned after a moment.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(2 * time.Second)
		os.Exit(cli.ExitInterrupted)
	})
	// An output that nobody reads is an error, too: by default it kills the process, which
	// would leave temporary files.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Run(ctx, cli.Args(os.Args), os.Stdin, os.Stdout, os.Stderr))
}
