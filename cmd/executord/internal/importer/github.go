package importer

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// readGitHub reads the schedule of a workflow. Each of its jobs is a job for each cron.
func readGitHub(name string, data []byte) (jobs []Job, err error) {
	docs, err := readYAML(data)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	for _, doc := range docs {
		o := newObject(doc)
		on := o.object("on")
		table := o.object("jobs")
		for _, key := range table.keys() {
			for _, value := range on.list("schedule") {
				schedule := newObject(value)
				j := workflowJob(table.object(key), o)
				j.Name, j.Schedule, j.Zone = base+"/"+key, schedule.text("cron"), schedule.text("timezone")
				if j.Zone == "" {
					j.Zone = "UTC"
				}
				jobs = append(jobs, j)
			}
		}
	}
	if len(jobs) == 0 {
		return nil, errors.New("the workflow has no schedule, or no jobs")
	}
	return jobs, nil
}

func workflowJob(o, workflow *object) (j Job) {
	setEnv := func(from *object, where string) {
		for _, name := range from.keys() {
			value := from.text(name)
			if strings.Contains(value, "${{") {
				j.lose("the variable %s%s = %s", where, name, brief(value))
				continue
			}
			j.setEnv(name, value)
		}
	}
	setEnv(workflow.object("env"), "")
	setEnv(o.object("env"), "")
	if minutes := o.number("timeout-minutes"); minutes > 0 {
		j.Timeout = time.Duration(minutes * float64(time.Minute))
	}
	var scripts []string
	for _, value := range o.list("steps") {
		step := newObject(value)
		switch run, uses := step.text("run"), step.text("uses"); {
		case uses != "":
			j.lose("the action %s", uses)
			step.skip("with", "name", "id")
		case run != "":
			if dir := step.text("working-directory"); dir != "" {
				run = "(cd " + shellQuote(dir) + "\n" + run + "\n)"
			}
			scripts = append(scripts, strings.TrimSpace(run))
			setEnv(step.object("env"), "")
			if strings.Contains(run, "${{") {
				j.lose("what GitHub puts in place of ${{ in: %s", brief(run))
			}
			step.skip("name", "id")
			if shell := step.text("shell"); shell != "" && shell != "bash" && shell != "sh" {
				j.lose("the shell %s", shell)
			}
		}
		step.rest(&j, "step ")
	}
	if len(scripts) > 0 {
		j.Shell, j.Script = "/bin/bash", "set -e\n"+strings.Join(scripts, "\n")
	}
	for _, key := range []string{"concurrency", "defaults"} {
		if value := workflow.get(key); !isNothing(value) {
			j.lose("the %s of the workflow = %s", key, brief(value))
		}
	}
	o.skip("runs-on", "name", "permissions")
	o.rest(&j, "")
	return j
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
