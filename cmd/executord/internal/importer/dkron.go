package importer

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/request"
)

// readDkron reads what GET /v1/jobs of dkron returns, or one job of it.
func readDkron(data []byte) (jobs []Job, err error) {
	docs, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		list, ok := doc.([]any)
		if !ok {
			list = []any{doc}
		}
		for _, value := range list {
			jobs = append(jobs, dkronJob(newObject(value)))
		}
	}
	return jobs, nil
}

func dkronJob(o *object) Job {
	j := Job{Name: o.text("name"), Schedule: robfig(o.text("schedule")), Zone: o.text("timezone"), Off: o.truth("disabled")}
	switch {
	case j.Schedule == "@minutely":
		j.Schedule = "* * * * *"
	case j.Schedule == "@manually":
		j.Schedule = ""
		j.lose("the schedule @manually")
	case strings.HasPrefix(j.Schedule, "@at "):
		j.lose("the schedule %s", j.Schedule)
		j.Schedule = ""
	}
	config := o.object("executor_config")
	switch executor := o.text("executor"); executor {
	case "shell", "":
		command, shell := config.text("command"), config.truth("shell")
		if args, ok := words(command); ok && !shell {
			j.Args = args
		} else {
			j.Script = command
		}
		j.Dir, j.User = config.text("cwd"), config.text("su")
		if env := config.text("env"); env != "" {
			for pair := range strings.SplitSeq(env, ",") {
				name, value, _ := strings.Cut(pair, "=")
				j.setEnv(strings.TrimSpace(name), value)
			}
		}
		if text := config.text("timeout"); text != "" {
			if j.Timeout, _ = time.ParseDuration(text); j.Timeout <= 0 {
				j.lose("timeout = %s", text)
			}
		}
	case "http":
		var headers []string
		if text := config.text("headers"); text != "" && json.Unmarshal([]byte(text), &headers) != nil {
			j.lose("headers = %s", text)
		}
		j.setRequest(config.text("method"), config.text("url"), headers, config.text("body"))
		j.Request.Expect = strings.ReplaceAll(config.text("expectCode"), " ", "")
		config.skip("debug")
	default:
		j.lose("the executor %s: executord runs commands; write one that does this", executor)
	}
	config.rest(&j, "executor_config.")
	if n := int(o.number("retries")); n > 0 {
		j.set("retries", n)
	}
	if processors := o.object("processors"); len(processors.values) > 0 {
		j.lose("processors %s: the log has what a run writes", strings.Join(processors.keys(), ", "))
	}
	if o.text("concurrency") == "allow" && j.Schedule != "" {
		j.set("overlap", "allow 100")
	}
	o.skip("id", "displayname", "owner", "owner_email", "ephemeral", "expires_at", "success_count", "error_count", "last_success",
		"last_error", "status", "next", "dependent_jobs")
	o.rest(&j, "")
	return j
}

// setRequest makes it a job with a request over HTTP.
func (j *Job) setRequest(method, url string, headers []string, body string) {
	r := &request.Request{URL: url}
	if method = strings.ToUpper(method); method != "" && (method != "GET" || body != "") {
		r.Method = method
	}
	seen := make(map[string]bool)
	for _, h := range headers {
		name, _, _ := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); seen[name] {
			j.lose("the header %s, which comes twice", name)
			continue
		}
		seen[name] = true
		r.Headers = append(r.Headers, h)
	}
	if strings.Contains(url+strings.Join(headers, ""), "$") {
		j.lose("a $ in the URL or in a header: what follows is the name of a variable here")
	}
	j.Request, j.Body = r, body
}
