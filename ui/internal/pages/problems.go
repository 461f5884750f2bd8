package pages

import (
	"context"
	"html/template"
	"time"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
)

// problemsLife is for how long their number is good at least.
const problemsLife = 10 * time.Second

// problemsKey is the key of their number in the cache.
type problemsKey struct{}

// problems returns how many things are wrong, for the title of a page, "" if there are none.
func (u *Site) problems(ctx context.Context) string {
	count := u.Problems
	if count == nil {
		count = u.countProblems
	}
	life := func(took time.Duration) time.Duration { return max(problemsLife, source.Life(took)) }
	n, _, err := source.Cached(ctx, u.Cache, problemsKey{}, life, func() (int, error) {
		// Others share what is counted, so that it does not end with this request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), source.QueryTime)
		defer cancel()
		return count(ctx)
	})
	if err != nil {
		n = max(n, 1)
	}
	return poolview.ProblemsText(n)
}

// bannerKey is the key of the banner in the cache.
type bannerKey struct{}

// banner returns what is on top of each page.
func (u *Site) banner(ctx context.Context) template.HTML {
	if u.Banner == nil {
		return ""
	}
	life := func(took time.Duration) time.Duration { return max(problemsLife, source.Life(took)) }
	text, _, _ := source.Cached(ctx, u.Cache, bannerKey{}, life, func() (template.HTML, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), source.QueryTime)
		defer cancel()
		return u.Banner(ctx), nil
	})
	return text
}

// countProblems returns how many things need attention, without what was done by hand.
func (u *Site) countProblems(ctx context.Context) (n int, err error) {
	all := u.Pools.Look().Attention()
	for _, s := range u.Sources {
		ns, _ := sourceAttention(ctx, s, time.Now()) // an error is one of them
		all = append(all, ns...)
	}
	return poolview.Problems(all), nil
}
