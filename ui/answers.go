package ui

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"sync"
)

// answersPage is what has become of an order.
type answersPage struct {
	Title, Reason string
	Answers       []answerRow
	Back          string

	view view // that the targets belong to
}

type answerRow struct {
	Name, Path, Answer, Says string
	Bad                      bool
}

// answers keeps the latest answers, for the pages that show them.
type answers struct {
	mu    sync.Mutex
	pages map[string]*answersPage
	order []string // the oldest first
}

const answersLimit = 50

// add keeps answers, and returns the token by which they are found.
func (a *answers) add(p *answersPage) string {
	token := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pages == nil {
		a.pages = make(map[string]*answersPage)
	}
	if len(a.order) == answersLimit {
		delete(a.pages, a.order[0])
		a.order = a.order[1:]
	}
	a.pages[token] = p
	a.order = append(a.order, token)
	return token
}

func (a *answers) get(token string) *answersPage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pages[token]
}

// serveAnswers answers with what has become of an order.
func (u *UI) serveAnswers(w http.ResponseWriter, r *http.Request, v view, token string) {
	p := u.answers.get(token)
	if p == nil {
		u.serveError(w, r, v, &gone{"this result has expired; see the log"})
		return
	}
	v = p.view
	v.act = true
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "answers", p); err != nil {
		u.serveError(w, r, v, err)
		return
	}
	u.serve(w, http.StatusOK, v, p.Title, "", b.Bytes())
}
