package sidebyside

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// TestMeasure installs an operator in one namespace and then in many at once, and logs the
// times, the CPU times, the requests to the API server and the memory of the controllers. With -olm, it does
// the same with OLM, which needs minutes. At rest, olmkit-controller sends no request. Its memory is less than half
// of the 184 MB that OLM's controllers need for fifty namespaces.
func TestMeasure(t *testing.T) {
	const maxMemory = 184 / 2
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.json")
	must(t, os.WriteFile(policy, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
		"rules": [{"level": "None", "resources": [{"group": "coordination.k8s.io"}]}, {"level": "Metadata"}]}`), 0o600))
	for _, b := range []backend{byOlmkit, byOLM} {
		if b == byOLM && *olmBinaries == "" {
			continue
		}
		t.Run(string(b), func(t *testing.T) {
			audit := filepath.Join(dir, string(b)+".log")
			env := &envtest.Environment{Flags: map[string]string{"audit-policy-file": policy, "audit-log-path": audit}}
			t.Cleanup(func() { must(t, env.Stop()) })
			must(t, env.Start())
			r := &run{cluster: newCluster(t, env, b), t: t, name: "measure"}
			if b == byOLM {
				r.patience = 20 * time.Minute
			}
			r.catalog("olm", "cat", r.widget("1.0.0"))
			r.until("the catalog is ready", func() bool {
				o, _ := r.get("CatalogSource", "olm", "cat")
				return field(o, "status", "connectionState", "lastObservedState") == "READY"
			})
			requests := func() int { return requestsIn(t, audit, "olmkit-controller/", "olm/", "catalog/") }
			settled := func() int { // requests, once olmkit-controller sends no more
				last := requests()
				for since := time.Now(); time.Since(since) < 5*time.Second; time.Sleep(time.Second) {
					if n := requests(); n != last && b == byOlmkit { // OLM never rests
						last, since = n, time.Now()
					}
				}
				return last
			}
			for _, n := range []int{1, testsize.Of(3, 10, 50)} {
				var added []string
				for i := range n {
					added = append(added, r.ns(fmt.Sprintf("%d-%d", n, i), nil))
					r.operatorGroup(added[i], own(added[i]))
				}
				before, begin := settled(), time.Now()
				cpu, server := r.cpuTime(), serverCPU(t)
				for _, ns := range added {
					r.subscribe(ns, "widget", obj{"sourceNamespace": "olm"})
				}
				done := 0
				ok := r.until("all have succeeded", func() bool {
					csvs, err := r.listAll(t.Context(), kindOf("ClusterServiceVersion"))
					must(t, err)
					done = 0
					for _, u := range csvs {
						if field(u.Object, "status", "phase") == "Succeeded" {
							done++
						}
					}
					return done == len(r.namespaces)
				})
				took := time.Since(begin)
				memory := r.memory()
				t.Logf("%s: after %.1f s, %d of %d have succeeded, %d of them at once; %d requests; %d MB; CPU: %.1f s, API server and etcd %.1f s",
					b, took.Seconds(), done, len(r.namespaces), n, settled()-before, memory, (r.cpuTime() - cpu).Seconds(), (serverCPU(t) - server).Seconds())
				if !ok && b == byOlmkit {
					t.FailNow()
				}
			}
			if b == byOLM {
				time.Sleep(3 * time.Minute) // it goes on for a while
			}
			before, pause := settled(), testsize.Of(5*time.Second, 10*time.Second, time.Minute)
			time.Sleep(pause)
			more, memory := requests()-before, r.memory()
			t.Logf("%s: at rest, %d requests in %s; %d MB", b, more, pause, memory)
			if b == byOlmkit { // a busy machine collects garbage late
				r.until("unused memory is returned", func() bool { memory = r.memory(); return memory <= maxMemory })
			}
			if b == byOlmkit && more > 0 {
				t.Errorf("%d requests at rest", more)
			}
			if b == byOlmkit && memory > maxMemory {
				t.Errorf("the memory is %d MB, want at most %d MB", memory, maxMemory)
			}
		})
	}
}

// requestsIn returns the number of requests in an audit log that clients with the given user
// agents sent.
func requestsIn(t *testing.T, path string, agents ...string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			UserAgent string `json:"userAgent"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil { // the last line may be incomplete
			continue
		}
		for _, a := range agents {
			if strings.HasPrefix(e.UserAgent, a) {
				n++
			}
		}
	}
	must(t, lines.Err())
	return n
}

// processIDs returns the process IDs of the backend.
func (s *cluster) processIDs() (out []string) {
	s.t.Helper()
	for _, p := range s.running {
		pid, err := os.ReadFile(p.pid)
		must(s.t, err)
		out = append(out, strings.TrimSpace(string(pid)))
	}
	return out
}

// memory returns the resident memory of the processes of the backend, in MB.
func (s *cluster) memory() (mb int) {
	s.t.Helper()
	for _, pid := range s.processIDs() {
		text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		must(s.t, err)
		_, rest, _ := strings.Cut(string(text), "VmRSS:")
		kb, err := strconv.Atoi(strings.Fields(rest)[0])
		must(s.t, err)
		mb += kb / 1024
	}
	return mb
}

// cpuTime returns the CPU time of the processes of the backend.
func (s *cluster) cpuTime() (sum time.Duration) {
	s.t.Helper()
	for _, pid := range s.processIDs() {
		_, cpu, err := stat(pid)
		must(s.t, err)
		sum += cpu
	}
	return sum
}

// serverCPU returns the CPU time of the API server and of etcd, which are children of this
// process.
func serverCPU(t *testing.T) (sum time.Duration) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/comm")
	must(t, err)
	for _, path := range list {
		name, err := os.ReadFile(path)
		if err != nil || !slices.Contains([]string{"kube-apiserver", "etcd"}, strings.TrimSpace(string(name))) {
			continue // it has ended, or is another
		}
		if parent, cpu, err := stat(filepath.Base(filepath.Dir(path))); err == nil && parent == os.Getpid() {
			sum += cpu
		}
	}
	return sum
}

// stat returns the parent of a process and its CPU time.
func stat(pid string) (parent int, cpu time.Duration, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:])) // from the third field on
	const parentAt, userAt, systemAt, tick = 4 - 3, 14 - 3, 15 - 3, 10 * time.Millisecond
	parent, err = strconv.Atoi(fields[parentAt])
	for _, i := range []int{userAt, systemAt} {
		n, e := strconv.Atoi(fields[i])
		err = errors.Join(err, e)
		cpu += time.Duration(n) * tick
	}
	return parent, cpu, err
}
