package round

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/executor-go/executor/bench/jdk"
	"github.com/executor-go/executor/bench/postgres"
	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// Samples are the values of records, one for each round.
type Samples map[Key][]float64

// Key identifies a record.
type Key struct{ Workload, Subject string }

// A Runner runs cells in child processes.
type Runner struct {
	Self     string           // the path of this program
	Base     string           // the path of this program at another revision; "" for none
	Java     *jdk.Java        // nil if there is none
	Postgres *postgres.Server // nil if there is none
	Quick    bool
	Log      io.Writer
}

// Can reports whether the runner has what the subject needs.
func (r *Runner) Can(s subject.Subject) bool {
	if s.ID == "jdk" {
		return r.Java != nil
	}
	return (s.Of == "" || r.Base != "") && (!s.Postgres || r.Postgres != nil) && (s.Missing == nil || s.Missing() == nil)
}

// timeout is the time limit of a run.
const timeout = 10 * time.Minute

// Run runs all rounds. It returns the samples, the number of complete rounds, and the
// errors of runs. If ctx ends, the samples are those of the complete rounds.
func (r *Runner) Run(ctx context.Context, cells []Cell, rounds int, seed uint64) (Samples, int, []error) {
	all := Samples{}
	var failed []error
	started := time.Now()
	for round := range rounds {
		samples := Samples{} // of this round
		for i, c := range Shuffled(cells, seed, round) {
			result, err := r.cell(ctx, c)
			for retry := 0; retry < 2 && errors.Is(err, workload.ErrUnfit); retry++ {
				result, err = r.cell(ctx, c)
			}
			if ctx.Err() != nil {
				return all, round, failed
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", c.Name(), err)
				failed = append(failed, err)
				fmt.Fprintln(r.Log, "FAILED", err)
				continue
			}
			for _, o := range c.Workload.Outputs {
				if v, ok := result.Values[o.Key]; ok {
					k := Key{o.ID, c.Subject.ID}
					samples[k] = append(samples[k], v)
				}
			}
			o := c.Workload.Outputs[0]
			fmt.Fprintf(r.Log, "%5.0fs round %d/%d %3d/%d %-26s %-12s %12.1f %s\n", time.Since(started).Seconds(),
				round+1, rounds, i+1, len(cells), o.ID, c.Subject.ID, result.Values[o.Key], o.Unit)
		}
		for k, values := range samples {
			all[k] = append(all[k], values...)
		}
	}
	return all, rounds, failed
}

// cell runs one cell in a new process.
func (r *Runner) cell(ctx context.Context, c Cell) (result workload.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	args := r.command(c)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if r.Postgres != nil {
		cmd.Env = append(os.Environ(), r.Postgres.Env())
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return result, fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()[:min(stderr.Len(), 500)]))
	}
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		return result, fmt.Errorf("unreadable result %q: %w", stdout.String(), err)
	}
	return result, result.Check()
}

// command returns the command of the process that runs a cell.
func (r *Runner) command(c Cell) []string {
	program, id := r.Self, c.Subject.ID
	switch {
	case id == "jdk":
		warmup := 3 * time.Second
		if r.Quick {
			warmup = 500 * time.Millisecond
		}
		return r.Java.Command(c.Workload.Kind, c.Params, warmup)
	case c.Subject.Of != "":
		program, id = r.Base, c.Subject.Of
	}
	args := []string{program, "-child", c.Workload.Name + " " + id}
	if r.Quick {
		args = append(args, "-quick")
	}
	return args
}

// Child runs one cell in this process and prints its result.
func Child(name string, quick bool) error {
	cells := Cells(quick, func(c Cell) bool { return c.Name() == name })
	if len(cells) != 1 {
		return fmt.Errorf("no workload and subject %q", name)
	}
	c := cells[0]
	do := c.Subject.Funcs[c.Workload.Kind]
	if do == nil {
		return fmt.Errorf("%s does not run in this program", c.Subject.ID)
	}
	return json.NewEncoder(os.Stdout).Encode(do(c.Params))
}
