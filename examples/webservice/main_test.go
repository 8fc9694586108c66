package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestEndsAfterTheLastAnswer stops the service during a request, which must get its complete answer.
func TestEndsAfterTheLastAnswer(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	server := &http.Server{
		ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-finish
			io.WriteString(w, "the whole answer")
		}),
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, server, listener) }()

	answered := make(chan string, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
		if err != nil {
			answered <- err.Error()
			return
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- string(text)
	}()
	<-begun
	stop()
	for { // until the shutdown has begun
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	select {
	case err := <-served:
		t.Errorf("the service ended with %v while it was answering", err)
	default:
	}
	close(finish)
	if got := <-answered; got != "the whole answer" {
		t.Errorf("the answer is %q", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestEndsWhenTheListenerBreaks checks that an error of the listener is returned at once, without waiting for a
// shutdown.
func TestEndsWhenTheListenerBreaks(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), &http.Server{ReadHeaderTimeout: time.Second}, listener); err == nil {
		t.Error("no error")
	}
}
