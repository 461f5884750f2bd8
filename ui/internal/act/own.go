package act

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/url"
	"slices"

	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/page"
)

// Own is an action of the program's own, on what its pages show.
type Own struct {
	Name, Title, Says string
	Danger            bool
	Key, Back         string
	Attrs             []slog.Attr
	Do                func(context.Context) (admin.Answer, error)
}

// ownActions returns what a form about an own action is about, which is its target alone.
func (e *Engine) ownActions(own *Own, form url.Values) ([]*target, []action) {
	title := page.Printable(own.Title, 200)
	t := &target{sort: "own", source: e.Journal, key: own.Key, attrs: own.Attrs, Name: title, Path: cmp.Or(own.Back, "./")}
	if own.Key != "" {
		name, path := own.Key, ""
		if e.Journal.Named != nil {
			name, path = e.Journal.Named(own.Key)
		}
		t.Name, t.Path = page.Printable(name, 60), cmp.Or(own.Back, path)
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if name == "do" || name == "reason" {
			continue
		}
		for _, value := range form[name] {
			t.Fields = append(t.Fields, field{name, value})
		}
	}
	return []*target{t}, []action{{
		Name: own.Name, Title: title, Says: own.Says, Danger: own.Danger, ready: on(noted(own.Name, own.Do)),
	}}
}
