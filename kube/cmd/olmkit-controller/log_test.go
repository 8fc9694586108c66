package main

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/go-logr/logr"
)

// Log lines about objects that have no namespace have no such key.
func TestWithoutNamespace(t *testing.T) {
	var out bytes.Buffer
	log := logr.FromSlogHandler(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutNamespace}))
	log.WithValues("namespace", "", "name", "a").Info("x")
	log.WithValues("namespace", "n", "name", "").Info("x")
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if len(lines) != 2 || bytes.Contains(lines[0], []byte(`"namespace"`)) || !bytes.Contains(lines[0], []byte(`"name":"a"`)) ||
		!bytes.Contains(lines[1], []byte(`"namespace":"n"`)) || !bytes.Contains(lines[1], []byte(`"name":""`)) {
		t.Errorf("got %s", out.Bytes())
	}
}
