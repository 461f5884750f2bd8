package request_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/request"
)

// echo answers with the code of its path, and what it was sent.
func echo(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		code := 200
		fmt.Sscanf(r.URL.Path, "/%d", &code)
		w.WriteHeader(code)
		fmt.Fprintf(w, "%s %s %s [%s] %s", r.Method, r.URL.RawQuery, r.Host, r.Header.Get("X-Token"), body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// What a request says reaches the server, and the answer what it is written to.
func TestDoMakesRequest(t *testing.T) {
	url := echo(t)
	t.Setenv("TOKEN", "geheim")
	host := strings.TrimPrefix(url, "http://")
	for _, test := range []struct {
		r          request.Request
		body, want string
	}{
		{request.Request{URL: url}, "", "GET  " + host + " [] "},
		{request.Request{URL: url}, "x", "POST  " + host + " [] x"},
		{request.Request{URL: url + "/?a=${TOKEN}", Method: "PUT", Headers: []string{"X-Token: Bearer $TOKEN", "Host:shop.example"}}, "y", "PUT a=geheim shop.example [Bearer geheim] y"},
		{request.Request{URL: url + "/404", Expect: "200-299, 404"}, "", "GET  " + host + " [] "},
	} {
		var got strings.Builder
		if err := test.r.Do(context.Background(), []byte(test.body), &got); err != nil || got.String() != test.want {
			t.Errorf("%+v: %q, %v; want %q", test.r, got.String(), err, test.want)
		}
	}
}

// A request belongs to the trace of its run, unless TRACEPARENT is no such thing or the job has a header of its own.
func TestDoTellsTrace(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("traceparent"))
	}))
	defer server.Close()
	for _, test := range []struct {
		variable string
		headers  []string
		want     string
	}{
		{parent, nil, parent},
		{parent, []string{"Traceparent: own"}, "own"},
		{"", nil, ""},
		{parent + "\n", nil, ""},
	} {
		t.Setenv("TRACEPARENT", test.variable)
		var got strings.Builder
		r := request.Request{URL: server.URL, Headers: test.headers}
		if err := r.Do(context.Background(), nil, &got); err != nil || got.String() != test.want {
			t.Errorf("%+v: %q, %v", test, got.String(), err)
		}
	}
}

// A code that is not expected, a variable that is not set, and a server that is not there are errors without secrets.
func TestDoFails(t *testing.T) {
	url := echo(t)
	t.Setenv("TOKEN", "geheim\n")
	for _, test := range []struct {
		r    request.Request
		want string
	}{
		{request.Request{URL: url + "/503"}, "the server answered 503 Service Unavailable"},
		{request.Request{URL: url, Expect: "204"}, "the server answered 200 OK"},
		{request.Request{URL: url + "/$NO_SUCH_NAME"}, "the variable NO_SUCH_NAME is not set"},
		{request.Request{URL: url, Headers: []string{"X-Token: $TOKEN"}}, `"X-Token" is not a header`},
		{request.Request{URL: "http://127.0.0.1:1/geheim"}, "dial tcp 127.0.0.1:1: "},
	} {
		err := test.r.Do(context.Background(), nil, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%+v: %v, want %s", test.r, err, test.want)
		}
	}
}

// What can be seen to be wrong before the request is made is an error.
func TestCheckRefuses(t *testing.T) {
	good := request.Request{URL: "https://shop.example/x?y=$Z", Method: "PURGE", Headers: []string{"A:b", "X-Y: $Z"}, Expect: "200,204,300-399"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	if err := (request.Request{URL: "$HOOK"}).Check(); err != nil {
		t.Error(err)
	}
	for _, r := range []request.Request{
		{}, {URL: "shop.example"}, {URL: "ftp://shop.example"}, {URL: "http:///x"}, {URL: "http://a b"},
		{URL: "http://a", Method: "GET POST"}, {URL: "http://a", Headers: []string{"A"}}, {URL: "http://a", Headers: []string{"A b: c"}},
		{URL: "http://a", Headers: []string{"A: b\r\nC: d"}}, {URL: "http://a", Expect: "2xx"}, {URL: "http://a", Expect: "300-200"},
		{URL: "http://a", Expect: "99"}, {URL: "http://a", Expect: "200,"},
	} {
		if err := r.Check(); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}

// A redirection to another host is followed without the headers of the job and its URL, which may have secrets; one to
// the same host has the headers.
func TestDoKeepsSecretsFromOtherHosts(t *testing.T) {
	show := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "[%s] [%s] [%s]", r.Header.Get("X-Token"), r.Header.Get("Accept"), r.Header.Get("Referer"))
	}
	other := httptest.NewServer(http.HandlerFunc(show))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/here", show)
	mux.Handle("/own", http.RedirectHandler("/here", http.StatusFound))
	mux.Handle("/other", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/both", http.RedirectHandler("/other", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	named := httptest.NewServer(mux)
	defer named.Close()
	do := func(path string) (string, error) {
		var got strings.Builder
		r := request.Request{URL: named.URL + path, Headers: []string{"x-token: geheim", "Accept: text/plain"}}
		err := r.Do(t.Context(), nil, &got)
		return got.String(), err
	}
	for path, want := range map[string]string{
		"/own":   "[geheim] [text/plain] [" + named.URL + "/own]",
		"/other": "[] [text/plain] []",
		"/both":  "[] [text/plain] []",
	} {
		if got, err := do(path); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	if _, err := do("/loop"); err == nil || err.Error() != "the server redirects again and again: 10 times" {
		t.Errorf("error %v", err)
	}
}

// The body of a request is for the host that the job names: to another one, a redirection with it is not followed, and
// one without it is. On the same host the body goes with it.
func TestDoKeepsBodyFromOtherHosts(t *testing.T) {
	asked := 0
	show := func(w http.ResponseWriter, r *http.Request) {
		asked++
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s [%s]", r.Method, body)
	}
	other := httptest.NewServer(http.HandlerFunc(show))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/here", show)
	mux.Handle("/own", http.RedirectHandler("/here", http.StatusTemporaryRedirect))
	mux.Handle("/307", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	mux.Handle("/308", http.RedirectHandler(other.URL, http.StatusPermanentRedirect))
	mux.Handle("/both", http.RedirectHandler("/308", http.StatusTemporaryRedirect))
	mux.Handle("/303", http.RedirectHandler(other.URL, http.StatusSeeOther))
	named := httptest.NewServer(mux)
	defer named.Close()
	refused := fmt.Sprintf("the server redirects the request to %q, which does not get its body; write the URL that it leads to", other.Listener.Addr())
	for _, test := range []struct{ path, body, want, err string }{
		{"/own", "geheim", "POST [geheim]", ""},
		{"/303", "geheim", "GET []", ""},
		{"/307", "", "GET []", ""},
		{"/307", "geheim", "", refused},
		{"/308", "geheim", "", refused},
		{"/both", "geheim", "", refused},
	} {
		var got strings.Builder
		before := asked
		err := request.Request{URL: named.URL + test.path}.Do(t.Context(), []byte(test.body), &got)
		if got.String() != test.want || (err == nil) != (test.err == "") || err != nil && (err.Error() != test.err || asked != before) {
			t.Errorf("%s with %q: %q, %v; want %q, %s", test.path, test.body, got.String(), err, test.want, test.err)
		}
	}
}

// A URL that is none with the values of its variables is a mistake, which does not show these.
func TestDoShowsNoValueOfVariable(t *testing.T) {
	t.Setenv("WHERE", "ftp://me:geheim@host")
	err := request.Request{URL: "$WHERE/x"}.Do(t.Context(), nil, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"$WHERE/x"`) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("error %v", err)
	}
}
