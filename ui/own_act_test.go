package ui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui"
)

// backup returns the action "back-up" of a program, which notes what it backs up, and then answers so.
func backup(done *[]string, text string, answer durable.Answer, err error) func(url.Values) (*ui.Action, error) {
	return func(q url.Values) (*ui.Action, error) {
		disk := q.Get("disk")
		switch {
		case q.Get("do") != "back-up":
			return nil, nil
		case disk == "":
			return nil, ui.BadRequest("the disk is missing")
		case disk == "none":
			return nil, ui.NotFound("there is no such disk")
		}
		return &ui.Action{
			Name: "back-up", Title: "Back up <" + disk + ">", Says: "The disk is read.", Danger: disk == "root",
			Key: "backup/" + disk, Attrs: []slog.Attr{slog.String("disk", disk)},
			Do: func(context.Context) (admin.Answer, error) {
				*done = append(*done, disk)
				return admin.Answer{Outcome: answer, Text: text}, err
			},
		}, nil
	}
}

// newBackup returns a UI for who may act on jobs, with the action of backup, and its log.
func newBackup(t *testing.T, jobs *durable.Jobs, of func(url.Values) (*ui.Action, error)) (*ui.UI, *bytes.Buffer) {
	log := new(bytes.Buffer)
	c := ui.Config{
		Actions: true, ActionOf: of, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "ann" },
		Pages:     []ui.Page{{Path: "mine", Body: echo}},
	}
	if jobs != nil {
		c.Jobs = []ui.Source{{Jobs: jobs, Link: func(key string) (string, string) {
			return strings.ToUpper(key), "mine?key=" + url.QueryEscape(key)
		}}}
	}
	return newUI(t, c), log
}

// A page of the program's own is another one for those who may act than for the others, also within the second for which
// it is kept.
func TestOwnPageOffersActions(t *testing.T) {
	access := ui.Act
	u := newUI(t, ui.Config{
		Actions:   true,
		Authorize: func(*http.Request) (ui.Access, string) { return access, "ann" },
		Pages: []ui.Page{{Path: "", Body: func(ctx context.Context, _ url.Values) (string, template.HTML, error) {
			return "Disks", template.HTML(fmt.Sprintf("<p>%t</p>", ui.MayAct(ctx))), nil
		}}},
	})
	for _, access = range []ui.Access{ui.Look, ui.Act, ui.Look} {
		if text, want := get(t, u, "/"), fmt.Sprintf("<p>%t</p>", access == ui.Act); !strings.Contains(text, want) {
			t.Errorf("with access %v the page has no %s: %s", access, want, text)
		}
	}
	if ui.MayAct(t.Context()) {
		t.Error("MayAct is true where there is no page")
	}
}

// An action of the program's own is confirmed on a page that says what it does, with what the link has.
func TestOwnActionIsConfirmed(t *testing.T) {
	var done []string
	u, log := newBackup(t, newJobs(t, nil), backup(&done, "", durable.Applied, nil))
	text := get(t, u, "/act?do=back-up&disk=root&reason=why")
	for _, want := range []string{
		"<h1><bdi>Back up &lt;root&gt;</bdi>?</h1>", "<p>The disk is read.</p>", `<input type="hidden" name="disk" value="root">`,
		`<input type="hidden" name="do" value="back-up">`, `class="do danger">Back up &lt;root&gt;</button>`,
		`id="reason" value="why" required`, `<a href="mine?key=backup%2Froot">Back</a>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s: %s", want, text)
		}
	}
	for name, c := range map[string]struct {
		form url.Values
		code int
		want string
	}{
		"no reason field": {without("reason", form("do", "back-up", "disk", "db")), 400, "Reason, for the audit log"},
		"no reason":       {form("do", "back-up", "disk", "db", "reason", " "), 400, "give a reason"},
		"a long reason":   {form("do", "back-up", "disk", "db", "reason", strings.Repeat("é", 251)), 400, "reason has 502 bytes"},
		"no disk":         {form("do", "back-up"), 400, "the disk is missing"},
		"not found":       {form("do", "back-up", "disk", "none"), 404, "there is no such disk"},
	} {
		if w := post(u, c.form); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d, want %d with %q: %s", name, w.Code, c.code, c.want, w.Body)
		}
	}
	if len(done) > 0 || log.Len() > 0 {
		t.Errorf("%q are done, and the log is %s", done, log)
	}
}

// What became of an action of the program's own is shown, logged and kept: with the job of its key, if there is one.
func TestOwnActionIsDone(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		answer      durable.Answer
		err         error
		status      int
		shown, log  string
		kept, level string
	}{
		"done":     {"it is read", durable.Applied, nil, 200, "It is done.", `answer="it is read" done=true`, "it is read", "INFO"},
		"not done": {"it is <busy>", durable.TooLate, nil, 409, "It is not done.", `answer="it is <busy>" done=false`, "it is <busy>", "WARN"},
		"an error": {"", 0, errors.New("no answer"), 503, "no answer", `answer="not known" done=false err="no answer"`, "not known", "WARN"},
	} {
		t.Run(name, func(t *testing.T) {
			var done []string
			jobs := newJobs(t, nil)
			id := addJob(t, jobs, "mail", 0, durable.Key("backup/db"))
			u, log := newBackup(t, jobs, backup(&done, c.text, c.answer, c.err))
			var page string
			if c.status == 200 {
				page = answered(t, u, form("do", "back-up", "disk", "db"))
			} else {
				page = declined(t, u, c.status, form("do", "back-up", "disk", "db"))
			}
			for _, want := range []string{"Back up &lt;db&gt;", "a test", c.shown, `<a href="mine?key=backup%2Fdb"><bdi>BACKUP/DB<`} {
				if !strings.Contains(page, want) {
					t.Errorf("the page has no %s: %s", want, page)
				}
			}
			want := `level=` + c.level + ` msg="ui: action" action=back-up disk=db reason="a test" who=ann ` + c.log + "\n"
			if fmt.Sprint(done) != "[db]" || !strings.HasSuffix(log.String(), want) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("%q are done, and the log is %s", done, log)
			}
			acts, err := jobs.Acts(t.Context(), durable.ActFilter{})
			if err != nil || len(acts) != 1 {
				t.Fatalf("%+v, %v are kept", acts, err)
			}
			if a := acts[0]; a.Action != "back-up" || a.Job != id || a.Key != "backup/db" || a.Reason != "a test" || a.Who != "ann" || a.Answer != c.kept {
				t.Errorf("kept is %+v", a)
			}
		})
	}
}

// An action of the program's own needs no store, and what it leaves to UI is done by that.
func TestOwnActionsBesideOthers(t *testing.T) {
	var done []string
	u, _ := newBackup(t, nil, backup(&done, "it is read", durable.Applied, nil))
	answered(t, u, form("do", "back-up", "disk", "db"))
	if text := get(t, u, "/acts"); !strings.Contains(text, "back-up") || !strings.Contains(text, "backup/db") || len(done) != 1 {
		t.Errorf("%q are done, and kept is %s", done, text)
	}
	jobs := newJobs(t, nil)
	u, _ = newBackup(t, jobs, backup(&done, "", durable.Applied, nil))
	id := addJob(t, jobs, "mail", 0)
	answered(t, u, form("do", "cancel", "id", id.String()))
	if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Canceled {
		t.Errorf("the job is %+v, %v", j, err)
	}
}

// An action of the program's own need not be about a job; then its title is what the answer is about.
func TestOwnActionWithoutJob(t *testing.T) {
	for back, want := range map[string]string{"": "./", "mine": "mine"} {
		u, _ := newBackup(t, newJobs(t, nil), func(url.Values) (*ui.Action, error) {
			return &ui.Action{Name: "tidy", Title: "Tidy up", Back: back, Do: func(context.Context) (admin.Answer, error) {
				return admin.Answer{Outcome: durable.Applied, Text: "tidied up"}, nil
			}}, nil
		})
		page := answered(t, u, form("do", "tidy"))
		if !strings.Contains(page, `<a href="`+want+`"><bdi>Tidy up</bdi></a>`) || !strings.Contains(page, `<a href="`+want+`">Back</a>`) {
			t.Errorf("back to %q: %s", back, page)
		}
	}
}

// From an action of the program's own the way leads back to the page of the job with its key, which is that of the UI
// where Source.Link has none, or to the first page.
func TestOwnActionLeadsBackToJob(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour, durable.Key("backup/db"))
	for key, want := range map[string]string{"backup/db": "job?id=" + id.String(), "none": "./"} {
		for _, link := range []func(string) (string, string){nil, func(key string) (string, string) { return key, "" }} {
			u := newUI(t, ui.Config{
				Jobs: []ui.Source{{Jobs: jobs, Link: link}}, Actions: true, Logger: slog.New(slog.DiscardHandler),
				Authorize: func(*http.Request) (ui.Access, string) { return ui.Act, "ann" },
				ActionOf: func(url.Values) (*ui.Action, error) {
					return &ui.Action{Name: "tidy", Title: "Tidy up", Key: key, Do: func(context.Context) (admin.Answer, error) {
						return admin.Answer{Outcome: durable.Applied, Text: "tidied up"}, nil
					}}, nil
				},
			})
			for what, page := range map[string]string{"the confirmation": get(t, u, "/act?do=tidy"), "the answer": answered(t, u, form("do", "tidy"))} {
				if !strings.Contains(page, `<a href="`+want+`">Back</a>`) {
					t.Errorf("key %s: %s does not lead back to %s: %s", key, what, want, page)
				}
			}
		}
	}
}

// Actions of the program's own need what all actions do.
func TestOwnActionsNeedActions(t *testing.T) {
	var done []string
	c := ui.Config{Jobs: []ui.Source{{Jobs: newJobs(t, nil)}}, ActionOf: backup(&done, "", durable.Applied, nil)}
	if _, err := ui.New(c); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "has no effect without Config.Actions") {
		t.Errorf("New: %v", err)
	}
	c.Actions, c.Authorize = true, func(*http.Request) (ui.Access, string) { return ui.Look, "bob" }
	u := newUI(t, c)
	if w := post(u, form("do", "back-up", "disk", "db")); w.Code != http.StatusForbidden || len(done) > 0 {
		t.Errorf("who may look gets %d, and %q are done", w.Code, done)
	}
}

// mute is a store that answers nothing that is asked for an action.
type mute struct{ durable.Store }

func (mute) Find(ctx context.Context, _ string) (durable.Job, error) {
	<-ctx.Done()
	return durable.Job{}, ctx.Err()
}

func (mute) NoteAct(ctx context.Context, _ durable.Act) error {
	<-ctx.Done()
	return ctx.Err()
}

// An action of the program's own is asked for and done at once if the store does not answer; that it is not kept is in
// the log, and delays the answer for ten seconds at most.
func TestOwnActionWithoutAnswerOfStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: mute{memory.New()}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		var after time.Duration
		u, log := newBackup(t, jobs, func(url.Values) (*ui.Action, error) {
			return &ui.Action{Name: "back-up", Title: "Back up", Key: "backup/db", Do: func(context.Context) (admin.Answer, error) {
				after = time.Since(begin)
				return admin.Answer{Outcome: durable.Applied, Text: "it is read"}, nil
			}}, nil
		})
		get(t, u, "/act?do=back-up")
		page := answered(t, u, form("do", "back-up"))
		if took := time.Since(begin); after != 0 || took > 10*time.Second {
			t.Errorf("it was done after %v, and answered after %v", after, took)
		}
		if !strings.Contains(page, "it is read") || !strings.Contains(log.String(), `level=INFO msg="ui: action" action=back-up`) ||
			!strings.Contains(log.String(), `level=WARN msg="ui: action not stored" action=back-up`) {
			t.Errorf("the log is %s, and the page %s", log, page)
		}
	})
}

// prompt is a store that notes nothing once the context has ended, as databases do.
type prompt struct{ *memory.Store }

func (s prompt) NoteAct(ctx context.Context, a durable.Act) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.NoteAct(ctx, a)
}

// An action that takes all the time it may have is kept nevertheless.
func TestOwnActionThatTakesLongIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: prompt{memory.New()}})
		if err != nil {
			t.Fatal(err)
		}
		u, log := newBackup(t, jobs, func(url.Values) (*ui.Action, error) {
			return &ui.Action{Name: "back-up", Title: "Back up", Do: func(ctx context.Context) (admin.Answer, error) {
				<-ctx.Done()
				return admin.Answer{Text: "half of it is read"}, ctx.Err()
			}}, nil
		})
		declined(t, u, http.StatusServiceUnavailable, form("do", "back-up"))
		acts, err := jobs.Acts(t.Context(), durable.ActFilter{})
		if err != nil || len(acts) != 1 || acts[0].Answer != "half of it is read" {
			t.Errorf("kept are %+v, %v, and the log is %s", acts, err, log)
		}
	})
}
