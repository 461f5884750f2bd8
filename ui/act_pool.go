package ui

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/page"
	"github.com/executor-go/executor/internal/poolview"
)

// subject is a pool, or a series of one, and what can be done to it.
type subject struct {
	sort   string // "pool" or "series", as in the query
	number int
	name   string
	path   string // of a page that shows it
	label  string // of the value that some deeds need
	value  string // as it is now
	deeds  []poolDeed
}

// poolDeed is something that can be done to a subject.
type poolDeed struct {
	Name, Title, Says string
	Danger            bool
	do                func(value string) (answer string, err error)
}

// actOnPage asks what is to be done to a subject, and why.
type actOnPage struct {
	Title, Sort, Path string
	Number            int
	Deeds             []poolDeed
	Do                string // what is chosen
	Label, Value      string
	Reason, Error     string
}

// serveActOn asks what is to be done to a pool or a series, or does it and leads to the answer.
func (u *UI) serveActOn(w http.ResponseWriter, r *http.Request, who string) {
	v := view{name: "pools", act: true}
	s, err := u.subjectOf(r.Form)
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	p := &actOnPage{
		Title: s.name, Sort: s.sort, Number: s.number, Path: s.path, Deeds: s.deeds, Label: s.label, Value: s.value,
		Do: r.Form.Get("do"), Reason: strings.TrimSpace(r.Form.Get("reason")),
	}
	if text := strings.TrimSpace(r.Form.Get("value")); text != "" {
		p.Value = page.Printable(text, 60)
	}
	status := http.StatusOK
	if r.Method == http.MethodPost && r.PostForm.Get("confirmed") == "yes" {
		i := slices.IndexFunc(s.deeds, func(d poolDeed) bool { return d.Name == p.Do })
		switch p.Error = reasonProblem(p.Reason); {
		case i < 0:
			p.Error = "Choose what is to be done; it may be that this is no longer possible."
		case p.Error == "":
			token := u.answers.add(u.actOn(s, &s.deeds[i], strings.TrimSpace(r.PostForm.Get("value")), p.Reason, who))
			http.Redirect(w, r, "act?answers="+token, http.StatusSeeOther)
			return
		}
		status = http.StatusUnprocessableEntity
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "actOn", p); err != nil {
		u.serveError(w, r, v, err)
		return
	}
	u.serve(w, status, v, p.Title, "", b.Bytes())
}

// actOn does what was chosen, notes it, and returns the answer.
func (u *UI) actOn(s *subject, d *poolDeed, value, reason, who string) *answersPage {
	answer, err := d.safely(value)
	row := answerRow{ID: s.name, Path: s.path, Answer: answer, Bad: err != nil}
	attrs := []any{"action", d.Name, s.sort, s.name, "reason", reason, "who", who}
	if err != nil {
		row.Answer, row.Says = "not done", page.Lines(err.Error(), 300)
		u.config.Logger.Warn("ui: action failed", append(attrs, "err", err)...)
	} else {
		u.config.Logger.Info("ui: action", append(attrs, "answer", answer)...)
	}
	u.cache.reset() // pages show at once what has changed
	return &answersPage{
		Title: d.Title, Reason: page.Printable(reason, reasonLimit), Back: s.path, Answers: []answerRow{row},
	}
}

// safely does d; a Trigger of the program may panic.
func (d *poolDeed) safely(value string) (answer string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return d.do(value)
}

// subjectOf returns what a form is about.
func (u *UI) subjectOf(form url.Values) (*subject, error) {
	sort := "series"
	if form.Has("pool") {
		sort = "pool"
	}
	n, err := strconv.Atoi(form.Get(sort))
	if err != nil {
		return nil, &badRequest{fmt.Sprintf("%s is %.20q; it must be a number", sort, form.Get(sort))}
	}
	if u.config.Observer != nil {
		l := u.looked()
		for number, p := range u.config.Observer.Pools() {
			switch {
			case sort == "pool" && number == n:
				return poolSubject(n, p), nil
			case sort == "series":
				for _, info := range u.config.Observer.Schedules(number) {
					if l.series[info.Series] == n {
						return seriesSubject(n, number, info), nil
					}
				}
			}
		}
	}
	return nil, &gone{fmt.Sprintf("there is no %s %d; it may have ended", sort, n)}
}

func poolSubject(number int, p *executor.Pool) *subject {
	now := p.Settings()
	size := now.Core
	if f := p.Figures(); !f.Scheduled && f.Max >= 0 {
		size = f.Max
	}
	return &subject{
		sort: "pool", number: number, name: poolview.Title(p.Stats().Name, number), path: poolview.Path(number),
		label: "Workers", value: strconv.Itoa(size),
		deeds: []poolDeed{{
			Name: "resize", Title: "Resize",
			Says: "It has that many workers: core and limit. Busy workers above that leave after their task.",
			do: func(value string) (string, error) {
				n, err := strconv.Atoi(value)
				if err != nil {
					return "", fmt.Errorf("the number of workers is %.20q; it must be a number, from 1", value)
				}
				return fmt.Sprintf("resized to %d", n), p.Resize(n)
			},
		}},
	}
}

func seriesSubject(number, pool int, info executor.ScheduleInfo) *subject {
	s := info.Series
	name := info.Name
	if name == "" {
		name = info.Rhythm.String()
	}
	did := func(ok bool, answer string) (string, error) {
		if !ok {
			return "", errors.New("its state does not allow it any more")
		}
		return answer, nil
	}
	sub := &subject{sort: "series", number: number, name: poolview.Task(name), path: poolview.Path(pool), label: "New period, as 5m"}
	sub.deeds = append(sub.deeds, poolDeed{
		Name: "run", Title: "Run now", Says: "A run is due at once; the rhythm goes on.",
		do: func(string) (string, error) { return "due now", s.RunNow() },
	})
	if info.Paused {
		sub.deeds = append(sub.deeds, poolDeed{
			Name: "resume", Title: "Resume", Says: "It goes on at its next time.",
			do: func(string) (string, error) { return did(s.Resume(), "resumed") },
		})
	} else {
		sub.deeds = append(sub.deeds, poolDeed{
			Name: "pause", Title: "Pause", Says: "It does not run until it is resumed. A run in progress goes on.",
			do: func(string) (string, error) { return did(s.Pause(), "paused") },
		})
	}
	return sub.with(poolDeed{
		Name: "reschedule", Title: "Reschedule", Says: "It has a fixed rate with the period below, from now on.",
		do: func(value string) (string, error) {
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return "", fmt.Errorf("the period is %.20q; it must be a duration above 0, as 90s or 5m", value)
			}
			return "every " + d.String(), s.Reschedule(executor.FixedRate(d))
		},
	}, poolDeed{
		Name: "cancel", Title: "Cancel", Danger: true, Says: "It does not run again, until the program is started anew.",
		do: func(string) (string, error) { return did(s.Cancel(), "canceled") },
	})
}

func (s *subject) with(deeds ...poolDeed) *subject {
	s.deeds = append(s.deeds, deeds...)
	return s
}
