package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// completionPatience is how long the names of jobs may take. Who presses the tab key does not wait for longer.
const completionPatience = 2 * time.Second

func newCompletion() *cobra.Command {
	shells := map[string]func(*cobra.Command) error{
		"bash": func(cmd *cobra.Command) error { return cmd.Root().GenBashCompletionV2(cmd.OutOrStdout(), true) },
		"fish": func(cmd *cobra.Command) error { return cmd.Root().GenFishCompletion(cmd.OutOrStdout(), true) },
		"zsh":  func(cmd *cobra.Command) error { return cmd.Root().GenZshCompletion(cmd.OutOrStdout()) },
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes command lines in a shell",
		Long: strings.TrimSpace(`
completion prints a script with which a shell completes commands, flags, and the
names of jobs: those of the file on the command line, else those of the store,
of --store or EXECUTORD_STORE, else those of the daemon at --at. Packages have
it installed already.

bash, which needs the package bash-completion:
  executord completion bash > /etc/bash_completion.d/executord
zsh, in a directory of $fpath:
  executord completion zsh > /usr/local/share/zsh/site-functions/_executord
fish:
  executord completion fish > ~/.config/fish/completions/executord.fish`),
		Example:   "  source <(executord completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return fmt.Errorf("completion needs the name of a shell: bash, zsh or fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return shells[args[0]](cmd) },
	}
}

// completeFlags says of all flags what their values may be. Without that, a shell takes each for the name of a file.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, own := cmd.GetFlagCompletionFunc(f.Name); own {
			return
		}
		complete := cobra.NoFileCompletions
		switch v := f.Value.(type) {
		case *choice:
			complete = cobra.FixedCompletions(v.among, cobra.ShellCompDirectiveNoFileComp)
		case *choices:
			complete = cobra.FixedCompletions(v.among, cobra.ShellCompDirectiveNoFileComp)
		case longChoice:
			complete = cobra.FixedCompletions(v.among, cobra.ShellCompDirectiveNoFileComp)
		}
		switch f.Name {
		case "store", "token-file", "tls-cert", "tls-key", "ca-file":
			return // a file
		case "dir", "data":
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // the flag is there, and was not registered
		}
	})
	for _, sub := range cmd.Commands() {
		completeFlags(sub)
	}
}

// completeNames completes arguments by names, from the argument with the index first on: those before it are files.
// Names returns them, each with a description behind a tab. An error means that there are none: a completion has no
// place to show it.
func completeNames(first, last int, names func(args []string) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) < first:
			return nil, cobra.ShellCompDirectiveDefault
		case len(args) > last:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all := patiently(func() ([]string, error) { return names(args) })
		all = slices.DeleteFunc(all, func(one string) bool {
			name, _, _ := strings.Cut(one, "\t")
			return slices.Contains(args[first:], name) || name != job.Printable(name) // a shell would type it
		})
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// patiently returns what names does, or nothing if that takes long.
func patiently(names func() ([]string, error)) []string {
	found := make(chan []string, 1)
	go func() { // ends with the process, if it has to
		all, _ := names()
		found <- all
	}()
	select {
	case all := <-found:
		return all
	case <-time.After(completionPatience):
		return nil
	}
}

// manyNames is for arguments without a limit.
const manyNames = 1 << 30

// named returns a name as a completion shows it.
func named(name, description string) string {
	return name + "\t" + strings.ReplaceAll(job.Printable(description), "\t", " ")
}

// namesInFiles completes the names of the jobs of files.
func namesInFiles(s *sources) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		files := 1
		if len(*s.dirs) > 0 {
			files = 0
		}
		return completeNames(files, manyNames, func(args []string) (names []string, err error) {
			s.names = args[:files]
			file, _, err := s.parse(false, true)
			for _, j := range file.Jobs {
				names = append(names, named(j.Name, j.Schedule.Text))
			}
			return names, err
		})(cmd, args, word)
	}
}

// namesOfChannels completes the names of the channels of a file.
func namesOfChannels(s *sources) cobra.CompletionFunc {
	return completeNames(1, manyNames, func(args []string) (names []string, err error) {
		s.names = args[:1]
		file, _, err := s.parse(false, true)
		for _, c := range file.Channels {
			names = append(names, c.Name)
		}
		return names, err
	})
}

// namesOfJobs completes the names of the jobs of a store, or of a daemon, which may be nil.
func namesOfJobs(last int, store storeFlag, at *atFlag, namespace *string) cobra.CompletionFunc {
	return completeNames(0, last, func([]string) (names []string, err error) {
		if at != nil && at.chosen(store) {
			all, err := at.jobs(nil)
			for _, j := range all {
				names = append(names, named(j.Job, j.Schedule+", "+j.State.String()))
			}
			return names, err
		}
		err = store.visit(func(ctx context.Context, v client.Client) error {
			all, full, err := v.Find(ctx, *namespace, nil)
			for _, e := range all {
				if !e.Removed() {
					j := view.Of(e, nil, time.Now())
					names = append(names, named(client.Called(e, full), j.Schedule+", "+j.State.String()))
				}
			}
			return err
		})
		return names, err
	})
}

// parametersOfJobs completes NAME=value by the parameters of the jobs that are named, and their allowed values.
func parametersOfJobs(store storeFlag, namespace *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) == 0 {
			return nil, directive
		}
		name, _, valued := strings.Cut(word, "=")
		found := patiently(func() (found []string, err error) {
			err = store.visit(func(ctx context.Context, v client.Client) error {
				jobs, _, err := v.Find(ctx, *namespace, args)
				for _, e := range jobs {
					found = append(found, settings(e.Spec.Parameters, name, valued)...)
				}
				return err
			})
			return found, err
		})
		if !valued {
			return found, directive | cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// settings returns what completes the name of a parameter, or the value of one.
func settings(all []job.Parameter, name string, valued bool) (found []string) {
	for _, p := range all {
		switch {
		case !valued:
			found = append(found, named(p.Name+"=", cmp.Or(p.Doc, "the default is "+p.Default)))
		case p.Name == name && p.Values == nil:
			found = append(found, p.Name+"="+p.Default)
		case p.Name == name:
			for _, value := range p.Values {
				found = append(found, p.Name+"="+value)
			}
		}
	}
	return found
}
