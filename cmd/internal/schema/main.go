// Command schema writes the JSON Schemas of the documents that olmkit reads and prints to
// the directory in its argument. Run it in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: schema DIRECTORY")
	}
	comments, err := readComments(".")
	if err != nil {
		return err
	}
	for _, d := range cli.Documents() {
		text, err := generate(d, comments)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], d.Name+".json"), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
