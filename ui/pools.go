package ui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// poolsPage is what the list of pools shows.
type poolsPage struct {
	Search string
	Pools  []poolview.Row
	More   int // pools that are not shown
	Events []poolview.Happened
	At     string
}

func parsePools(v *view, q url.Values) (err error) {
	v.search, err = limited(q, "q", 200)
	return err
}

func poolsBody(_ context.Context, u *UI, v view) (string, any, error) {
	l := u.looked()
	p := &poolsPage{Search: v.search, At: page.ClockZone(l.At, l.At), Events: l.Happened(0)}
	p.Pools, p.More = l.Rows(v.search, rowLimit)
	return "Pools", p, nil
}

// poolPage is what the page of a pool shows.
type poolPage struct {
	*poolview.Page
	Act string // where it can be changed, "" if it can't
	At  string
}

func parsePool(v *view, q url.Values) error {
	n, err := strconv.Atoi(q.Get("id"))
	if err != nil || n < 1 {
		return &badRequest{fmt.Sprintf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))}
	}
	v.number = n
	return nil
}

func poolBody(_ context.Context, u *UI, v view) (string, any, error) {
	l := u.looked()
	p := l.Page(v.number)
	if p == nil {
		return "", nil, &gone{fmt.Sprintf("there is no pool %d; it may have ended", v.number)}
	}
	body := &poolPage{Page: p, At: page.ClockZone(l.At, l.At)}
	if v.act {
		body.Act = "act?pool=" + strconv.Itoa(v.number)
	}
	return p.Title, body, nil
}
