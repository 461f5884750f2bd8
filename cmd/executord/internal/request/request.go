// Package request makes the HTTP requests of jobs.
package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Request is what a job asks for.
type Request struct {
	URL     string   // $NAME and ${NAME} in it, and in the headers, are variables of the environment
	Method  string   // "" is GET, or POST with a body
	Headers []string // each as "Name: value"
	Expect  string   // the codes that are well, as "200-299,404"; "" is DefaultExpect

	// Parameters are the variables whose values may come from somebody else than who has written the request.
	Parameters []string
}

// DefaultExpect are the codes that are well if a request does not say.
const DefaultExpect = "200-299"

// Args returns the arguments of executord that make the request. The body is for its standard input.
func (r Request) Args() []string {
	args := []string{"http"}
	if r.Method != "" {
		args = append(args, "--method", r.Method)
	}
	for _, h := range r.Headers {
		args = append(args, "--header", h)
	}
	if r.Expect != "" {
		args = append(args, "--expect", r.Expect)
	}
	for _, name := range r.Uses(r.Parameters) {
		args = append(args, "--parameter", name)
	}
	return append(args, "--", r.URL)
}

// Check returns what is wrong with a request, as far as that shows before it is made.
func (r Request) Check() error {
	if err := checkURL(r.URL); err != nil {
		return err
	}
	if !isToken(r.Method) && r.Method != "" {
		return fmt.Errorf("%q is not an HTTP method; write GET, POST, PUT, PATCH, DELETE or HEAD", r.Method)
	}
	for _, h := range r.Headers {
		if name, value, ok := strings.Cut(h, ":"); !ok || !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			// its value may be a secret
			return fmt.Errorf("%q is not a header; write it as Accept: text/plain, on one line", name)
		}
	}
	if _, err := r.expandWith(r.Parameters, func(string) (string, bool) { return "x", true }); err != nil {
		return err
	}
	_, err := codes(r.Expect)
	return err
}

// checkURL returns what is wrong with a URL. One that begins with a variable is not known yet.
func checkURL(text string) error {
	if strings.HasPrefix(text, "$") {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not an HTTP URL; write it as https://shop.example/refresh", text)
	}
	return nil
}

// isToken reports whether a text can be a method, or the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// span is a range of codes.
type span struct{ first, last int }

// codes reads a list of codes and ranges.
func codes(text string) (spans []span, err error) {
	if text == "" {
		text = DefaultExpect
	}
	for item := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(item), "-")
		if !ranged {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 100 || to > 599 || from > to {
			return nil, fmt.Errorf("%q is not an HTTP status code; write codes and ranges from 100 to 599, such as 200-299,404", item)
		}
		spans = append(spans, span{from, to})
	}
	return spans, nil
}

// maxAnswer is how much of an answer is written.
const maxAnswer = 1 << 20

// Do makes the request, and writes the answer. A code that is not expected is an error.
func (r Request) Do(ctx context.Context, body []byte, to io.Writer) error {
	written := r.URL
	r, err := r.expand()
	if err != nil {
		return err
	}
	if r.URL != written && checkURL(r.URL) != nil { // what is put in may be a secret
		return fmt.Errorf("%q with the values of its variables is not an HTTP URL; write it as https://shop.example/refresh", written)
	}
	if err := r.Check(); err != nil {
		return err
	}
	expected, err := codes(r.Expect)
	if err != nil {
		return err
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
		if len(body) > 0 {
			method = http.MethodPost
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Close = true // it is the only one
	req.Header.Set("User-Agent", "executord")
	if trace := os.Getenv("TRACEPARENT"); traceparent.MatchString(trace) { // what the server does belongs to the run
		req.Header.Set("Traceparent", trace)
	}
	for _, h := range r.Headers {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); strings.EqualFold(name, "Host") {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	client := &http.Client{CheckRedirect: r.redirect}
	answer, err := client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	n, err := io.Copy(to, io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the answer ended early: %w", withoutURL(err))
	}
	if n == maxAnswer {
		fmt.Fprintf(to, "\n[the rest of the answer is not shown]\n")
	}
	for _, s := range expected {
		if s.first <= answer.StatusCode && answer.StatusCode <= s.last {
			return nil
		}
	}
	return fmt.Errorf("the server answered %s", answer.Status)
}

// plainHeaders are those of a request that another host may have.
var plainHeaders = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// redirect has a redirection followed, ten at most. Headers of the job, which may have secrets, are for the host that it
// names; so is the URL, which would be the referrer. So is the body: a redirection that asks for it again, 307 or 308, to
// another host is an error, as a request without it would be another one.
func (r Request) redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("the server redirects again and again: 10 times")
	}
	first := via[0].URL
	toTLS := first.Scheme == "http" && req.URL.Scheme == "https"
	if req.URL.Host == first.Host && req.URL.Scheme == first.Scheme || toTLS && req.URL.Hostname() == first.Hostname() {
		return nil
	}
	if req.ContentLength != 0 {
		return fmt.Errorf("the server redirects the request to %q, which does not get its body; write the URL that it leads to", req.URL.Host)
	}
	req.Header.Del("Referer")
	for _, h := range r.Headers {
		name, _, _ := strings.Cut(h, ":")
		if name = http.CanonicalHeaderKey(name); !slices.Contains(plainHeaders, name) {
			req.Header.Del(name)
		}
	}
	return nil
}

// traceparent is the form of the header and of the variable that have the context of a trace.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// withoutURL takes the URL out of an error: there may be a secret in it.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
