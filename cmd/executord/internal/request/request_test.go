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
