#!/bin/sh
# Installs or builds what the tests need besides Go, and reports where it is:
# Chromium, for the page of "olmkit view", skopeo, for images in a real registry, and
# kube-apiserver, etcd and kubectl, for the module kube. Nothing else in this repository
# installs packages.
set -eu
cd "$(dirname "$0")/../.."
rc=0

# find prints the path of the first of several programs.
find() {
	for name in "$@"; do
		if command -v "$name"; then return; fi
	done
	return 1
}

# need PACKAGE MORE PROGRAM... finds one of the programs, or installs PACKAGE and the
# packages in MORE.
need() {
	package=$1 more=$2
	shift 2
	if ! path=$(find "$@") && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
		echo "setup: installing $package with apt-get"
		DEBIAN_FRONTEND=noninteractive
		export DEBIAN_FRONTEND
		install="apt-get install -qq --no-install-recommends $package $more"
		$install </dev/null || { apt-get update -qq && $install </dev/null; } || true
		path=$(find "$@") || path=
	fi
	if [ -n "$path" ]; then
		echo "setup: $package is $path"
	else
		echo "setup: $package is missing; install it (on Debian, as root: apt-get install $package)" >&2
		rc=1
	fi
}
need chromium fonts-dejavu-core chromium chromium-browser google-chrome
need skopeo "" skopeo

(cd kube && go run ./internal/envtest/setup) || rc=1
exit $rc
