package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// totalFile is the name of the file with the total, in the directory of the answers.
const totalFile = "total.txt"

// A job is what a pipeline does. Paths may have the scheme of any file system that Beam knows,
// except for Root, which must be local to the workers.
type job struct {
	Root     string // of the indexes
	Problems string // a pattern
	Answers  string // a directory
}

// Beam finds the functions of a pipeline by name, in the worker too.
func init() {
	register.DoFn2x2[context.Context, fileio.FileMetadata, total, error](&answerFile{})
	register.Function2x1(add)
	register.Function1x1(text)
}

// partial ends the names of files that are still being written.
const partial = ".part"

// pipeline answers the files of a job, in any order, and writes the total to total.txt.
func pipeline(j job) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	// Without Reshuffle, the runner would treat the files that match one pattern as one
	// piece of work.
	files := beam.Reshuffle(s, fileio.MatchFiles(s, j.Problems, fileio.MatchEmptyDisallow()))
	totals := beam.ParDo(s, &answerFile{Root: j.Root, Answers: j.Answers}, files)
	textio.Write(s, j.Answers+"/"+totalFile, beam.ParDo(s, text, beam.Combine(s, add, totals)))
	return p
}

// answerFile answers the problems of a file. It is idempotent: Beam may call it again for a
// file whenever a worker fails.
type answerFile struct {
	Root, Answers string

	indexes *indexes
}

// Setup is called once before a worker's first file.
func (f *answerFile) Setup() { f.indexes = &indexes{root: f.Root} }

// ProcessElement writes the answers to one file, or only counts them if the file exists.
func (f *answerFile) ProcessElement(ctx context.Context, file fileio.FileMetadata) (total, error) {
	from, err := filesystem.New(ctx, file.Path)
	if err != nil {
		return total{}, err
	}
	defer from.Close()
	documents, err := filesystem.Read(ctx, from, file.Path)
	if err != nil {
		return total{}, err
	}
	to, err := filesystem.New(ctx, f.Answers)
	if err != nil {
		return total{}, err
	}
	defer to.Close()
	name := answerName(f.Answers, file.Path, documents)
	if done, err := filesystem.Read(ctx, to, name); err == nil {
		return recount(done)
	}
	var out bytes.Buffer
	t, err := f.indexes.answerAll(ctx, documents, &out)
	if err != nil {
		return total{}, fmt.Errorf("%s: %w", file.Path, err)
	}
	// The file appears under its name only when it is complete. Two workers that were given
	// the same file write the same bytes.
	part := name + "." + rand.Text() + partial
	if err := filesystem.Write(ctx, to, part, out.Bytes()); err != nil {
		return total{}, err
	}
	return t, filesystem.Rename(ctx, to, part, name)
}

// answerName returns the name of the file with the answers to some documents. It contains a
// hash of the documents, and these contain the hashes of their catalogs, so a file never
// holds the answers to other problems.
func answerName(dir, file string, documents []byte) string {
	sum := sha256.Sum256(documents)
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return dir + "/" + base + "." + hex.EncodeToString(sum[:8]) + ".jsonl"
}
