package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.podman.io/image/v5/docker/reference"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// TestImagesLikeOPM compares the verdict on image references, and on random changes of them, with opm's parser (A17).
func TestImagesLikeOPM(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 8)
	seeds := []string{
		"a", "a/b", "a:1", "localhost/a", "localhost:5000/a:v1", "Quay.io/a/b", "Org/a", "A", "quay.io/Org/a", "foo_bar.com/x", "foo_bar.com:5000/x",
		"[::1]/a", "[::1]:5000/a", "1.2.3.4/a", "1.2.3.4:80/a", "index.docker.io/a", "docker.io/a", "quay.io/", "/a", "quay.io//a", "https://quay.io/a",
		"a__b/c", "a___b", "a--b", "a.-b", "-a", "a-", "a..b", "quay.io:/a", "a:b c", "a:", ":a", "@", "a@", hex[:64], "quay.io/" + hex[:64], hex[:63],
		"a:" + hex, "a:v" + hex, "a@sha256:" + hex[:64], "a:1@sha256:" + hex[:64], "a@sha384:" + hex[:96], "a@sha512:" + hex, "a@sha512:" + hex[:64],
		"a@sha256:" + strings.ToUpper(hex[:64]), "a@md5:" + hex[:32], "a@sha1:" + hex[:40], "a@sha265:" + hex[:64], "a@SHA256:" + hex[:64],
		"a@sha256+b64:" + hex[:64], "a@sha256:" + hex[:32], "a@sha256:" + hex[:65], "quay.io/a@sha256:" + hex[:64] + "@sha256:" + hex[:64],
		"localhost", "LOCALHOST/a", "localhost:A/a", "é/a", "quay.io/é", "quay.io/K", "quay.io/a\n", "a:1/b", "a:1/B", "a.b:1/b:2/c",
	}
	for _, n := range []int{117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128} {
		for _, registry := range []string{"", "q.io/", "index.docker.io/", "docker.io/", "localhost:5000/"} {
			seeds = append(seeds, registry+strings.Repeat("a/", n)+"a", registry+strings.Repeat("a/", n)+"aa:1", registry+strings.Repeat("a", 2*n))
		}
	}
	const most = 100_000
	rng := rand.New(rand.NewPCG(11, 8))
	accepted, refused := 0, 0
	for done := 0; done < most; {
		images := seeds
		if done > 0 {
			images = nil
			for range 2000 {
				images = append(images, mutate(rng, seeds))
			}
		}
		done += len(images)
		ours := malformed(t, images)
		for i, image := range images {
			_, err := reference.ParseNormalizedNamed(image)
			if err == nil {
				accepted++
			} else {
				refused++
			}
			if (err != nil) != ours[i] {
				t.Errorf("%q: opm returns %v; olmkit refuses it: %v", image, err, ours[i])
			}
		}
	}
	t.Logf("%d references, %d accepted, %d refused", accepted+refused, accepted, refused)
}

// mutate changes one to three places of a reference.
func mutate(rng *rand.Rand, seeds []string) string {
	const alphabet = "aAzZ09fF._-:/@[]+ localhost"
	for s := []rune(seeds[rng.IntN(len(seeds))]); ; {
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(s) + 1)
			c := rune(alphabet[rng.IntN(len(alphabet))])
			switch rng.IntN(4) {
			case 0:
				s = append(s[:i:i], append([]rune{c}, s[i:]...)...)
			case 1:
				if i < len(s) {
					s = append(s[:i:i], s[i+1:]...)
				}
			case 2:
				if i < len(s) {
					s = append(s[:i:i], append([]rune{c}, s[i+1:]...)...)
				}
			case 3:
				other := []rune(seeds[rng.IntN(len(seeds))])
				s = append(s[:i:i], other[rng.IntN(len(other)):]...)
			}
		}
		if len(s) > 0 {
			return string(s)
		}
		s = []rune("a")
	}
}

// malformed reports which references olmkit refuses as related images.
func malformed(t *testing.T, images []string) []bool {
	t.Helper()
	type related struct {
		Image string `json:"image"`
	}
	var list []related
	for _, image := range images {
		list = append(list, related{image})
	}
	text, err := json.Marshal(map[string]any{"schema": "olm.bundle", "package": "a", "name": "a.v1", "image": "a", "relatedImages": list})
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := fbc.CheckReader(t.Context(), bytes.NewReader(text), "catalog.json", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]bool, len(images))
	for _, d := range found {
		if d.Code != codes.Image {
			continue
		}
		var i int
		if _, err := fmt.Sscanf(d.Path, "/relatedImages/%d/image", &i); err != nil {
			t.Fatal(d)
		}
		out[i] = true
	}
	return out
}
