package browsertest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

var screenshots = flag.String("screenshots", "", "write screenshots to this directory")

// browser is shared by all tests.
var browser context.Context

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := chromium()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1360, 900))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium refuses to run as root otherwise
	}
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	defer cancel()
	ctx, stop := chromedp.NewContext(alloc)
	defer stop()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "chromium does not start:", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// chromium returns the path of Chromium. Tests never install it.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("Chromium is missing; run make setup in the root directory of the repository")
}

// A tab is a page in the browser, with a record of its requests, messages, errors and dialogs.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	dialogs  []string
	requests []string
	errors   []string
}

// newTab opens an empty tab.
func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, page.Enable, page.EnableParams{})
	return b
}

// note records what the page does. It runs in the goroutine that reads the browser's messages, so dialogs are answered
// in another.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, e.Message)
		go func() {
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		b.errors = append(b.errors, text)
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprintf("console.%s", e.Type))
	case *cdplog.EventEntryAdded:
		b.errors = append(b.errors, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	}
}

// patience is the maximum time of an action.
const patience = 2 * time.Minute

// call runs a command of the protocol.
func call[P, R any](b *tab, cmd cdp.Command[P, R], params P) R {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	r, err := chromedp.Call(ctx, cmd, params)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// get runs an action and returns its value.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	get(b, chromedp.Steps(actions...))
}

// open shows a file, at a location behind "#".
func (b *tab) open(file, place string) {
	b.Helper()
	b.do(chromedp.Navigate("about:blank"))
	b.visit("file://" + file + place)
}

// visit loads an address and waits until its script has run.
func (b *tab) visit(url string) {
	b.Helper()
	b.do(chromedp.Navigate(url))
	if !eval[bool](b, "document.documentElement.dataset.ready === 'true'") {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.Fatalf("the script of %s did not finish: %q", url, b.errors)
	}
}

// before runs a script in every page that is opened from now on, before the page's own scripts.
func (b *tab) before(script string) {
	b.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// goTo changes the location within a page and waits until it is shown.
func (b *tab) goTo(place string) {
	b.Helper()
	b.moves(fmt.Sprintf("location.hash = %q", place))
}

// moves runs a script that may change the location within a page, and waits until the page has shown it.
func (b *tab) moves(script string) {
	b.Helper()
	b.script(`new Promise((done) => {
		const before = location.href;
		addEventListener("hashchange", () => done(true), { once: true });
		` + script + `;
		if (location.href === before) done(true);
	})`)
}

// until waits until a script returns true. The test fails with the last value otherwise.
func (b *tab) until(script, want string) {
	b.Helper()
	var got string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = eval[string](b, script); got == want {
			return
		}
	}
	b.Fatalf("%s is %q, want %q", script, got, want)
}

// eval returns the value of a script, awaiting its promise.
func eval[T any](b *tab, script string) T {
	b.Helper()
	return get(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// into stores the value of a script.
func into[T any](b *tab, script string, value *T) {
	b.Helper()
	*value = eval[T](b, script)
}

// script runs a script for its effects.
func (b *tab) script(text string) {
	b.Helper()
	eval[chromedp.Void](b, text)
}

// text returns the text of an element.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// press sends keys to the focused element like a keyboard. If a script cancels the event, no text is typed.
func (b *tab) press(keys ...string) {
	b.Helper()
	for _, k := range keys {
		for _, r := range k {
			events := kb.Encode(r)
			for _, e := range events {
				if e.Type == input.DispatchKeyEventTypeChar {
					events[0].Type, events[0].Text, events[0].UnmodifiedText = input.DispatchKeyEventTypeKeyDown, e.Text, e.UnmodifiedText
				}
			}
			for _, e := range events {
				if e.Type != input.DispatchKeyEventTypeChar {
					call(b, input.DispatchKeyEvent, *e)
				}
			}
		}
	}
}

// quiet fails if the page requested anything but itself, wrote to the console, threw an error, or opened a dialog.
func (b *tab) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.dialogs {
		b.Errorf("the page opened a dialog: %q", d)
	}
	for _, e := range b.errors {
		b.Errorf("the page complained: %s", e)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") && !strings.HasPrefix(r, "http://127.0.0.1:") && r != "about:blank" && r != "data:," {
			b.Errorf("the page asked for %s", r)
		}
		if at := strings.Index(r, "#"); at < 0 && strings.HasPrefix(r, "file://") && !strings.HasSuffix(r, ".html") {
			b.Errorf("the page requested the file %s", r)
		}
	}
}

// color selects the light or dark color scheme.
func (b *tab) color(scheme string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// size sets the size of the window.
func (b *tab) size(width, height int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// picture writes a screenshot if the flag is set.
func (b *tab) picture(name string) {
	b.Helper()
	if *screenshots == "" {
		return
	}
	png := get(b, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666); err != nil {
		b.Fatal(err)
	}
}

// makePage generates a page with the command line and returns its file.
func makePage(t testing.TB, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	olmkit(t, append([]string{"view", "-o", file}, args...)...)
	return file
}

func olmkit(t testing.TB, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("olmkit %q ends with %d: %s", args, code, &errs)
	}
}

// write writes a file to a directory of the test and returns its name.
func write(t testing.TB, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// realCatalog returns the directory of a real catalog, or skips the test.
func realCatalog(t testing.TB, name string) string {
	t.Helper()
	tar := filepath.Join("..", "..", "..", "..", "..", "shared", "catalogs", name+".tar.gz")
	if _, err := os.Stat(tar); err != nil {
		t.Skipf("../shared/catalogs/%s.tar.gz does not exist: it is not part of the project", name)
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", tar, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v: %s", err, out)
	}
	return filepath.Join(dir, name)
}
