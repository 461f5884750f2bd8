package crontab

import (
	"fmt"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// comment reads "# name: backup", which names the next job. Every other
// comment is a comment.
//
// A variable (JOB=backup) lost: it would hold for all lines below it, as
// variables do, and would reach the command.
func (p *parser) comment(n int, text string) {
	const key = "name:"
	text = strings.Trim(text, "#"+blanks)
	name, ok := strings.CutPrefix(text, key)
	if !ok {
		if len(text) > len(key) && strings.EqualFold(text[:len(key)], key) {
			p.report.Note(n, "write # "+key+text[len(key):]+" if it is to name the next job",
				"a name is given by name: in small letters; this is a comment")
		}
		return
	}
	name = job.CanonicalName(strings.Trim(name, blanks))
	if !job.ValidName(name) {
		p.report.Note(n, job.NameHint, "%q names no job: it is no name", name)
		return
	}
	if before, taken := p.named[name]; taken {
		p.report.Mistake(n, "choose another name for one of the two", "the name %q is already used in line %d", name, before)
		return
	}
	p.named[name] = n
	if p.pending != "" {
		p.report.Note(p.named[p.pending], "put it above the job it names, or remove it", "the name %q names no job", p.pending)
	}
	p.pending = name
}

// nameJobs names the jobs that no comment has named, after the program they
// run. Jobs that would share a name all get their lines, and not
// only the later ones: adding a job must not rename others by its place.
func (p *parser) nameJobs() {
	uses := make(map[string]int)
	for i := range p.jobs {
		if p.jobs[i].Name == "" {
			uses[programName(p.jobs[i].Command.Script)]++
		}
	}
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.Name != "" {
			continue
		}
		j.Name = programName(j.Command.Script)
		if _, given := p.named[j.Name]; given || uses[j.Name] > 1 {
			// No given name can have a colon.
			j.Name = fmt.Sprintf("%s:%d", j.Name, j.Line)
		}
	}
}
