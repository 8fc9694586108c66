package recording_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/olmkit/olmkit/kube/internal/recording"
)

// The committed recording is what Write writes.
func TestWrite(t *testing.T) {
	r, err := recording.Read()
	if err != nil {
		t.Fatal(err)
	}
	if r.At.IsZero() || len(r.Snapshots) == 0 {
		t.Fatalf("the recording of %s has %d snapshots", r.At, len(r.Snapshots))
	}
	var is bytes.Buffer
	if err := r.Write(&is); err != nil {
		t.Fatal(err)
	}
	if got, want := unzip(t, is.Bytes()), unzip(t, recording.File()); !bytes.Equal(got, want) {
		t.Errorf("Write writes %d bytes, which are not the %d of the file", len(got), len(want))
	}
}

func unzip(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
