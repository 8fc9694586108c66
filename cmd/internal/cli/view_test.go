package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// TestViewServe checks that the server prints its address, serves the page, and ends without an error when its context
// ends.
func TestViewServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	var stderr strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, []string{"view", "--sample", "--serve"}, strings.NewReader(""), in, &stderr)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v; exit code %d, %s", err, <-code, &stderr)
	}
	url, _, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("the server says %q", line)
	}
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), "<title>sample – olmkit</title>") {
		t.Errorf("GET %s: %s, %d bytes, %v", url, res.Status, len(text), err)
	}
	cancel()
	if n := <-code; n != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, %q", n, &stderr)
	}
}

// TestViewListen checks that no URL is printed for an address that stands for all interfaces, and that --timeout does
// not end the server.
func TestViewListen(t *testing.T) {
	for listen, want := range map[string]string{"0.0.0.0:0": "http://localhost:", "127.0.0.1:0": "http://127.0.0.1:"} {
		ctx, cancel := context.WithCancel(t.Context())
		out, in := io.Pipe()
		code := make(chan int, 1)
		go func() {
			code <- cli.Run(ctx, []string{"view", "--sample", "--serve", "--timeout", "1h", "--listen", listen}, strings.NewReader(""), in, io.Discard)
			in.Close()
		}()
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("--listen %s: %q, %v; want %s…", listen, line, err, want)
		}
		url, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		res, err := http.Get(url) // the work that --timeout limits is done
		if err != nil {
			t.Errorf("--listen %s: %v", listen, err)
		} else {
			res.Body.Close()
		}
		cancel()
		if n := <-code; n != 0 {
			t.Errorf("--listen %s: exit code %d", listen, n)
		}
	}
}
