// Package cmd_test tests the documents, the GitHub action, the releases and the scripts of the
// repository. The tests run in the root directory of the repository, which is the parent of
// this one.
package cmd_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}
