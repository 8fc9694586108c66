package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

const (
	maxRequest    = 1 << 20         // bytes
	maxQuestions  = 500             // total of subscriptions and installed operators
	maxTime       = 2 * time.Second // per answer
	maxProperties = 1000            // per installed operator
)

// A service handles POST /resolve. It is safe for concurrent use.
type service struct {
	mux   *http.ServeMux
	index atomic.Pointer[graph.Catalog]
	slots chan struct{} // limits concurrent resolutions
}

func newService(index *graph.Catalog) *service {
	s := &service{mux: http.NewServeMux(), slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	s.index.Store(index)
	s.mux.HandleFunc("POST /resolve", s.resolve)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// replace sets the index for later requests. Requests in progress continue with
// the old one, which is immutable.
func (s *service) replace(index *graph.Catalog) { s.index.Store(index) }

// A question is the part of a problem that a client may set.
type question struct {
	Namespace     string                  `json:"namespace"`
	Subscriptions []resolver.Subscription `json:"subscriptions"`
	Installed     []resolver.Installed    `json:"installed,omitempty"`
}

// An answer is a solution, or the reason why there is none.
type answer struct {
	Selected    []resolver.Selected `json:"selected,omitempty"`
	Stayed      []resolver.Stay     `json:"stayed,omitempty"`
	Explanation string              `json:"explanation,omitempty"` // of a conflict
	Error       string              `json:"error,omitempty"`
}

func (s *service) resolve(w http.ResponseWriter, r *http.Request) {
	q, err := read(w, r)
	if err != nil {
		reply(w, http.StatusBadRequest, answer{Error: err.Error()})
		return
	}
	// Wait for a free slot, but not longer than a request may take.
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		w.Header().Set("Retry-After", "1")
		reply(w, http.StatusServiceUnavailable, answer{Error: "too many requests in progress; try again"})
		return
	}
	a, err := solve(ctx, s.index.Load(), q)
	var bad *document.Error
	switch {
	case errors.As(err, &bad):
		reply(w, http.StatusBadRequest, answer{Error: err.Error()})
	case err != nil:
		reply(w, http.StatusServiceUnavailable, answer{Error: "no answer in time: " + err.Error()})
	default:
		reply(w, http.StatusOK, a)
	}
}

// read decodes a request and checks its size.
func read(w http.ResponseWriter, r *http.Request) (*question, error) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	d.DisallowUnknownFields()
	var q question
	if err := d.Decode(&q); err != nil {
		return nil, err
	}
	if len(q.Subscriptions)+len(q.Installed) > maxQuestions {
		return nil, errors.New("too many subscriptions and installed operators")
	}
	for _, in := range q.Installed {
		if len(in.Properties) > maxProperties {
			return nil, errors.New("an installed operator has too many properties")
		}
	}
	return &q, nil
}

// solve answers a question. A conflict is an answer too.
func solve(ctx context.Context, index *graph.Catalog, q *question) (answer, error) {
	sol, err := resolver.Resolve(ctx, resolver.Problem{
		Namespace:     q.Namespace,
		Catalogs:      []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: index}},
		Subscriptions: q.Subscriptions,
		Installed:     q.Installed,
	})
	var conflict *resolver.Conflict
	switch {
	case errors.As(err, &conflict):
		text, err := conflict.Text(ctx, 80, nil)
		return answer{Explanation: text}, err
	case err != nil:
		return answer{}, err
	}
	return answer{Selected: sol.Selected, Stayed: sol.Stayed}, nil
}

func reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(a) // best effort: the client may be gone
}
