package durable

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/executor-go/executor/durable/internal/text"
)

// NoteAct adds an entry to the audit log, for programs that let people change jobs: call it after each change that was
// made or refused. The other methods of Jobs do not call it. Texts are cut at MaxAct bytes, and characters that can't
// be seen become U+FFFD.
func (j *Jobs) NoteAct(ctx context.Context, a Act) error {
	mustContext(ctx)
	for _, t := range []*string{&a.Who, &a.Action, &a.Key, &a.Reason, &a.Answer} {
		*t = actText(*t)
	}
	if j.parts.ActLog == nil {
		return j.lacks("note act", "ActLog")
	}
	return failed("note act", j.parts.ActLog.NoteAct(ctx, a))
}

func actText(s string) string {
	return text.Shorten(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")), MaxAct)
}

// Acts returns the entries of the audit log that f selects, the latest first. For the next page set f.Before to the
// last Seq of this one.
func (j *Jobs) Acts(ctx context.Context, f ActFilter) ([]Act, error) {
	mustContext(ctx)
	if err := checkLimit(f.Limit); err != nil {
		return nil, err
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	if j.parts.ActLog == nil {
		return nil, j.lacks("acts", "ActLog")
	}
	acts, err := j.parts.ActLog.Acts(ctx, f)
	return acts, failed("acts", err)
}
