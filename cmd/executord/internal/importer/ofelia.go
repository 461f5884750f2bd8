package importer

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// ofeliaKinds are the kinds of its jobs.
var ofeliaKinds = []string{"job-exec", "job-run", "job-local", "job-service-run", "job-compose"}

func isOfelia(kind string) bool { return slices.Contains(ofeliaKinds, kind) }

// readOfelia reads a file of ofelia's own.
func readOfelia(sections []section) (found Found) {
	for _, s := range sections {
		o := newObject(nil)
		for _, k := range s.keys {
			o.add(k.Name, k.Value)
		}
		if !isOfelia(s.kind()) {
			for _, key := range o.keys() {
				found.lose("[%s] %s = %s", s.name, key, brief(o.get(key)))
			}
			continue
		}
		_, title, _ := strings.Cut(s.name, " ")
		found.Jobs = append(found.Jobs, ofeliaJob(s.kind(), strings.Trim(title, `" `), "", o))
	}
	found.lose("the zone of the times, which ofelia has from TZ: set timezone if it is not that of executord")
	return found
}

// add adds a value to a table; of a name that comes again it makes a list.
func (o *object) add(key, value string) {
	switch before := o.values[key].(type) {
	case nil:
		o.values[key] = value
	case []any:
		o.values[key] = append(before, value)
	default:
		o.values[key] = []any{before, value}
	}
}

// readCompose reads the labels of the services of a compose file.
func readCompose(services *object) (found Found) {
	zone := composeZone(&found, services)
	for _, name := range services.keys() {
		composeService(&found, name, services.object(name))
	}
	for i := range found.Jobs {
		if j := &found.Jobs[i]; zone != "" && !strings.HasPrefix(j.Schedule, "@every") && !strings.Contains(j.Schedule, "TZ=") {
			j.Zone = zone
		}
	}
	return found
}

// isScheduler reports whether the container of a service is the one that ofelia runs in: its image says so by a label,
// and one of an image of somebody's own by a label of its own.
func isScheduler(service *object) bool {
	return strings.Contains(service.text("image"), "ofelia") || pairs(service, "labels").truth("ofelia.service")
}

// composeZone returns the zone of all jobs, which is that of the container that ofelia runs in; "" stands for the one of
// executord.
func composeZone(found *Found, services *object) string {
	for _, name := range services.keys() {
		service := services.object(name)
		if !isScheduler(service) {
			continue
		}
		env := pairs(service, "environment")
		switch value, _ := composed(env.text("TZ")); {
		case zoneName(value) != "":
			return value
		case env.has("TZ"):
			found.lose("the zone of the times, TZ=%s of %s: set timezone", value, name)
			return ""
		case strings.Contains(brief(service.get("volumes")), "/etc/localtime"):
			return "" // that of the machine
		case service.has("env_file"):
			found.lose("the zone of the times, if env_file of %s sets TZ: set timezone", name)
		}
		return "UTC" // as the image of ofelia has it
	}
	found.lose("the zone of the times, which ofelia has from TZ: set timezone if it is not that of executord")
	return ""
}

// pairs returns what a service has as a table, or as a list of NAME=value.
func pairs(service *object, key string) *object {
	table := service.object(key)
	for _, item := range service.list(key) {
		if text, ok := item.(string); ok {
			name, value, _ := strings.Cut(text, "=")
			table.values[name] = value
		}
	}
	return table
}

// composed returns a value as Compose has it, where $$ is a $, and what it takes from variables of its own.
func composed(text string) (value string, taken []string) {
	value = composeVariable.ReplaceAllStringFunc(text, func(part string) string {
		if part == "$$" {
			return "$"
		}
		taken = append(taken, part)
		return part
	})
	return value, taken
}

var composeVariable = regexp.MustCompile(`\$\$|\$\{[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*`)

// composeService finds the jobs in the labels of a service.
func composeService(found *Found, name string, service *object) {
	type id struct{ kind, title string }
	var order []id
	params := make(map[id]*object)
	taken := make(map[id][]string)
	labels := pairs(service, "labels")
	own := isScheduler(service)
	for _, key := range labels.keys() {
		rest, ours := strings.CutPrefix(key, "ofelia.")
		parts := strings.SplitN(rest, ".", 3)
		value, variables := composed(labels.text(key))
		switch {
		case !ours, rest == "enabled", rest == "service":
			continue
		case len(parts) < 3 || !isOfelia(parts[0]):
			found.lose("the label %s of %s = %s", key, name, brief(value))
			continue
		}
		at := id{parts[0], parts[1]}
		if params[at] == nil {
			params[at] = newObject(nil)
			order = append(order, at)
		}
		taken[at] = append(taken[at], variables...)
		var several []any
		if param := parts[2]; slices.Contains([]string{"environment", "volume"}, param) && json.Unmarshal([]byte(value), &several) == nil {
			params[at].values[param] = several
		} else {
			params[at].values[param] = value
		}
	}
	container, variables := composed(service.text("container_name"))
	for _, at := range order {
		o := params[at]
		in := container
		if own || in == "" {
			in = name
		} else {
			taken[at] = append(taken[at], variables...)
		}
		if !own && at.kind == "job-exec" {
			delete(o.values, "container") // ofelia does not look at it
		}
		j := ofeliaJob(at.kind, at.title, in, o)
		switch {
		case at.kind == "job-exec" && !own && container == "":
			j.lose("the name of the container: %s is that of the service, and docker has another one unless container_name is set", name)
		case at.kind == "job-local":
			j.lose("the container of ofelia, in which the command ran: its programs have to be on this machine")
		}
		for _, variable := range taken[at] {
			j.lose("the value of %s, which Compose takes from its own environment", variable)
		}
		switch {
		case !own && at.kind != "job-exec":
			j.Off = "ofelia has a " + at.kind + " from the labels of its own container alone"
		case !own && !labels.truth("ofelia.enabled"):
			j.Off = "its container has no label ofelia.enabled=true"
		}
		found.Jobs = append(found.Jobs, j)
	}
}

// ofeliaJob makes a job. The container is that of the labels, or "".
func ofeliaJob(kind, title, container string, o *object) Job {
	j := Job{Name: title, Schedule: robfig(o.text("schedule"))}
	command := o.text("command")
	args, ok := words(command)
	if !ok {
		j.lose("the command, whose quotes do not end: %s", command)
	}
	env := append(o.texts("environment"), o.texts("env")...)
	switch kind {
	case "job-local":
		j.Args, j.Dir = args, o.text("dir")
		for _, v := range env {
			name, value, _ := strings.Cut(v, "=")
			j.setEnv(name, value)
		}
	case "job-exec":
		if named := o.text("container"); named != "" {
			container = named
		}
		if container == "" {
			j.lose("the container: the job names none")
		}
		j.Args = []string{"docker", "exec", "--user", cmp.Or(o.text("user"), "root")}
		j.options("--env", env)
		j.options("--workdir", o.texts("working-dir"))
		j.Args = append(append(j.Args, container), args...)
	case "job-run":
		image := o.text("image")
		if named := o.text("container"); named != "" {
			j.Args = []string{"docker", "start", "--attach", named}
			break
		}
		if j.Args = []string{"docker", "run"}; o.text("delete") != "false" {
			j.Args = append(j.Args, "--rm")
		}
		if o.text("pull") != "false" {
			j.lose("pull: docker run pulls an image that is missing, and with --pull always before each run")
		}
		j.Args = append(j.Args, "--user", cmp.Or(o.text("user"), "root"))
		j.options("--network", o.texts("network"))
		j.options("--hostname", o.texts("hostname"))
		j.options("--env", env)
		j.options("--volume", o.texts("volume"))
		j.Args = append(append(j.Args, image), args...)
	default:
		j.lose("%s: executord runs commands; write one that does this", kind)
	}
	if o.text("no-overlap") != "true" {
		j.set("overlap", "allow 100")
	}
	o.rest(&j, "")
	return j
}

// options adds an option of docker, with each of some values.
func (j *Job) options(option string, values []string) {
	for _, value := range values {
		if value != "" {
			j.Args = append(j.Args, option, value)
		}
	}
}

// robfig returns a schedule of the library that many schedulers in Go use: with six fields the first has seconds. A ? is
// a star, and a star with a step is none where it is asked whether a day has to match both fields of days, or one.
func robfig(text string) string {
	fields := strings.Fields(text)
	if len(fields) > 0 && strings.Contains(fields[0], "TZ=") {
		return fields[0] + " " + robfig(strings.Join(fields[1:], " "))
	}
	if len(fields) != 5 && len(fields) != 6 {
		return text
	}
	days, week := &fields[len(fields)-3], &fields[len(fields)-1]
	for i, field := range fields {
		fields[i] = strings.ReplaceAll(field, "?", "*")
	}
	if isLimited(*days) && isLimited(*week) {
		for field, all := range map[*string]string{days: "1-31", week: "0-6"} {
			if rest, ok := strings.CutPrefix(*field, "*"); ok {
				*field = all + rest
			}
		}
	}
	switch {
	case len(fields) == 5:
		return strings.Join(fields, " ")
	case fields[0] == "0":
		return strings.Join(fields[1:], " ")
	}
	return "@extended " + strings.Join(fields, " ")
}

// isLimited reports whether a field of robfig is not each day.
func isLimited(field string) bool { return field != "*" && field != "*/1" }
