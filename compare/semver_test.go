package compare_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	opmtemplate "github.com/operator-framework/operator-registry/alpha/template"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/fbc/template"
	olmproperty "github.com/olmkit/olmkit/property"
)

// TestSemverTemplateLikeOPM expands random semver templates with opm and olmkit. The results have the same channels
// and the same package with its description and icon; both reject versions that differ only in build metadata (A15).
func TestSemverTemplateLikeOPM(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 15))
	expanded, refused, twice := 0, 0, 0
	for range 3000 {
		text := semverTemplate(rng)
		want, wantErr := opmSemver(t, text)
		got, err := ourSemver(t, text)
		switch {
		case wantErr != nil && err != nil:
			refused++
		case (wantErr != nil) != (err != nil):
			t.Errorf("opm returns %v, olmkit %v, for\n%s", wantErr, err, text)
		default:
			expanded++
			if strings.Contains(want, `"skips":`) && strings.Contains(want, `"replaces":`) {
				twice++
			}
			if strings.Contains(text, "Preference: major") && strings.Contains(text, "MinorChannels: true") {
				// opm uses the first version of each channel, whereas the documentation lets the preference decide
				// between two channels with the same head.
				want, got = anyDefault.ReplaceAllString(want, ""), anyDefault.ReplaceAllString(got, "")
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-opm +olmkit):\n%s\nof\n%s", diff, text)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d templates give equal results, %d of them with skips and replaces; both refuse %d", expanded, twice, refused)
}

var anyDefault = regexp.MustCompile(`"defaultChannel":"[^"]*",`)

// semverTemplate returns a template whose images are named by their versions.
func semverTemplate(rng *rand.Rand) string {
	text := "schema: olm.semver\n"
	for _, key := range []string{"generateMajorChannels", "generateMinorChannels"} {
		if n := rng.IntN(3); n > 0 {
			text += fmt.Sprintf("%s: %v\n", key, n == 2)
		}
	}
	if n := rng.IntN(8); n < 2 {
		text += "defaultChannelTypePreference: " + []string{"major", "minor"}[n] + "\n"
	}
	for _, grade := range []string{"candidate", "fast", "stable"} {
		seen := map[string]bool{}
		for range rng.IntN(6) {
			v := fmt.Sprintf("%d.%d.%d", rng.IntN(3), rng.IntN(3), rng.IntN(4))
			switch rng.IntN(12) {
			case 0:
				v += "-rc.1"
			case 1:
				v += "-b1" // for build metadata: tags have no plus sign
			}
			if seen[v] {
				continue // their errors have different texts
			}
			if len(seen) == 0 {
				text += grade + ":\n  bundles:\n"
			}
			seen[v] = true
			text += "  - image: q.io/a:" + v + "\n"
		}
	}
	return text
}

// versionOf returns the version in an image name of a template.
func versionOf(image string) string {
	return strings.Replace(strings.TrimPrefix(image, "q.io/a:"), "-b1", "+b1", 1)
}

func descriptionOf(version string) string { return "Version " + version + "." }

func opmSemver(t *testing.T, text string) (string, error) {
	render := func(_ context.Context, image string) (*declcfg.DeclarativeConfig, error) {
		version := versionOf(image)
		csv, err := json.Marshal(map[string]any{"kind": "ClusterServiceVersion", "spec": map[string]any{
			"version": version, "description": descriptionOf(version), "icon": []any{map[string]any{"base64data": []byte(version), "mediatype": "text/plain"}}}})
		if err != nil {
			return nil, err
		}
		return &declcfg.DeclarativeConfig{Bundles: []declcfg.Bundle{{
			Schema: "olm.bundle", Package: "a", Name: "a.v" + version, Image: image, CsvJSON: string(csv),
			Properties: []property.Property{property.MustBuildPackage("a", version)},
		}}}, nil
	}
	expander, err := opmtemplate.NewRegistry().CreateTemplateByType("semver", render)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := expander.Render(t.Context(), strings.NewReader(text))
	if err != nil {
		return "", err
	}
	slices.SortFunc(cfg.Channels, func(a, b declcfg.Channel) int { return cmp.Compare(a.Name, b.Name) })
	var out []string
	for _, p := range cfg.Packages {
		out = append(out, plain(t, marshal(t, p)))
	}
	for _, c := range cfg.Channels {
		out = append(out, plain(t, marshal(t, c)))
	}
	return strings.Join(out, "\n"), nil
}

func ourSemver(t *testing.T, text string) (string, error) {
	s, err := template.ParseSemver(t.Context(), []byte(text), "semver.yaml")
	if err != nil {
		return "", err
	}
	c, err := s.Expand(t.Context(), func(_ context.Context, image string) (*bundle.Dir, error) {
		version := versionOf(image)
		b := &fbc.Bundle{Image: image, Meta: fbc.Meta{Schema: "olm.bundle", Package: "a", Name: "a.v" + version}}
		b.Properties = append(b.Properties, olmproperty.New(olmproperty.TypePackage, olmproperty.Package{PackageName: "a", Version: version}))
		icon := &bundle.Icon{Base64Data: base64.StdEncoding.EncodeToString([]byte(version)), MediaType: "text/plain"}
		return &bundle.Dir{Bundle: b, Description: descriptionOf(version), Icon: icon}, nil
	})
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	if err := fbc.Write(t.Context(), &lines, c, &fbc.WriteOptions{Syntax: fbc.JSONLines}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(lines.String()) {
		if !strings.Contains(line, `"olm.bundle"`) {
			out = append(out, plain(t, []byte(line)))
		}
	}
	return strings.Join(out, "\n"), nil
}

func marshal(t *testing.T, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
