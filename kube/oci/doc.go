// Package oci reads bundle images and catalog images from registries: the
// manifests of bundles and the files of catalogs.
//
// # A first bundle
//
//	puller := oci.New(&oci.Options{Keychain: authn.DefaultKeychain})
//	b, err := puller.Bundle(ctx, "quay.io/example/etcd-bundle@sha256:…")
//	for _, o := range b.Objects {
//		fmt.Println(o.Kind, o.Metadata.Name)
//	}
//
// The labels of an image name its directories of interest: a bundle's manifests
// and metadata, or a catalog's configs. Only these are unpacked, layer by
// layer, including deletions. The result is an fs.FS over a compressed archive,
// in memory or, with Options.Dir, in one file per digest.
//
// # Untrusted images
//
// Manifests, configurations and layers are verified against their digests while
// they are read. A reference with a digest is pulled at most once; a tag is
// looked up again each time. [Limits] caps sizes, file counts and decompression.
// Names with "..", links that leave the directory, and devices are errors. No
// file is ever created under a name that comes from an image.
//
// # Platforms
//
// A reference may name an index of images for several platforms. Bundles and
// catalogs are data and usually the same for all. The puller chooses the image
// for Options.Platform, else for linux/amd64, else the first one.
//
// # Mirrors
//
// Options.Registries lists mirrors to try first, like those of an
// ImageDigestMirrorSet or of containers-registries.conf(5). References keep their
// names, whichever registry the image comes from.
//
// # Images in files
//
// [Puller.CatalogFile] and [Puller.BundleFile] read images that skopeo, podman or
// buildah wrote to files, with the same limits.
//
// # Errors
//
// Every failure is an [*Error] with the reference. Its cause is a
// [*LimitError], an [*UnsafeError], a [*LabelError], a [*ManifestError], a
// [*FormatError], a [*DigestError], a [*TagError], or the error of the registry, a
// *transport.Error of go-containerregistry.
package oci
