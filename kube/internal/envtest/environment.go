package envtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/olmkit/olmkit/kube/internal/envtest/servers"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// An Environment is a running control plane.
type Environment struct {
	// Config has administrator rights. Its clients are not rate-limited.
	Config *rest.Config
	// Bin is the directory of the servers.
	Bin string
	// Flags are more flags of the API server, without dashes.
	Flags map[string]string

	env   *envtest.Environment
	dir   string
	guard *exec.Cmd
	alive io.Closer // the other end is closed when this process exits, if not before
}

// Main starts a control plane, runs the tests of m (a *testing.M), and exits.
// It installs OLM's classic CRDs and those in the given directories or files.
func Main(m interface{ Run() int }, env *Environment, crds ...string) {
	code := 1
	if err := env.Start(crds...); err != nil {
		fmt.Fprintln(os.Stderr, "starting the control plane:", err)
	} else {
		code = m.Run()
	}
	if err := env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		code = 1
	}
	os.Exit(code)
}

// Run starts a control plane for a test (a testing.TB), and stops it when the test has ended. It
// returns the configuration of clients; see Environment.Config.
func Run(t interface {
	Helper()
	Fatal(args ...any)
	Error(args ...any)
	Cleanup(f func())
}, crds ...string) *rest.Config {
	t.Helper()
	var env Environment
	if err := env.Start(crds...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	return env.Config
}

// Start starts the servers. Run "make setup" first to build them.
func (e *Environment) Start(crds ...string) (err error) {
	dir, err := servers.Dir()
	if err != nil {
		return err
	}
	if e.Bin, err = servers.Find(dir); err != nil {
		return err
	}
	api, err := servers.Go(".", "list", "-m", "-f", "{{.Dir}}", "github.com/operator-framework/api")
	if err != nil {
		return err
	}
	if e.dir, err = os.MkdirTemp("", "olmkit-envtest-"); err != nil {
		return err
	}
	if err := e.watch(); err != nil {
		return err
	}
	e.env = &envtest.Environment{
		CRDDirectoryPaths:        append([]string{filepath.Join(api, "crds")}, crds...),
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	e.env.CRDInstallOptions.MaxTime = time.Minute
	e.env.ControlPlane.Etcd = &envtest.Etcd{DataDir: filepath.Join(e.dir, "data")}
	server := e.env.ControlPlane.GetAPIServer()
	server.CertDir = filepath.Join(e.dir, "certs")
	for _, dir := range []string{e.env.ControlPlane.Etcd.DataDir, server.CertDir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	for name, path := range map[string]*string{"etcd": &e.env.ControlPlane.Etcd.Path, "kube-apiserver": &server.Path} {
		if *path, err = e.launcher(name); err != nil {
			return err
		}
	}
	// Never throttle: tests send thousands of requests to a slow server.
	server.Configure().Set("max-requests-inflight", "2000").Set("max-mutating-requests-inflight", "1000")
	for name, value := range e.Flags {
		server.Configure().Set(name, value)
	}
	if e.Config, err = e.env.Start(); err != nil {
		return err
	}
	e.Config.QPS = -1
	return nil
}

// KubeConfig returns a kubeconfig file for the administrator.
func (e *Environment) KubeConfig() []byte { return e.env.KubeConfig }

// launcher writes a script that saves its process id to a file and then
// executes a server.
func (e *Environment) launcher(name string) (string, error) {
	path := filepath.Join(e.dir, name)
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %q\nexec %q \"$@\"\n", e.pidFile(name), filepath.Join(e.Bin, name))
	return path, os.WriteFile(path, []byte(script), 0o700)
}

func (e *Environment) pidFile(name string) string { return filepath.Join(e.dir, name+".pid") }

// watch starts a process that kills the servers when this process is gone, even
// after a panic, a timeout or a signal.
func (e *Environment) watch() error {
	script := `trap '' INT TERM HUP; cat; for f in "$0"/*.pid; do [ -f "$f" ] && kill -9 "$(cat "$f")"; done; rm -rf "$0"; exit 0`
	e.guard = exec.Command("/bin/sh", "-c", script, e.dir)
	e.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if e.alive, err = e.guard.StdinPipe(); err != nil {
		return err
	}
	return e.guard.Start()
}

// Stop stops the servers. It may be called after a failed Start.
func (e *Environment) Stop() error {
	var err error
	if e.env != nil {
		if err = e.env.Stop(); err == nil {
			for _, name := range []string{"etcd", "kube-apiserver"} {
				os.Remove(e.pidFile(name)) // the process ids may be reused
			}
		}
	}
	if e.guard == nil || e.guard.Process == nil {
		return err
	}
	e.alive.Close()
	return errors.Join(err, e.guard.Wait())
}

// RestartAPIServer kills the API server and starts it again at the same
// address.
func (e *Environment) RestartAPIServer() error {
	if err := e.KillAPIServer(); err != nil {
		return err
	}
	return e.StartAPIServer()
}

// KillAPIServer kills the API server with SIGKILL.
func (e *Environment) KillAPIServer() error {
	if err := e.signal("kube-apiserver", syscall.SIGKILL); err != nil {
		return err
	}
	for e.env.ControlPlane.GetAPIServer().Stop() != nil { // until it has exited
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// StartAPIServer starts the API server again at the same address after
// KillAPIServer.
func (e *Environment) StartAPIServer() error { return e.env.ControlPlane.GetAPIServer().Start() }

// StallEtcd suspends etcd with SIGSTOP for a duration.
func (e *Environment) StallEtcd(d time.Duration) error {
	if err := e.signal("etcd", syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(d)
	return e.signal("etcd", syscall.SIGCONT)
}

func (e *Environment) signal(name string, s syscall.Signal) error {
	text, err := os.ReadFile(e.pidFile(name))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, s)
}
