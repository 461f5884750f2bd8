package act

import (
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// answersPage is what has become of an order.
type answersPage struct {
	Title, Reason string
	Answers       []answerRow
	Back          string
	GoOn          string // where to ask for the same to the other jobs of a list; "" if these were all

	view   address.View // that the targets belong to
	result page.Result  // the same, for a program
}

type answerRow struct {
	Path string
	page.Target
}

// add adds what became of the action on a target. Of several statuses, the greatest is that of all.
func (p *answersPage) add(t *target, done page.Target) {
	p.Answers = append(p.Answers, answerRow{t.Path, done})
	p.result.Targets = append(p.result.Targets, done)
	p.result.Status = max(p.result.Status, done.Status)
}

// end sums up the answers.
func (p *answersPage) end() {
	r := &p.result
	done := 0
	for _, t := range r.Targets {
		if t.Done {
			done++
		}
	}
	r.Done, r.GoOn = done == len(r.Targets), p.GoOn
	if r.Answer = r.Targets[0].Answer; len(r.Targets) > 1 {
		r.Answer = fmt.Sprintf("%d of %d done", done, len(r.Targets))
	}
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

// answered returns what has become of an order.
func (e *Engine) answered(a Answer, token string) (Answer, error) {
	p := e.answers.get(token)
	if p == nil {
		return a, address.Gonef("this result has expired; see the log")
	}
	a.View = p.view
	a.View.Act = true
	a.Title, a.Template, a.Body = p.Title, "answers", p
	return a, nil
}
