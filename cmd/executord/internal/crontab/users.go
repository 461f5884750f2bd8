package crontab

import (
	"slices"
	"strings"
)

// noteUsers notes commands that begin with the user field of a system crontab. A name that many systems have is one if
// an argument follows. Any other is if each job of the file seems to have one.
//
// The machine's own users are not asked for: a file must read the same everywhere.
func (p *parser) noteUsers() {
	all := len(p.jobs) > 0
	for _, j := range p.jobs {
		user, likely, _ := userField(j.Command.Script)
		all = all && user != "" && likely
	}
	for i, j := range p.jobs {
		user, _, known := userField(j.Command.Script)
		if user != "" && (known || all) {
			p.jobs[i].MaybeUser = true
			p.report.Note(j.Line, "use --format system if it is one; otherwise remove it, as jobs run as the user who runs executord",
				"%q looks like the user field of a system crontab; here it is the program to run", user)
		}
	}
}

// userField returns the first word of a command if it may be the name of a user, and whether it is one rather than a
// program: likely, since a command follows, or for sure.
func userField(script string) (user string, likely, known bool) {
	words := strings.Fields(script)
	if len(words) < 2 || !isUser(words[0]) || slices.Contains(programs, words[0]) {
		return "", false, false
	}
	command := words[1][0] == '/' || slices.Contains(beginnings, words[1])
	if slices.Contains(alsoPrograms, words[0]) {
		return words[0], command, false
	}
	return words[0], command, slices.Contains(systemUsers, words[0])
}

// cutUser cuts the user off what follows a schedule.
func cutUser(text string) (user, rest string) {
	words, rest := splitWords(text, 1)
	if len(words) == 0 {
		return "", ""
	}
	return words[0], rest
}

// isUser reports whether a word has the form of a user's name.
func isUser(word string) bool {
	if word == "" {
		return false
	}
	first := word[0]
	return len(word) <= 32 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && (first == '_' || first >= 'a')
}

// systemUsers are names of users that are no programs.
var systemUsers = strings.Fields(`root daemon bin sys games lp news uucp proxy www-data list irc gnats nobody _apt adm operator
	ftp apache nginx http www httpd tomcat postgres mysql mariadb mongodb redis memcache rabbitmq elasticsearch
	ubuntu debian ec2-user admin pi vagrant jenkins gitlab nextcloud wordpress
	amavis clamav debian-spamd spamd logcheck munin mailman smmsp postfix dovecot vmail nagios icinga zabbix ntpsec cacti
	snort backuppc prometheus grafana letsencrypt deploy app`)

// alsoPrograms are users that are programs as well.
var alsoPrograms = []string{"mail", "man", "sync", "git", "backup", "ntp", "puppet"}

// beginnings are words that a command begins with, and hardly any argument is.
var beginnings = []string{"[", "[[", "test", "if", "cd", "command", "for", "while", "nice", "ionice", "env", "exec", "sh", "bash",
	"perl", "python", "python3", "php", "find", "run-parts", "flock", "timeout", "umask", "."}

// programs are those that are called in crontabs with a path or a command behind them.
var programs = strings.Fields(`awk bash cat cd certbot chgrp chmod chown chronic chrt command cp cpulimit csh curl cut dash date dd
	df diff docker docker-compose du echo egrep env eval exec export false fgrep find fish flock for free git grep gunzip gzip head
	if install ionice java journalctl kill killall ksh kubectl ln logger logrotate ls lua mkdir mount mv mysql mysqldump nice node
	nohup npm openssl pg_dump pg_dumpall php pkill podman printf ps psql pwd python python2 python3 rclone read renice restic rm
	rmdir rsync ruby run-parts runuser savelog scp sed service set setfacl setpriv setsid sh shopt sleep snap sort source ssh stat
	stdbuf strace su sudo systemctl tail tar tee test time timeout top touch trap true truncate ulimit umask umount unset unzip
	wait wc wget which while xargs xz zip zsh zstd`)
