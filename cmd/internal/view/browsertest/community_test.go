package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testcatalog"
)

// TestMany draws every channel of a generated catalog with 320 packages. It logs the time but does not limit it.
func TestMany(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "many")
	if err := os.CopyFS(dir, testcatalog.Sized(320/testcatalog.BlockPackages)); err != nil {
		t.Fatal(err)
	}
	drawAll(t, dir)
}

// TestCommunity is TestMany for a real catalog of 279 packages.
func TestCommunity(t *testing.T) { drawAll(t, realCatalog(t, "community-full")) }

func drawAll(t *testing.T, dir string) {
	file := makePage(t, dir)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open(file, "")
	var ready float64
	into(b, "performance.now() && performance.getEntriesByType('navigation')[0].domComplete", &ready)
	var got struct {
		Channels int     `json:"channels"`
		Nodes    int     `json:"nodes"`
		Slowest  float64 `json:"slowest"`
		Where    string  `json:"where"`
	}
	into(b, `(async () => {
		const d = JSON.parse(document.getElementById("data").textContent);
		const out = { channels: 0, nodes: 0, slowest: 0, where: "" };
		for (const p of d.catalogs[0].packages) for (const c of p.channels) {
			const from = performance.now();
			const changed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
			location.hash = "#/package/" + [d.catalogs[0].name, p.name, c.name, p.nodes[c.rows[c.rows.length - 1]].name].map(encodeURIComponent).join("/");
			await changed;
			const n = document.querySelectorAll(".node").length, took = performance.now() - from;
			if (n !== c.rows.length) throw new Error(p.name + " " + c.name + ": " + n + " boxes for " + c.rows.length + " rows");
			if (document.querySelectorAll(".way-told").length < 2) throw new Error(p.name + " " + c.name + ": no ways");
			out.channels++;
			out.nodes += n;
			if (took > out.slowest) { out.slowest = took; out.where = p.name + " " + c.name; }
		}
		return out;
	})()`, &got)
	t.Logf("%d bytes, ready after %.0f ms; %d channels with %d boxes, the slowest %.0f ms (%s)", info.Size(), ready, got.Channels, got.Nodes, got.Slowest, got.Where)
	if got.Channels < 400 {
		t.Errorf("only %d channels were drawn", got.Channels)
	}
	b.quiet()
}

// TestScreenshots writes screenshots for review.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots")
	}
	sample, conflict := makePage(t, "--sample", "--package", "grafana", "--package", "etcd:stable", "--installed", "etcd=0.9.0", "--package", "vault-operator"), samplePage(t)
	partial := makePage(t, "--problem", partialProblem(t))
	diff := makePage(t, "--sample", "--diff", write(t, "older.json", olderSample))
	b := newTab(t)
	for _, scheme := range []string{"light", "dark"} {
		b.color(scheme)
		b.size(1360, 900)
		for _, x := range []struct{ name, file, place string }{
			{"version", sample, "#/package/sample/etcd/stable/etcdoperator.v0.9.0"},
			{"reasons", sample, "#/resolution/0"},
			{"conflict", conflict, "#/resolution/0"},
			{"partial", partial, "#/resolution/0"},
			{"diff", diff, "#/difference"},
			{"packages", sample, "#/packages"},
		} {
			b.open(x.file, x.place)
			b.picture(x.name + "-" + scheme)
		}
		b.size(375, 812)
		b.open(sample, "#/package/sample/etcd/stable/etcdoperator.v0.9.0")
		b.picture("narrow-" + scheme)
		b.open(conflict, "#/resolution/0")
		b.picture("narrow-conflict-" + scheme)
		b.open(sample, "#/resolution/0")
		b.picture("narrow-reasons-" + scheme)
	}
	b.color("light")
	b.size(1120, 500)
	b.open(sample, "#/package/sample/etcd/stable/etcdoperator.v0.9.0")
	b.picture("readme")
}

// TestRealScreenshots writes screenshots of real catalogs, if they are available.
func TestRealScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots")
	}
	community := makePage(t, realCatalog(t, "community-full"))
	diff := makePage(t, realCatalog(t, "openshift-v4.19"), "--diff", realCatalog(t, "openshift-v4.16"))
	b := newTab(t)
	for _, scheme := range []string{"light", "dark"} {
		b.color(scheme)
		b.size(1360, 900)
		for _, x := range []struct{ name, file, place string }{
			{"real-diff", diff, "#/difference"},
			{"community", community, "#/packages"},
			{"long", community, "#/package/community-full/hive-operator/alpha/hive-operator.v1.2.4295-04f2f4f"},
			{"told", community, "#/package/community-full/argocd-operator"},
			{"many", community, "#/package/community-full/strimzi-kafka-operator/stable"},
		} {
			b.open(x.file, x.place)
			b.picture(x.name + "-" + scheme)
		}
	}
}

// olderSample is part of the sample catalog as an older version.
const olderSample = `{"schema":"olm.package","name":"etcd","defaultChannel":"alpha"}
{"schema":"olm.channel","package":"etcd","name":"alpha","entries":[{"name":"etcdoperator.v0.6.1"},{"name":"etcdoperator.v0.9.0","replaces":"etcdoperator.v0.6.1"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcdoperator.v0.6.1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"0.6.1"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcdoperator.v0.9.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"0.9.0"}}]}
{"schema":"olm.package","name":"gone","defaultChannel":"c"}
{"schema":"olm.channel","package":"gone","name":"c","entries":[{"name":"gone.v1.0.0"}]}
{"schema":"olm.bundle","package":"gone","name":"gone.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"gone","version":"1.0.0"}}]}
`

// TestLongChannel checks that only the newest of thousands of versions in a channel are drawn, but every version can
// be selected.
func TestLongChannel(t *testing.T) {
	const versions = 3000
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":"olm.package","name":"p","defaultChannel":"c"}`+"\n"+`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1.0.0"}`)
	for i := 1; i < versions; i++ {
		fmt.Fprintf(&b, `,{"name":"p.v1.0.%d","replaces":"p.v1.0.%d"}`, i, i-1)
	}
	b.WriteString("]}\n")
	for i := range versions {
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"p","name":"p.v1.0.%[1]d","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.%[1]d"}}]}`+"\n", i)
	}
	c := newTab(t)
	c.open(makePage(t, write(t, "long.json", b.String())), "#/package/long/p/c/p.v1.0.7")
	if n := eval[int](c, `document.querySelectorAll(".node").length`); n != 400 {
		t.Errorf("%d versions are drawn, want 400", n)
	}
	if got := c.text(".way-told p"); got != "reaches the head in 2,992 steps" {
		t.Errorf("of an old version it says %q", got)
	}
	c.quiet()
}
