package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
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
		if len(sent) != 2 || at[0] != 14*time.Second || len(sent[0].Events) != 1 || len(sent[1].Events) != 2 {
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

// What was sent before the program began, as before a restart, counts for the limit: other channels' messages, those that
// wait, and those of the hour before, do not.
func TestNotifierLimitCountsWhatWasSentBefore(t *testing.T) {
	w := new(way)
	in(t, notify.Channel{Limit: 3}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
		ago := func(d time.Duration, channel, outcome string) notify.Notice {
			return notify.Notice{Channel: channel, Outcome: outcome, At: time.Now().Add(-d)}
		}
		n.Recall([]notify.Notice{
			ago(20*time.Minute, "people", notify.Sent), ago(30*time.Minute, "other", notify.Sent), ago(0, "people", notify.Waiting),
			ago(40*time.Minute, "people", notify.GivenUp), ago(90*time.Minute, "people", notify.Sent),
		})
		for range 5 {
			n.Tell(failure("a"), nil)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		sent, at := w.messages()
		if len(sent) != 2 || len(sent[1].Events) != 4 || at[0] != 0 || at[1] != 20*time.Minute {
			t.Errorf("%d messages at %v", len(sent), at)
		}
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
		in(t, notify.Channel{Quiet: quiet}, w, func(t *testing.T, n *notify.Notifier, _ *strings.Builder) {
			told, err := time.Parse(time.RFC3339, test.told)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(told))
			n.Tell(failure("a"), nil)
			time.Sleep(24 * time.Hour)
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
		all := n.Notices()
		if len(all) != 2 || all[0].Tries != 1 || all[0].Error != "503 busy ***" || !all[0].Until.Equal(time.Now().Add(2*time.Second)) ||
			all[1].Held != notify.HeldBehind || all[1].Events[0].Job != "b" {
			t.Errorf("while it is tried: %+v", all)
		}
		time.Sleep(time.Minute)
		all = n.Notices()
		if len(all) != 2 || all[0].Events[0].Job != "b" || all[1].Outcome != notify.Sent || all[1].Tries != 4 || all[1].Error != "" {
			t.Errorf("afterwards: %+v", all)
		}
	})
}

// So many messages are kept, and each is given on, as one of its own.
func TestNotifierKeepsNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept []notify.Notice
		n := notify.New(notify.Config{Host: "host", Namespace: "shop", Log: slog.New(slog.DiscardHandler), Keep: func(k notify.Kept) {
			if k.Outcome != notify.Waiting {
				kept = append(kept, k.Notice)
			}
		}})
		n.Set([]*notify.Channel{{Name: "people", Way: new(way), ForAll: true}})
		for i := range 600 {
			n.Tell(failure(fmt.Sprint("job", i)), []string{"people"})
			synctest.Wait()
		}
		all := n.Notices()
		if len(all) != 500 || all[0].Events[0].Job != "job599" || all[499].Events[0].Job != "job100" {
			t.Errorf("%d are kept", len(all))
		}
		if len(kept) != 600 || kept[0].Namespace != "shop" || kept[0].ID == kept[1].ID || kept[0].ID == "" {
			t.Errorf("%d were given on: %+v", len(kept), kept[0])
		}
		n.Close(context.Background())
	})
}

// keeper keeps what a Notifier gives it, the last of each ID.
type keeper struct {
	mu   sync.Mutex
	last map[string]notify.Kept
}

func newKeeper() *keeper { return &keeper{last: make(map[string]notify.Kept)} }

func (k *keeper) keep(n notify.Kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[n.ID] = n
}

func (k *keeper) waiting() (all []notify.Kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range k.last {
		if n.Outcome == notify.Waiting {
			all = append(all, n)
		}
	}
	return all
}

// A digest that waits is kept whole, each time that it grows, and is sent once, when it is due, by the Notifier that
// adopts it; and what became of it is kept in its place.
func TestNotifierAdoptsDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newKeeper()
		ops := func(w *way) []*notify.Channel {
			return []*notify.Channel{{Name: "ops", Way: w, ForAll: true, Digest: time.Hour}}
		}
		killed := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler), Keep: kept.keep})
		killed.Set(ops(new(way)))
		for _, job := range []string{"a", "b", "c"} {
			killed.Tell(failure(job), nil)
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		left := kept.waiting()
		if len(left) != 1 || len(left[0].Message) != 3 || !left[0].By.Equal(time.Now().Add(57*time.Minute)) {
			t.Fatalf("kept %+v", left)
		}
		text, err := json.Marshal(left[0]) // as it is in a store
		var adopted notify.Kept
		if err != nil || json.Unmarshal(text, &adopted) != nil {
			t.Fatalf("%s, %v", text, err)
		}

		w, kept := new(way), newKeeper()
		n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler), Keep: kept.keep})
		n.Set(ops(w))
		if !n.Adopt(adopted) || n.Adopt(notify.Kept{Notice: notify.Notice{Channel: "other"}}) {
			t.Error("it is adopted if there is its channel")
		}
		n.Tell(failure("d"), nil) // waits for a digest of its own
		time.Sleep(56 * time.Minute)
		if sent, _ := w.messages(); len(sent) != 0 || len(n.Notices()) != 2 {
			t.Errorf("too early: %+v", sent)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		sent, at := w.messages()
		if len(sent) != 1 || at[0] != time.Hour || len(sent[0].Events) != 3 || sent[0].Events[1].Job != "b" || !strings.Contains(sent[0].Text, "disk full") {
			t.Errorf("sent %+v at %v", sent, at)
		}
		if k := kept.last[adopted.ID]; k.Outcome != notify.Sent || len(k.Message) != 0 || k.Held != notify.HeldForDigest {
			t.Errorf("then kept %+v", k)
		}
		n.Close(t.Context())
		if left := kept.waiting(); len(left) != 0 {
			t.Errorf("left %+v", left)
		}
		killed.Close(t.Context())
	})
}

// What is tried again, and what waits behind it, is kept until after the next try.
func TestNotifierKeepsWhatIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newKeeper()
		n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler), Keep: kept.keep})
		n.Set([]*notify.Channel{{Name: "ops", Way: &way{failures: []error{errors.New("down"), errors.New("down")}}, ForAll: true}})
		n.Tell(failure("a"), nil)
		time.Sleep(time.Second)
		n.Tell(failure("b"), nil)
		synctest.Wait()
		for _, k := range kept.waiting() {
			if len(k.Message) != 1 || !k.By.Equal(time.Now().Add(time.Second+30*time.Second)) {
				t.Errorf("kept %+v", k)
			}
		}
		if all := kept.waiting(); len(all) != 2 {
			t.Errorf("%d wait, want 2", len(all))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if all := kept.waiting(); len(all) != 0 || len(kept.last) != 2 {
			t.Errorf("%d wait, of %d", len(all), len(kept.last))
		}
		n.Close(t.Context())
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
		want := "[host] late was started 2m0s late|[host] skipped was skipped 3 times|[host] missed has missed 99999 due times|[host] much has missed 100,000 due times or more: why|[host] the store does not answer|[host] some has recovered"
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
