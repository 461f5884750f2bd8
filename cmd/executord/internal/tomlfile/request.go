package tomlfile

import (
	"fmt"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/request"
)

// requestKeys are those of a job that makes an HTTP request, in place of a command.
var requestKeys = []string{"url", "method", "headers", "body", "expect"}

// request reads the request of a job, if it has a url: the arguments that make it, and its body.
func (d *decoder) request(t *node, parameters job.Parameters) (args []string, body string, ok bool) {
	url := t.table["url"]
	if url == nil {
		for _, key := range requestKeys {
			if value := t.table[key]; value != nil {
				d.report.Mistake(value.line, `add one, such as: url = "https://shop.example/refresh"`, "%s is for a job with a url", key)
			}
		}
		return nil, "", false
	}
	for _, key := range []string{"command", "stdin"} {
		if value := t.table[key]; value != nil {
			d.report.Mistake(value.line, "remove one of the two; the body of a request is body", "a job with a url cannot have %s", key)
		}
	}
	get := func(key string) (s string) {
		if value := t.table[key]; value != nil {
			s, _ = d.text(key, value, "")
		}
		return s
	}
	r := request.Request{URL: get("url"), Method: get("method"), Expect: get("expect")}
	if value := t.table["headers"]; value != nil {
		r.Headers = d.headers(value)
	}
	for _, p := range parameters {
		r.Parameters = append(r.Parameters, p.Name)
	}
	for _, p := range parameters {
		if used := r.Uses([]string{p.Name}); len(used) > 0 && p.Values == nil && p.Pattern == "" {
			d.report.Note(t.table["parameters"].line, fmt.Sprintf(`say which values it may have: parameters.%s = { default = %q, pattern = "[a-z0-9-]+" }, or values`, p.Name, p.Default),
				"parameter %s of a request may have any value", p.Name)
		}
	}
	if url.kind == text {
		d.notePassword("url", url, r.URL, false)
		if err := r.Check(); err != nil {
			d.report.Mistake(url.line, "see the manual for url, method, headers and expect", "%v", err)
		}
	}
	return append([]string{job.Self}, r.Args()...), get("body"), true
}

// headers reads a table of headers.
func (d *decoder) headers(value *node) (headers []string) {
	if value.kind != table && value.kind != broken {
		d.report.Mistake(value.line, `write a table: headers = { Accept = "text/plain" }`, "headers is %s", value.kind)
	}
	for _, name := range value.keys {
		v := value.table[name]
		if text, ok := d.text("header "+name, v, ""); ok {
			headers = append(headers, name+": "+text)
			d.notePassword("headers", v, text, secretHeader.MatchString(name))
		}
	}
	return headers
}
