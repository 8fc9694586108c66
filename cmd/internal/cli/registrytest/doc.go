// Package registrytest runs olmkit on a real registry, CNCF distribution, with TLS and
// credentials. Skopeo copies images into it and out of it. A test of images that podman and
// buildah build is skipped without these programs.
//
//	make setup    # in the root directory, installs skopeo
//	go test .
//
// There is nothing to import.
package registrytest
