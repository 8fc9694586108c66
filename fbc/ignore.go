package fbc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// IgnoreFile is the name of the files that list what a load passes over (A2).
const IgnoreFile = ".indexignore"

// An ignorer holds the patterns of the .indexignore files seen so far, the ones
// of outer directories first. The last pattern that matches decides, so that
// deeper files and later lines win. As opm does, and as the example in the
// documentation of catalogs needs ("**/*" followed by "!*.json"), a pattern
// decides about each file by itself: a file can be taken back in even where its
// directory is excluded.
type ignorer struct {
	patterns []gitignore.Pattern
}

// read adds the patterns of the ignore file at name.
func (g *ignorer) read(fsys fs.FS, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var domain []string
	if dir := path.Dir(name); dir != "." {
		domain = strings.Split(dir, "/")
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxIgnoreLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		if err := checkPattern(line); err != nil {
			return fmt.Errorf("line %d: pattern %q: %w", n, line, err)
		}
		g.patterns = append(g.patterns, gitignore.ParsePattern(line, domain))
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes; ignore files hold one pattern a line", maxIgnoreLine)
	} else if err != nil {
		return err
	}
	return nil
}

const maxIgnoreLine = 64 << 10

// checkPattern refuses patterns that can match nothing, which git passes over
// in silence.
func checkPattern(line string) error {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "!"), "/")
	if line == "" {
		return errors.New("matches nothing; name a file or directory")
	}
	for part := range strings.SplitSeq(line, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return errors.New("is not closed; a [ needs its ], and a trailing backslash a character")
		}
	}
	return nil
}

// match reports whether the file at name is to be passed over.
func (g *ignorer) match(name string) bool {
	if len(g.patterns) == 0 {
		return false
	}
	return gitignore.NewMatcher(g.patterns).Match(strings.Split(name, "/"), false)
}
