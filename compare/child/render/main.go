//go:build containers_image_openpgp

// The tag selects an implementation of OpenPGP that needs no C library.

// Render renders the catalog image given as an argument as "opm render" does. The registry is not verified.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/pkg/image/containersimageregistry"
	"go.podman.io/image/v5/types"
)

func main() {
	if err := render(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(ctx context.Context, ref string) error {
	reg, err := containersimageregistry.New(
		&types.SystemContext{OSChoice: "linux", DockerInsecureSkipTLSVerify: types.OptionalBoolTrue},
		containersimageregistry.WithTemporaryImageCache())
	if err != nil {
		return err
	}
	defer reg.Destroy()
	cfg, err := action.Render{Refs: []string{ref}, Registry: reg, AllowedRefMask: action.RefDCImage}.Run(ctx)
	if err != nil {
		return err
	}
	return declcfg.WriteJSON(*cfg, io.Discard)
}
