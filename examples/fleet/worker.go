package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
)

// run does a job. If it fails, for example because the worker was killed, run starts another
// worker, which keeps the answers that are complete.
func run(ctx context.Context, j job, attempts int) error {
	initBeam()
	for n := 1; ; n++ {
		err := runOnce(ctx, j)
		if err == nil {
			return finish(ctx, j)
		}
		if n >= attempts || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "fleet: attempt %d of %d failed, trying again: %v\n", n, attempts, err)
	}
}

// initBeam readies Beam, which otherwise logs each of its steps.
func initBeam() {
	beam.Init()
	log.SetupLogging("error", "text")
}

// runOnce starts a worker and executes the pipeline on it. The runner is in this process.
func runOnce(ctx context.Context, j job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	worker := exec.CommandContext(ctx, program, "worker")
	worker.Stderr = os.Stderr
	stdin, err := worker.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := worker.StdoutPipe()
	if err != nil {
		return err
	}
	if err := worker.Start(); err != nil {
		return err
	}
	endpoint, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return errors.Join(errors.New("the worker did not start"), worker.Wait())
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		worker.Wait()
		cancel(errors.New("the worker ended"))
	})
	defer ended.Wait()
	defer stdin.Close()
	*jobopts.EnvironmentType, *jobopts.EnvironmentConfig = "EXTERNAL", strings.TrimSpace(endpoint)
	*jobopts.WorkerBinary = program // or Beam would compile one, although it is running already
	_, err = prism.Execute(ctx, pipeline(j))
	return err
}

// work serves as a worker until its standard input ends, which it does at the latest with the
// process that started it. It first prints its address.
func work(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	initBeam()
	pool, err := extworker.StartLoopback(ctx, 0)
	if err != nil {
		return err
	}
	defer pool.Stop(ctx)
	if _, err := fmt.Fprintln(stdout, pool.EnvironmentConfig(ctx)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}

// finish removes what killed workers left behind and prints the total.
func finish(ctx context.Context, j job) error {
	fs, err := filesystem.New(ctx, j.Answers)
	if err != nil {
		return err
	}
	defer fs.Close()
	left, err := fs.List(ctx, j.Answers+"/*"+partial)
	if err != nil {
		return err
	}
	if remover, ok := fs.(filesystem.Remover); ok {
		for _, name := range left {
			if err := remover.Remove(ctx, name); err != nil {
				return err
			}
		}
	}
	text, err := filesystem.Read(ctx, fs, j.Answers+"/"+totalFile)
	if err != nil {
		return err
	}
	fmt.Printf("%s", text)
	return nil
}
