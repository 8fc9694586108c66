// Webservice answers over HTTP what a namespace would get. One index serves all
// requests; it is replaced, without a lock, when the catalog is loaded again.
//
//	go run ./examples/webservice            # serves on localhost:8080
//	go run ./examples/webservice -try       # asks itself three questions
//
// A request is what varies: subscriptions and what is installed. The catalogs are
// the service's own, so that no request can name a file.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	try := flag.Bool("try", false, "ask three questions instead of waiting for them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *addr, *try); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, addr string, try bool) error {
	index, err := graph.Load(ctx, sample.Catalog(), nil)
	if err != nil {
		return err
	}
	service := newService(index)
	server := &http.Server{
		Handler:           service,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second, // longer than a request may take
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
	context.AfterFunc(ctx, func() { server.Shutdown(context.WithoutCancel(ctx)) })
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	if try {
		err := ask(ctx, w, "http://"+listener.Addr().String()+"/resolve")
		server.Close()
		<-done
		return err
	}
	fmt.Fprintln(w, "listening on", listener.Addr())
	if err := <-done; err != http.ErrServerClosed {
		return err
	}
	return nil
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
