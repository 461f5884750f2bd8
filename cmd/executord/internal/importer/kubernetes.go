package importer

import (
	"fmt"
	"strings"
	"time"
)

// readKubernetes reads the CronJobs in a file of YAML or JSON.
func readKubernetes(data []byte) (jobs []Job, err error) {
	docs, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		o := newObject(doc)
		list := []any{doc}
		if o.has("items") {
			list = o.list("items")
		}
		for _, item := range list {
			if o := newObject(item); o.text("kind") == "CronJob" {
				jobs = append(jobs, cronJob(o))
			}
		}
	}
	return jobs, nil
}

func cronJob(o *object) Job {
	meta, spec := o.object("metadata"), o.object("spec")
	j := Job{Name: meta.text("name"), Schedule: robfig(spec.text("schedule")), Zone: spec.text("timeZone"), Off: spec.truth("suspend")}
	if j.Zone == "" {
		j.Zone = "UTC" // that of nearly each control plane
	}
	switch policy := spec.text("concurrencyPolicy"); policy {
	case "Forbid":
	case "Replace":
		j.set("overlap", "replace")
	case "", "Allow":
		j.set("overlap", "allow 100")
	default:
		j.lose("concurrencyPolicy: %s", policy)
	}
	if n := spec.number("startingDeadlineSeconds"); n > 0 {
		j.set("misfire", duration(time.Duration(n)*time.Second))
	}
	spec.skip("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	job := spec.object("jobTemplate").object("spec")
	j.Timeout = time.Duration(job.number("activeDeadlineSeconds")) * time.Second
	n := 6 // unless it says otherwise
	if job.has("backoffLimit") {
		n = int(job.number("backoffLimit"))
	}
	if n > 0 {
		j.set("retries", n)
		j.set("retry_max_wait", "6m") // it begins with 10s, too
	}
	job.skip("ttlSecondsAfterFinished")
	pod := job.object("template").object("spec")
	pod.skip("restartPolicy")
	containers := pod.list("containers")
	for i, value := range containers {
		c := newObject(value)
		if i > 0 {
			j.lose("the container %s", c.text("name"))
			continue
		}
		container(&j, c)
	}
	pod.rest(&j, "")
	job.rest(&j, "jobTemplate.")
	spec.rest(&j, "")
	return j
}

// container takes the command of a container.
func container(j *Job, c *object) {
	vars := variables{known: make(map[string]string), from: make(map[string]bool), more: !isNothing(c.values["envFrom"])}
	for _, value := range c.list("env") {
		v := newObject(value)
		name := v.text("name")
		if v.has("valueFrom") {
			j.lose("the variable %s, from %s", name, brief(v.get("valueFrom")))
			vars.from[name] = true
			continue
		}
		text := vars.expand(j, v.text("value"), name+"=")
		j.setEnv(name, text)
		vars.known[name] = text
		delete(vars.from, name)
	}
	j.Args = append(c.texts("command"), c.texts("args")...)
	for i, arg := range j.Args {
		j.Args[i] = vars.expand(j, arg, "")
	}
	if !c.has("command") {
		if len(j.Args) > 0 {
			j.lose("the program of the image, before %s", brief(strings.Join(j.Args, " ")))
		}
		j.Args = nil
	}
	if len(j.Args) == 3 && strings.HasSuffix(j.Args[0], "/sh") && j.Args[1] == "-c" {
		j.Script, j.Args = j.Args[2], nil
	}
	j.Dir = c.text("workingDir")
	j.lose("the image %s: its programs have to be on this machine", fmt.Sprint(c.get("image")))
	c.skip("name", "imagePullPolicy")
	c.rest(j, "")
}

// variables are those of a container.
type variables struct {
	known map[string]string
	from  map[string]bool // whose values are elsewhere, as in a Secret
	more  bool            // there may be others, of envFrom
}

// expand puts the values of variables in place of $(NAME), as Kubernetes does before it starts a container: $$ is a $, and
// what names no variable stays. It tells the job of those whose values are not known. The lead is for people.
func (v variables) expand(j *Job, text, lead string) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			break
		}
		if rest = after; strings.HasPrefix(after, "$") {
			rest = after[1:]
		} else if name, behind, closed := strings.Cut(after, ")"); closed && name != "" && name[0] == '(' {
			name = name[1:]
			if value, known := v.known[name]; known {
				b.WriteString(value)
				rest = behind
				continue
			}
			v.loseVariable(j, name, lead+text)
		}
		b.WriteByte('$')
	}
	return b.String()
}

// loseVariable tells the job of a variable in a text that is not known, if it is one.
func (v variables) loseVariable(j *Job, name, text string) {
	switch {
	case !variableName.MatchString(name):
	case v.from[name], strings.HasSuffix(name, "_SERVICE_HOST"), strings.HasSuffix(name, "_SERVICE_PORT"): // of each Service there are the two
		j.lose("the variable %s in %s", name, brief(text))
	case v.more:
		j.lose("the variable %s in %s, if envFrom has it", name, brief(text))
	}
}
