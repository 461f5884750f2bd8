package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// setMail has the jobs below a MAILTO of a crontab tell its addresses by mail, and no others: for each there is a
// channel like the first of those that send mail. Channels of other kinds are told as ever, and a job that names its
// channels is left alone. Without a channel that sends mail, MAILTO is noted.
func setMail(file *job.File) {
	var first *notify.Spec
	var others []string // for all jobs, and no mail
	for i, spec := range file.Channels {
		switch {
		case len(spec.Values["mail"]) == 0:
			if all := spec.Values["all"]; len(all) == 0 || all[0] != "false" {
				others = append(others, spec.Name)
			}
		case first == nil:
			first = &file.Channels[i]
		}
	}
	if first == nil {
		file.Notes = append(file.Notes, file.NoMail...)
		return
	}
	like := *first
	made := make(map[string]string) // the names of channels by their addresses
	for i := range file.Jobs {
		j := &file.Jobs[i]
		if j.MailTo == nil || j.Notify != nil {
			continue
		}
		var to []string
		for address := range strings.SplitSeq(*j.MailTo, ",") {
			if address = strings.TrimSpace(address); address != "" {
				to = append(to, address)
			}
		}
		names := append([]string{}, others...)
		if len(to) > 0 {
			name, there := made[*j.MailTo]
			if !there {
				spec := like
				spec.Name = mailName(like.Name, to, file.Channels)
				spec.Values = maps.Clone(like.Values)
				spec.Values["mail"], spec.Values["all"] = to, []string{"false"}
				if wrong := spec.Check(); len(wrong) > 0 {
					file.Notes = append(file.Notes, remarkOn(*file, *j, fmt.Sprintf("MAILTO=%s is ignored: %v", *j.MailTo, wrong[0]), "write addresses, with commas between them"))
					continue
				}
				file.Channels = append(file.Channels, spec)
				name, made[*j.MailTo] = spec.Name, spec.Name
			}
			names = append(names, name)
		}
		j.Notify = names
	}
}

// mailName returns a name for the channel of addresses that no other channel has.
func mailName(base string, to []string, channels []notify.Spec) string {
	taken := make(map[string]bool)
	for _, spec := range channels {
		taken[spec.Name] = true
	}
	name := base + "/" + strings.Map(func(r rune) rune {
		if job.ValidName(string(r)) {
			return r
		}
		return '-'
	}, to[0])
	for len(name) > 60 || !job.ValidName(name) {
		name = name[:max(len(name)-1, 1)]
	}
	for free, n := name, 2; ; n++ {
		if !taken[free] {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}
