package importer

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
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
	dkronTags(&j, o.object("tags"))
	if o.text("concurrency") == "allow" && j.Schedule != "" {
		j.set("overlap", "allow 100")
	}
	o.skip("id", "displayname", "owner", "owner_email", "ephemeral", "expires_at", "success_count", "error_count", "last_success",
		"last_error", "status", "next", "dependent_jobs")
	o.rest(&j, "")
	return j
}

// dkronTags sets the machines of a job: those that have all of the tags, of which as many run it as the least number
// behind a tag says, or each without one.
func dkronTags(j *Job, tags *object) {
	if len(tags.values) == 0 {
		return
	}
	var labels []string
	most := 0
	for _, key := range tags.keys() {
		value, count, counted := strings.Cut(tags.text(key), ":")
		if n, err := strconv.Atoi(count); counted && err == nil && (most == 0 || n < most) {
			most = n
		}
		labels = append(labels, key+"="+value)
	}
	on := strings.Join(labels, "+")
	if most == 0 {
		on = "all " + on
	}
	if most > 1 {
		j.lose("that %d machines run it: one does, or each with all before the labels", most)
	}
	j.setOn(on, "the labels of machines: start executord there with --label "+strings.Join(labels, " --label "))
}

// setOn sets the machines of a job. The text says what has to be done on these.
func (j *Job) setOn(on, todo string) {
	if _, err := job.ParseWhere([]string{on}); err != nil {
		j.lose("its machines, %s: %v", on, err)
		return
	}
	j.set("on", on)
	j.lose("%s", todo)
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
