// Package oci reads what operators consist of from image registries: the
// manifests of bundle images, and the files of catalog images.
//
// # A first bundle
//
//	puller := oci.New(&oci.Options{Keychain: authn.DefaultKeychain})
//	b, err := puller.Bundle(ctx, "quay.io/example/etcd-bundle@sha256:…")
//	for _, o := range b.Objects {
//		fmt.Println(o.Kind, o.Metadata.Name)
//	}
//
// An image says by its labels which of its directories matter: a bundle image
// where its manifests and metadata are, a catalog image where its configs are.
// Only these directories are unpacked; layers are applied in their order, with
// what upper ones remove. The result is an fs.FS over a compressed copy, in
// memory or, with Options.Dir, in a file per digest.
//
// # What is believed
//
// Nothing. Manifests, configurations and layers are compared with their digests
// while they arrive. A reference with a digest is pulled at most once, one with
// a tag is asked for again each time. Sizes, numbers of files and the work of
// decompression are bounded by [Limits]. A name with "..", a link that leads out
// of the directory, a device: each is an error that names it, and nothing is ever
// written under a name that an image chose.
//
// # Which image of several
//
// A reference may name an index of images for several platforms. Bundles and
// catalogs are data and mostly the same in all; taken is the image of
// Options.Platform, else that of linux/amd64, else the first one.
//
// # Mirrors
//
// Options.Mirrors are registries to try first, as an ImageDigestMirrorSet states
// them. References keep their names: who asks for quay.io/example/etcd gets what
// has that digest, wherever it was.
//
// # Errors
//
// Every failure is an [*Error] with the reference. Its cause is a [*LimitError],
// an [*UnsafeError], a [*LabelError], a [*ManifestError], or what the registry
// answered, a *transport.Error of go-containerregistry.
package oci
