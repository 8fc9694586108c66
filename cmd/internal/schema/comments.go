package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// readComments returns the comments of the types of the repository and of their
// fields, by import path, type and field.
func readComments(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		addComments(out, path.Join(module, filepath.ToSlash(rel)), file)
		return nil
	})
	return out, err
}

func addComments(out map[string]string, pkg string, file *ast.File) {
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			t := spec.(*ast.TypeSpec)
			key := pkg + "." + t.Name.Name
			if doc := t.Doc; doc != nil {
				out[key] = plainComment(doc.Text())
			} else if len(g.Specs) == 1 {
				out[key] = plainComment(g.Doc.Text())
			}
			s, ok := t.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range s.Fields.List {
				text := f.Doc.Text()
				if text == "" {
					text = f.Comment.Text()
				}
				for _, name := range f.Names {
					out[key+"."+name.Name] = plainComment(text)
				}
			}
		}
	}
}
