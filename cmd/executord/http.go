package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/request"
)

// maxBody is how large the body of a request may be.
const maxBody = 16 << 20

func newHTTP() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "http URL",
		Short:             "Make an HTTP request, for a job",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
http makes an HTTP request, prints the answer, and exits with 0 if the server
answered with an expected code. A job with a url in TOML runs this command; a
crontab can use it, too.

The body is standard input, up to 16 MiB. $NAME and ${NAME} in the URL and in
headers are variables of the environment, so that secrets need not be in the job
file. Redirections are followed, as browsers do; to another host they go without
the headers that --header sets, but for Accept, Accept-Language, Content-Type
and User-Agent.`),
		Example: strings.Trim(`
  executord http https://shop.example/refresh
  executord http --method PUT --header 'Authorization: Bearer $TOKEN' https://shop.example/x <body`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("http needs one URL, such as: executord http https://shop.example/refresh")
			}
			return nil
		},
	}
	var r request.Request
	cmd.Flags().StringVar(&r.Method, "method", "", "the method; the default is GET, or POST if there is a body")
	cmd.Flags().StringArrayVar(&r.Headers, "header", nil, "a header, such as 'Accept: text/plain'; may be repeated")
	cmd.Flags().StringVar(&r.Expect, "expect", request.DefaultExpect, "the status codes that count as success, such as 200-299,404")
	cmd.Flags().StringArrayVar(&r.Parameters, "parameter", nil, "a variable whose value is escaped where it stands, and may not choose the server; may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.URL = args[0]
		if err := r.Check(); err != nil {
			return err
		}
		body, err := readBody(os.Stdin)
		if err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		if err := r.Do(context.Background(), body, cmd.OutOrStdout()); err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		return nil
	}
	return cmd
}

// readBody returns standard input, unless that is a terminal or another device.
func readBody(in *os.File) ([]byte, error) {
	info, err := in.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = errors.New("the body is larger than 16 MiB")
	}
	return body, err
}
