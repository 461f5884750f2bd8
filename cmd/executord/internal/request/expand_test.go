package request_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/request"
)

// The value of a parameter is one part of the path, one value of the query, or a part of a header's value, whatever is
// in it.
func TestDoEscapesParameters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RequestURI+" "+r.Header.Get("X-Region"))
	}))
	defer server.Close()
	for _, test := range []struct{ url, header, value, want string }{
		{"/regions/$REGION/refresh", "", "eu", "/regions/eu/refresh "},
		{"/regions/$REGION/refresh", "", "a/b?all=1#x&y", "/regions/a%2Fb%3Fall=1%23x&y/refresh "},
		{"/regions/$REGION/refresh", "", "%2e%2e", "/regions/%252e%252e/refresh "},
		{"/refresh?region=${REGION}&all=0", "", "eu&all=1#", "/refresh?region=eu%26all%3D1%23&all=0 "},
		{"/refresh?$REGION", "", "a=b c", "/refresh?a%3Db+c "},
		{"/$DIR/$REGION", "X-Region: in $REGION", "e u", "/a/b/e%20u in e u"},
	} {
		t.Setenv("DIR", "a/b") // the file has it, and may mean several parts
		t.Setenv("REGION", test.value)
		r := request.Request{URL: server.URL + test.url, Parameters: []string{"REGION"}}
		if test.header != "" {
			r.Headers = []string{test.header}
		}
		var got strings.Builder
		if err := r.Do(context.Background(), nil, &got); err != nil || got.String() != test.want {
			t.Errorf("%s with %q: %q, %v; want %q", test.url, test.value, got.String(), err, test.want)
		}
	}
}

// A value that leads to another path, or a parameter that would choose the server or a header, makes no request.
func TestDoRefusesParameters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it was asked for %s", r.RequestURI)
	}))
	defer server.Close()
	for _, test := range []struct{ url, header, value, want string }{
		{server.URL + "/regions/$REGION/refresh", "", "../../admin/delete?all=1#", "leads to another path"},
		{server.URL + "/regions/$REGION", "", `..\..\admin`, "leads to another path"},
		{server.URL + "/regions/.$REGION/x", "", ".", "leads to another path"},
		{server.URL + "$REGION/x", "", ".evil@127.0.0.1:1", "choose the server"},
		{server.URL + "$REGION", "", "/x", "choose the server"},
		{"$REGION/x", "", server.URL, "choose the server"},
		{"$SCHEME$REGION/x", "", "127.0.0.1", "choose the server"},
		{server.URL + "/", "X-$REGION: a", "b", "name of a header"},
		{server.URL + "/", "Host: $REGION.shop.example", "evil", "choose the server"},
		{server.URL + "/", "X-Region: $REGION", "a\r\nX-Admin: 1", "not a header"},
	} {
		t.Setenv("SCHEME", "http://")
		t.Setenv("REGION", test.value)
		r := request.Request{URL: test.url, Parameters: []string{"REGION"}}
		if test.header != "" {
			r.Headers = []string{test.header}
		}
		if err := r.Do(context.Background(), nil, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s with %q: %v, want %q", test.url, test.header, test.value, err, test.want)
		}
	}
}

// Whatever the value of a parameter is: the request goes to the server that is written, below the path that is written,
// or is refused.
func FuzzParameter(f *testing.F) {
	for _, value := range []string{"eu", "../x", "%2e%2e/", "a?b#c", "@evil/", "\\..", ";x", "//evil"} {
		f.Add(value)
	}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.RequestURI }))
	f.Cleanup(server.Close)
	f.Fuzz(func(t *testing.T, value string) {
		if strings.ContainsRune(value, 0) {
			return // no variable can have it
		}
		t.Setenv("REGION", value)
		asked = ""
		r := request.Request{URL: server.URL + "/regions/$REGION/refresh?of=$REGION", Parameters: []string{"REGION"}}
		if err := r.Do(context.Background(), nil, io.Discard); err != nil {
			return
		}
		u, err := url.ParseRequestURI(asked)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(u.EscapedPath(), "/")
		if len(parts) != 4 || parts[1] != "regions" || parts[3] != "refresh" || u.Query().Get("of") != value {
			t.Errorf("%q: %q was asked for", value, asked)
		}
	})
}
