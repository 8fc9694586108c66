#!/bin/sh
# Installs or builds what the tests need besides Go, and reports where it is:
# Chromium, for the page of "olmkit view", and kube-apiserver and etcd, for the
# module kube. Nothing else in this repository installs packages.
set -eu
cd "$(dirname "$0")/../.."
rc=0

find_chromium() {
	for name in chromium chromium-browser google-chrome; do
		if command -v "$name"; then return; fi
	done
	return 1
}
if ! path=$(find_chromium) && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	echo "setup: installing Chromium with apt-get"
	DEBIAN_FRONTEND=noninteractive
	export DEBIAN_FRONTEND
	install="apt-get install -qq --no-install-recommends chromium fonts-dejavu-core"
	$install </dev/null || { apt-get update -qq && $install </dev/null; } || true
	path=$(find_chromium) || path=
fi
if [ -n "$path" ]; then
	echo "setup: Chromium is $path"
else
	echo "setup: Chromium is missing; install it (on Debian, as root: apt-get install chromium)" >&2
	rc=1
fi

(cd kube && go run ./internal/envtest/setup) || rc=1
exit $rc
