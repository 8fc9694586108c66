// Command release tags the modules of the repository together, and packages them:
//
//	release tag VERSION        commits that modules require each other as VERSION, and tags it
//	release proxy VERSION DIR  writes the modules of that tag to DIR, as a file-based module proxy
//
// It works on the repository above its own directory.
package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/semver"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var do func(version string) error
	switch {
	case len(args) == 2 && args[0] == "tag":
		do = tag
	case len(args) == 3 && args[0] == "proxy":
		do = func(version string) error { return proxy(version, args[2]) }
	default:
		return errors.New("usage: release tag VERSION, or release proxy VERSION DIR")
	}
	if version := args[1]; semver.Canonical(version) != version || version == "" {
		return fmt.Errorf("%q is not a version such as v0.2.0", args[1])
	}
	return do(args[1])
}
