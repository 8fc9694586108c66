package desired

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFromReleases checks which release counts, and what is reported about one that cannot be
// read (K77).
func TestFromReleases(t *testing.T) {
	zipped := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.Bytes()
	}
	const manifest = `{"manifest":"---\n# Source: a\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\n---\napiVersion: v1\nkind: Service\nmetadata: {name: b}\n","labels":{"olm.operatorframework.io/bundle-name":"`
	release := func(version, status, bundle string) corev1.Secret {
		return corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "v" + version, Labels: map[string]string{"version": version, "status": status}},
			Data:       map[string][]byte{"chunk": zipped(manifest + bundle + `"}}`), "extraChunks": []byte("[]")},
		}
	}
	with := func(chunk []byte, more string) []corev1.Secret {
		s := release("1", "deployed", "")
		s.Data = map[string][]byte{"chunk": chunk, "extraChunks": []byte(more)}
		return []corev1.Secret{s}
	}
	whole := release("1", "deployed", "split").Data["chunk"]
	for _, x := range []struct {
		name    string
		secrets []corev1.Secret
		bundle  string // of the revision; empty if there is none
		err     string
	}{
		{name: "no release"},
		{name: "the latest deployed", secrets: []corev1.Secret{release("9", "superseded", "nine"), release("10", "deployed", "ten"), release("11", "failed", "eleven")}, bundle: "ten"},
		{name: "never deployed", secrets: []corev1.Secret{release("1", "failed", "one"), release("x", "deployed", "other")}},
		{name: "in parts", secrets: with(whole[:9], `["rest"]`), bundle: "split"},
		{name: "a part is missing", secrets: with(whole[:9], `["lost"]`), err: "secret ns/v1 is not a Helm release: no secret lost"},
		{name: "not compressed", secrets: with([]byte("{}{}{}{}{}{}"), "[]"), err: "invalid header"},
		{name: "no list", secrets: with(whole, ""), err: "extraChunks: "},
		{name: "not a release", secrets: with(zipped("[]"), "[]"), err: "cannot unmarshal array"},
		{name: "not a manifest", secrets: with(zipped(`{"manifest":"- a"}`), "[]"), err: "cannot unmarshal array"},
		{name: "too large", secrets: with(zipped(strings.Repeat(" ", maxRelease+1)), "[]"), err: "it has more than 64 MiB"},
	} {
		r, err := FromReleases(x.secrets, func(name string) (*corev1.Secret, error) {
			if name != "rest" {
				return nil, errors.New("no secret " + name)
			}
			return &corev1.Secret{Data: map[string][]byte{"chunk": whole[9:]}}, nil
		})
		switch {
		case x.err != "":
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("%s: error %v, want %s", x.name, err, x.err)
			}
		case err != nil:
			t.Errorf("%s: %v", x.name, err)
		case x.bundle == "":
			if r != nil {
				t.Errorf("%s: got a revision with bundle %q", x.name, r.Bundle.Name)
			}
		case r == nil || r.Bundle.Name != x.bundle || !r.Migrated || len(r.Phases) != 2 || r.Phases[0].Objects[0].GetName() != "a":
			t.Errorf("%s: got %+v, want bundle %s and two phases", x.name, r, x.bundle)
		}
	}
}
