package cli

import (
	"testing"

	"github.com/olmkit/olmkit/fbc/lifecycle"
)

// TestDateOf checks the formats of createdAt that real bundles have.
func TestDateOf(t *testing.T) {
	for text, want := range map[string]lifecycle.Date{
		"2026-08-03T15:06:37Z":         "2026-08-03",
		"2026-07-31 13:28:09":          "2026-07-31",
		"2022-08-22T13:28:40+00:00":    "2022-08-22",
		"2025-03-05":                   "2025-03-05",
		" 2024-2-20T00:00:00Z ":        "2024-02-20",
		"2020-10-16T07-18-39Z":         "2020-10-16",
		"2021-06-30:03:11:00":          "2021-06-30",
		"20240726":                     "2024-07-26",
		"Fri Oct  7 00:59:34 UTC 2022": "2022-10-07",
		"Mon Mar 28 21:54:22 IST 2022": "2022-03-28",
		"06/06/2024":                   "", // the day and the month cannot be distinguished
		"03-09-2021":                   "",
		"2024-13-01":                   "",
		"2024-02-30":                   "",
		"2020-009-16 14:14:02":         "",
		"202407260":                    "",
		"soon":                         "",
		"":                             "",
	} {
		if got := dateOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestReleases(t *testing.T) {
	for _, c := range []struct {
		dates []lifecycle.Date
		on    lifecycle.Date
		want  string
	}{
		{nil, "2026-01-01", ""},
		{[]lifecycle.Date{"2025-12-31"}, "", "1 dated release on 2025-12-31"},
		{[]lifecycle.Date{"2026-03-01", "2026-01-01", "2026-01-01", "2026-01-11"}, "2026-03-02", "4 dated releases from 2026-01-01 to 2026-03-01, typically 49 days apart; the last one is 1 day old"},
		{[]lifecycle.Date{"2026-01-01"}, "2025-01-01", "1 dated release on 2026-01-01"},
	} {
		r := releasesOf(c.dates, c.on)
		if got := r.text(); got != c.want {
			t.Errorf("%v on %q: %q, want %q", c.dates, c.on, got, c.want)
		}
	}
}
