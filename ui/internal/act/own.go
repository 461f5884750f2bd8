package act

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"slices"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// Own is an action of the program's own, on what its pages show.
type Own struct {
	Name, Title, Says string
	Danger            bool
	Key, Back         string
	Attrs             []slog.Attr
	Do                func(context.Context) (answer string, done bool, err error)
}

// ownActions returns what a form about an own action is about, which is its target alone.
func (e *Engine) ownActions(own *Own, form url.Values) ([]*target, []action) {
	title := page.Printable(own.Title, 200)
	t := &target{sort: "own", source: e.Journal, key: own.Key, attrs: own.Attrs, Name: title, Path: "./"}
	if own.Key != "" {
		t.Name, t.Path = e.Journal.Link(durable.ID{}, own.Key, 0)
		t.Name = page.Printable(t.Name, 60)
	}
	t.Path = cmp.Or(own.Back, t.Path)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if name == "do" || name == "reason" {
			continue
		}
		for _, value := range form[name] {
			t.Fields = append(t.Fields, field{name, value})
		}
	}
	do := func(ctx context.Context, _ *target) (outcome, error) {
		answer, done, err := own.Do(ctx)
		says := "It is done."
		if !done {
			says = "It is not done."
		}
		return outcome{page.Printable(answer, durable.MaxAct), says, !done}, err
	}
	return []*target{t}, []action{{
		Name: own.Name, Title: title, Says: own.Says, Danger: own.Danger, ready: on(do),
	}}
}

// badRequest returns the error of a form that is no action: without more, the form is wrong.
func badRequest(err error) error {
	if gone := new(address.Gone); errors.As(err, &gone) {
		return err
	}
	return address.Badf("%v", err)
}
