package importer

import (
	"fmt"
	"strings"
)

// ofeliaKinds are the kinds of its jobs.
const ofeliaKinds = "job-exec job-run job-local job-service-run job-compose"

// readOfelia reads the labels of a compose file, or a file of ofelia's own.
func readOfelia(name string, data []byte) ([]Job, error) {
	if strings.HasSuffix(strings.ToLower(name), ".ini") || strings.HasSuffix(strings.ToLower(name), ".conf") {
		var jobs []Job
		for _, s := range readINI(data) {
			kind, title, _ := strings.Cut(s.name, " ")
			if !isOfelia(kind) {
				continue
			}
			o := newObject(nil)
			for _, k := range s.keys {
				addText(o, k.Name, k.Value)
			}
			jobs = append(jobs, ofeliaJob(kind, strings.Trim(title, `" `), "", o))
		}
		return jobs, nil
	}
	docs, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for _, doc := range docs {
		services := newObject(doc).object("services")
		for _, service := range services.keys() {
			o := services.object(service)
			jobs = append(jobs, ofeliaLabels(service, o)...)
		}
	}
	return jobs, nil
}

func isOfelia(kind string) bool {
	for known := range strings.FieldsSeq(ofeliaKinds) {
		if kind == known {
			return true
		}
	}
	return false
}

// addText adds a value to a table; of a name that comes again it makes a list.
func addText(o *object, key, value string) {
	switch before := o.values[key].(type) {
	case nil:
		o.values[key] = value
	case []any:
		o.values[key] = append(before, value)
	default:
		o.values[key] = []any{before, value}
	}
}

// ofeliaLabels returns the jobs in the labels of a service.
func ofeliaLabels(service string, o *object) (jobs []Job) {
	labels := o.object("labels")
	if list := o.list("labels"); len(labels.values) == 0 {
		labels = newObject(nil)
		for _, label := range list {
			key, value, _ := strings.Cut(fmt.Sprint(label), "=")
			labels.values[key] = value
		}
	}
	type id struct{ kind, title string }
	var order []id
	found := make(map[id]*object)
	for _, key := range labels.keys() {
		parts := strings.SplitN(strings.TrimPrefix(key, "ofelia."), ".", 3)
		if !strings.HasPrefix(key, "ofelia.") || len(parts) < 3 || !isOfelia(parts[0]) {
			continue // ofelia.enabled, labels of others
		}
		at := id{parts[0], parts[1]}
		if found[at] == nil {
			found[at] = newObject(nil)
			order = append(order, at)
		}
		found[at].values[parts[2]] = labels.text(key)
	}
	container := o.text("container_name")
	for _, at := range order {
		j := ofeliaJob(at.kind, at.title, service, found[at])
		if container != "" && len(j.Args) > 0 {
			for i, arg := range j.Args {
				if arg == service {
					j.Args[i] = container
					break
				}
			}
		} else if at.kind == "job-exec" && !found[at].has("container") {
			j.lose("the name of the container: %s is that of the service, and docker has another one unless container_name is set", service)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// ofeliaJob makes a job. The container is that of the labels, or "".
func ofeliaJob(kind, title, container string, o *object) Job {
	j := Job{Name: title, Schedule: robfig(o.text("schedule"))}
	command := o.text("command")
	args, ok := words(command)
	if !ok {
		j.lose("the command, whose quotes do not end: %s", command)
	}
	switch kind {
	case "job-local":
		j.Args, j.Dir = args, o.text("dir")
		for _, v := range o.texts("environment") {
			name, value, _ := strings.Cut(v, "=")
			j.setEnv(name, value)
		}
	case "job-exec":
		if named := o.text("container"); named != "" {
			container = named
		}
		j.Args = []string{"docker", "exec"}
		j.option(o, "user", "--user")
		for _, v := range o.texts("environment") {
			j.Args = append(j.Args, "--env", v)
		}
		j.option(o, "working-dir", "--workdir")
		j.Args = append(append(j.Args, container), args...)
	case "job-run":
		if named := o.text("container"); named != "" {
			j.Args = []string{"docker", "start", "--attach", named}
			break
		}
		j.Args = []string{"docker", "run", "--rm"}
		j.option(o, "user", "--user")
		j.option(o, "network", "--network")
		j.option(o, "hostname", "--hostname")
		for _, v := range o.texts("environment") {
			j.Args = append(j.Args, "--env", v)
		}
		for _, v := range o.texts("volume") {
			j.Args = append(j.Args, "--volume", v)
		}
		j.Args = append(append(j.Args, o.text("image")), args...)
		o.skip("delete", "pull")
	default:
		j.lose("%s: executord runs commands; write one that does this", kind)
	}
	o.skip("no-overlap", "tty") // executord never overlaps, and its runs have no terminal
	o.rest(&j, "")
	return j
}

// option adds an option of docker, if it is set.
func (j *Job) option(o *object, key, option string) {
	if value := o.text(key); value != "" {
		j.Args = append(j.Args, option, value)
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
