package repo_test

import (
	"bytes"
	"go/ast"
	"go/doc/comment"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// bareRule matches the id of a rule in text, but not one in quotes.
	bareRule = regexp.MustCompile(`(?:^|[^"\w.#/-])([A-HK]\d{1,3})\b`)
	// draft matches references to drafts of the rules, which readers do not have.
	draft = regexp.MustCompile(`(?i)\bdocument 00\d|(?:\(|as |in |of )00[01]\b`)
	// notProse matches code and links in Markdown.
	notProse = regexp.MustCompile("(?sm)^```.*?^```|^    .*?$|`[^`\n]*`|\\[[^\\]]*\\]\\([^)]*\\)")
	// toRule matches a link to a rule.
	toRule = regexp.MustCompile(`docs/rules\.md#([\w-]+)`)
)

// TestRuleLinks checks that each id of a rule in the public documentation of packages, and in the pages for users, is
// a link to the rule or a quoted example.
func TestRuleLinks(t *testing.T) {
	rules, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for path, p := range docPackages(t) {
		if isInternal(path) {
			continue
		}
		parse := p.Parser()
		check := func(what, text string) {
			if m := draft.FindString(text); m != "" {
				t.Errorf("%s: the documentation of %s mentions %q", path, what, m)
			}
			d := parse.Parse(text)
			each(d.Content, func(x comment.Text) {
				if x, ok := x.(comment.Plain); ok {
					if m := bareRule.FindStringSubmatch(string(x)); m != nil {
						t.Errorf("%s: the documentation of %s mentions rule %s without a link", path, what, m[1])
					}
				}
			})
			for _, l := range d.Links {
				if m := toRule.FindStringSubmatch(l.URL); m != nil {
					links++
					wantRule(t, rules, m[1])
				}
			}
		}
		check("the package", p.Doc)
		for _, f := range p.files {
			for _, d := range f.Decls {
				exportedDocs(d, check)
			}
		}
	}
	if links < 3 {
		t.Errorf("found only %d links to rules in the documentation of packages; fix the pattern if there are more", links)
	}
}

// exportedDocs calls f with the documentation of each exported part of a declaration.
func exportedDocs(d ast.Decl, f func(what, text string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
			f(d.Name.Name, d.Doc.Text())
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					f(s.Name.Name, d.Doc.Text()+s.Doc.Text())
					ast.Inspect(s.Type, func(n ast.Node) bool {
						if n, ok := n.(*ast.Field); ok && len(n.Names) > 0 && n.Names[0].IsExported() {
							f(s.Name.Name+"."+n.Names[0].Name, n.Doc.Text()+n.Comment.Text())
						}
						return true
					})
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() {
					f(s.Names[0].Name, d.Doc.Text()+s.Doc.Text()+s.Comment.Text())
				}
			}
		}
	}
}

// TestRuleLinksOfPages checks that each id of a rule in the prose of pages is a link, and that each such link leads to
// a rule.
func TestRuleLinksOfPages(t *testing.T) {
	rules, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	check := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\brules\.md#([\w-]+)`).FindAllSubmatch(text, -1) {
			links++
			wantRule(t, rules, string(m[1]))
		}
		if m := draft.Find(text); m != nil {
			t.Errorf("%s mentions %q", name, m)
		}
		if m := bareRule.FindSubmatch(notProse.ReplaceAll(text, nil)); m != nil {
			t.Errorf("%s mentions rule %s without a link", name, m[1])
		}
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "action.yml"} {
		check(name)
	}
	for _, dir := range []string{"docs", "examples"} {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && filepath.Ext(name) == ".md" && filepath.ToSlash(name) != "docs/rules.md" {
				check(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if links < 50 {
		t.Errorf("found only %d links to rules in pages; fix the pattern if there are more", links)
	}
}

// wantRule reports an error if docs/rules.md does not have the anchor.
func wantRule(t *testing.T, rules []byte, anchor string) {
	t.Helper()
	if !bytes.Contains(rules, []byte("\n### "+strings.ToUpper(anchor)+"\n")) && !sectionAnchor(rules, anchor) {
		t.Errorf("docs/rules.md has no anchor %q", anchor)
	}
}

// sectionAnchor reports whether an anchor belongs to a section: #a-file-based-catalogs.
func sectionAnchor(rules []byte, anchor string) bool {
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllSubmatch(rules, -1) {
		name := strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "-")
		if regexp.MustCompile(`[^a-z0-9-]`).ReplaceAllString(name, "") == anchor {
			return true
		}
	}
	return false
}
