package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
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
		j.Args = curl(config.text("method"), config.text("url"), headers, config.text("body"))
		if code := config.text("expectCode"); code != "" {
			j.lose("expectCode = %s: curl --fail takes all codes below 400", code)
		}
		config.skip("debug")
	default:
		j.lose("the executor %s: executord runs commands; write one that does this", executor)
	}
	config.rest(&j, "executor_config.")
	if processors := o.object("processors"); len(processors.values) > 0 {
		j.lose("processors %s: the log has what a run writes", strings.Join(processors.keys(), ", "))
	}
	if o.text("concurrency") == "allow" && j.Schedule != "" {
		j.lose("concurrency = allow: runs of a job do not overlap")
	}
	o.skip("id", "displayname", "owner", "owner_email", "ephemeral", "expires_at", "success_count", "error_count", "last_success",
		"last_error", "status", "next", "dependent_jobs")
	o.rest(&j, "")
	return j
}

// curl returns the command of a request over HTTP. It fails for codes from 400 on.
func curl(method, url string, headers []string, body string) []string {
	args := []string{"curl", "--fail", "--silent", "--show-error"}
	if method = strings.ToUpper(method); method != "" && method != "GET" {
		args = append(args, "--request", method)
	}
	slices.Sort(headers)
	for _, h := range headers {
		args = append(args, "--header", h)
	}
	if body != "" {
		args = append(args, "--data-raw", body)
	}
	return append(args, fmt.Sprint(url))
}
