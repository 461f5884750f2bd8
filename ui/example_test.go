package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui"
)

// A program shows its pools and its jobs, and lets those act who have logged in.
func Example() {
	observer := &executor.Observer{Every: 1, MaxEvents: 100}
	pool, err := executor.New(executor.Config{Name: "thumbnails", Workers: 4, Observer: observer})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		panic(err)
	}
	mails := durable.KindOf[string, string](jobs, "mail")
	if _, err := mails.AddAfter(context.Background(), time.Hour, "ann@example.org", durable.Key("welcome/ann")); err != nil {
		panic(err)
	}

	pages, err := ui.New(ui.Config{
		Observer: observer,
		Jobs:     []ui.Source{{Jobs: jobs}},
		Actions:  true,
		Authorize: func(r *http.Request) (ui.Access, string) {
			if user, _, ok := r.BasicAuth(); ok { // and the password is right
				return ui.Act, user
			}
			return ui.Look, ""
		},
	})
	if err != nil {
		panic(err)
	}
	defer pages.Close()
	mux := http.NewServeMux()
	mux.Handle("/executor/", pages)

	server := httptest.NewServer(mux) // in a program: http.ListenAndServe("localhost:8080", mux)
	defer server.Close()
	response, err := http.Get(server.URL + "/executor/jobs")
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var page strings.Builder
	if err := response.Write(&page); err != nil {
		panic(err)
	}
	fmt.Println(response.Status, strings.Contains(page.String(), "welcome/ann"))
	// Output: 200 OK true
}
