package sidebyside

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/kube/internal/recording"
	olmapi "github.com/olmkit/olmkit/olm"
)

var (
	olmBinaries = flag.String("olm", "", "directory of OLM's programs; TestRecord runs them")
	selected    = flag.String("scenarios", "", "regular expression of the scenarios to run (default: depends on the test size)")
	atOnce      = flag.Int("at-once", 8, "number of scenarios that run at once")
)

// shared is a directory for the whole run of the tests.
var shared string

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // of the cache
	var err error
	if shared, err = os.MkdirTemp("", "olmkit-sidebyside-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

// sample lists the scenarios of a small test: one of each sort.
var sample = []string{"own", "dep_gvk", "manual", "sa_docs", "webhook", "unsupported_group", "all_ns"}

// runs reports whether a scenario is to be run.
func runs(s scenario) bool {
	if *selected != "" {
		return regexp.MustCompile("^(" + *selected + ")$").MatchString(s.name)
	}
	isChanging := slices.ContainsFunc(slices.Concat(changing, changingAlone), func(c scenario) bool { return c.name == s.name })
	return *olmBinaries != "" || testsize.Of(slices.Contains(sample, s.name), !isChanging, true)
}

// playAll plays scenarios with a backend. take is called for each snapshot.
func playAll(t *testing.T, b backend, take func(t *testing.T, name string, r *run)) {
	t.Helper()
	play := func(t *testing.T, c *cluster, s scenario) {
		r := &run{cluster: c, t: t, name: s.name}
		r.taken = func(name string, r *run) { take(t, name, r) }
		s.play(r)
	}
	list := slices.DeleteFunc(slices.Concat(together, changing), func(s scenario) bool { return !runs(s) })
	if len(list) > 0 {
		t.Run("together", func(t *testing.T) {
			c := newCluster(t, start(t), b)
			var g errgroup.Group
			g.SetLimit(*atOnce)
			for _, s := range list {
				g.Go(func() error { t.Run(s.name, func(t *testing.T) { play(t, c, s) }); return nil })
			}
			g.Wait()
		})
	}
	for _, s := range slices.Concat(alone, changingAlone) {
		if runs(s) {
			t.Run(s.name, func(t *testing.T) { play(t, newCluster(t, start(t), b), s) })
		}
	}
}

// start starts a control plane.
func start(t *testing.T) *envtest.Environment {
	t.Helper()
	env := &envtest.Environment{}
	t.Cleanup(func() { must(t, env.Stop()) })
	must(t, env.Start())
	return env
}

// normalized returns the objects of a scenario, with the port that the recording has.
func (r *run) normalized(objects []unstructured.Unstructured) (out []obj) {
	r.t.Helper()
	port := regexp.MustCompile(fmt.Sprintf(`\b%d\b`, r.port))
	for _, u := range objects {
		text, err := u.MarshalJSON()
		must(r.t, err)
		if r.port != 0 {
			text = port.ReplaceAll(text, []byte(recordedPort))
		}
		var o obj
		must(r.t, json.Unmarshal(text, &o))
		out = append(out, o)
	}
	return out
}

// recorded returns the objects of a snapshot.
func recorded(t *testing.T, r *recording.Recording, name string) (out []obj) {
	t.Helper()
	if r.Snapshots[name] == nil {
		t.Fatalf("there is no snapshot %s; run make sidebyside", name)
	}
	for _, o := range r.Snapshots[name] {
		text, err := o.MarshalJSON()
		must(t, err)
		var m obj
		must(t, json.Unmarshal(text, &m))
		out = append(out, m)
	}
	return out
}

// After each step of a scenario, olmkit leaves the cluster in the state in which OLM left it,
// except for deliberate differences.
func TestScenarios(t *testing.T) {
	rec, err := recording.Read()
	must(t, err)
	var mu sync.Mutex
	used := make([]int, len(deliberate))
	playAll(t, byOlmkit, func(t *testing.T, name string, r *run) {
		want := recorded(t, rec, name)
		var unexplained []string
		for end := time.Now().Add(patience); ; {
			is := diff(want, r.normalized(r.rest()))
			mu.Lock()
			unexplained = explain(r.name, is, used)
			mu.Unlock()
			if len(unexplained) == 0 || time.Now().After(end) {
				break
			}
		}
		for _, d := range unexplained {
			t.Errorf("%s: no rule explains: %s", name, d)
		}
	})
	for i, n := range used {
		if n == 0 && *selected == "" && testsize.Of(false, false, true) {
			t.Errorf("no difference is like %q (%s): %s", deliberate[i].pattern, deliberate[i].rule, deliberate[i].why)
		}
	}
}

// patience is how long a step may take.
const patience = 90 * time.Second

// With -olm, the scenarios are played with OLM, and the recording is updated. It is not a
// test: it logs what differs from the committed recording.
func TestRecord(t *testing.T) {
	needOLM(t)
	rec, err := recording.Read()
	must(t, err)
	var mu sync.Mutex
	played := map[string]bool{} // scenarios
	old := maps.Clone(rec.Snapshots)
	playAll(t, byOLM, func(t *testing.T, name string, r *run) {
		objects := r.normalized(r.rest())
		mu.Lock()
		defer mu.Unlock()
		if !played[r.name] {
			played[r.name] = true
			ofScenario := func(n string, _ []olmapi.Object) bool { return strings.HasPrefix(n, r.name+"/") }
			maps.DeleteFunc(rec.Snapshots, ofScenario)
			r.t.Cleanup(func() {
				mu.Lock()
				defer mu.Unlock()
				if r.t.Failed() { // keep what was recorded before
					maps.DeleteFunc(rec.Snapshots, ofScenario)
					for n, list := range old {
						if ofScenario(n, list) {
							rec.Snapshots[n] = list
						}
					}
				}
			})
		}
		if old[name] != nil {
			for _, d := range diff(recorded(t, &recording.Recording{Snapshots: old}, name), objects) {
				t.Logf("%s: before and now: %s", name, d)
			}
		}
		var list []olmapi.Object
		for _, o := range objects {
			text, err := json.Marshal(o)
			must(t, err)
			var x olmapi.Object
			must(t, json.Unmarshal(text, &x))
			list = append(list, x)
		}
		rec.Snapshots[name] = list
		rec.At = time.Now().UTC().Truncate(time.Second)
	})
	path := filepath.Join("..", "recording", "olm-v0.45.0.json.gz")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	must(t, rec.Write(f))
}
