package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// sources are the files of the command line, whose jobs are one set.
type sources struct {
	names  []string
	dirs   *[]string // of --dir
	format *choice
	kept   map[string]part // of files that were used, by their names
}

// source is one file.
type source struct {
	name, format string
	prefix       string // of the names of its jobs; "" if it is not of a directory
	err          error  // why it cannot be looked at
}

// hasUsers reports whether the lines of the file have users.
func (f source) hasUsers() bool {
	return f.format == "system" || f.format == "auto" && isSystem(f.name)
}

// newSources adds the flags --format and --dir.
func newSources(cmd *cobra.Command) sources {
	return sources{kept: make(map[string]part), format: newFormat(cmd), dirs: cmd.Flags().StringArray("dir", nil, "all files of a directory such as /etc/cron.d, which have a user in each line")}
}

// first returns the files among the arguments of a command that has one, or --dir, before other names.
func (s sources) first(args []string) []string {
	if len(*s.dirs) > 0 {
		return nil
	}
	return args[:1]
}

// someFiles is the argument of run and check.
func someFiles(cmd *cobra.Command, args []string) error {
	if dir := cmd.Flag("dir"); len(args) == 0 && (dir == nil || !dir.Changed) {
		return fmt.Errorf("%s needs the name of a job file, such as: executord %s jobs.crontab (- for standard input)", cmd.Name(), cmd.Name())
	}
	for i, name := range args {
		if slices.Contains(args[:i], name) {
			return fmt.Errorf("%s is named twice", name)
		}
	}
	return nil
}

// String returns what the sources are called in the log.
func (s sources) String() string {
	var shown []string
	for _, name := range s.names {
		shown = append(shown, shownName(name))
	}
	shown = append(shown, *s.dirs...)
	return strings.Join(shown, ", ")
}

// load reads the files, and prints all mistakes there are, with what else there is to say about the files. With a store,
// more is a mistake.
func (s sources) load(stored bool) (job.File, []exposure.File, error) {
	file, read, err := s.parse(stored, false)
	return file, read, s.told(file, err)
}

// told returns the error of a command, after it has printed what is in it.
func (s sources) told(file job.File, err error) error {
	var all job.Mistakes
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &all):
		return &exitError{exitMistake, err.Error()}
	}
	fmt.Fprintln(complaint.Stderr, err)
	printNotes(complaint.Stderr, file.Notes)
	return &exitError{exitMistake, fmt.Sprintf("%s in %s", terminal.Count(strconv.Itoa(len(all)), "mistake"), file.Name)}
}

// parse reads the files, for the first time or again, for those who want to know all mistakes. With some, the error is a
// job.Mistakes, and of the file there are the name and the notes.
func (s sources) parse(stored, again bool) (job.File, []exposure.File, error) {
	parts, notes, err := s.read(stored, again)
	if err != nil {
		return job.File{Name: s.String()}, nil, err
	}
	file, read, mistakes := s.join(parts, notes)
	if len(mistakes) > 0 {
		return file, read, mistakes
	}
	return file, read, nil
}

// usable reads the files for those who run them: a file of a directory, or one that root refuses, is left out if it has
// mistakes or cannot be read, and its jobs are those that it had when it was last read, if it was. Refused has why.
// Unread says which files could not be read, which may pass.
func (s sources) usable(stored, again bool) (file job.File, read []exposure.File, refused job.Mistakes, unread string, err error) {
	parts, notes, err := s.read(stored, again)
	unread = unreadOf(parts, err)
	if err != nil {
		return job.File{Name: s.String()}, nil, nil, unread, err
	}
	for {
		var mistakes job.Mistakes
		if file, read, mistakes = s.join(parts, notes); len(mistakes) == 0 {
			break
		}
		var left []part
		sound := true
		for _, p := range parts {
			own := p.of(mistakes)
			if !p.alone || len(own) == 0 {
				left = append(left, p)
				continue
			}
			sound = false
			if p.kept { // what is wrong with its file is told
				continue
			}
			refused = append(refused, own...)
			if old, known := s.kept[p.name]; known {
				old.kept = true
				left = append(left, old)
			}
		}
		if sound {
			return file, read, nil, unread, append(refused, mistakes...)
		}
		if len(left) == 0 && len(*s.dirs) == 0 {
			return file, read, nil, unread, refused
		}
		parts = left
	}
	for _, p := range parts {
		if p.alone && !p.kept {
			s.kept[p.name] = p
		}
	}
	return file, read, refused, unread, nil
}

// unreadOf says which files could not be read; "" if all could.
func unreadOf(parts []part, err error) (names string) {
	if err != nil {
		return err.Error()
	}
	for _, p := range parts {
		if p.unread {
			names += p.name + "\n"
		}
	}
	return names
}

// part is what one file has.
type part struct {
	source
	file     job.File
	from     exposure.File
	mistakes job.Mistakes
	alone    bool // the jobs of other files do not need it
	unread   bool // it could not be read
	kept     bool // it is what the file had before
}

// of returns those of some mistakes that are in the file.
func (p *part) of(mistakes job.Mistakes) (own job.Mistakes) {
	for _, m := range mistakes {
		if m.File == shownName(p.name) {
			own = append(own, m)
		}
	}
	return own
}

// read reads each file by itself, with its mistakes. The error is that of a file that does not stand alone and could not
// be read.
func (s sources) read(stored, again bool) (parts []part, notes job.Notes, err error) {
	job.ForgetZones()
	files, notes, err := s.files()
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		p := part{source: f, alone: f.prefix != ""}
		if err = f.err; err == nil {
			p.file, p.from, err = parse(f.name, f.format, again)
		}
		if err == nil && f.prefix != "" {
			err = prefixNames(&p.file, f.prefix)
		}
		what, hint := "the file cannot be read: ", "make it readable, or remove it"
		if f.hasUsers() && p.from.Info != nil {
			if reason := exposure.Refused(f.name, p.from.Info); reason != "" {
				p.alone, err = true, errors.New(reason)
				what, hint = "root does not run the jobs of this file, as cron does not: ", exposure.Hint
			}
		}
		switch {
		case errors.As(err, &p.mistakes):
		case err != nil && p.alone:
			p.file, p.unread = job.File{Name: f.name, Unsure: true}, true
			p.mistakes = job.Mistakes{{File: f.name, Line: 1, What: what + complaint.Cause(err).Error(), Hint: hint}}
		case err != nil:
			return nil, nil, err
		case stored:
			p.mistakes = catalog.Check(p.file)
		}
		parts = append(parts, p)
	}
	return parts, notes, nil
}

// join makes one set of the files. With mistakes it has the name and the notes alone.
func (s sources) join(parts []part, notes job.Notes) (all job.File, read []exposure.File, mistakes job.Mistakes) {
	all.Name, all.Notes = s.String(), slices.Clip(notes)
	var named []string // channels
	unsure := false    // there may be more
	for _, p := range parts {
		file := p.file
		read = append(read, p.from)
		mistakes = append(mistakes, p.mistakes...)
		named = append(named, file.Named...)
		for _, spec := range file.Channels {
			named = append(named, spec.Name)
		}
		unsure = unsure || file.Unsure
		all.Notes = append(all.Notes, file.Notes...)
		all.Channels = append(all.Channels, file.Channels...)
		all.Groups = append(all.Groups, file.Groups...)
		all.NoMail = append(all.NoMail, file.NoMail...)
		from := ""
		if len(s.names) > 1 || len(*s.dirs) > 0 {
			from = file.Name
		}
		all.Jobs = appendOf(all.Jobs, file.Jobs, from)
		all.Naming = appendOf(all.Naming, file.Naming, from)
	}
	switch {
	case len(mistakes) == 0:
		mistakes = slices.Concat(sameNames(all.Jobs), sameChannels(all), unknownChannels(all, named), setLimits(&all), setNext(&all),
			wrongPolicies(all))
	case !unsure:
		mistakes = slices.Concat(mistakes, unknownChannels(all, named))
		order := make(map[string]int)
		for i, f := range read {
			order[shownName(f.Name)] = i
		}
		slices.SortStableFunc(mistakes, func(a, b job.Mistake) int {
			return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line)
		})
	}
	setMail(&all)
	if len(mistakes) > 0 {
		all.Jobs, all.Channels, all.Groups, all.Naming = nil, nil, nil, nil
		return all, read, mistakes
	}
	return all, append(read, exposure.Used(all.Jobs)...), nil
}

// appendOf appends the jobs of a file. The file itself is not changed: it may be joined with others again.
func appendOf(all, jobs []job.Job, from string) []job.Job {
	if all == nil && from == "" {
		return jobs // of one file there is no copy
	}
	begin := len(all)
	all = append(all, jobs...)
	for i := range all[begin:] {
		all[begin+i].File = from
	}
	return all
}

// prefixNames puts the name of a file before those of its jobs: nobody has made them unique in a directory.
func prefixNames(file *job.File, prefix string) error {
	var mistakes job.Mistakes
	own := make(map[string]bool)
	for _, j := range file.Jobs {
		own[j.Name] = true
	}
	for i := range file.Jobs {
		j := &file.Jobs[i]
		for k, name := range j.After {
			if own[name] {
				j.After[k] = prefix + "/" + name
			}
		}
		if j.Name = prefix + "/" + j.Name; len(j.Name) > 64 {
			mistakes = append(mistakes, job.Mistake{File: file.Name, Line: j.Line, Text: j.Command.Text(),
				What: fmt.Sprintf("the name %q is longer than 64 bytes", j.Name), Hint: "write a shorter one above it: # name: ..."})
		}
	}
	if len(mistakes) > 0 {
		file.Jobs = nil
		return mistakes
	}
	return nil
}

// files returns all files, those of directories by the rule of run-parts: others, as backups and what a package manager
// has left, are noted.
func (s sources) files() (files []source, notes job.Notes, err error) {
	for _, name := range s.names {
		files = append(files, source{name: name, format: s.format.value})
	}
	for _, dir := range *s.dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("the directory %s does not exist", dir)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, entry := range entries {
			name := filepath.Join(dir, entry.Name())
			fits := strings.Trim(entry.Name(), runPartsLetters) == ""
			info, err := os.Stat(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				if fits && entry.Type()&fs.ModeSymlink != 0 {
					notes = append(notes, job.Mistake{File: name, Line: 1, What: "the file is a link to one that does not exist",
						Hint: "correct the link, or remove it"})
				}
			case err != nil && fits:
				files = append(files, source{name: name, format: "system", prefix: entry.Name(), err: err})
			case err != nil || !info.Mode().IsRegular():
			case fits:
				files = append(files, source{name: name, format: "system", prefix: entry.Name()})
			case entry.Name()[0] != '.' && !strings.Contains(entry.Name(), ".dpkg-"):
				notes = append(notes, job.Mistake{File: name, Line: 1, What: "the file is not read because of its name, as in cron",
					Hint: "rename it: letters, digits, _ and - alone"})
			}
		}
		if len(entries) == 0 {
			notes = append(notes, job.Mistake{File: dir, Line: 1, What: "the directory has no job files", Hint: "put one there: it is read on SIGHUP, or with --watch"})
		}
	}
	return files, notes, nil
}

// runPartsLetters are those that names of files in /etc/cron.d may have.
const runPartsLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// sameNames returns a mistake for each job that has the name of one in another file.
func sameNames(jobs []job.Job) (mistakes job.Mistakes) {
	first := make(map[string]*job.Job)
	for i := range jobs {
		j := &jobs[i]
		before, taken := first[j.Name]
		if !taken {
			first[j.Name] = j
			continue
		}
		mistakes = append(mistakes, job.Mistake{
			File: j.File, Line: j.Line, Text: j.Schedule.Text + " " + j.Command.Text(),
			What: fmt.Sprintf("the name %q is already used in %s:%d", j.Name, job.Printable(before.File), before.Line),
			Hint: "name one of the two: # name: above a line of a crontab, name = in TOML",
		})
	}
	return mistakes
}

// sameChannels returns a mistake for each channel that has the name of another.
func sameChannels(file job.File) (mistakes job.Mistakes) {
	first := make(map[string]notify.Spec)
	for _, spec := range file.Channels {
		before, taken := first[spec.Name]
		if !taken {
			first[spec.Name] = spec
			continue
		}
		mistakes = append(mistakes, job.Mistake{
			File: spec.File, Line: spec.Line, Text: "[notify." + spec.Name + "]",
			What: fmt.Sprintf("the channel %q is already in %s:%d", spec.Name, job.Printable(before.File), before.Line),
			Hint: "choose another name for one of the two",
		})
	}
	return mistakes
}

// unknownChannels returns a mistake for each channel that a job names and that is not there. A channel may be in another
// file than the job.
func unknownChannels(file job.File, named []string) (mistakes job.Mistakes) {
	known := make(map[string]bool)
	for _, name := range named {
		known[name] = true
	}
	for _, jobs := range [][]job.Job{file.Jobs, file.Naming} {
		for _, j := range jobs {
			for _, name := range j.Notify {
				if known[name] {
					continue
				}
				hint := "add a table [notify." + name + "] to a TOML file"
				if near := job.Closest(name, named); near != "" {
					hint = "did you mean " + near + "?"
				}
				mistakes = append(mistakes, job.Mistake{
					File: cmp.Or(j.File, file.Name), Line: j.Line, Text: strings.TrimSpace(j.Schedule.Text + " " + j.Command.Text()),
					What: fmt.Sprintf("%s names the channel %q, which does not exist", cmp.Or(j.Name, "the job"), name), Hint: hint,
				})
			}
		}
	}
	return mistakes
}

// all returns the names of all files and directories.
func (s sources) all() []string { return slices.Concat(s.names, *s.dirs) }

// once returns the file that cannot be read again, "" if there is none.
func (s sources) once() string {
	for _, name := range s.names {
		if readOnce(name) {
			return shownName(name)
		}
	}
	return ""
}

// namespace returns the name of the only file or directory without its ending, "" if that is no namespace.
func (s sources) namespace() string {
	all := s.all()
	if len(all) != 1 || s.once() != "" || isDescriptor(all[0]) {
		return ""
	}
	name := job.CanonicalName(strings.TrimSuffix(filepath.Base(all[0]), filepath.Ext(all[0])))
	if !catalog.ValidNamespace(name) {
		return ""
	}
	return name
}

// readOnce reports whether a job file is one that cannot be read again: standard
// input, or a pipe, such as <(command) in a shell, or one that may be in the
// place of the file by now. To open a pipe waits
// for a writer, and executord has to be able to end meanwhile.
func readOnce(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() // reading a directory has a better error
}

// isDescriptor reports whether a name is that of an open file, such as /dev/fd/3
// or /dev/stdin: what it is of is not in it.
func isDescriptor(name string) bool {
	dir := filepath.Dir(name)
	return dir == "/dev" || dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/")
}
