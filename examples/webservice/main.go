// Webservice resolves requests over HTTP. All requests share one index, which
// is replaced atomically when SIGHUP makes the service reload the catalog.
//
//	go run ./examples/webservice DIR       # serves on localhost:8080
//	go run ./examples/webservice -try DIR  # sends itself three requests
//
// A request contains only subscriptions and installed operators. The service
// supplies the catalogs, so that a request cannot name a file.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/graph"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	try := flag.Bool("try", false, "send three requests to the service and exit")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: webservice [-addr ADDRESS | -try] DIR, the directory of a catalog")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, flag.Arg(0), *addr, *try); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir, addr string, try bool) error {
	index, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	service := newService(index)
	server := &http.Server{
		Handler:           service,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second, // longer than maxTime
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	if try {
		addr = "localhost:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	if try {
		ctx, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- serve(ctx, server, listener) }()
		err := ask(ctx, w, "http://"+listener.Addr().String()+"/resolve")
		stop()
		return errors.Join(err, <-done)
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go reload(ctx, service, dir, hangup)
	fmt.Fprintln(w, "listening on", listener.Addr())
	return serve(ctx, server, listener)
}

// reload loads the catalog again for each signal until ctx ends. If the catalog has
// errors, the service continues with the old one.
func reload(ctx context.Context, s *service, dir string, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			index, err := graph.Load(ctx, os.DirFS(dir), nil)
			if err != nil {
				log.Printf("keeping the old catalog: %v", err)
				continue
			}
			s.replace(index)
		}
	}
}

// grace is the time that pending requests have to finish when the service shuts down.
const grace = 10 * time.Second

// serve serves requests until ctx ends. It returns when pending requests have
// finished, or after grace. Serve itself returns as soon as Shutdown begins.
func serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	shut := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		shut <- server.Shutdown(ctx)
	})
	if err := server.Serve(listener); stop() || !errors.Is(err, http.ErrServerClosed) {
		return err // the listener failed without a shutdown
	}
	return <-shut
}

// ask sends a few requests and prints the answers.
func ask(ctx context.Context, w io.Writer, url string) error {
	for _, question := range []string{
		`{"namespace":"a","subscriptions":[{"package":"etcd","channel":"stable"}]}`,
		`{"namespace":"b","subscriptions":[{"package":"etcd","channel":"stable"},{"package":"etcd-backup-tool"}]}`,
		`{"namespace":"c","subscriptions":[{"packages":"etcd"}]}`,
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(question)))
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n%s\n%s\n", question, res.Status, answer)
	}
	return nil
}
