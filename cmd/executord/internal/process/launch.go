package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A command with a Setup is started in two steps: this program is started again, as a launcher, which sets up its own
// process and then becomes the command. Package syscall has no hook between fork and exec, and a umask is that of a
// whole process, not of a thread.
//
//	parent ── starts ──▶ launcher: Launch ── sets up, takes the user ── exec ──▶ command
//	  ◀── end of file, or what went wrong, on a pipe ──┘

// launcherName is what a launcher is called: nobody can type it in place of the name of the program.
const launcherName = "executord: launcher"

// launch is what a launcher gets as its first argument. The others are those of the command.
type launch struct {
	Setup
	Path string
	Dir  string
	As   *User `json:",omitempty"` // taken last: to be set up may take the rights of root
}

// viaLauncher has cmd be started by a launcher, which reports why it could not be.
func (p *pipes) viaLauncher(cmd *exec.Cmd, setup Setup, as *User) error {
	own := "/proc/self/exe" // also if the file was replaced by a newer one
	if runtime.GOOS != "linux" {
		var err error
		if own, err = os.Executable(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(launch{Setup: setup, Path: cmd.Path, Dir: cmd.Dir, As: as})
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.report, p.child = r, append(p.child, w)
	cmd.Path, cmd.Dir, cmd.ExtraFiles = own, "", []*os.File{w}
	cmd.Args = append([]string{launcherName, string(text)}, cmd.Args...)
	return nil
}

// launched waits until the launcher, if there is one, has become the command, and returns what kept it from that. It
// waits no longer than until ctx ends: then the command is ended as any other.
func (p *pipes) launched(ctx context.Context, c Command) error {
	if p.report == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { p.report.SetReadDeadline(time.Unix(1, 0)) })()
	text, err := io.ReadAll(io.LimitReader(p.report, 4<<10))
	if err != nil || len(text) == 0 {
		return nil
	}
	if number, ok := strings.CutPrefix(string(text), noExec); ok {
		cmd, err := c.prepare()
		code, wrong := strconv.Atoi(number)
		if err == nil && wrong == nil {
			return explain(syscall.Errno(code), cmd, c.As)
		}
	}
	return errors.New(string(text))
}

// noExec begins the report of a launcher that could not become its command. The number of the error follows.
const noExec = "exec "

// Launch has to be the first that a program does which runs commands. If the program was started to become one of
// them, it does not return.
func Launch() {
	if len(os.Args) < 3 || os.Args[0] != launcherName {
		return
	}
	runtime.LockOSThread() // on Linux, nice and ionice are those of a thread
	report := os.NewFile(3, "report")
	var l launch
	err := json.Unmarshal([]byte(os.Args[1]), &l)
	if err == nil {
		closeOnExec(report)
		err = l.become(os.Args[2:])
	}
	var code syscall.Errno
	if errors.As(err, &code) && err == error(code) {
		err = fmt.Errorf("%s%d", noExec, int(code))
	}
	io.WriteString(report, err.Error())
	os.Exit(127)
}
