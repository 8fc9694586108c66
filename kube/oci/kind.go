package oci

import (
	"path"
	"strings"
)

// The labels of bundle and catalog images.
const (
	LabelMediaType = "operators.operatorframework.io.bundle.mediatype.v1"
	LabelManifests = "operators.operatorframework.io.bundle.manifests.v1"
	LabelMetadata  = "operators.operatorframework.io.bundle.metadata.v1"
	LabelPackage   = "operators.operatorframework.io.bundle.package.v1"
	LabelConfigs   = "operators.operatorframework.io.index.configs.v1"

	labelDatabase = "operators.operatorframework.io.index.database.v1"
)

// MediaTypeRegistry is the media type of bundles with plain manifests and a
// CSV, the only one that OLM installs.
const MediaTypeRegistry = "registry+v1"

// A kind is a kind of image, with its directories of interest and its limits.
type kind struct {
	name   string
	limits Limits
	roots  func(labels map[string]string) ([]root, error)
}

// A root is a directory of an image and its place in the result.
type root struct {
	label, from, to string
	optional        bool
}

func catalogKind(limits Limits) kind {
	return kind{"catalog", limits, func(labels map[string]string) ([]root, error) {
		missing := "the image is not a catalog"
		switch {
		case labels[LabelManifests] != "":
			missing = "the image is a bundle, not a catalog"
		case labels[labelDatabase] != "":
			missing = "the image is a database catalog, and only file-based catalogs are supported; convert it with opm migrate"
		}
		r, err := rootOf(labels, LabelConfigs, ".", missing)
		return []root{r}, err
	}}
}

func bundleKind(limits Limits) kind {
	return kind{"bundle", limits, func(labels map[string]string) ([]root, error) {
		if m := labels[LabelMediaType]; m != "" && m != MediaTypeRegistry {
			return nil, &LabelError{Label: LabelMediaType, Value: m, Reason: "is not " + MediaTypeRegistry + ", the only media type that OLM installs"}
		}
		missing := "the image is not a bundle"
		if labels[LabelConfigs] != "" || labels[labelDatabase] != "" {
			missing = "the image is a catalog, not a bundle"
		}
		manifests, err := rootOf(labels, LabelManifests, "manifests", missing)
		if err != nil {
			return nil, err
		}
		out := []root{manifests}
		if labels[LabelMetadata] != "" {
			metadata, err := rootOf(labels, LabelMetadata, "metadata", "")
			if err != nil {
				return nil, err
			}
			metadata.optional = true
			out = append(out, metadata)
		}
		return out, nil
	}}
}

// rootOf returns the directory that a label names.
func rootOf(labels map[string]string, label, to, missing string) (root, error) {
	value := labels[label]
	if value == "" {
		return root{}, &LabelError{Label: label, Reason: missing}
	}
	from, ok := cleanName(value)
	if !ok || from == "." {
		return root{}, &LabelError{Label: label, Value: value, Reason: "is not a valid directory"}
	}
	return root{label: label, from: from, to: to}, nil
}

// cleanName returns a path in an image without a leading slash, or "." for the
// root. It returns false if the path is invalid or contains "..".
func cleanName(name string) (string, bool) {
	for elem := range strings.SplitSeq(name, "/") {
		if elem == ".." {
			return "", false
		}
	}
	if name == "" || strings.ContainsAny(name, "\x00") {
		return "", false
	}
	out := path.Clean("/" + name)[1:]
	if out == "" {
		out = "."
	}
	return out, true
}
