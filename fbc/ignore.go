package fbc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/olmkit/olmkit/fbc/internal/decode"
)

// ignoreFile is the name of the files that list what a load skips.
const ignoreFile = ".indexignore"

var errLeftover = errors.New("was left behind by an interrupted write and is skipped; check that no other file is missing, and delete it")

// An ignorer holds the patterns of the .indexignore files that apply to the current
// directory (A2). Those of outer directories come first. If several patterns match, the
// last one wins: it is from the deepest file, or from the last line of a file.
//
// The rules are those of .gitignore with one exception: a later pattern includes a file
// again even if its directory is excluded. opm makes this exception too, and the example in
// the documentation of catalogs ("**/*" followed by "!*.json") depends on it.
type ignorer struct {
	patterns []ignorePattern
}

// An ignorePattern is one line of an ignore file.
type ignorePattern struct {
	dir      string // of the ignore file, with a trailing slash unless it is the root
	glob     string // for doublestar
	negated  bool   // begins with "!"
	dirOnly  bool   // ends with "/"
	anchored bool   // has another "/"
}

// A badPattern is a line that cannot match anything.
type badPattern struct {
	line int
	err  error
}

// read adds the patterns of the ignore file at name.
func (g *ignorer) read(fsys fs.FS, name string, limit int64) ([]badPattern, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, &LimitError{Limit: "IgnoreSize", What: "ignore file", Max: limit}
	}
	dir := path.Dir(name) + "/"
	if dir == "./" {
		dir = ""
	}
	var bad []badPattern
	text = bytes.TrimPrefix(text, []byte(decode.BOM))
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		p, ok, err := parseIgnore(line)
		if err != nil {
			bad = append(bad, badPattern{n, fmt.Errorf("pattern %q %w", line, err)})
		} else if ok {
			p.dir = dir
			g.patterns = append(g.patterns, p)
		}
	}
	return bad, nil
}

// parseIgnore parses a line; ok is false for blank lines and comments.
func parseIgnore(line string) (p ignorePattern, ok bool, err error) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return p, false, nil
	}
	if !utf8.ValidString(line) {
		return p, false, errors.New("is not UTF-8 text")
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly, line = true, line[:len(line)-1]
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false, errors.New("matches nothing; name a file or directory")
	}
	p.glob, err = translateGlob(line)
	return p, err == nil, err
}

// trimSpaces removes spaces from the end of a line, except those after a backslash.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
		case '\\':
			i++
			end = min(i+1, len(line))
		default:
			end = i + 1
		}
	}
	return line[:end]
}

// matches reports whether the pattern applies to the file or directory at name.
func (p *ignorePattern) matches(name string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	rel, ok := strings.CutPrefix(name, p.dir)
	if !ok {
		return false
	}
	if !p.anchored {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(p.glob, rel)
}

// match reports whether the file at name is skipped. The last matching pattern decides
// about each directory on the way to the file, and then about the file. Without a
// match, a name is treated like its directory.
func (g *ignorer) match(name string) bool { return g.excludes(name, false) }

// excludes is match for a file or a directory. A file in an excluded directory may still be
// included again.
func (g *ignorer) excludes(name string, isDir bool) bool {
	if len(g.patterns) == 0 {
		return false
	}
	excluded, by := false, -1
	for end := 0; end < len(name); {
		next := strings.IndexByte(name[end+1:], '/')
		if next < 0 {
			end = len(name)
		} else {
			end += 1 + next
		}
		for i := len(g.patterns) - 1; i >= 0; i-- {
			p := &g.patterns[i]
			if excluded && i <= by {
				break // only a later line can include the name again
			}
			if p.matches(name[:end], end < len(name) || isDir) {
				excluded, by = !p.negated, i
				break
			}
		}
	}
	return excluded
}
