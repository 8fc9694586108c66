package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

func TestParseSource(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want source
	}{
		{"a=dir", source{name: "a", namespace: "olm", path: "dir"}},
		{"a=dir,priority=-3", source{name: "a", namespace: "olm", path: "dir", priority: -3, hasPriority: true}},
		{"a=dir,namespace=ns,priority=2", source{name: "a", namespace: "ns", path: "dir", priority: 2, hasPriority: true, hasNamespace: true}},
		{"a=x=y,z", source{name: "a", namespace: "olm", path: "x=y,z"}},
		{"a=x,z,priority=1", source{name: "a", namespace: "olm", path: "x,z", priority: 1, hasPriority: true}},
		{"x/dir", source{name: "dir", namespace: "olm", path: "x/dir"}},
		{"x/dir,priority=2", source{name: "dir", namespace: "olm", path: "x/dir", priority: 2, hasPriority: true}},
		{"./x=y", source{name: "x=y", namespace: "olm", path: "./x=y"}},
		{"a=x,label=env=prod,label=tier=", source{name: "a", namespace: "olm", path: "x", labels: map[string]string{"env": "prod", "tier": ""}}},
	} {
		got, err := parseSource(tt.in, "olm")
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("parseSource(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
	}
}

func TestLoaderLoadsOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, sample.Catalog()); err != nil {
		t.Fatal(err)
	}
	l := newLoader(&env{stderr: io.Discard})
	var first *graph.Catalog
	for _, path := range []string{dir, dir + "/", dir + "/./"} {
		got, err := l.index(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if got != first {
			t.Errorf("index(%q) was loaded a second time", path)
		}
	}
	// Errors are cached, too.
	_, err1 := l.index(t.Context(), dir+"/nowhere")
	_, err2 := l.index(t.Context(), dir+"/nowhere")
	if err1 == nil || err1 != err2 {
		t.Errorf("errors are %v and %v, want the same one", err1, err2)
	}
}

// TestProgress checks that the progress bar appears if a load takes long, and disappears
// afterwards.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &out, label: "loading x", since: now, now: func() time.Time { return now }}
	p.update(fbc.Progress{Bytes: 10, BytesTotal: 100})
	if out.Len() > 0 {
		t.Errorf("a bar at once: %q", &out)
	}
	now = now.Add(2 * patience)
	p.update(fbc.Progress{Bytes: 50, BytesTotal: 100})
	if !strings.Contains(out.String(), "loading x") {
		t.Errorf("no bar after %v: %q", 2*patience, &out)
	}
	p.done()
	if !strings.HasSuffix(strings.TrimRight(out.String(), " "), "\r") {
		t.Errorf("the bar stays: %q", &out)
	}
	if newProgress(&out, "x") != nil {
		t.Error("a bar for what is no terminal")
	}
}

// TestInterrupt checks that an interrupt ends the work and is not reported as invalid input (D18).
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"resolve", "--sample", "-p", "etcd"},
		{"list", "packages", "--sample"},
		{"validate", "--sample"},
		{"resolve", "--problem", "-"},
	} {
		var stdout, stderr bytes.Buffer
		problem := strings.NewReader(`{"catalogs":[],"namespace":"ns","subscriptions":[],"installed":[]}`)
		if code := Run(ctx, args, problem, &stdout, &stderr); code != ExitInterrupted {
			t.Errorf("%q ends with %d, want %d; %s", args, code, ExitInterrupted, &stderr)
		}
		if stdout.Len() > 0 {
			t.Errorf("%q printed %q although it was interrupted", args, &stdout)
		}
	}
}

// TestBrokenOutput checks that a closed output is an error, because half an answer is useless.
func TestBrokenOutput(t *testing.T) {
	for _, args := range [][]string{
		{"resolve", "--sample", "-p", "etcd"},
		{"resolve", "--sample", "-p", "etcd", "-o", "json"},
		{"list", "packages", "--sample"},
		{"validate", "--sample", "-o", "yaml"},
	} {
		var stderr bytes.Buffer
		if code := Run(t.Context(), args, nil, brokenWriter{}, &stderr); code != exitBadInput {
			t.Errorf("%q ends with %d, want %d", args, code, exitBadInput)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestSubsetCount checks the singular and plural of bundle.
func TestSubsetCount(t *testing.T) {
	var b strings.Builder
	if err := (&subsetAnswer{Bundles: 1, Of: 1}).text(&b); err != nil || !strings.HasSuffix(b.String(), "1 of 1 bundle is kept.\n") {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
