package repo_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A docPackage is a package with its documentation.
type docPackage struct {
	*doc.Package
	files []*ast.File
	names map[string]bool // F, T, T.M and T.Field, exported or not
}

// docPackages parses the packages of the repository, including nested modules. The keys are import paths.
func docPackages(t *testing.T) map[string]*docPackage {
	t.Helper()
	files := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		files[filepath.ToSlash(filepath.Dir(name))] = append(files[filepath.ToSlash(filepath.Dir(name))], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*docPackage{}
	for dir, list := range files {
		p, err := doc.NewFromFiles(fset, list, "github.com/olmkit/olmkit/"+dir, doc.AllDecls|doc.PreserveAST)
		if err != nil {
			t.Fatal(err)
		}
		out[p.ImportPath] = &docPackage{p, list, declared(list)}
	}
	return out
}

// declared returns the names of the top-level declarations in the files of a package.
func declared(files []*ast.File) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d).Name + "." + name
				}
				out[name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					declareSpec(out, s)
				}
			}
		}
	}
	return out
}

// receiver returns the type of a method's receiver.
func receiver(d *ast.FuncDecl) *ast.Ident {
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	switch generic := recv.(type) {
	case *ast.IndexExpr:
		recv = generic.X
	case *ast.IndexListExpr:
		recv = generic.X
	}
	return recv.(*ast.Ident)
}

func declareSpec(out map[string]bool, s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			out[n.Name] = true
		}
	case *ast.TypeSpec:
		out[s.Name.Name] = true
		var fields *ast.FieldList
		switch x := s.Type.(type) {
		case *ast.StructType:
			fields = x.Fields
		case *ast.InterfaceType:
			fields = x.Methods
		default:
			return
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				out[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// unlinked matches text that looks like a link to a name but that the documentation parser treats as plain text.
var unlinked = regexp.MustCompile(`(?:^|[^\w])\[\*?([A-Z]\w*(\.\w+)?|[a-z]\w*(/\w+)*\.[A-Z]\w*(\.\w+)?)\]`)

// TestDocLinks checks that every [Name] in the documentation of packages, types, fields, functions, constants and
// variables exists.
func TestDocLinks(t *testing.T) {
	packages := docPackages(t)
	links := 0
	for path, p := range packages {
		parse := p.Parser()
		check := func(what, text string) {
			var b strings.Builder
			each(parse.Parse(text).Content, func(x comment.Text) {
				switch x := x.(type) {
				case *comment.DocLink:
					links++
					of := packages[strings.TrimPrefix(x.ImportPath, "/")]
					if x.ImportPath == "" {
						of = p
					}
					name := strings.TrimPrefix(x.Recv+"."+x.Name, ".")
					if of != nil && name != "" && !of.names[name] {
						t.Errorf("%s: the documentation of %s links to %s of %s, which does not exist", path, what, name, of.ImportPath)
					}
				case comment.Plain:
					b.WriteString(string(x))
				}
			})
			for _, m := range unlinked.FindAllStringSubmatch(b.String(), -1) {
				if !p.names[m[1]] { // a field is in names, but the documentation does not link to fields
					t.Errorf("%s: the documentation of %s names %s, which does not exist", path, what, m[1])
				}
			}
		}
		check("the package", p.Doc)
		for _, f := range p.Funcs {
			check(f.Name, f.Doc)
		}
		values := append(p.Consts[:len(p.Consts):len(p.Consts)], p.Vars...)
		for _, x := range p.Types {
			check(x.Name, x.Doc)
			for _, f := range append(x.Funcs[:len(x.Funcs):len(x.Funcs)], x.Methods...) {
				check(x.Name+"."+f.Name, f.Doc)
			}
			for _, d := range x.Decl.Specs {
				ast.Inspect(d, func(n ast.Node) bool {
					if f, ok := n.(*ast.Field); ok && len(f.Names) > 0 {
						check(x.Name+"."+f.Names[0].Name, f.Doc.Text())
					}
					return true
				})
			}
			values = append(append(values, x.Consts...), x.Vars...)
		}
		for _, v := range values {
			check(strings.Join(v.Names, ", "), v.Doc)
		}
	}
	if links < 100 {
		t.Errorf("found only %d links in the documentation; fix the pattern if there are more", links)
	}
}

// each calls f with every text in a comment except code.
func each(blocks []comment.Block, f func(comment.Text)) {
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Paragraph:
			eachText(b.Text, f)
		case *comment.Heading:
			eachText(b.Text, f)
		case *comment.List:
			for _, item := range b.Items {
				each(item.Content, f)
			}
		}
	}
}

func eachText(list []comment.Text, f func(comment.Text)) {
	for _, x := range list {
		f(x)
	}
}
