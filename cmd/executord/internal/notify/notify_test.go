package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// way records what it is to send. The first failures answer with errors.
type way struct {
	mu       sync.Mutex
	sent     []notify.Message
	at       []time.Time
	calls    int
	failures []error
	hang     bool
	secrets  []string
	answer   string
}

func (w *way) Send(ctx context.Context, m notify.Message) (string, error) {
	w.mu.Lock()
	w.calls++
	if w.hang {
		w.mu.Unlock()
		<-ctx.Done()
		return "", ctx.Err()
	}
	defer w.mu.Unlock()
	if len(w.failures) > 0 {
		err := w.failures[0]
		w.failures = w.failures[1:]
		return "", err
	}
	w.sent, w.at = append(w.sent, m), append(w.at, time.Now())
	return w.answer, nil
}

func (w *way) Secrets() []string { return w.secrets }

// messages returns what was sent, and when, since the bubble began.
func (w *way) messages() (sent []notify.Message, at []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.at {
		at = append(at, t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	return append(sent, w.sent...), at
}

// in runs a test in a bubble, with a Notifier that has one channel.
func in(t *testing.T, c notify.Channel, w *way, f func(t *testing.T, n *notify.Notifier, log *strings.Builder)) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if c.Name = "people"; c.Way == nil {
			c.Way = w
		}
		c.ForAll = true
		n.Set([]*notify.Channel{&c})
		defer n.Close(context.Background())
		f(t, n, &log)
	})
}

func failure(job string) notify.Event {
	return notify.Event{Kind: notify.Failed, Job: job, Run: 7, Reason: "exit status 1", Output: "disk full"}
}

// A message says what has happened, to which job, and with which output.
func TestNotifierSendsEvent(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("backup"), nil)
		synctest.Wait()
		sent, _ := w.messages()
		if len(sent) != 1 || sent[0].Subject != "[host] backup has failed: exit status 1" || !strings.Contains(sent[0].Text, "disk full") {
			t.Fatalf("%+v", sent)
		}
		if kept := n.Notices(); len(kept) != 1 || kept[0].Tries != 1 || kept[0].Error != "" || kept[0].Events[0].Job != "backup" || kept[0].Outcome != notify.Sent {
			t.Errorf("kept %+v", kept)
		}
	})
}

// All times of an event are in one zone, that of the job, in words and as JSON.
func TestNotifierTellsTimesInOneZone(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		e := failure("backup")
		e.Due, e.At = time.Now().In(time.FixedZone("", 3*3600)), time.Now().UTC()
		n.Tell(e, nil)
		synctest.Wait()
		sent, _ := w.messages()
		if len(sent) != 1 || strings.Count(sent[0].Text, "+03:00\n") != 2 {
			t.Fatalf("%+v", sent)
		}
		if text, err := json.Marshal(sent[0].Events[0]); err != nil || strings.Count(string(text), `+03:00"`) != 2 {
			t.Errorf("%s, %v", text, err)
		}
	})
}

// A way that fails is tried again with growing pauses, and what happens meanwhile goes into one message.
func TestNotifierTriesAgain(t *testing.T) {
	w := &way{failures: []error{errors.New("down"), errors.New("down"), errors.New("down")}}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		time.Sleep(time.Second)
		n.Tell(failure("b"), nil)
		n.Tell(failure("c"), nil)
		time.Sleep(time.Hour)
		sent, at := w.messages()
		if len(sent) != 2 || at[0] < 7*time.Second || at[0] > 14*time.Second || len(sent[0].Events) != 1 || len(sent[1].Events) != 2 {
			t.Errorf("%d messages at %v: %+v", len(sent), at, sent)
		}
	})
}

// A way that goes on failing is given up, and the log has why; a refusal is given up at once.
func TestNotifierGivesUp(t *testing.T) {
	for _, test := range []struct {
		err   error
		calls int
	}{{errors.New("down"), 8}, {&notify.Refusal{Err: errors.New("no such room")}, 1}} {
		w := new(way)
		for range 100 {
			w.failures = append(w.failures, test.err)
		}
		in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, log *strings.Builder) {
			n.Tell(failure("a"), nil)
			time.Sleep(time.Hour)
			synctest.Wait()
			if kept := n.Notices(); w.calls != test.calls || len(kept) != 1 || kept[0].Tries != test.calls || kept[0].Error != test.err.Error() {
				t.Errorf("%v: %d calls, kept %+v", test.err, w.calls, kept)
			}
			if !strings.Contains(log.String(), "notification not sent") || n.Counts()[0].Failed != 1 {
				t.Errorf("counts %+v, logged %s", n.Counts(), log)
			}
		})
	}
}

// Beyond its limit, a channel gets one message with all that has happened, when the hour of the first is over.
func TestNotifierLimitsFlood(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{Limit: 3}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		for range 30 {
			n.Tell(failure("a"), nil)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		sent, at := w.messages()
		if len(sent) != 4 || len(sent[3].Events) != 27 || at[3] != time.Hour {
			t.Fatalf("%d messages at %v", len(sent), at)
		}
		if want := "[host] 27 failed: a"; sent[3].Subject != want {
			t.Errorf("%q, want %q", sent[3].Subject, want)
		}
	})
}

// begin returns a Home in a store, whose node runs until the function that it returns is called.
func begin(t *testing.T, store durable.Store) (notify.Home, func()) {
	t.Helper()
	jobs, err := durable.New(durable.Config{
		Store: store, Drain: -1, Keep: durable.Retention{Succeeded: -1, Dead: -1}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		jobs.Run(ctx)
	}()
	return notify.Home{Jobs: jobs, Store: store}, sync.OnceFunc(func() {
		cancel()
		<-ended
	})
}

// daemon is a Notifier on a store that others use, too.
type daemon struct {
	*notify.Notifier
	log  strings.Builder
	stop func() // its node
}

func newDaemon(t *testing.T, store durable.Store, channels ...*notify.Channel) *daemon {
	t.Helper()
	home, stop := begin(t, store)
	d := &daemon{stop: stop}
	d.Notifier = notify.New(notify.Config{Host: "host", Namespace: "shop", Log: slog.New(slog.NewTextHandler(&d.log, nil)), Shared: home})
	d.Set(channels)
	return d
}

// end ends it as a daemon ends.
func (d *daemon) end() {
	d.Leave()
	d.stop()
	d.Close(context.Background())
}

// latest returns what the store has.
func latest(t *testing.T, store durable.Store) []notify.Notice {
	t.Helper()
	all, err := notify.Latest(t.Context(), store, "shop", notify.MostNotices)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What was sent before the program began, as before a restart, or by others, counts for the limit: other channels'
// messages, those that wait, and those of the hour before, do not.
func TestNotifierLimitCountsWhatWasSentBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := memory.New(), new(way)
		people, other := &notify.Channel{Name: "people", Way: w, Limit: 3}, &notify.Channel{Name: "other", Way: new(way)}
		gone := *people
		gone.Way = &way{failures: []error{&notify.Refusal{Err: errors.New("no such room")}}}
		began := time.Now()
		tell := func(minute int, c *notify.Channel) {
			time.Sleep(time.Until(began.Add(time.Duration(minute) * time.Minute)))
			d := newDaemon(t, store, c)
			d.Tell(failure("a"), []string{c.Name})
			time.Sleep(time.Second)
			d.end()
		}
		tell(0, people)
		tell(50, &gone) // is given up
		tell(60, other)
		tell(70, people)
		time.Sleep(time.Until(began.Add(90 * time.Minute)))
		d := newDaemon(t, store, people)
		for range 5 {
			d.Tell(failure("a"), []string{"people"})
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		sent, at := w.messages()
		if len(sent) != 4 || len(sent[3].Events) != 4 || at[2] != 90*time.Minute || at[3].Truncate(time.Minute) != 110*time.Minute {
			t.Errorf("%d messages at %v", len(sent), at)
		}
		d.end()
	})
}

// A digest gathers what happens for its time, from the first event.
func TestNotifierGathersDigest(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{Digest: 10 * time.Minute}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		for i := range 20 {
			n.Tell(failure(fmt.Sprint("job", i)), nil)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		sent, at := w.messages()
		if len(sent) != 2 || at[0] != 10*time.Minute || len(sent[0].Events)+len(sent[1].Events) != 20 {
			t.Errorf("%d messages at %v", len(sent), at)
		}
	})
}

// What is told just before a digest is sent, and is not in it yet, is in the next one.
func TestNotifierDigestLosesNothing(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{Digest: 10 * time.Second}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		begin := time.Now()
		for _, at := range []time.Duration{0, 9200, 9700} {
			time.Sleep(time.Until(begin.Add(at * time.Millisecond)))
			n.Tell(failure(fmt.Sprint("at", int(at))), nil)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		sent, at := w.messages()
		if len(sent) != 2 || at[0] != 10*time.Second || len(sent[0].Events) != 2 || len(sent[1].Events) != 1 ||
			sent[1].Events[0].Job != "at9700" {
			t.Errorf("sent %+v at %v", sent, at)
		}
	})
}

// In quiet hours nothing is sent; at their end all is.
func TestNotifierKeepsQuiet(t *testing.T) {
	quiet, err := notify.ParseQuiet("22:00-07:00", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	w := new(way)
	in(t, notify.Channel{Quiet: quiet}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		for _, hours := range []time.Duration{1, 7, 14, 1} { // at 1, 8, 22 and 23 o'clock
			time.Sleep(hours * time.Hour)
			n.Tell(failure("a"), nil)
		}
		time.Sleep(24 * time.Hour)
		_, at := w.messages()
		if got, want := fmt.Sprint(at), "[7h0m0s 8h0m0s 31h0m0s]"; got != want {
			t.Errorf("sent at %s, want %s", got, want)
		}
	})
}

// Where the clock skips the end of quiet hours, they end when it has jumped over it.
func TestNotifierEndsQuietAtJump(t *testing.T) {
	for _, test := range []struct{ zone, quiet, told, sent string }{
		{"America/New_York", "22:00-02:30", "2000-04-02T04:00:00Z", "2000-04-02T07:00:00Z"},
		{"America/New_York", "22:00-02:30", "2000-04-02T06:45:00Z", "2000-04-02T07:00:00Z"},
		{"Europe/Berlin", "22:00-02:30", "2000-03-25T23:00:00Z", "2000-03-26T01:00:00Z"},
		{"America/Sao_Paulo", "20:00-00:30", "2000-10-08T01:00:00Z", "2000-10-08T03:00:00Z"},
		{"Australia/Lord_Howe", "22:00-02:10", "2000-08-26T13:00:00Z", "2000-08-26T15:30:00Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		quiet, err := notify.ParseQuiet(test.quiet, zone)
		if err != nil {
			t.Fatal(err)
		}
		w := new(way)
		synctest.Test(t, func(t *testing.T) {
			told, err := time.Parse(time.RFC3339, test.told)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(told))
			n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
			n.Set([]*notify.Channel{{Name: "people", Way: w, ForAll: true, Quiet: quiet}})
			defer n.Close(context.Background())
			n.Tell(failure("a"), nil)
			time.Sleep(12 * time.Hour)
			synctest.Wait()
			_, at := w.messages()
			if len(at) != 1 {
				t.Fatalf("%+v: sent at %v", test, at)
			}
			if got := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(at[0]).Format(time.RFC3339); got != test.sent {
				t.Errorf("%+v: sent at %s", test, got)
			}
		})
	}
}

// A subject is one line without zero bytes, whatever a reason has: it is a header, and a variable.
func TestNotifierSendsSubjectInOneLine(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		e := failure("a")
		e.Reason = "b\x00c\rBcc: d\x1b\u2028e\nf"
		n.Tell(e, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		sent, _ := w.messages()
		if want := "[host] a has failed: b c Bcc: d  e"; len(sent) != 1 || sent[0].Subject != want {
			t.Errorf("sent %+v, want %q", sent, want)
		}
	})
}

// A queue has a bound, and a message says how many events there was no room for.
func TestNotifierBoundsQueue(t *testing.T) {
	w := &way{failures: []error{errors.New("down")}}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		synctest.Wait()
		for range 1000 {
			n.Tell(failure("b"), nil)
		}
		time.Sleep(time.Minute)
		sent, _ := w.messages()
		if len(sent) != 2 || len(sent[1].Events) != 200 || sent[1].More != 800 || n.Counts()[0].Dropped != 800 {
			t.Errorf("%d messages, counts %+v", len(sent), n.Counts())
		}
	})
}

// A way that does not answer says so, and for how long, in the end and when it is tried.
func TestNotifierSaysThatThereIsNoAnswer(t *testing.T) {
	const want = "no answer within 30s"
	w := &way{hang: true}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		if _, err := n.Test(t.Context(), &notify.Channel{Name: "people", Way: w}); err == nil || err.Error() != want {
			t.Errorf("a test ends with %v", err)
		}
		n.Tell(failure("a"), nil)
		time.Sleep(time.Hour)
		if kept := n.Notices(); len(kept) != 1 || kept[0].Error != want {
			t.Errorf("%+v", kept)
		}
	})
}

// Close sends at once what waits for a digest, and ends with its context although a way hangs.
func TestNotifierCloseHasBound(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{Digest: time.Hour}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		n.Close(context.Background())
		if sent, at := w.messages(); len(sent) != 1 || at[0] != 0 {
			t.Errorf("sent at %v", at)
		}
	})
	w = &way{hang: true}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := time.Now()
		n.Close(ctx)
		if took := time.Since(began); took != 5*time.Second || len(n.Notices()) != 1 || n.Notices()[0].Error != "executord ended before there was an answer" {
			t.Errorf("after %v: %+v", took, n.Notices())
		}
		n.Tell(failure("b"), nil) // is for nobody
	})
}

// Secrets stand neither in the log nor in what is kept, whoever has written them.
func TestNotifierHidesSecrets(t *testing.T) {
	w := &way{
		failures: []error{&notify.Refusal{Err: errors.New("401 bad key hunter2 in https://host/hunter2\nx")}},
		secrets:  []string{"hunter2", "https://host/hunter2"}, answer: "welcome hunter2",
	}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, log *strings.Builder) {
		n.Tell(failure("a"), nil)
		synctest.Wait()
		n.Tell(failure("a"), nil)
		synctest.Wait()
		kept := fmt.Sprint(n.Notices())
		if len(n.Notices()) != 2 || strings.Contains(kept+log.String(), "hunter2") || !strings.Contains(kept, "welcome ***") {
			t.Errorf("kept %s, logged %s", kept, log)
		}
	})
}

// What waits is shown with what it is about, why it waits and until when, and then with how often it was tried and what
// the answer was.
func TestNotifierShowsWhatWaits(t *testing.T) {
	quiet, err := notify.ParseQuiet("00:00-07:00", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		channel notify.Channel
		tell    int // events at the begin, a second apart
		held    string
		until   time.Duration
		about   int
	}{
		{"quiet", notify.Channel{Quiet: quiet}, 1, notify.HeldByQuiet, 7 * time.Hour, 1},
		{"digest", notify.Channel{Digest: 10 * time.Minute}, 3, notify.HeldForDigest, 10 * time.Minute, 3},
		{"limit", notify.Channel{Limit: 1}, 3, notify.HeldByLimit, time.Hour, 2},
		{"both", notify.Channel{Digest: time.Minute, Quiet: quiet}, 3, notify.HeldByQuiet, 7 * time.Hour, 3},
	} {
		w := new(way)
		in(t, test.channel, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
			for range test.tell {
				n.Tell(failure("backup"), nil)
				time.Sleep(time.Second)
			}
			waits := n.Notices()[0]
			if waits.Outcome != notify.Waiting || waits.Held != test.held || !waits.Until.Equal(midnight.Add(test.until)) || waits.Tries != 0 ||
				len(waits.Events) != test.about || waits.Events[0].Job != "backup" || waits.Events[0].Run != 7 || waits.Events[0].Reason != "exit status 1" {
				t.Errorf("%s: waits %+v", test.name, waits)
			}
			time.Sleep(8 * time.Hour)
			if sent := n.Notices()[0]; sent.Outcome != notify.Sent || sent.Held != test.held || !sent.Until.IsZero() || sent.Tries != 1 || len(sent.Events) != test.about {
				t.Errorf("%s: sent %+v", test.name, sent)
			}
		})
	}
}

// What is tried again is shown with the last answer and the next try, and what waits behind it with that.
func TestNotifierShowsTries(t *testing.T) {
	w := &way{failures: []error{errors.New("503 busy hunter2"), errors.New("503 busy"), errors.New("503 busy")}, secrets: []string{"hunter2"}}
	in(t, notify.Channel{}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		synctest.Wait()
		n.Tell(failure("b"), nil)
		synctest.Wait()
		all := n.Notices()
		if wait := time.Until(all[0].Until); len(all) != 2 || all[0].Tries != 1 || all[0].Error != "503 busy ***" || wait < time.Second ||
			wait > 2*time.Second || all[1].Held != notify.HeldBehind || all[1].Events[0].Job != "b" {
			t.Errorf("while it is tried: %+v", all)
		}
		time.Sleep(time.Minute)
		all = n.Notices()
		if len(all) != 2 || all[0].Events[0].Job != "b" || all[1].Outcome != notify.Sent || all[1].Tries != 4 || all[1].Error != "" {
			t.Errorf("afterwards: %+v", all)
		}
	})
}

// So many messages are kept in memory, the latest.
func TestNotifierKeepsNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := notify.New(notify.Config{Host: "host", Namespace: "shop", Log: slog.New(slog.DiscardHandler)})
		n.Set([]*notify.Channel{{Name: "people", Way: new(way), ForAll: true}})
		for i := range 600 {
			n.Tell(failure(fmt.Sprint("job", i)), []string{"people"})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		all := n.Notices()
		if len(all) != 500 || all[0].Events[0].Job != "job599" || all[499].Events[0].Job != "job100" ||
			all[0].Namespace != "shop" || all[0].ID == all[1].ID || all[0].ID == "" {
			t.Errorf("%d are kept: %+v", len(all), all[0])
		}
		n.Close(context.Background())
	})
}

// A digest that waits in a store grows there, with what one daemon is told, outlives a daemon that is killed, and is sent
// whole, once, when it is due, by one of the others. What those are told goes into messages of their own.
func TestNotifierSendsDigestOfKilledDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := memory.New(), new(way)
		ops := &notify.Channel{Name: "ops", Way: w, ForAll: true, Digest: time.Hour}
		killed := newDaemon(t, store, ops)
		for _, job := range []string{"a", "b", "c"} {
			killed.Tell(failure(job), nil)
			time.Sleep(time.Minute)
		}
		killed.stop() // it does nothing any more
		left := latest(t, store)
		if len(left) != 1 || len(left[0].Events) != 3 || left[0].Held != notify.HeldForDigest || !left[0].Until.Equal(time.Now().Add(57*time.Minute)) {
			t.Fatalf("the store has %+v", left)
		}
		var others []*daemon
		for range 3 {
			others = append(others, newDaemon(t, store, ops))
		}
		others[0].Tell(failure("d"), nil) // waits for a digest of its own
		time.Sleep(56 * time.Minute)
		synctest.Wait()
		if sent, _ := w.messages(); len(sent) != 0 || len(latest(t, store)) != 2 {
			t.Errorf("too early: %+v", sent)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		sent, at := w.messages()
		if len(sent) != 2 || at[0] < time.Hour || at[0] > time.Hour+time.Second || len(sent[0].Events) != 3 ||
			sent[0].Events[1].Job != "b" || !strings.Contains(sent[0].Text, "disk full") || len(sent[1].Events) != 1 {
			t.Errorf("sent %+v at %v", sent, at)
		}
		for _, m := range latest(t, store) {
			if m.Outcome != notify.Sent || m.Held != notify.HeldForDigest {
				t.Errorf("the store has %+v", m)
			}
		}
		for _, d := range others {
			d.end()
		}
		killed.Close(t.Context())
	})
}

// What is told while a message is on its way is told by the next one, and no event twice, whoever sends them: of many
// events at any time each is in one message.
func TestNotifierTellsEachEventOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := memory.New(), &way{failures: []error{errors.New("down"), errors.New("down")}}
		ops := &notify.Channel{Name: "ops", Way: w, ForAll: true}
		var daemons []*daemon
		for range 3 {
			daemons = append(daemons, newDaemon(t, store, ops))
		}
		const events = 200
		for i := range events {
			daemons[i%3].Tell(failure(fmt.Sprint("job", i)), nil)
			time.Sleep(time.Duration(i%7) * 37 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		told := make(map[string]int)
		sent, _ := w.messages()
		for _, m := range sent {
			for _, e := range m.Events {
				told[e.Job]++
			}
		}
		for i := range events {
			if n := told[fmt.Sprint("job", i)]; n != 1 {
				t.Errorf("event %d is told %d times", i, n)
			}
		}
		for _, d := range daemons {
			if c := d.Counts()[0]; c.Waiting != 0 || c.Dropped != 0 {
				t.Errorf("counts %+v", c)
			}
			d.end()
		}
	})
}

// All daemons together keep to the limit of a channel, and tell what is beyond it when its hour is over.
func TestNotifierLimitIsOfAllDaemons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := memory.New(), new(way)
		ops := &notify.Channel{Name: "ops", Way: w, ForAll: true, Limit: 4}
		var daemons []*daemon
		for range 3 {
			daemons = append(daemons, newDaemon(t, store, ops))
		}
		for i := range 60 {
			daemons[i%3].Tell(failure("a"), nil)
			time.Sleep(30 * time.Second)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		sent, at := w.messages()
		events := 0
		for i, m := range sent {
			if events += len(m.Events); i >= 4 && at[i]-at[i-4] < time.Hour {
				t.Errorf("5 messages from %v to %v", at[i-4], at[i])
			}
		}
		if events != 60 || len(sent) > 4+3 {
			t.Errorf("%d events in %d messages at %v", events, len(sent), at)
		}
		for _, d := range daemons {
			d.end()
		}
	})
}

// At the end of a daemon, what is due is sent, what waits stays in the store, and what can't be sent is there for the next
// one. A channel that only another daemon has is left to that.
func TestNotifierLeavesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w, down := memory.New(), new(way), &way{hang: true}
		now := &notify.Channel{Name: "now", Way: w, ForAll: true}
		later := &notify.Channel{Name: "later", Way: w, ForAll: true, Digest: time.Hour}
		d := newDaemon(t, store, now, later, &notify.Channel{Name: "down", Way: down, ForAll: true})
		d.Leave()
		d.stop()
		d.Tell(failure("a"), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		d.Close(ctx)
		if sent, _ := w.messages(); len(sent) != 1 {
			t.Errorf("sent %+v", sent)
		}
		if all := latest(t, store); len(all) != 2 || all[0].Outcome != notify.Waiting || all[1].Outcome != notify.Waiting {
			t.Errorf("the store has %+v", all)
		}
		other := newDaemon(t, store, now)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if sent, _ := w.messages(); len(sent) != 1 {
			t.Errorf("sent without the channel: %+v", sent)
		}
		next := newDaemon(t, store, later, &notify.Channel{Name: "down", Way: w})
		time.Sleep(time.Minute)
		synctest.Wait()
		if sent, _ := w.messages(); len(sent) != 3 {
			t.Errorf("sent %+v", sent)
		}
		other.end()
		next.end()
	})
}

// broken is a store that takes no jobs while it is set.
type broken struct {
	durable.Store
	set atomic.Bool
}

func (b *broken) Insert(ctx context.Context, jobs []store.NewJob, p store.Placement) ([]store.InsertResult, error) {
	if b.set.Load() {
		return nil, errors.New("disk full")
	}
	return b.Store.Insert(ctx, jobs, p)
}

// While a store takes nothing, messages are sent all the same, each event once, and the log says so once.
func TestNotifierNeedsNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := &broken{Store: memory.New()}, new(way)
		d := newDaemon(t, store, &notify.Channel{Name: "ops", Way: w, ForAll: true, Digest: time.Minute})
		for i := range 6 {
			store.set.Store(i == 1 || i == 2 || i == 4)
			d.Tell(failure(fmt.Sprint("job", i)), nil)
			time.Sleep(15 * time.Second)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		told := make(map[string]int)
		sent, _ := w.messages()
		for _, m := range sent {
			for _, e := range m.Events {
				told[e.Job]++
			}
		}
		for i := range 6 {
			if n := told[fmt.Sprint("job", i)]; n != 1 {
				t.Errorf("event %d is told %d times: %+v", i, n, sent)
			}
		}
		if n := strings.Count(d.log.String(), "notices not kept in the store"); n == 0 || n > 2 {
			t.Errorf("logged %s", &d.log)
		}
		d.end()
	})
}

// A store keeps so many messages of a namespace, and none for longer.
func TestNotifierBoundsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		d := newDaemon(t, store, &notify.Channel{Name: "ops", Way: new(way), ForAll: true})
		for range notify.MostNotices + 200 {
			d.Tell(failure("a"), nil)
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		if rows, err := store.Counts(t.Context(), durable.Filter{}); err != nil || rows[0].Jobs > notify.MostNotices+100 {
			t.Errorf("%+v, %v", rows, err)
		}
		d.end()
		time.Sleep(notify.NoticeAge)
		d = newDaemon(t, store, &notify.Channel{Name: "ops", Way: new(way), ForAll: true})
		for range 60 {
			d.Tell(failure("b"), nil)
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		if all := latest(t, store); len(all) != 60 {
			t.Errorf("%d are kept", len(all))
		}
		d.end()
	})
}

// A channel is told of what it wants alone, and of jobs that chose it or, if it is for all, chose none.
func TestNotifierChooses(t *testing.T) {
	w, other := new(way), new(way)
	synctest.Test(t, func(t *testing.T) {
		n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
		defer n.Close(context.Background())
		n.Set([]*notify.Channel{
			{Name: "all", Way: w, ForAll: true, Late: time.Minute, Skips: 3},
			{Name: "some", Way: other, On: []notify.Kind{notify.Recovered}},
		})
		for _, e := range []notify.Event{
			{Kind: notify.Late, Job: "a", Run: 1, Late: time.Minute},
			{Kind: notify.Late, Job: "late", Run: 1, Late: 2 * time.Minute},
			{Kind: notify.Skipped, Job: "a", Count: 2},
			{Kind: notify.Skipped, Job: "skipped", Count: 3},
			{Kind: notify.Missed, Job: "missed", Count: 99_999},
			{Kind: notify.Missed, Job: "much", Count: 100_000, Reason: "why"},
			{Kind: notify.Started, Job: "a"},
			{Kind: notify.Succeeded, Job: "a"},
			{Kind: notify.Unreachable},
		} {
			n.Tell(e, nil)
			synctest.Wait()
		}
		n.Tell(failure("some"), []string{"some"})
		n.Tell(notify.Event{Kind: notify.Recovered, Job: "some"}, []string{"some"})
		n.Tell(failure("none"), []string{})
		synctest.Wait()
		var got []string
		for _, of := range []*way{w, other} {
			sent, _ := of.messages()
			for _, m := range sent {
				got = append(got, m.Subject)
			}
		}
		want := "[host] late was started 2m0s late|[host] skipped was skipped 3 times|[host] missed has missed 99999 due times|[host] much has missed 100,000 due times or more: why|[host] the store cannot be used|[host] some has recovered"
		if strings.Join(got, "|") != want {
			t.Errorf("%q", got)
		}
	})
}

// What waits for a channel that has gone is sent by it at once; another channel gets what comes.
func TestNotifierSetReplacesChannels(t *testing.T) {
	w, after := new(way), new(way)
	in(t, notify.Channel{Digest: time.Hour}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		n.Tell(failure("a"), nil)
		n.Set([]*notify.Channel{{Name: "others", Way: after, ForAll: true}})
		n.Tell(failure("b"), nil)
		synctest.Wait()
		before, _ := w.messages()
		later, _ := after.messages()
		if len(before) != 1 || len(later) != 1 || later[0].Events[0].Job != "b" {
			t.Errorf("before %+v, after %+v", before, later)
		}
	})
}

// What waits for a channel goes on to wait when the channel is set again: for the end of quiet hours or of a digest, or
// because of the limit, which counts what was sent before. It is sent once, as the channel is then.
func TestNotifierSetKeepsWhatWaits(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name string
		notify.Channel
		want []time.Duration // of the messages, by the channel before and that after
	}{
		{"quiet", notify.Channel{Quiet: notify.Quiet{From: 22 * 60, To: 7 * 60, Zone: time.UTC}}, []time.Duration{day + 7*time.Hour}},
		{"digest", notify.Channel{Digest: 5 * time.Hour}, []time.Duration{day + 3*time.Hour}},
		{"limit", notify.Channel{Limit: 1}, []time.Duration{22 * time.Hour, 23 * time.Hour}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := new(way)
			in(t, test.Channel, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
				time.Sleep(22 * time.Hour)
				n.Tell(failure("a"), nil)
				for range 3 {
					time.Sleep(10 * time.Minute)
					c := test.Channel
					c.Name, c.Way, c.ForAll = "people", w, true
					n.Set([]*notify.Channel{&c})
					n.Tell(failure("b"), nil)
				}
				time.Sleep(day)
				sent, at := w.messages()
				events := 0
				for _, m := range sent {
					events += len(m.Events)
				}
				if fmt.Sprint(at) != fmt.Sprint(test.want) || events != 4 {
					t.Errorf("%d events at %v, want 4 at %v", events, at, test.want)
				}
				if all := n.Notices(); len(all) != len(test.want) {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}

// What is no part of a day is refused.
func TestParseQuietRefuses(t *testing.T) {
	for _, text := range []string{"", "22:00", "22-7", "25:00-07:00", "07:00-07:00", "a-b"} {
		if q, err := notify.ParseQuiet(text, time.UTC); err == nil {
			t.Errorf("%q is %+v", text, q)
		}
	}
}

// What was sent while the clock was ahead does not count for the limit once that was set back: its time is not known, and
// the channel would be silent until then.
func TestNotifierLimitEndsWithClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 30 * 24 * time.Hour
		store, w := memory.New(), new(way)
		d := newDaemon(t, store, &notify.Channel{Name: "people", ForAll: true, Way: w, Limit: 1})
		store.Shift(ahead)
		d.Tell(failure("a"), nil)
		time.Sleep(time.Minute)
		store.Shift(-ahead)
		time.Sleep(time.Minute)
		d.Tell(failure("b"), nil)
		time.Sleep(time.Minute)
		if sent, at := w.messages(); len(sent) != 2 {
			t.Errorf("sent %d messages at %v, and the store has %+v", len(sent), at, latest(t, store))
		}
		d.end()
	})
}

// A digest that was begun by a clock that was ahead is sent when that is found.
func TestNotifierDigestEndsWithClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, w := memory.New(), new(way)
		d := newDaemon(t, store, &notify.Channel{Name: "people", ForAll: true, Way: w, Digest: time.Hour})
		home, stop := begin(t, store)
		defer stop()
		e := failure("a")
		e.At = time.Now().Add(30 * 24 * time.Hour)
		letter := map[string]any{"id": "x", "host": "host", "channel": "people", "first": e.At, "since": e.At, "last": 1,
			"events": []notify.Event{e}, "message": []notify.Event{e}}
		if _, err := durable.KindOf[map[string]any, struct{}](home.Jobs, "executord-notice:shop/people").
			Add(t.Context(), letter, durable.Key("executord-notice:shop/x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if sent, _ := w.messages(); len(sent) != 1 {
			t.Errorf("sent %d messages, and the store has %+v", len(sent), latest(t, store))
		}
		d.end()
	})
}
