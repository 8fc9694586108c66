#!/bin/sh
# Builds what a release consists of, from a tag and nothing else:
#
#	release.sh VERSION DIR
#
# DIR gets an archive for each platform, with olmkit, its man pages,
# olmkit-controller and the license; a bill of materials (CycloneDX) for each binary;
# and SHA256SUMS. The same tag, built by the same Go, gives the same bytes, on any
# machine and in any directory.
#
# The modules of the programs are built alone, without go.work, so that they require
# each other as they will be published: from the tags of VERSION, which "make tag" makes
# and which need not be pushed yet.
#
# PLATFORMS names what to build for; SBOM=no leaves out the bills of materials.
# It needs git, GNU tar, gzip and sha256sum.
set -eu
version=$1
if [ -z "$version" ]; then
	echo "release: name the tag to build from: make release VERSION=v0.1.0" >&2
	exit 2
fi
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/../../.."
: "${PLATFORMS:=linux/amd64 linux/arm64 linux/ppc64le darwin/amd64 darwin/arm64 windows/amd64}"
: "${SBOM:=yes}"
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ -n "$(ls -A "$out")" ]; then
	echo "release: $out is not empty" >&2
	exit 2
fi
commit=$(git rev-parse -q --verify "refs/tags/$version^{commit}") || commit=none
for tag in "$version" "cmd/$version" "kube/$version"; do
	if [ "$(git rev-parse -q --verify "refs/tags/$tag^{commit}")" != "$commit" ]; then
		echo "release: there is no tag $tag, or it is of another commit than $version; make them all: make tag VERSION=$version" >&2
		exit 2
	fi
done
module=$(awk '$1 == "module" { print $2 }' go.mod)
(cd internal/tools/release && go run . proxy "$version" "$tmp/proxy")

# A clone, so that nothing uncommitted gets in. The one commit has the tags of one
# version, so that the go command stamps this version and no other.
git init -q "$tmp/src"
cd "$tmp/src"
git fetch -q --depth 1 "file://$root" "refs/tags/$version:refs/tags/$version" \
	"refs/tags/cmd/$version:refs/tags/cmd/$version" "refs/tags/kube/$version:refs/tags/kube/$version"
git -c advice.detachedHead=false checkout -q "$version"
GOWORK=off GOPROXY="file://$tmp/proxy,$(go env GOPROXY)" GONOSUMDB="$module,$(go env GONOSUMDB)"
export GOWORK GOPROXY GONOSUMDB
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH VERSION="$version"

(cd cmd && go run ./internal/man "$tmp/man")
gzip -n -9 "$tmp"/man/*
if [ "$SBOM" = yes ]; then
	# The bill of materials names the hash of the tool that made it.
	(cd internal/tools/release && CGO_ENABLED=0 go build -trimpath -o "$tmp/cyclonedx-gomod" \
		github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod)
fi
# In an archive, a relative link leads to a file that is there; everything else is in
# the repository, at this version.
pack() {
	sed -E -e "s,\]\(([A-Za-z0-9._/-]+\.(png|svg))\),](https://$module/raw/$version/\1),g" \
		-e "s,\]\(([A-Za-z0-9._/-]+)([)#]),](https://$module/blob/$version/\1\2,g" \
		-e "s,\]\(https://$module/blob/$version/(LICENSE|README\.md|CHANGELOG\.md)([)#]),](\1\2,g" "$1"
}
# build puts the binary of a command of a module into an archive, and describes it.
build() {
	binary=$dir/${2##*/}$exe
	(cd "$1" && CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOFLAGS= go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$binary" "$2")
	stamped=$(go version -m "$binary" | awk '$1 == "mod" { print $3 }')
	if [ "$stamped" != "$version" ]; then
		echo "release: the binary of $2 reports version $stamped, not $version; is the version of the form v1.2.3?" >&2
		exit 1
	fi
	if [ "$SBOM" = yes ]; then
		"$tmp/cyclonedx-gomod" bin -json -std -noserial -notimestamp \
			-version "$version" -output "$out/${2##*/}_${version}_${os}_$arch.cdx.json" "$binary"
	fi
}
for platform in $PLATFORMS; do
	os=${platform%/*} arch=${platform#*/}
	name=olmkit_${version}_${os}_$arch
	dir=$tmp/$name
	exe=
	if [ "$os" = windows ]; then exe=.exe; fi
	mkdir -p "$dir/man"
	build cmd ./olmkit
	build kube ./cmd/olmkit-controller
	cp LICENSE "$dir"
	pack README.md >"$dir/README.md"
	pack CHANGELOG.md >"$dir/CHANGELOG.md"
	cp "$tmp"/man/*.gz "$dir/man"
	tar -C "$tmp" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
		--mtime="@$SOURCE_DATE_EPOCH" -cf "$tmp/$name.tar" "$name"
	gzip -n -9 <"$tmp/$name.tar" >"$out/$name.tar.gz"
done
cd "$out"
sha256sum olmkit* >SHA256SUMS
