package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// comment reads "# name: backup", which names the next job, and "# timeout: 5m", which is for the next job what the key
// of that name is in TOML. Every other comment is a comment.
//
// A variable (JOB=backup) lost: it would hold for all lines below it, as
// variables do, and would reach the command.
func (p *parser) comment(n int, text string) {
	text = strings.Trim(text, "#"+blanks)
	word, value, ok := strings.Cut(text, ":")
	value = strings.Trim(value, blanks)
	switch key := keys.Find(word); {
	case !ok:
		if p.isJob(text) { // it is switched off, and what stands above it is not for the next one
			p.pending, p.above = "", nil
		}
	case word == "name":
		p.name(n, value)
	case key != nil && key.In(keys.Comment):
		p.key(n, key, value)
	case keys.Gone[word] != "" && value != "" && (len(strings.Fields(value)) == 1 || word == "rlimit"):
		p.report.Mistake(n, keys.Gone[word], "%s is a key no more", word)
	case word == "parameters" && value != "":
		p.report.Note(n, "write the job in a TOML file, which may stand beside the crontab", "a crontab has no parameters: this is a comment")
	case strings.EqualFold(word, "name") && value != "":
		p.report.Note(n, "write # name: "+value+" if it is to name the next job",
			"a job is named with name: in lower case; this is a comment")
	default:
		p.misspelled(n, word, value)
	}
}

// isJob reports whether the text of a comment is a job.
func (p *parser) isJob(text string) bool {
	if text == "" {
		return false
	}
	syntax := job.Syntax{Zone: time.UTC, Language: p.language, Name: "x"}
	fields, rest := split(text, syntax)
	_, _, wrong := syntax.ParseSchedule(strings.Join(fields, " "))
	return wrong == nil && rest != ""
}

// name reads the name of the next job.
func (p *parser) name(n int, value string) {
	name := job.CanonicalName(value)
	if !job.ValidName(name) {
		p.report.Note(n, job.NameHint, "%q cannot be the name of a job", name)
		return
	}
	if before, taken := p.named[name]; taken {
		p.report.Mistake(n, "choose another name for one of the two", "the name %q is already used in line %d", name, before)
		return
	}
	p.named[name] = n
	if p.pending != "" {
		p.report.Note(p.named[p.pending], "put it above the job it names, or remove it", "no job follows that could be named %q", p.pending)
	}
	p.pending = name
}

// keyLine is a key above a job, which is right.
type keyLine struct {
	key    *keys.Key
	values []string
	line   int
}

// key reads a key for the next job.
func (p *parser) key(n int, key *keys.Key, value string) {
	if !key.Many() && value != "" && value[0] != '"' && value[0] != '\'' && strings.ContainsAny(value, blanks) {
		quote := `"`
		if strings.Contains(value, quote) {
			quote = "'"
		}
		p.report.Note(n, fmt.Sprintf("if they are its value, write: # %s: %s%s%[2]s", key.Name, quote, value),
			"%s: is followed by several words, so this is a comment", key.Name)
		return
	}
	values, ok := unquote(value)
	if !ok {
		p.report.Mistake(n, "close the quote at the end of the line, or write the value without quotes",
			"the quoted value of %s does not end with its quote", key.Name)
		return
	}
	for _, before := range p.above {
		if before.key == key {
			p.report.Mistake(n, "remove one of the two", "%s is already set in line %d", key.Name, before.line)
			return
		}
	}
	scratch := keys.Defaults()
	line := keyLine{key, key.Split(values), n}
	if wrong := key.Set(&scratch, line.values...); wrong != nil {
		hint := wrong.Hint
		if wrong.Like != "" {
			hint = strings.TrimPrefix(hint+": ", ": ") + "# " + key.Name + ": " + wrong.Like
		}
		p.report.Mistake(n, hint, "%s", wrong.What)
		return
	}
	p.above = append(p.above, line)
}

// misspelled notes a comment that is a key but for a letter or two, with a value that such a key may have.
func (p *parser) misspelled(n int, word, value string) {
	key := keys.Find(job.Closest(word, keys.Names(keys.Comment)))
	// as many words are near to a short one
	if key == nil || value == "" || len(key.Name) < 5 && !strings.EqualFold(word, key.Name) {
		return
	}
	scratch := keys.Defaults()
	if strings.ContainsAny(value, blanks) || key.Set(&scratch, key.Split(value)...) != nil {
		return
	}
	p.report.Note(n, fmt.Sprintf("did you mean # %s: %s", key.Name, value), "%q is not a key: this is a comment", word)
}

// settings returns what is set for the job of this line.
func (p *parser) settings() keys.Settings {
	s := keys.Defaults()
	s.Zone, s.Language = p.zone, p.language
	s.Job.Jitter = p.delay
	s.Job.MailTo = p.mailTo
	s.Job.Command.Shell = p.shell
	s.Job.Command.Env = p.env[:len(p.env):len(p.env)]
	for _, above := range p.above {
		above.key.Set(&s, above.values...)
	}
	return s
}

// nameJobs names the jobs that no comment has named, after the program they run. Jobs that would share a name all get
// their lines, and not only the later ones: adding a job must not rename others by its place. In a system crontab,
// which packages install, nobody could give them names that stay when lines are added: there they get a digest of what
// they are.
func (p *parser) nameJobs() {
	uses := make(map[string]int)
	for i := range p.jobs {
		if p.jobs[i].Name == "" {
			uses[programName(p.jobs[i].Command.Script)]++
		}
	}
	digests := make(map[string]int)
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.Name != "" {
			continue
		}
		j.Name = programName(j.Command.Script)
		_, given := p.named[j.Name]
		switch {
		case !given && uses[j.Name] == 1:
		case p.system:
			j.Name += "-" + digest(j)
			if digests[j.Name]++; digests[j.Name] > 1 { // the same line again
				j.Name = fmt.Sprintf("%s-%d", j.Name, digests[j.Name])
			}
		default: // no given name can have a colon
			j.Name = fmt.Sprintf("%s:%d", j.Name, j.Line)
		}
	}
}

// digest returns four digits that depend on when the job is due, as whom it is run, and its command. Stores rely on it:
// it never changes.
func digest(j *job.Job) string {
	sum := sha256.Sum256([]byte(j.Schedule.Text + "\n" + j.Command.User + "\n" + j.Command.Script))
	return hex.EncodeToString(sum[:2])
}
