package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// machineFlags are the flags by which the key on of a job finds this machine, and what stands for them in the
// environment.
type machineFlags struct {
	cmd    *cobra.Command
	name   *string
	labels *[]string
}

// These are documented.
const (
	nameVariable  = "EXECUTORD_NAME"
	labelVariable = "EXECUTORD_LABEL"
)

func newMachineFlags(cmd *cobra.Command) machineFlags {
	flags := cmd.Flags()
	return machineFlags{
		cmd:    cmd,
		name:   flags.String("name", "", "the name of this machine, by which on finds it; the default is in "+nameVariable+", or that of the host"),
		labels: flags.StringSlice("label", nil, "a label of this machine, such as gpu, by which on finds it; may be repeated; the default is in "+labelVariable),
	}
}

// machine returns the machine that the flags describe.
func (f machineFlags) machine() (job.Machine, error) {
	name, labels, from := *f.name, *f.labels, "--name, --label"
	if !f.cmd.Flags().Changed("name") {
		name = os.Getenv(nameVariable)
	} else if name == "" {
		return job.Machine{}, fmt.Errorf("--name is empty: write the name of this machine, or leave it out")
	}
	if !f.cmd.Flags().Changed("label") {
		labels = strings.FieldsFunc(os.Getenv(labelVariable), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if !f.cmd.Flags().Changed("name") && !f.cmd.Flags().Changed("label") {
		from = nameVariable + ", " + labelVariable
	}
	m, err := job.NewMachine(name, labels)
	if err != nil {
		return m, fmt.Errorf("%s: %w", from, err)
	}
	return m, nil
}
