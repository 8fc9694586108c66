package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/property"
)

const blob = `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"efs","versions":[
  {"name":"4.9","phases":[{"name":"Full support","startDate":"2021-10-18","endDate":"2022-06-10"}]},
  {"name":"4.12","phases":[
    {"name":"Full support","startDate":"2023-01-17","endDate":"2023-08-17"},
    {"name":"Maintenance support","startDate":"2023-08-18","endDate":"2024-07-17"}],
   "platformCompatibility":[{"name":"other","versions":["1.0"]},{"name":"openshift","versions":["4.12","4.13"]}]}]}`

// G5: phases include their first and last day, and a version without data is not known to be incompatible.
func TestLifecycle(t *testing.T) {
	p, err := lifecycle.Parse([]byte(blob))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		version, name string
	}{{"4.12.0", "4.12"}, {"4.12.7-rc.1+b", "4.12"}, {"4.9.0", "4.9"}, {"4.1.2", ""}, {"five", ""}} {
		v, ok := p.Of(tt.version)
		if ok != (tt.name != "") || ok && v.Name != tt.name {
			t.Errorf("Of(%s) = %v, %v; want %q", tt.version, v, ok, tt.name)
		}
	}
	v, _ := p.Of("4.12.0")
	for day, want := range map[lifecycle.Date]string{
		"2023-01-16": "", "2023-01-17": "Full support", "2023-08-17": "Full support", "2023-08-18": "Maintenance support", "2024-07-17": "Maintenance support", "2024-07-18": "",
	} {
		if ph, ok := v.On(day); ph.Name != want || ok != (want != "") {
			t.Errorf("On(%s) = %q, %v; want %q", day, ph.Name, ok, want)
		}
	}
	for minor, want := range map[uint64]bool{11: false, 12: true, 13: true, 14: false} {
		if ok, known := v.Compatible(property.MinorVersion{Major: 4, Minor: minor}); ok != want || !known {
			t.Errorf("Compatible(4.%d) = %v, %v; want %v, true", minor, ok, known, want)
		}
	}
	v, _ = p.Of("4.9.0")
	if ok, known := v.Compatible(property.MinorVersion{Major: 4, Minor: 9}); ok || known {
		t.Errorf("without data: Compatible = %v, %v", ok, known)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"2023-01-17"`, `"17 January 2023"`, `/versions/1/phases/0/startDate: "17 January 2023" is not a date: want YYYY-MM-DD, such as 2026-01-31`},
		{`"2024-07-17"`, `"2024-02-30"`, `/versions/1/phases/1/endDate: "2024-02-30" is not a date`},
		{`"endDate":"2024-07-17"`, `"end":"2024-07-17"`, `/versions/1/phases/1/endDate: "" is not a date`},
		{`"2022-06-10"`, `"2021-06-10"`, `/versions/0/phases/0/endDate: 2021-06-10 is before the start 2021-10-18`},
		{`"2023-08-18"`, `"2023-08-17"`, `/versions/1/phases/1/startDate: 2023-08-17 is not after the end 2023-08-17 of the previous phase`},
		{`"4.9"`, `"4.12"`, `/versions/1/name: version 4.12 is repeated`},
		{`"4.9"`, `"new"`, `/versions/0/name: invalid version "new"`},
		{`"4.13"`, `"all"`, `/versions/1/platformCompatibility/1/versions/1: invalid version "all"`},
		{`"versions":[`, `"versions":7,"x":[`, `versions`},
	} {
		_, err := lifecycle.Parse([]byte(strings.Replace(blob, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.new, err, tt.want)
		}
	}
}

// FuzzParse checks that no input makes Parse or its results panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(blob))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := lifecycle.Parse(text)
		if err != nil {
			return
		}
		for _, v := range p.Versions {
			if got, ok := p.Of(v.Name + ".0"); ok {
				got.On("2026-01-01")
				got.Compatible(property.MinorVersion{Major: 4, Minor: 12})
			}
		}
	})
}
