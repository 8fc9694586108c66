package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// A program runs as a child process.
type program struct {
	file   string
	args   []string
	env    []string
	stdout io.Writer // or nil
}

// run runs the program.
func (p program) run(ctx context.Context) error {
	_, err := p.output(ctx)
	return err
}

// output runs the program and returns its standard error.
func (p program) output(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, p.file, p.args...)
	cmd.Env = append(os.Environ(), p.env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = p.stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(p.file), strings.Join(p.args, " "), err, stderr.Bytes())
	}
	return stderr.String(), nil
}

// peakBy runs the program and returns its peak resident memory in MiB. Watch is the program child/watch.
func (p program) peakBy(ctx context.Context, watch program) (float64, error) {
	watch.args, watch.env, watch.stdout = append([]string{p.file}, p.args...), p.env, p.stdout
	text, err := watch.output(ctx)
	if err != nil {
		return 0, err
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return kib / 1024, err
}

func (p program) job(ctx context.Context) job {
	return func() error { return p.run(ctx) }
}

// build compiles the main package in a directory.
func (r *run) build(ctx context.Context, dir string, flags ...string) (program, error) {
	p := program{file: filepath.Join(r.tmp, "program-"+filepath.Base(dir))}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-C", dir}, flags...), "-o", p.file, ".")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("building %s: %w: %s", dir, err, text)
	}
	return p, nil
}

// with returns the program with arguments.
func (p program) with(args ...string) program {
	p.args = args
	return p
}

// processes measures whole commands. The bound is the start of a process that does nothing.
func (r *run) processes(ctx context.Context) error {
	olmkit, err := r.build(ctx, "../cmd/olmkit")
	if err != nil {
		return err
	}
	nothing, err := r.build(ctx, "child/empty")
	if err != nil {
		return err
	}
	watch, err := r.build(ctx, "child/watch")
	if err != nil {
		return err
	}
	dir, err := r.catalog("community")
	if err != nil {
		return r.absent("process", err)
	}
	index := filepath.Join(r.tmp, "community.index")
	if err := olmkit.with("index", dir, "-o", index).run(ctx); err != nil {
		return err
	}
	for _, c := range []struct {
		label string
		args  []string
	}{
		{"olmkit version", []string{"version"}},
		{"olmkit resolve, over the index of community", []string{"resolve", "--catalog", "community=" + index, "-p", "etcd", "-o", "json"}},
	} {
		p := olmkit.with(c.args...)
		peak, err := p.peakBy(ctx, watch)
		if err != nil {
			return err
		}
		row := Row{Group: "process", Case: c.label, Note: fmt.Sprintf("%.0f MiB resident", peak), Bound: "starting a process", bound: nothing.job(ctx)}
		if err := r.pair(ctx, row, p.job(ctx), nil); err != nil {
			return err
		}
	}
	return nil
}

// pull compares reading a catalog from a registry with copying its image, and with opm.
func (r *run) pull(ctx context.Context) error {
	dir, err := r.catalog("community-full")
	if err != nil {
		return r.absent("pull", err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	image := host + "/community-full:v1"
	if err := push(ctx, dir, image); err != nil {
		return err
	}
	// Where olmkit and skopeo look for registries without TLS.
	home := filepath.Join(r.tmp, "home")
	conf := filepath.Join(home, ".config", "containers", "registries.conf")
	if err := os.MkdirAll(filepath.Dir(conf), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", host), 0o666); err != nil {
		return err
	}
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache")}
	olmkit, err := r.build(ctx, "../cmd/olmkit")
	if err != nil {
		return err
	}
	opm, err := r.build(ctx, "child/render", "-tags", "containers_image_openpgp,exclude_graphdriver_btrfs")
	if err != nil {
		return err
	}
	olmkit.env, opm.env = env, env
	skopeo := program{file: "skopeo", env: env}
	// fresh returns a directory that does not exist.
	n := 0
	fresh := func() string { n++; return filepath.Join(r.tmp, fmt.Sprintf("pulled-%d", n)) }
	first := func() error {
		cache := fresh()
		defer os.RemoveAll(cache)
		return olmkit.with("list", "packages", "docker://"+image, "-o", "json", "--cache-dir", cache).job(ctx)()
	}
	watch, err := r.build(ctx, "child/watch")
	if err != nil {
		return err
	}
	bare, err := olmkit.with("version").peakBy(ctx, watch)
	if err != nil {
		return err
	}
	cache := fresh()
	again := olmkit.with("list", "packages", "docker://"+image, "-o", "json", "--cache-dir", cache)
	peak, err := again.peakBy(ctx, watch)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("peak memory %.0f MiB above that of olmkit version", peak-bare)
	if _, err := exec.LookPath("skopeo"); err != nil {
		r.add(Row{Group: "pull", Case: "community-full, first command", Peer: "skopeo", Unit: "ms", Note: "skopeo is not installed"})
	} else {
		// Without the flag, skopeo copies the compressed layers as they are.
		for _, flags := range [][]string{{"--dest-decompress"}, nil} {
			row := Row{Group: "pull", Case: "community-full, first command", Peer: strings.Join(append([]string{"skopeo copy"}, flags...), " "), Note: note}
			if err := r.pair(ctx, row, first, func() error {
				to := fresh()
				defer os.RemoveAll(to)
				return skopeo.with(append([]string{"copy", "--quiet", "docker://" + image, "dir:" + to}, flags...)...).job(ctx)()
			}); err != nil {
				return err
			}
		}
	}
	if err := r.pair(ctx, Row{Group: "pull", Case: "community-full, first command", Peer: "opm render"}, first, opm.with(image).job(ctx)); err != nil {
		return err
	}
	index := filepath.Join(r.tmp, "community-full.index")
	if err := olmkit.with("index", dir, "-o", index).run(ctx); err != nil {
		return err
	}
	return r.pair(ctx, Row{Group: "pull", Case: "community-full, next command", Peer: "the same over a local index"},
		again.job(ctx), olmkit.with("list", "packages", index, "-o", "json").job(ctx))
}

// push makes an image of a catalog and pushes it.
func push(ctx context.Context, dir, image string) error {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: "configs/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	files, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil })
	if err != nil {
		return err
	}
	i, err := mutate.AppendLayers(empty.Image, files)
	if err != nil {
		return err
	}
	i, err = mutate.Config(i, v1.Config{Labels: map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}})
	if err != nil {
		return err
	}
	ref, err := name.ParseReference(image)
	if err != nil {
		return err
	}
	return remote.Write(ref, i, remote.WithContext(ctx))
}
