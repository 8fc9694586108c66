package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetup runs "make setup" with and without Chromium, skopeo, apt-get and root access. Scripts
// stand in for these programs.
func TestSetup(t *testing.T) {
	const there = "exit 0"
	for _, tt := range []struct {
		name     string
		programs map[string]string
		want     string
		calls    string
		code     int
	}{
		{"there", map[string]string{"skopeo": there, "chromium": there, "id": "echo 0", "apt-get": "exit 1", "go": "echo setup: go $*"},
			"setup: chromium is $BIN/chromium\nsetup: skopeo is $BIN/skopeo\nsetup: go run ./internal/envtest/setup\n", "", 0},
		{"another name", map[string]string{"skopeo": there, "google-chrome": there, "id": "echo 1000", "go": "exit 0"},
			"setup: chromium is $BIN/google-chrome\nsetup: skopeo is $BIN/skopeo\n", "", 0},
		{"not root", map[string]string{"skopeo": there, "id": "echo 1000", "apt-get": "exit 1", "go": "echo servers"},
			"setup: chromium is missing; install it (on Debian, as root: apt-get install chromium)\nsetup: skopeo is $BIN/skopeo\nservers\n", "", 1},
		{"not Debian", map[string]string{"skopeo": there, "id": "echo 0", "go": "exit 0"},
			"setup: chromium is missing; install it (on Debian, as root: apt-get install chromium)\nsetup: skopeo is $BIN/skopeo\n", "", 1},
		{"installed", map[string]string{"skopeo": there, "id": "echo 0", "go": "exit 0", "apt-get": "echo $* >> $BIN/calls; echo exit 0 > $BIN/chromium; chmod +x $BIN/chromium"},
			"setup: installing chromium with apt-get\nsetup: chromium is $BIN/chromium\nsetup: skopeo is $BIN/skopeo\n", "install -qq --no-install-recommends chromium fonts-dejavu-core\n", 0},
		{"after an update", map[string]string{"skopeo": there, "id": "echo 0", "go": "exit 0", "apt-get": "echo $1 >> $BIN/calls; if [ $1 = update ]; then echo exit 0 > $BIN/chromium; chmod +x $BIN/chromium; else test -e $BIN/chromium; fi"},
			"setup: installing chromium with apt-get\nsetup: chromium is $BIN/chromium\nsetup: skopeo is $BIN/skopeo\n", "install\nupdate\ninstall\n", 0},
		{"no network", map[string]string{"skopeo": there, "id": "echo 0", "go": "exit 0", "apt-get": "exit 1"},
			"setup: installing chromium with apt-get\nsetup: chromium is missing; install it (on Debian, as root: apt-get install chromium)\nsetup: skopeo is $BIN/skopeo\n", "", 1},
		{"no servers", map[string]string{"skopeo": there, "chromium": there, "id": "echo 0", "go": "exit 1"},
			"setup: chromium is $BIN/chromium\nsetup: skopeo is $BIN/skopeo\n", "", 1},
		{"without skopeo", map[string]string{"chromium": there, "id": "echo 0", "go": "exit 0", "apt-get": "echo $* >> $BIN/calls; echo exit 0 > $BIN/skopeo; chmod +x $BIN/skopeo"},
			"setup: chromium is $BIN/chromium\nsetup: installing skopeo with apt-get\nsetup: skopeo is $BIN/skopeo\n", "install -qq --no-install-recommends skopeo\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			for _, name := range []string{"sh", "dirname", "chmod"} {
				path, err := exec.LookPath(name)
				if err != nil {
					t.Skip(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tt.programs {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+bin+"/sh\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin)
			t.Setenv("BIN", bin)
			out, code := script(t, ".", "internal/tools/setup.sh")
			if want := strings.ReplaceAll(tt.want, "$BIN", bin); out != want || code != tt.code {
				t.Errorf("it exits with %d and prints\n%swant %d and\n%s", code, out, tt.code, want)
			}
			calls, _ := os.ReadFile(filepath.Join(bin, "calls"))
			if string(calls) != tt.calls {
				t.Errorf("apt-get is called with\n%s\nwant\n%s", calls, tt.calls)
			}
		})
	}
}

// TestOnlySetupInstalls checks that nothing but "make setup" installs packages.
func TestOnlySetupInstalls(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-lE", "(apt-get|apt|dnf|yum|apk|brew|npm|pip) +(-[-a-zA-Z]+ +)*(install|add|ci)", "--", ":!*.md", ":!cmd/setup_test.go").Output()
	if err != nil {
		t.Skip("this is not a clone: ", err)
	}
	if got := string(bytes.TrimSpace(out)); got != "internal/tools/setup.sh" {
		t.Errorf("these files install packages, and only internal/tools/setup.sh may:\n%s", got)
	}
}
