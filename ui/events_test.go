package ui_test

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

// A stream has the page's content at once, and again whenever it has changed.
func TestStreamUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p := newPool(t, o, executor.Config{Name: "mail", Workers: 1})
		u := newUI(t, ui.Config{Observer: o})
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, u, "pools")
		synctest.Wait()
		first := l.Events(t)
		if len(first) != 1 || first[0][0] != "main" || !strings.Contains(first[0][1], "mail") {
			t.Fatalf("at first: %q", first)
		}
		if page := get(t, u, "/pools"); !strings.Contains(page, first[0][1]) {
			t.Error("the event is not what is in the page")
		}
		for range 3 {
			hold(t, p, "")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if second := l.Events(t); len(second) != 2 || !strings.Contains(second[1][1], "<td>1/1<td>2<td") {
			t.Errorf("a second later: %q", second)
		}
		cancel()
		<-l.Ended()
	})
}

// No name can begin an event of its own.
func TestStreamHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		name := "a\r\revent: evil\rdata: \"x\"\r\r\n\nevent: evil\n\n"
		p := newPool(t, o, executor.Config{Name: name, Workers: 1})
		hold(t, p, name)
		jobs := newJobs(t, nil)
		id := addJob(t, jobs, "mail", time.Hour, durable.WithMeta(map[string]string{name: name}))
		synctest.Wait()
		u := newUI(t, ui.Config{Observer: o, Jobs: []ui.Source{{Jobs: jobs}}})
		ctx, cancel := context.WithCancel(t.Context())
		for _, view := range []string{"", "pools", "pool&id=1", "schedules", "jobs", "job&id=" + id.String()} {
			l := pagetest.Listen(ctx, u, view)
			synctest.Wait()
			if es := l.Events(t); len(es) != 1 || es[0][0] != "main" {
				t.Errorf("%s: %.300q", view, es)
			}
			defer func() { <-l.Ended() }()
		}
		cancel()
	})
}

// A stream ends when Close is called, when it is old, and when what it shows is gone.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newObserver(t)
		p := newPool(t, o, executor.Config{Workers: 1})
		u := newUI(t, ui.Config{Observer: o})
		pool := pagetest.Listen(t.Context(), u, "pool&id=1")
		old := pagetest.Listen(t.Context(), u, "")
		synctest.Wait()
		p.Close()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if es := pool.Events(t); !pool.HasEnded() || es[len(es)-1][0] != "gone" {
			t.Errorf("the stream of a pool that has ended: %q", es)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if !old.HasEnded() {
			t.Error("a stream has not ended after ten minutes")
		}
		closed := pagetest.Listen(t.Context(), u, "")
		synctest.Wait()
		u.Close()
		synctest.Wait()
		if !closed.HasEnded() {
			t.Error("Close has not ended the stream")
		}
		late := pagetest.Listen(t.Context(), u, "")
		<-late.Ended()
		if late.Refused() != http.StatusServiceUnavailable {
			t.Errorf("a stream after Close: %d", late.Refused())
		}
		get(t, u, "/")
	})
}

// A store that does not answer for a while ends no stream: the page shows why, and then what there is again.
func TestStreamOutlivesError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		u := newUI(t, ui.Config{Pages: []ui.Page{{Path: "x", Body: func(context.Context, url.Values) (string, template.HTML, error) {
			if s := time.Since(begin); s >= time.Second && s < 3*time.Second {
				return "", "", errors.New("no answer from <db>")
			}
			return "", "all is well", nil
		}}}})
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, u, "x")
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if l.HasEnded() {
			t.Error("the stream has ended")
		}
		cancel()
		<-l.Ended()
		es := l.Events(t)
		if len(es) != 3 || es[0] != [2]string{"main", "all is well"} || es[1][0] != "main" || !strings.Contains(es[1][1], "no answer from &lt;db&gt;") || es[2] != es[0] {
			t.Errorf("events are %q", es)
		}
	})
}

// A stream ends within a second when who listens may no longer look, or may act otherwise than before.
func TestStreamEndsWithAccess(t *testing.T) {
	for _, later := range []ui.Access{ui.None, ui.Look} {
		synctest.Test(t, func(t *testing.T) {
			var access atomic.Int32
			access.Store(int32(ui.Act))
			u := newUI(t, ui.Config{Observer: newObserver(t), Actions: true, Authorize: func(*http.Request) (ui.Access, string) {
				return ui.Access(access.Load()), "ann"
			}})
			l := pagetest.Listen(t.Context(), u, "pools")
			time.Sleep(5 * time.Second)
			synctest.Wait()
			select {
			case <-l.Ended():
				t.Fatal("the stream ends by itself")
			default:
			}
			access.Store(int32(later))
			time.Sleep(time.Second)
			synctest.Wait()
			select {
			case <-l.Ended():
			default:
				t.Fatalf("with access %d the stream goes on", later)
			}
			es := l.Events(t)
			if last := es[len(es)-1]; last[0] != "gone" || !strings.Contains(last[1], "access has changed") {
				t.Errorf("it ends with %q", last)
			}
		})
	}
}
