package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readCronicle reads an export of Cronicle, or what its API returns for get_schedule.
func readCronicle(data []byte) (jobs []Job, err error) {
	if strings.Contains(string(data), "global/schedule/") { // KEY - JSON, one a line
		for line := range strings.Lines(string(data)) {
			key, value, ok := strings.Cut(line, " - ")
			if !ok || !strings.HasPrefix(key, "global/schedule/") {
				continue
			}
			docs, err := readYAML([]byte(value))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			for _, doc := range docs {
				jobs = append(jobs, cronicleEvents(newObject(doc).list("items"))...)
			}
		}
		return jobs, nil
	}
	docs, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		switch list, ok := doc.([]any); {
		case ok:
			jobs = append(jobs, cronicleEvents(list)...)
		case newObject(doc).has("rows"):
			jobs = append(jobs, cronicleEvents(newObject(doc).list("rows"))...)
		default:
			jobs = append(jobs, cronicleEvents([]any{doc})...)
		}
	}
	return jobs, nil
}

func cronicleEvents(list []any) (jobs []Job) {
	for _, value := range list {
		jobs = append(jobs, cronicleEvent(newObject(value)))
	}
	return jobs
}

func cronicleEvent(o *object) Job {
	j := Job{Name: o.text("title"), Zone: o.text("timezone"), Off: !o.truth("enabled")}
	if j.Name == "" {
		j.Name = o.text("id")
	}
	j.Timeout = time.Duration(o.number("timeout")) * time.Second
	timing, hasTiming := o.get("timing").(map[string]any)
	if hasTiming {
		j.Schedule = cronicleTiming(&j, newObject(timing))
	} else {
		j.lose("it runs on demand only")
	}
	params := o.object("params")
	switch plugin := o.text("plugin"); plugin {
	case "shellplug":
		script := params.text("script")
		if shell, rest, ok := strings.Cut(script, "\n"); ok && strings.HasPrefix(shell, "#!") {
			words := strings.Fields(shell[2:])
			if len(words) == 1 && strings.HasSuffix(words[0], "sh") {
				j.Shell, script = words[0], rest
			} else {
				j.lose("the interpreter %s", shell)
			}
		}
		j.Script = strings.TrimSpace(script)
		params.skip("annotate", "json")
	case "urlplug":
		var headers []string
		for line := range strings.Lines(params.text("headers")) {
			if line = strings.TrimSpace(line); line != "" {
				headers = append(headers, line)
			}
		}
		j.setRequest(params.text("method"), params.text("url"), headers, params.text("data"))
		params.skip("ssl_cert_bypass")
	default:
		j.lose("the plugin %s: executord runs commands; write one that does this", plugin)
	}
	params.rest(&j, "params.")
	several := int(o.number("max_children"))
	switch catchUp := o.truth("catch_up"); {
	case several > 1:
		j.set("overlap", fmt.Sprintf("allow %d", min(several, 100)))
		if catchUp {
			j.lose("catch_up: with --store, one run makes up for all times without a daemon")
		}
	case catchUp: // it takes a --store
		j.set("misfire", "all")
		j.set("overlap", "queue")
	}
	if n := int(o.number("retries")); n > 0 {
		j.set("retries", n)
		j.set("retry_wait", duration(time.Duration(o.number("retry_delay"))*time.Second))
		j.set("retry_factor", 1)
	}
	each, target := o.truth("multiplex"), o.text("target")
	switch {
	case target == "" || target == "allgrp": // all servers
		if each {
			j.set("on", "all")
		}
	default:
		todo := fmt.Sprintf("the machines of %s, if it is a group: start executord there with --label %s", target, target)
		if each {
			target = "all " + target
		}
		j.setOn(target, todo)
	}
	o.skip("id", "category", "algo", "stagger", "created", "modified", "username", "notes", "max_children",
		"session_id", "salt", "api_key", "web_hook_start_error", "detached", "queue", "queue_max")
	o.rest(&j, "")
	return j
}

// cronicleTiming returns the schedule. Parts that are missing match all values; of the days, both have to match.
func cronicleTiming(j *Job, timing *object) string {
	part := func(key string) string {
		var numbers []int
		for _, text := range timing.texts(key) {
			if n, err := strconv.Atoi(text); err == nil {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) == 0 {
			return "*"
		}
		slices.Sort(numbers)
		return ranges(numbers)
	}
	minutes, hours, days, months, week, years := part("minutes"), part("hours"), part("days"), part("months"), part("weekdays"), part("years")
	if days != "*" && week != "*" {
		week = "+" + week
	}
	fields := []string{minutes, hours, days, months, week}
	switch {
	case years != "*":
		return "@extended 0 " + strings.Join(fields, " ") + " " + years
	case week[0] == '+':
		return "@extended " + strings.Join(fields, " ")
	}
	timing.rest(j, "timing.")
	return strings.Join(fields, " ")
}

// ranges writes sorted numbers as a list, with ranges where three or more follow each other.
func ranges(numbers []int) string {
	var items []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			items = append(items, strconv.Itoa(numbers[i]))
		} else {
			items = append(items, fmt.Sprintf("%d-%d", numbers[i], numbers[end]))
		}
		i = end + 1
	}
	return strings.Join(items, ",")
}
