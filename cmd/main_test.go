// Package cmd_test holds tests of what the repository shows of its programs: the
// commands in the documents, and the action. They run in the root directory of the
// repository, which is above this one.
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
