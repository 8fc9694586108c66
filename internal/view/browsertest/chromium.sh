#!/bin/sh
# Prints the path of a Chromium to test with. Where there is none, and this is
# Debian and root, it installs Debian's package first; elsewhere it says what is
# missing.
set -eu
find_it() {
	for name in chromium chromium-browser google-chrome; do
		if path=$(command -v "$name"); then
			printf '%s\n' "$path"
			exit 0
		fi
	done
}
find_it
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	{ apt-get install -y --no-install-recommends chromium fonts-dejavu-core ||
		{ apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; }; } >&2
	find_it
fi
echo "chromium.sh: no Chromium here; install it (on Debian, as root: apt-get install chromium), then run the test again" >&2
exit 1
