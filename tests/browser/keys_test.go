package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The keyboard alone goes from the list of jobs to a job, and to what runs it, and says which keys there are. What is typed
// into a field is text.
func TestKeys(t *testing.T) {
	for _, i := range []int{1, 2} {
		t.Run(sites[i].name, func(t *testing.T) {
			t.Parallel()
			need(t, chromium)
			b := open(t, sites[i], sites[i].at(t))
			b.do(chromedp.Navigate(b.base + map[int]string{1: "jobs?state=waiting"}[i]))
			b.poll(10*time.Second, uiLive)
			press := func(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }
			press("?")
			b.poll(10*time.Second, `document.getElementById('keys').open`)
			press("\u001b") // escape
			b.poll(10*time.Second, `!document.getElementById('keys').open`)
			press("/")
			b.poll(10*time.Second, `document.activeElement.matches('form[role=search] input')`)
			press("jk?")
			b.poll(10*time.Second, `document.activeElement.value.endsWith('jk?')`)
			eval[int](b, `document.activeElement.value = ''; document.activeElement.blur(); 0`)
			focus := func() string { return eval[string](b, `document.activeElement.closest('tr')?.id ?? ''`) }
			press("j")
			first := focus()
			press("j")
			second := focus()
			press("k")
			if first == "" || second == "" || first == second || focus() != first {
				t.Errorf("j goes to %q and %q, and k back to %q", first, second, focus())
			}
			to := eval[string](b, `document.activeElement.href`)
			press("\r")
			b.poll(10*time.Second, `location.href === '`+to+`' && document.readyState === 'complete'`)
			press("r")
			b.poll(10*time.Second, `location.pathname.endsWith('/act')`)
		})
	}
}

// The key that runs a job asks for its parameters first, if it has some.
func TestKeyAsksForParameters(t *testing.T) {
	t.Parallel()
	need(t, chromium)
	b := open(t, sites[3], sites[3].at(t))
	b.do(chromedp.Navigate(b.base + "job?name=asks"))
	b.poll(10*time.Second, uiLive)
	b.do(chromedp.KeyEvent("r"))
	b.poll(10*time.Second, `location.pathname.endsWith('/run-now')`)
}
