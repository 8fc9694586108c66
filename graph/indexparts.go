package graph

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
)

// indexParts are the packages of an opened index. They are read when they are needed, checked
// before they are used, and kept.
type indexParts struct {
	whole  *Catalog // its records are those of the directory
	list   []partRec
	r      io.ReaderAt
	at     int64  // where the packages begin in r
	length uint64 // of all packages
	name   string // of the file, if known
	loaded []atomic.Pointer[Catalog]
	failed atomic.Pointer[IndexError] // the first error
}

// before returns the size of the packages before package i.
func (p *indexParts) before(i int) Size {
	if i == 0 {
		return Size{}
	}
	r := &p.list[i-1]
	return Size{i, int(r.channels), int(r.entries), int(r.bundles)}
}

func (p *indexParts) size() Size { return p.before(len(p.list)) }

func (p *indexParts) memory() int64 {
	size := int64(len(p.list)) * partMemory
	for i := range p.loaded {
		if c := p.loaded[i].Load(); c != nil {
			size += readMemory + c.records.memory()
		}
	}
	return size
}

func (p *indexParts) err() error {
	if err := p.failed.Load(); err != nil {
		return err
	}
	return nil
}

// place returns where package i lies, counted from the first.
func (p *indexParts) place(i int) (from, to uint64) {
	if i > 0 {
		from = p.list[i-1].end
	}
	return from, p.list[i].end
}

// maxExpansion is how many times larger than its file an index may be in memory, apart from
// what Limits.Expansion allows. Real catalogs take five times as much as their files.
const maxExpansion = 16

// check checks the directory: packages are sorted by name and fill the file, and their memory
// is limited.
func (p *indexParts) check(text string, file int64, limits fbc.Limits) error {
	k := indexCheck{
		Catalog: p.whole, all: text, texts: max(size(p.whole.end), 1), members: size(p.list),
		providersOf: tiling{length: size(p.whole.providers)}, labeledBy: tiling{length: size(p.whole.labeled)},
	}
	var memory int64
	last := partRec{}
	for i, r := range p.list {
		if !k.hasText(r.name) || i > 0 && !k.less(last.name, r.name) || r.end < last.end || r.end > p.length ||
			r.channels < last.channels || r.entries < last.entries || r.bundles < last.bundles {
			return errRecord("package")
		}
		last = r
		memory += int64(r.memory) + readMemory
	}
	more := memory - maxExpansion*file
	switch {
	case memory > limits.FileSize:
		return &fbc.LimitError{Limit: "FileSize", What: "index in memory", Size: memory, Max: limits.FileSize}
	case more > limits.Expansion:
		return &fbc.LimitError{Limit: "Expansion", What: "index in memory", Size: more, Max: limits.Expansion}
	case last.end != p.length:
		return fmt.Errorf("%w: its packages do not fill it", ErrIndexCorrupt)
	case !every(p.whole.gvks, k.checkAPI) || !k.providersOf.whole():
		return errRecord("API")
	case !every(p.whole.labels, k.checkLabel) || !k.labeledBy.whole():
		return errRecord("label")
	}
	return nil
}

func errRecord(kind string) error {
	return fmt.Errorf("%w: a record of a %s does not match the others", ErrIndexCorrupt, kind)
}

// part returns package i, and nil if it cannot be read.
func (p *indexParts) part(i int) *Catalog {
	if c := p.loaded[i].Load(); c != nil {
		return c
	}
	from, to := p.place(i)
	text := make([]byte, to-from)
	err := p.read(text, from)
	if err == nil {
		if err = p.load(i, text); err == nil {
			return p.loaded[i].Load()
		}
	}
	p.failed.CompareAndSwap(nil, p.failure(i, err))
	return nil
}

// failure returns the error for a package that cannot be read.
func (p *indexParts) failure(i int, err error) *IndexError {
	return &IndexError{Name: p.name, Err: fmt.Errorf("package %q: %w", p.whole.str(p.list[i].name), err)}
}

// read reads bytes that begin somewhere in the packages.
func (p *indexParts) read(text []byte, from uint64) error {
	n, err := p.r.ReadAt(text, p.at+int64(from))
	switch {
	case n == len(text):
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it ends too early", ErrIndexCorrupt)
	}
	return err
}

// load unpacks and checks package i.
func (p *indexParts) load(i int, text []byte) error {
	r := &p.list[i]
	if crc32.Checksum(text, castagnoli) != r.sum {
		return fmt.Errorf("%w: its checksum does not match", ErrIndexCorrupt)
	}
	before, after := p.before(i), p.before(i+1)
	w := p.whole
	c := &Catalog{whole: w, before: before, problems: w.problems, others: w.others, files: w.files, load: w.load}
	all, ok := c.unpack(text, uint64(r.memory))
	if !ok {
		return fmt.Errorf("%w: it cannot be unpacked", ErrIndexCorrupt)
	}
	if len(c.packages) != 1 || c.Size() != (Size{1, after.Channels - before.Channels, after.Entries - before.Entries, after.Bundles - before.Bundles}) ||
		len(c.ids) != len(c.requirements) {
		return errRecord("package")
	}
	if kind := c.inconsistent(all); kind != "" {
		return errRecord(kind)
	}
	if c.str(c.packages[0].name) != w.str(r.name) {
		return errRecord("package")
	}
	c.meaning = meaning{
		exprs: make([]lazy[constraints.Expr], len(c.requirements)), ranges: make([]lazy[constraints.Range], len(c.ranges)),
		parser: w.meaning.parser,
	}
	p.loaded[i].CompareAndSwap(nil, c) // handles of a package always refer to the same catalog
	return nil
}

// readAhead is the number of bytes of packages that are read at a time, if all are.
const readAhead = 128 << 10

// readAll reads all packages, and releases r.
func (p *indexParts) readAll() error {
	errs := make([]error, len(p.list))
	var next int
	var mu sync.Mutex // guards next
	// take returns the next packages.
	take := func() (from, to int) {
		mu.Lock()
		defer mu.Unlock()
		from = next
		for begin := uint64(0); next < len(p.list) && (next == from || p.list[next].end-begin <= readAhead); next++ {
			if next == from {
				begin, _ = p.place(from)
			}
		}
		return from, next
	}
	work := func() {
		var buf []byte
		for {
			from, to := take()
			if from == to {
				return
			}
			begin, _ := p.place(from)
			_, end := p.place(to - 1)
			if uint64(cap(buf)) < end-begin {
				buf = make([]byte, end-begin)
			}
			text := buf[:end-begin]
			if errs[from] = p.read(text, begin); errs[from] != nil {
				return
			}
			for i := from; i < to; i++ {
				a, b := p.place(i)
				if errs[i] = p.load(i, text[a-begin:b-begin]); errs[i] != nil {
					return
				}
			}
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, int(p.length/readAhead)) {
		wait.Go(work)
	}
	work()
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return p.failure(i, err)
		}
	}
	p.r = nil
	return nil
}

// all returns the packages. If one cannot be read, it ends.
func (p *indexParts) all() iter.Seq[*Catalog] {
	return func(yield func(*Catalog) bool) {
		for i := range p.list {
			if c := p.part(i); c == nil || !yield(c) {
				return
			}
		}
	}
}

// names returns the names of the packages.
func (p *indexParts) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range p.list {
			if !yield(p.whole.str(p.list[i].name)) {
				return
			}
		}
	}
}

// named returns the package with the name.
func (p *indexParts) named(name string) (Package, bool) {
	i, ok := sort.Find(len(p.list), func(i int) int { return strings.Compare(name, p.whole.str(p.list[i].name)) })
	if ok {
		if c := p.part(i); c != nil {
			return Package{c, 0}, true
		}
	}
	return Package{}, false
}

// each returns the bundles that of returns for each of the listed packages.
func (p *indexParts) each(list []uint32, of func(*Catalog) iter.Seq[Bundle]) iter.Seq[Bundle] {
	return func(yield func(Bundle) bool) {
		for _, i := range list {
			c := p.part(int(i))
			if c == nil {
				return
			}
			for b := range of(c) {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// entryAt returns the entry with an [Entry.Index]. Its package has usually been read already;
// if it cannot be read, the entry has no name and no bundle.
func (p *indexParts) entryAt(n int) Entry {
	i := sort.Search(len(p.list), func(i int) bool { return uint32(n) < p.list[i].entries })
	c := p.part(i)
	if c == nil {
		return Entry{&Catalog{whole: p.whole, records: records{
			packages: make([]packageRec, 1), channels: make([]channelRec, 1), entries: make([]entryRec, 1),
		}}, 0}
	}
	return Entry{c, uint32(n - c.before.Entries)}
}
