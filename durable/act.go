package durable

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An Act is something that somebody did, or tried to do, to a job or to something else of the program, and why. The
// store keeps it for a year, also when the job is gone.
type Act struct {
	Seq    int64     `json:"seq"` // grows with each act of the store; set by NoteAct
	At     time.Time `json:"at"`  // on the store's clock; set by NoteAct
	Who    string    `json:"who,omitempty"`
	Action string    `json:"action"`
	Job    ID        `json:"job,omitzero"`  // zero if it is not about one job
	Key    string    `json:"key,omitempty"` // of the job, or the name of what else it is about
	Reason string    `json:"reason,omitempty"`
	Answer string    `json:"answer"` // what became of it
}

// MaxAct is how many bytes of each text of an Act are kept.
const MaxAct = 1000

// KeepActs is how long the stores keep acts.
const KeepActs = 365 * 24 * time.Hour

// An ActFilter selects acts. The zero ActFilter selects all.
type ActFilter struct {
	Job    ID    // of this job, if not zero
	Before int64 // with a Seq below this one, if not 0
	Limit  int   // the most; 0 means 100
}

// NoteAct keeps an act. It is for programs that let people change jobs, after each change that they made or refused;
// the methods of Jobs do not call it. Texts are cut at MaxAct bytes, and characters that can't be seen become U+FFFD.
func (j *Jobs) NoteAct(ctx context.Context, a Act) error {
	mustContext(ctx)
	for _, text := range []*string{&a.Who, &a.Action, &a.Key, &a.Reason, &a.Answer} {
		*text = actText(*text)
	}
	return failed("note act", j.store.NoteAct(ctx, a))
}

func actText(s string) string {
	return shorten(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")), MaxAct)
}

// Acts returns the acts that f selects, the latest first. For the next page set f.Before to the last Seq of this one.
func (j *Jobs) Acts(ctx context.Context, f ActFilter) ([]Act, error) {
	mustContext(ctx)
	if err := checkLimit(f.Limit); err != nil {
		return nil, err
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	acts, err := j.store.Acts(ctx, f)
	return acts, failed("acts", err)
}
