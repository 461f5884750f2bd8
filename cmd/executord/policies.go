package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// wrongPolicies returns a mistake for each job whose keys do not go together.
func wrongPolicies(file job.File) (mistakes job.Mistakes) {
	for _, j := range file.Jobs {
		if what, hint := wrongPolicy(j); what != "" {
			mistakes = append(mistakes, remarkOn(file, j, what, hint))
		}
	}
	return mistakes
}

// remarkOn returns a mistake, or a note, at the line of a job.
func remarkOn(file job.File, j job.Job, what, hint string) job.Mistake {
	return job.Mistake{
		File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Schedule.Text + " " + j.Command.Text(), What: what, Hint: hint,
	}
}

func wrongPolicy(j job.Job) (what, hint string) {
	overlap, _ := job.ParseOverlap(j.Overlap) // readers have set no other
	misfire, _ := job.ParseMisfire(j.Misfire)
	if misfire.All && overlap.Do != job.QueueOverlap {
		return fmt.Sprintf("%s has misfire all: due times that pass during its runs would be run, too, and its overlap is %s", j.Name, cmp.Or(j.Overlap, "skip")),
			`set overlap to queue, or misfire to another value`
	}
	switch {
	case j.Schedule.After && len(j.After) == 0:
		return j.Name + " is due after other jobs, and names none", `write the key after with the name of a job: after = "extract", or # after: extract above a line of a crontab`
	case j.Schedule.AtStart && len(j.After) > 0:
		return j.Name + " runs at the start of executord, and not after other jobs", "write @after for the schedule, or remove after"
	case j.AfterOn != "" && len(j.After) == 0:
		return j.Name + " has after_on, and names no jobs after which it runs", "add after, or remove after_on"
	case j.On.Each && len(j.After) > 0 && !j.Schedule.AtStart:
		return j.Name + " runs on each of its machines, and not after other jobs", "remove all from on, or remove after"
	case j.Group != "" && j.Schedule.AtStart:
		return j.Name + " is in a group, and runs at the start of executord, which waits for no other job", "remove group, or choose another schedule"
	}
	return "", ""
}

// setNext tells jobs which others run after them. It returns a mistake for each name that is no job's, and one if a job
// would run after itself.
func setNext(file *job.File) (mistakes job.Mistakes) {
	if !slices.ContainsFunc(file.Jobs, func(j job.Job) bool { return len(j.After) > 0 }) {
		return nil
	}
	at := make(map[string]int, len(file.Jobs))
	var names []string
	for i, j := range file.Jobs {
		at[j.Name], names = i, append(names, j.Name)
	}
	for _, j := range file.Jobs {
		for _, name := range j.After {
			if i, there := at[name]; there && file.Jobs[i].On.Each && !file.Jobs[i].Schedule.AtStart {
				mistakes = append(mistakes, remarkOn(*file, j, fmt.Sprintf("%s runs after %s, which runs on each of its machines", j.Name, name),
					"name a job that runs on one machine, or put both commands into one job"))
				continue
			} else if there {
				file.Jobs[i].Next = append(file.Jobs[i].Next, job.Next{Job: j.Name, On: j.AfterOn})
				continue
			}
			hint := "write the name of a job, or remove it"
			if near := job.Closest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			mistakes = append(mistakes, remarkOn(*file, j, fmt.Sprintf("%s runs after %q, which is not a job of the file", j.Name, name), hint))
		}
	}
	if cycle := job.Cycle(file.Jobs); cycle != nil {
		what := cycle[0] + " runs after itself"
		if len(cycle) > 1 {
			what = fmt.Sprintf("%s run after each other", strings.Join(cycle, ", "))
		}
		mistakes = append(mistakes, remarkOn(*file, file.Jobs[at[cycle[0]]], what, "remove one of the names from after"))
	}
	return mistakes
}

// setLimits sets the limits of the groups for their jobs. A group may be in another file than the job. It returns a
// mistake for each group that has the name of another, and notes groups that have no effect.
func setLimits(file *job.File) (mistakes job.Mistakes) {
	groups := make(map[string]job.Group)
	var names []string
	for _, g := range file.Groups {
		if before, taken := groups[g.Name]; taken {
			mistakes = append(mistakes, job.Mistake{File: g.File, Line: g.Line, Text: "[group." + g.Name + "]",
				What: fmt.Sprintf("the group %q is already in %s:%d", g.Name, job.Printable(before.File), before.Line), Hint: "remove one of the two"})
			continue
		}
		groups[g.Name], names = g, append(names, g.Name)
	}
	members := make(map[string]int)
	for i := range file.Jobs {
		j := &file.Jobs[i]
		if j.Group != "" {
			members[j.Group]++
			j.GroupLimit = groups[j.Group].Limit
		}
	}
	for _, j := range file.Jobs {
		if _, known := groups[j.Group]; j.Group == "" || known || members[j.Group] > 1 {
			continue
		}
		hint := "add other jobs to it, or a table [group." + j.Group + "] to a TOML file"
		if near := job.Closest(j.Group, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		file.Notes = append(file.Notes, remarkOn(*file, j, fmt.Sprintf("%s is the only job in the group %q, which has no limit set", j.Name, j.Group), hint))
	}
	for _, g := range file.Groups {
		if members[g.Name] == 0 {
			file.Notes = append(file.Notes, job.Mistake{File: g.File, Line: g.Line, Text: "[group." + g.Name + "]",
				What: fmt.Sprintf("no job is in the group %q", g.Name), Hint: `put group = "` + g.Name + `" into those that are to be, or remove it`})
		}
	}
	return mistakes
}
