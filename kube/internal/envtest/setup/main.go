// Setup builds the servers and kubectl, which the tests of kube need, unless they are up to
// date. "make setup" runs it.
package main

import (
	"fmt"
	"os"

	"github.com/olmkit/olmkit/kube/internal/envtest/servers"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := servers.Dir()
	if err != nil {
		return err
	}
	bin, err := servers.Find(dir)
	if err != nil {
		if err := servers.Build(dir, os.Stderr); err != nil {
			return err
		}
		if bin, err = servers.Find(dir); err != nil {
			return err
		}
	}
	fmt.Println("setup: kube-apiserver, etcd and kubectl are in", bin)
	return nil
}
