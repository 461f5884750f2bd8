// Package pages makes the pages: what is in each, and what is around them.
package pages

import (
	"context"
	"html/template"
	"net/url"

	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/internal/source"
)

// Site is what pages are about, and which there are. Its methods may be called by any goroutine once Add has been.
type Site struct {
	Title    string
	Menu     template.HTML
	Payloads bool // are shown
	Pooled   bool // there are pools
	Pools    *figures.Pools
	Sources  source.Sources
	Journal  *source.Source                      // that keeps what was done to pools; nil if there is none
	Cache    *source.Cache                       // what was rendered and read last
	Problems func(context.Context) (int, error)  // counts what is wrong; nil for what needs attention
	Banner   func(context.Context) template.HTML // of each page; nil for none

	kinds    map[string]kind // by the last element of their paths
	tabOrder []string        // of the header
	own      bool            // there are pages of the program's own
}

// sourceOf returns the source that a page of this sort is about, nil if there is none.
func (u *Site) sourceOf(k kind, name string) *source.Source {
	if k.acts && name == "" {
		return u.Journal
	}
	return u.Sources.Find(name)
}

// kind is a sort of pages.
type kind struct {
	tab         string // in the header, if it is there
	template    string // "" for a page of the program's own
	pools, jobs bool   // what it is about
	acts        bool   // it has what was done by hand, which is kept without a source, too
	parse       func(*address.View, url.Values) error
	check       func(*source.Source, address.View) error // whether the source has what was asked for; it may be nil
	// body returns the title, and what the template shows.
	body func(ctx context.Context, u *Site, v address.View) (title string, body any, err error)
}

// tab is a link in the header.
type tab struct {
	Name, Path string
	Current    bool
}

const rowLimit = poolview.RowLimit // rows of a table
