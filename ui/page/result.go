package page

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Result is what a program is told that asks for something to be changed, and accepts JSON.
type Result struct {
	// Action is what was asked for, such as "pause"; "" if the request did not come so far.
	Action string `json:"action,omitempty"`
	// Status is the status of the answer: 200 if Done, else that of the reason.
	Status int `json:"status"`
	// Done says whether the action is done, now or soon, to all targets.
	Done bool `json:"done"`
	// Answer is what became of it, in a few words.
	Answer string `json:"answer"`
	// Targets are the jobs and other things that it was done to, or not. There are none if nothing was tried.
	Targets []Target `json:"targets,omitempty"`
	// GoOn is the address, relative to that of the request, at which the same is asked for the rest of a list that was
	// too long for one request; "" if there is no rest.
	GoOn string `json:"go_on,omitempty"`
}

// Target is what became of an action on one of its targets.
type Target struct {
	Name   string `json:"name"`
	Status int    `json:"status"`
	Done   bool   `json:"done"`
	Answer string `json:"answer"`
	Says   string `json:"says,omitempty"` // what Answer means, or an error
	Run    int64  `json:"run,omitempty"`  // the number of the run that was added, or is being ended; 0 if there is none
}

// Serve answers with r, as JSON.
func (r Result) Serve(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(r) // the program may have left
}

// Refuse answers a request with the reason why it is refused: a Result for who accepts JSON, else a line of text.
func Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	if AcceptsJSON(r) {
		Result{Status: status, Answer: reason}.Serve(w)
		return
	}
	http.Error(w, reason, status)
}

// AcceptsJSON reports whether a request is made by a program that would rather have JSON than a page: its header Accept
// names application/json, and text/html not before it or with more weight.
func AcceptsJSON(r *http.Request) bool {
	json, html := 0.0, 0.0
	for _, header := range r.Header["Accept"] {
		for part := range strings.SplitSeq(header, ",") {
			kind, parameters, err := mime.ParseMediaType(part)
			weight := 1.0
			if q, ok := parameters["q"]; ok {
				weight, _ = strconv.ParseFloat(q, 64)
			}
			switch {
			case err != nil:
			case kind == "application/json":
				if weight > html {
					json = max(json, weight)
				}
			case kind == "text/html":
				html = max(html, weight)
			}
		}
	}
	return json > 0 && json >= html
}
