package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/olmkit/olmkit/graph"
)

func testService(t *testing.T) *service {
	t.Helper()
	index, err := graph.Load(t.Context(), os.DirFS("../../internal/sample/catalog"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return newService(index)
}

func post(s *service, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/resolve", strings.NewReader(body)))
	return w
}

func TestAnswers(t *testing.T) {
	s := testService(t)
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"a solution", `{"namespace":"a","subscriptions":[{"package":"etcd","channel":"stable"}]}`, 200, `"name": "etcdoperator.v0.9.4"`},
		{"an upgrade", `{"namespace":"a","subscriptions":[{"package":"etcd","channel":"stable","installedCSV":"etcdoperator.v0.9.0"}],
			"installed":[{"name":"etcdoperator.v0.9.0","version":"0.9.0","package":"etcd"}]}`, 200, `"replaces": "etcdoperator.v0.9.0"`},
		{"a conflict", `{"namespace":"a","subscriptions":[{"package":"etcd","channel":"stable"},{"package":"etcd-backup-tool"}]}`, 200, "possible fix"},
		{"a typing error", `{"namespace":"a","subscriptions":[{"packages":"etcd"}]}`, 400, "packages"},
		{"a bad problem", `{"namespace":"a","subscriptions":[{}]}`, 400, "/subscriptions/0"},
		{"a catalog named by the client", `{"namespace":"a","catalogs":[{"name":"x","dir":"/etc"}],"subscriptions":[]}`, 400, "catalogs"},
		{"too much", `{"namespace":"` + strings.Repeat("a", maxRequest) + `"}`, 400, "too large"},
		{"too many", `{"namespace":"a","subscriptions":[` + strings.Repeat(`{"package":"etcd"},`, maxQuestions) + `{"package":"etcd"}]}`, 400, "too many subscriptions"},
		{"nothing", ``, 400, "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := post(s, tt.body)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("the answer is %d %s, want %d and a text with %q", w.Code, w.Body, tt.status, tt.want)
			}
			var a answer
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
				t.Errorf("the answer is not JSON: %v", err)
			}
		})
	}
}

// TestOneIndexForAll sends requests from many goroutines while the index is replaced.
func TestOneIndexForAll(t *testing.T) {
	s := testService(t)
	want := post(s, `{"namespace":"a","subscriptions":[{"package":"grafana"}]}`).Body.String()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := post(s, `{"namespace":"a","subscriptions":[{"package":"grafana"}]}`).Body.String(); got != want {
					t.Errorf("the answer is %s, want %s", got, want)
					return
				}
			}
		})
	}
	for range 5 {
		s.replace(testService(t).index.Load())
	}
	wg.Wait()
}

// TestReload checks that the service uses the new catalog after a signal, and keeps the old one if the new one cannot
// be read.
func TestReload(t *testing.T) {
	s := testService(t)
	old := s.index.Load()
	missing, signals := filepath.Join(t.TempDir(), "missing"), make(chan os.Signal)
	for dir, same := range map[string]bool{missing: true, "../../internal/sample/catalog": false} {
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { reload(ctx, s, dir, signals) })
		signals <- os.Interrupt
		signals <- os.Interrupt // received after the first reload
		if got := s.index.Load() == old; got != same {
			t.Errorf("%s: same catalog: %v, want %v", dir, got, same)
		}
		stop()
		wg.Wait()
		s.replace(old)
	}
}

// TestBusy checks that a request waits for a free slot as long as it may take, and no longer.
func TestBusy(t *testing.T) {
	index := testService(t).index.Load()
	synctest.Test(t, func(t *testing.T) {
		s := newService(index)
		for range cap(s.slots) {
			s.slots <- struct{}{}
		}
		w := post(s, `{"namespace":"a","subscriptions":[]}`)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("a busy service answers %d %s", w.Code, w.Body)
		}
	})
}

// TestTry sends the requests of -try over a real connection.
func TestTry(t *testing.T) {
	var b strings.Builder
	if err := run(t.Context(), &b, "../../internal/sample/catalog", "", true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"200 OK", "400 Bad Request", "etcdoperator.v0.9.4", "possible fix"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("printed %q, want a text with %q", b.String(), want)
		}
	}
}
