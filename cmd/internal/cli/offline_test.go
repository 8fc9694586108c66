package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestOffline checks that fetched catalogs can be used without a network, by tag and digest, and others cannot.
func TestOffline(t *testing.T) {
	p := newPlaces(t)
	tag, other := "docker://"+p.ref(t, "community").String(), "docker://"+p.ref(t, "other").String()
	command := []string{"extract", "CATALOG", "--package", "etcd"}
	want, stderr, code := run(t, "", command, tag, "")
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	list, _, _ := run(t, "", []string{"list", "packages", "CATALOG"}, tag, "") // writes the index
	p.server.Close()

	got, stderr, code := run(t, "", append(command, "--offline"), tag, "")
	if got != want || code != 0 || !strings.HasPrefix(stderr, "note: offline; ") {
		t.Errorf("a tag: exit code %d, %s\n%s", code, stderr, firstDifference(got, want))
	}
	if got, stderr, code := run(t, "", []string{"list", "packages", "CATALOG", "--offline"}, tag, ""); got != list || code != 0 {
		t.Errorf("an index: exit code %d, %s", code, stderr)
	}
	if got, stderr, code := run(t, "", append(command, "--offline"), p.list[1].catalog, ""); got != want || code != 0 || strings.Contains(stderr, "offline") {
		t.Errorf("a digest: exit code %d, %s", code, stderr)
	}
	for _, arg := range []string{other, "https://nowhere.example/catalogs/x"} {
		_, stderr, code := run(t, "", append(command, "--offline"), arg, "")
		if code != 2 || !strings.Contains(stderr, "catalog "+arg+": the cache does not have it") || strings.Contains(stderr, "HTTPS_PROXY") {
			t.Errorf("%s: exit code %d, %s", arg, code, stderr)
		}
	}
	if _, stderr, code := run(t, "", append(command, "--offline", "--no-cache"), tag, ""); code != 2 || !strings.Contains(stderr, "remove one") {
		t.Errorf("--no-cache: exit code %d, %s", code, stderr)
	}
	// The index alone is not enough.
	files, err := filepath.Glob("cache/olmkit/images/*.zip")
	check(t, err)
	for _, f := range files {
		check(t, os.Remove(f))
	}
	if _, stderr, code := run(t, "", append(command, "--offline"), tag, ""); code != 2 || !strings.Contains(stderr, "the cache does not have it") {
		t.Errorf("without the files: exit code %d, %s", code, stderr)
	}
}

// TestCacheCommands checks that list shows fetched catalogs with their references, and prune deletes them.
func TestCacheCommands(t *testing.T) {
	p := newPlaces(t)
	type entry struct {
		Kind       string
		References []string
		Digest     string
		Size       int64
	}
	cached := func() []entry {
		t.Helper()
		out, stderr, code := run(t, "", []string{"cache", "list", "-o", "json"}, "", "")
		if code != 0 {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		var list []entry
		for line := range strings.Lines(out) {
			var e entry
			check(t, json.Unmarshal([]byte(line), &e))
			list = append(list, e)
		}
		return list
	}
	if list := cached(); len(list) != 0 {
		t.Errorf("at first: %v", list)
	}
	second := p.ref(t, "again")
	img, err := remote.Image(p.ref(t, "community"))
	check(t, err)
	check(t, remote.Write(second, img))
	for _, ref := range []string{p.ref(t, "community").String(), second.String(), p.ref(t, "other").String()} {
		if _, stderr, code := run(t, "", []string{"list", "packages", "docker://" + ref}, "", ""); code != 0 {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
	}
	check(t, os.WriteFile("cache/olmkit/images/olmkit-spool-1.tmp", nil, 0o600))
	list := cached()
	refs := map[string]bool{}
	for _, e := range list {
		refs[fmt.Sprint(e.References)] = true
		if e.Kind != "catalog" || !strings.HasPrefix(e.Digest, "sha256:") || e.Size < 1000 {
			t.Errorf("%+v", e)
		}
	}
	if len(list) != 2 || !refs[fmt.Sprint([]string{second.String(), p.ref(t, "community").String()})] || !refs[fmt.Sprint([]string{p.ref(t, "other").String()})] {
		t.Errorf("%+v", list)
	}
	if out, _, code := run(t, "", []string{"cache", "list"}, "", ""); code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "MiB") {
		t.Errorf("list: exit code %d\n%s", code, out)
	}
	if out, _, code := run(t, "", []string{"cache", "prune"}, "", ""); code != 0 || out != "deleted 0 items, 0.0 MiB\n" {
		t.Errorf("prune: exit code %d, %s", code, out)
	}
	if out, _, code := run(t, "", []string{"cache", "prune", "--older-than", "0s"}, "", ""); code != 0 || !strings.HasPrefix(out, "deleted 2 items, ") {
		t.Errorf("prune: exit code %d, %s", code, out)
	}
	left, err := filepath.Glob("cache/olmkit/*/*")
	check(t, err)
	if len(left) != 1 || len(cached()) != 0 { // may be in use by another command
		t.Errorf("left: %v", left)
	}
}

// TestMirrorSets checks that images come from the mirrors in registries.conf and in OpenShift's mirror sets.
func TestMirrorSets(t *testing.T) {
	p := newPlaces(t)
	_, digest, _ := strings.Cut(p.list[1].catalog, "@")
	want, _, _ := run(t, "", []string{"list", "packages", "CATALOG"}, "community", "")
	for name, text := range map[string]string{
		"idms.yaml":      "apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: x}\nspec: {imageDigestMirrors: [{source: quay.example/a, mirrors: [nowhere.invalid/b, HOST/team], mirrorSourcePolicy: NeverContactSource}]}\n",
		"icsp.yaml":      "kind: CatalogSource\n---\nkind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{source: quay.example/a, mirrors: [HOST/team]}]}\n",
		"itms.json":      `{"kind": "List", "items": [{"kind": "ImageTagMirrorSet", "spec": {"imageTagMirrors": [{"source": "quay.example", "mirrors": ["HOST"]}]}}]}`,
		"reg.conf":       "unqualified-search-registries = ['docker.io']\n[[registry]]\nprefix = 'quay.example/a'\nlocation = 'HOST/team/'\n",
		"mirror.conf":    "[[registry]]\nlocation = 'quay.example'\nblocked = true\n[[registry.mirror]]\nlocation = 'nowhere.invalid'\n[[registry.mirror]]\nlocation = 'HOST'\n",
		"list.yaml":      "[kind]",
		"type.yaml":      "kind: ImageTagMirrorSet\nspec: {imageTagMirrors: [quay.example]}\n",
		"wild.yaml":      "---\n---\nkind: ImageTagMirrorSet\nspec: {imageTagMirrors: [{source: '*.quay.example', mirrors: [HOST]}]}\nstatus: {}\n",
		"old.conf":       "[registries.search]\nregistries = ['docker.io']\n[registries.insecure]\nregistries = ['HOST']\n[registries.block]\nregistries = ['quay.example']\n",
		"full.conf":      "unqualified-search-registries = ['docker.io']\nshort-name-mode = 'enforcing'\ncredential-helpers = ['containers-auth.json']\n[aliases]\n'a' = 'quay.example/a'\n[[registry]]\nprefix = '*.quay.example'\nlocation = 'HOST'\ninsecure = true\n",
		"tagonly.conf":   "[[registry]]\nlocation = 'quay.example'\nblocked = true\n[[registry.mirror]]\nlocation = 'HOST'\npull-from-mirror = 'tag-only'\n",
		"first.conf":     "[[registry]]\nprefix = 'quay.example'\nlocation = 'HOST'\n[[registry]]\nprefix = 'quay.example/'\nlocation = 'nowhere.invalid'\n",
		"prefix.conf":    "[[registry]]\nprefix = 'quay.example'\n[[registry.mirror]]\nlocation = 'HOST'\n",
		"wild.conf":      "[[registry]]\nprefix = '*.quay.example'\n[[registry.mirror]]\nlocation = 'HOST'\n",
		"none.conf":      "[[registry]]\n",
		"url.conf":       "[[registry]]\nlocation = 'https://quay.example'\n",
		"mirrorurl.conf": "[[registry]]\nlocation = 'quay.example'\n[[registry.mirror]]\nlocation = 'http://HOST'\n",
		"pull.conf":      "[[registry]]\nlocation = 'quay.example'\npull-from-mirror = 'all'\n",
		"both.conf":      "[[registry]]\nlocation = 'quay.example'\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = 'HOST'\npull-from-mirror = 'all'\n",
		"conflict.conf":  "[[registry]]\nprefix = 'a.example'\nlocation = 'quay.example'\n[[registry]]\nprefix = 'b.example'\nlocation = 'quay.example'\ninsecure = true\n",
	} {
		check(t, os.WriteFile(name, []byte(strings.ReplaceAll(text, "HOST", p.host)), 0o666))
	}
	for _, tt := range []struct{ conf, mirrors, ref, err string }{
		{"", "idms.yaml", "quay.example/a/community@" + digest, ""},
		{"", "idms.yaml", "quay.example/a/community:v1", "is blocked"},
		{"", "icsp.yaml", "quay.example/a/community@" + digest, ""},
		{"", "itms.json", "quay.example/team/community:v1", ""},
		{"reg.conf", "", "quay.example/a/community:v1", ""},
		{"reg.conf", "", "quay.example/a/community@" + digest, ""},
		{"mirror.conf", "", "quay.example/team/community:v1", ""},
		{"tagonly.conf", "", "quay.example/team/community:v1", ""},
		{"tagonly.conf", "", "quay.example/team/community@" + digest, "is blocked"},
		{"reg.conf", "idms.yaml", "quay.example/a/community@" + digest, ""},
		{"", "wild.yaml", "a.quay.example/team/community:v1", ""},
		{"old.conf", "", "HOST/team/community:v1", ""},
		{"old.conf", "", "quay.example/team/community:v1", "is blocked"},
		{"full.conf", "", "a.quay.example/team/community:v1", ""},
		{"", "list.yaml", "quay.example/a/b:v1", "--mirrors list.yaml: is not an object"},
		{"", "type.yaml", "quay.example/a/b:v1", "--mirrors type.yaml: field spec.imageTagMirrors has a value of the wrong type, string"},
		{"", "state.yaml", "quay.example/a/b:v1", "--mirrors state.yaml: contains no ImageDigestMirrorSet"},
		{"", "missing.yaml", "quay.example/a/b:v1", "--mirrors missing.yaml: no such file"},
		{"state.yaml", "", "quay.example/a/b:v1", "state.yaml: toml: line 1"},
		{"missing.conf", "", "quay.example/a/b:v1", "missing.conf: no such file"},
		{"first.conf", "", "quay.example/team/community:v1", ""},
		{"wild.conf", "", "a.quay.example/team/community:v1", ""},
		{"prefix.conf", "", "quay.example/a/b:v1", `registry quay.example has a prefix but no location, which only a prefix such as *.example.com allows; add location = "quay.example"`},
		{"none.conf", "", "quay.example/a/b:v1", "neither prefix nor location"},
		{"url.conf", "", "quay.example/a/b:v1", "registry https://quay.example: remove http:// or https://"},
		{"mirrorurl.conf", "", "quay.example/a/b:v1", "of registry quay.example: remove http:// or https://"},
		{"pull.conf", "", "quay.example/a/b:v1", "pull-from-mirror applies only to"},
		{"both.conf", "", "quay.example/a/b:v1", "exclude each other"},
		{"conflict.conf", "", "quay.example/a/b:v1", "location quay.example appears twice, and the values of insecure or blocked differ"},
	} {
		t.Setenv("CONTAINERS_REGISTRIES_CONF", tt.conf)
		line := []string{"list", "packages", "docker://" + strings.ReplaceAll(tt.ref, "HOST", p.host), "--no-cache"}
		if tt.mirrors != "" {
			line = append(line, "--mirrors", tt.mirrors)
		}
		got, stderr, code := run(t, "", line, "", "")
		if tt.err == "" && (got != want || code != 0) || tt.err != "" && (code != 2 || !strings.Contains(stderr, tt.err)) {
			t.Errorf("%+v: exit code %d, %s", tt, code, stderr)
		}
	}
	// The user's file replaces the system's file and its directory.
	t.Setenv("CONTAINERS_REGISTRIES_CONF", "")
	conf, err := os.ReadFile("reg.conf")
	check(t, err)
	check(t, os.MkdirAll(".config/containers/registries.conf.d", 0o777))
	check(t, os.WriteFile(".config/containers/registries.conf.d/50.conf", conf, 0o666))
	check(t, os.WriteFile(".config/containers/registries.conf", []byte("[[registry]]\nlocation = 'quay.example/a'\nblocked = true\n"), 0o666))
	if got, stderr, code := run(t, "", []string{"list", "packages", "docker://quay.example/a/community:v1"}, "", ""); got != want || code != 0 {
		t.Errorf("a drop-in file: exit code %d, %s", code, stderr)
	}
}
