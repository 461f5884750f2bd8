package debug_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

// A stream has the page's content at once and then each second, and ends with the request.
func TestStreamUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1}
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
		h := debug.Handler(o)
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, h, "")
		synctest.Wait()
		first := l.Events(t)
		if len(first) != 1 || first[0][0] != "main" || !strings.Contains(first[0][1], "mail") {
			t.Errorf("at first: %q", first)
		}
		if page := get(t, h, "/"); !strings.Contains(page, first[0][1]) {
			t.Error("the event is not what is in the page")
		}
		for range 3 {
			p.Go(t.Context(), func(context.Context) error { time.Sleep(time.Hour); return nil })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if second := l.Events(t); len(second) != 2 || !strings.Contains(second[1][1], "<td>1/1<td>2<td") {
			t.Errorf("a second later: %q", second)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(l.Events(t)); n != 12 {
			t.Errorf("%d events after 11 s, want 12", n)
		}
		cancel()
		<-l.Ended()
	})
}

// No name can begin an event of its own.
func TestStreamHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 100}
		p := newPool(t, o, executor.Config{Name: "a\r\revent: evil\rdata: \"x\"\r\r", Workers: 1})
		for _, name := range hostile {
			p.Go(t.Context(), nop, executor.Named(name))
		}
		synctest.Wait()
		h := debug.Handler(o)
		ctx, cancel := context.WithCancel(t.Context())
		for _, view := range []string{"", "pool&id=1", "schedules"} {
			l := pagetest.Listen(ctx, h, view)
			synctest.Wait()
			if es := l.Events(t); len(es) != 1 || es[0][0] != "main" {
				t.Errorf("%s: %.300q", view, es)
			}
			defer func() { <-l.Ended() }()
		}
		cancel()
	})
}

// A stream of a pool that has ended says so and ends, and none lasts for ever.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{}
		p := newPool(t, o, executor.Config{Workers: 1})
		h := debug.Handler(o)
		overview := pagetest.Listen(t.Context(), h, "")
		pool := pagetest.Listen(t.Context(), h, "pool&id=1")
		time.Sleep(90 * time.Second)
		p.Close()
		time.Sleep(2 * time.Second)
		<-pool.Ended()
		if es := pool.Events(t); es[len(es)-1] != [2]string{"gone", "there is no pool 1; it may have ended"} {
			t.Errorf("the last event of a pool that has ended is %q", es[len(es)-1])
		}
		begin := time.Now()
		<-overview.Ended()
		if d := time.Since(begin); d > 10*time.Minute {
			t.Errorf("a stream lasts for %v", d)
		}
		if es := overview.Events(t); len(es) < 500 {
			t.Errorf("%d events in ten minutes", len(es))
		}
	})
}
