// Package conformance reads and writes the cases of testdata/conformance: problems
// and requests with the answers that the rules demand.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A Case is one file.
type Case struct {
	// Name is the path of the file without its extension.
	Name string
	// Rules are the ids of the rules that the case shows, from its first line.
	Rules []string
	// Problem is the input of resolver.Resolve, and Request that of olmv1.Select; one of
	// them is nil. Their catalogs are inline.
	Problem *resolver.Problem
	Request *olmv1.Request
	// Want is the answer by the rules.
	Want string
	// OLM is what the running OLM installs, or each of its answers with the line
	// "or" between them. It is empty where OLM was not run.
	OLM string

	archive *txtar.Archive
	path    string
}

// The suffixes of the other files of a case.
const (
	problemFile = "problem"
	requestFile = "request"
	wantFile    = "want"
	olmFile     = "olm"
)

// Read returns the cases below a directory, in order of name.
func Read(dir string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.txtar"))
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return nil, err
		}
		c, err := parse(filepath.ToSlash(rel), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		c.path = file
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no cases", dir)
	}
	return out, nil
}

func parse(name string, text []byte) (*Case, error) {
	c := &Case{Name: strings.TrimSuffix(name, ".txtar"), archive: txtar.Parse(text)}
	if err := c.readRules(); err != nil {
		return nil, err
	}
	catalogs := map[string]string{}
	var err error
	for _, f := range c.archive.Files {
		base := strings.TrimSuffix(strings.TrimSuffix(f.Name, ".json"), ".yaml")
		switch {
		case f.Name == wantFile:
			c.Want = string(f.Data)
		case f.Name == olmFile:
			c.OLM = string(f.Data)
		case base == problemFile:
			c.Problem, err = decode[resolver.Problem](f.Data)
		case base == requestFile:
			c.Request, err = decode[olmv1.Request](f.Data)
		case base == f.Name:
			err = errors.New("want a name that ends in .yaml or .json")
		default:
			catalogs[base] = string(f.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if (c.Problem == nil) == (c.Request == nil) {
		return nil, errors.New("want either a problem or a request")
	}
	c.inline(catalogs)
	return c, nil
}

var (
	ruleID = lazyregexp.New(`\b[A-Z][1-9][0-9]?\b`)
	origin = lazyregexp.New(`^# ([A-Z][1-9][0-9]?(?:, [A-Z][1-9][0-9]?)*):`)
)

// readRules reads the first line of a case: "# D8, H13: why".
func (c *Case) readRules() error {
	m := origin().FindSubmatch(c.archive.Comment)
	if m == nil {
		return errors.New(`want a first line such as "# D8, H13: the higher priority comes first."`)
	}
	c.Rules = slices.Compact(slices.Sorted(slices.Values(ruleID().FindAllString(string(m[1]), -1))))
	return nil
}

// inline replaces the Dir of each catalog with the text of the file that it names. texts
// holds the files of the case by name without extension. A case that lists no catalogs
// uses the file catalog.
func (c *Case) inline(texts map[string]string) {
	if p := c.Problem; p != nil {
		if p.Catalogs == nil {
			p.Catalogs = []resolver.Catalog{{Name: "community", Namespace: "olm", Dir: "catalog"}}
		}
		for i := range p.Catalogs {
			if text, ok := texts[p.Catalogs[i].Dir]; ok {
				p.Catalogs[i].FBC, p.Catalogs[i].Dir = &text, ""
			}
		}
		return
	}
	if c.Request.Catalogs == nil {
		c.Request.Catalogs = []olmv1.Catalog{{Name: "community", Dir: "catalog"}}
	}
	for i := range c.Request.Catalogs {
		if text, ok := texts[c.Request.Catalogs[i].Dir]; ok {
			c.Request.Catalogs[i].FBC, c.Request.Catalogs[i].Dir = &text, ""
		}
	}
}

// decode returns the only document of a text, which is YAML or JSON.
func decode[T any](text []byte) (*T, error) {
	data, err := yamljson.JSON(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	v, err := document.ReadOne[T](bytes.NewReader(data))
	return &v, err
}

// Rewrite replaces the answers in the file of the case by those in Want and OLM.
func (c *Case) Rewrite() error {
	files := slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == wantFile || f.Name == olmFile })
	if c.OLM != "" {
		files = append(files, txtar.File{Name: olmFile, Data: []byte(c.OLM)})
	}
	c.archive.Files = append(files, txtar.File{Name: wantFile, Data: []byte(c.Want)})
	return os.WriteFile(c.path, txtar.Format(c.archive), 0o666)
}
