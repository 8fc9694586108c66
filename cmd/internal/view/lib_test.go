package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// TestLibraries checks that the files in directory lib match lib.txt, and that each has its license.
func TestLibraries(t *testing.T) {
	libs, err := libraries()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	size := 0
	for _, l := range libs {
		listed[l.name()] = true
		code, err := files.ReadFile("lib/" + l.name() + ".js")
		if err != nil {
			t.Fatal(err)
		}
		size += len(code)
		sum := sha256.Sum256(code)
		if got := hex.EncodeToString(sum[:]); got != l.sum {
			t.Errorf("%s.js has the sum %s, but lib.txt has %s; run lib/lib.sh", l.name(), got, l.sum)
		}
		licence, err := files.ReadFile("lib/" + l.name() + ".LICENSE")
		if err != nil {
			t.Fatal(err)
		}
		if first := l.pkg + " " + l.version + ", " + l.licence + "\n"; !strings.HasPrefix(string(licence), first) {
			t.Errorf("%s.LICENSE does not begin with %q", l.name(), first)
		}
		if !bytes.Contains(licence, []byte("Copyright")) || bytes.Contains(licence, []byte("*/")) {
			t.Errorf("%s.LICENSE cannot stand over the code", l.name())
		}
		for _, bad := range []string{"sourceMappingURL", "</script", "<!--", "\r"} {
			if bytes.Contains(code, []byte(bad)) {
				t.Errorf("%s.js holds %q", l.name(), bad)
			}
		}
	}
	if size > 120<<10 {
		t.Errorf("the libraries have %d bytes", size)
	}
	entries, err := files.ReadDir("lib")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".js"); ok && !listed[name] {
			t.Errorf("lib/%s is not in lib.txt", e.Name())
		}
	}
}
