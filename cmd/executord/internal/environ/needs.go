package environ

import (
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// Missing returns what a command needs and does not find now: the files with its variables, its directory, its program,
// or its shell and the program that the script begins with.
func Missing(c job.Command) error {
	as, dir, err := User(c)
	if err != nil {
		return err
	}
	env, err := Of(c, nil)
	if err != nil {
		return err
	}
	run := process.Command{Args: Args(c.Args), Env: env, Dir: dir, As: as, Stdin: c.Stdin}
	if len(c.Args) > 0 {
		return run.Missing()
	}
	for _, program := range []string{c.Shell, firstProgram(c.Script)} {
		if program == "" {
			continue
		}
		run.Args = []string{program}
		if err := run.Missing(); err != nil {
			return err
		}
	}
	return nil
}

// HasHome reports whether the runs of a command have a HOME. One that the file sets to nothing is meant.
func HasHome(c job.Command) bool {
	if _, set := process.Variable(c.Env, "HOME"); set {
		return true
	}
	env, _ := Of(job.Command{EnvFiles: c.EnvFiles}, nil) // a file that cannot be read is noted anyway
	home, _ := process.Variable(env, "HOME")
	return home != ""
}

// firstProgram returns the program that a script begins with. It returns "" if that takes a shell to know: the word is
// a keyword, or a part of the shell, or has a character that is special for one.
func firstProgram(script string) string {
	words := strings.Fields(script)
	if len(words) == 0 {
		return ""
	}
	word := words[0]
	if strings.ContainsAny(word, "$`\"'\\*?[]{}()<>|&;~#!=") || slices.Contains(shellWords, word) {
		return ""
	}
	if strings.Contains(word, "/") && !job.IsAbs(word) {
		return "" // it may be a directory into which the shell goes first
	}
	return word
}

// shellWords are the keywords of shells and the commands that are built into them.
var shellWords = strings.Fields(`. : alias bg bind break builtin caller case cd command compgen complete continue coproc
	declare dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts
	hash help history if in jobs kill let local logout mapfile popd print printf pushd pwd read readarray readonly
	return select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset
	until wait whence while`)
