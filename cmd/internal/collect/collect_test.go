package collect

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

func percent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestPercent checks that the setting is restored after the first collection and after Less.
func TestPercent(t *testing.T) {
	if byUser {
		t.Skip("GOGC or GOMEMLIMIT is set")
	}
	for n := 0; percent() != 100; n++ {
		if n == 1000 {
			t.Fatalf("the setting is still %d after collections", percent())
		}
		runtime.GC()
		runtime.Gosched() // to the cleanup
	}
	restore := Less()
	if got := percent(); got != rarely {
		t.Errorf("got %d with Less, want %d", got, rarely)
	}
	restore()
	if got := percent(); got != 100 {
		t.Errorf("got %d after Less, want 100", got)
	}
}
