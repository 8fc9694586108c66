package yamljson

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
)

// catalogDir holds real catalogs as tar archives. It is next to the repository but not part of it.
const catalogDir = "../../../shared/catalogs"

// catalogDocs returns the YAML documents of the real catalogs, in the order of their archives.
func catalogDocs(t testing.TB) [][]byte {
	docs, err := readCatalogs()
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 {
		t.Skipf("no catalogs in %s", catalogDir)
	}
	return docs
}

var readCatalogs = sync.OnceValues(func() (docs [][]byte, err error) {
	archives, err := filepath.Glob(filepath.Join(catalogDir, "*.tar.gz"))
	if err != nil {
		return nil, err
	}
	for _, name := range archives {
		more, err := readArchive(name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	return docs, nil
})

func readArchive(name string) (docs [][]byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(h.Name, ".yaml") {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		docs = append(docs, splitDocs(data)...)
	}
}

// splitDocs splits a YAML stream at its --- lines.
func splitDocs(data []byte) (docs [][]byte) {
	data = bytes.TrimPrefix(data, []byte("---\n"))
	for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
		docs = append(docs, append(doc[:len(doc):len(doc)], '\n'))
	}
	return docs
}

// unwanted lists the types of the largest properties.
func unwanted(typ []byte) bool {
	return string(typ) == "olm.csv.metadata" || string(typ) == "olm.bundle.object"
}

func TestCatalogs(t *testing.T) {
	docs := catalogDocs(t)
	accepted := 0
	step, total := testsize.Of(10, 1, 1), 0
	for i := 0; i < len(docs); i += step {
		doc := docs[i]
		total++
		if check(t, doc) {
			accepted++
			checkSkipped(t, doc, unwanted)
		} else {
			t.Logf("fell back: %.200q", doc)
		}
	}
	share := float64(accepted) / float64(total)
	t.Logf("%d of %d documents accepted (%.4f %%)", accepted, total, 100*share)
	if share < 0.999 {
		t.Errorf("only %.2f %% of the documents were accepted", 100*share)
	}
}

// mutate makes a few random changes to a document: it replaces bytes, removes or repeats lines, and inserts fragments.
func mutate(r *rand.Rand, doc []byte) []byte {
	out := bytes.Clone(doc)
	const bytesLike = " \n:-#'\"|>[]{},&*!%@`?\\\t\r0a~.+_x\x00\x80\xff"
	fragments := []string{
		"\n", ": ", "- ", " #", "\n  ", "\n\n", "''", `\"`, "|\n", ">-\n", "\u0085", "\u2028", "\ufeff", "key: ", "'", "\"",
		"\\\n", "\u4f60", "  ", "{}", "[a, b]", "null", "1e3", "yes", "|2\n", "...\n", "---\n",
	}
	for range 1 + r.IntN(3) {
		if len(out) == 0 {
			return out
		}
		i := r.IntN(len(out))
		switch r.IntN(6) {
		case 0:
			out[i] = bytesLike[r.IntN(len(bytesLike))]
		case 1:
			out = append(out[:i], out[i+1:]...)
		case 2:
			f := fragments[r.IntN(len(fragments))]
			out = append(out[:i], append([]byte(f), out[i:]...)...)
		case 3: // repeat or remove a line
			start := bytes.LastIndexByte(out[:i], '\n') + 1
			end := i + bytes.IndexByte(out[i:], '\n') + 1
			if end <= i {
				continue
			}
			line := bytes.Clone(out[start:end])
			if r.IntN(2) == 0 {
				line = nil
				out = append(out[:start], out[end:]...)
			}
			out = append(out[:start], append(line, out[start:]...)...)
		case 4: // indent a line more or less
			start := bytes.LastIndexByte(out[:i], '\n') + 1
			if r.IntN(2) == 0 && out[start] == ' ' {
				out = append(out[:start], out[start+1:]...)
			} else {
				out = append(out[:start], append([]byte{' '}, out[start:]...)...)
			}
		case 5:
			out = out[:i]
		}
	}
	return out
}

func TestMutatedCatalogs(t *testing.T) {
	docs := catalogDocs(t)
	testMutated(t, docs, testsize.Of(3_000, 60_000, 600_000))
}

func TestMutated(t *testing.T) {
	var docs [][]byte
	for _, doc := range accepted {
		docs = append(docs, []byte(doc))
	}
	for _, c := range skipping {
		docs = append(docs, []byte(c.doc))
	}
	docs = append(docs, synthetic(3))
	testMutated(t, docs, testsize.Of(15_000, 300_000, 3_000_000))
}

func testMutated(t *testing.T, docs [][]byte, rounds int) {
	const large = 20_000
	r := rand.New(rand.NewPCG(7, 1))
	accepted := 0
	for range rounds {
		doc := docs[r.IntN(len(docs))]
		if len(doc) > large { // a part of the document
			start := r.IntN(len(doc) - large)
			start += bytes.IndexByte(doc[start:], '\n') + 1
			doc = doc[start:min(len(doc), start+r.IntN(2000))]
		}
		if check(t, mutate(r, doc)) {
			accepted++
		}
	}
	t.Logf("%d of %d mutated documents accepted", accepted, rounds)
}
