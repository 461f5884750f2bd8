package notify

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// MailConfig configures mail.
type MailConfig struct {
	From string   // an address; required
	To   []string // addresses; at least one

	// Server is HOST or HOST:PORT. "" has the program sendmail send the mail.
	Server   string
	TLS      string // one of Securities; "" for starttls
	User     string // "" for no login
	Password string
	Roots    *tls.Config // nil for the system's

	// Sendmail is the program and its first arguments.
	Sendmail []string
	Run      Runner // of Sendmail
}

// Securities are how a connection to a mail server is made secret, in the order of the manual. The port is 587 with
// starttls, 465 with tls and 25 with none, unless one is written.
var Securities = []string{"starttls", "tls", "none"}

// A Runner runs a program with an input, and returns the end of its output. An error says that it did not end with
// exit code 0.
type Runner func(ctx context.Context, args, env []string, input string) (output string, err error)

// Mail sends messages by SMTP, or by the program sendmail.
type Mail struct {
	MailConfig
	host string
	port int
}

// NewMail returns Mail, or what is wrong with its configuration.
func NewMail(c MailConfig) (*Mail, error) {
	m := &Mail{MailConfig: c}
	if _, err := mail.ParseAddress(c.From); err != nil {
		return nil, fmt.Errorf("from %q is not an address", c.From)
	}
	if len(c.To) == 0 {
		return nil, errors.New("there is no recipient")
	}
	for _, to := range c.To {
		if _, err := mail.ParseAddress(to); err != nil {
			return nil, fmt.Errorf("to %q is not an address", to)
		}
	}
	if c.Server == "" {
		if len(c.Sendmail) == 0 || c.Run == nil {
			return nil, errors.New("neither server nor sendmail is set")
		}
		return m, nil
	}
	ports := map[string]int{"": 587, "starttls": 587, "tls": 465, "none": 25}
	var known bool
	if m.port, known = ports[c.TLS]; !known {
		return nil, fmt.Errorf("tls %q is not one of %s", c.TLS, strings.Join(Securities, ", "))
	}
	m.host = c.Server
	if host, port, err := net.SplitHostPort(c.Server); err == nil {
		if m.port, err = strconv.Atoi(port); err != nil || m.port < 1 || m.port > 65535 {
			return nil, fmt.Errorf("%q is not a port", port)
		}
		m.host = host
	}
	if c.User != "" && c.TLS == "none" {
		return nil, errors.New("a password is not sent without TLS")
	}
	return m, nil
}

// Send implements Way. A server that refuses a recipient refuses the mail to all, so the others get one by themselves.
func (m *Mail) Send(ctx context.Context, message Message) (string, error) {
	if m.Server == "" {
		return m.giveToSendmail(ctx, message)
	}
	err := m.deliver(ctx, message, m.To)
	accepted, refused := m.To, ""
	if isRecipient(err) && isFinal(err) && len(m.To) > 1 {
		accepted = nil
		for _, to := range m.To {
			one := m.deliver(ctx, message, []string{to})
			if one != nil {
				refused += "; not for " + to + ": " + one.Error()
			} else {
				accepted = append(accepted, to)
			}
			if err == nil || !isFinal(one) { // another try may help while none has accepted it
				err = one
			}
		}
		if len(accepted) > 0 {
			err = nil
		}
	}
	switch {
	case err != nil && isFinal(err):
		return "", &Refusal{err}
	case err != nil:
		return "", err
	}
	return m.host + " accepted it for " + strings.Join(accepted, ", ") + refused, nil
}

// isFinal reports whether a server has refused a mail for good.
func isFinal(err error) bool {
	var failure *gomail.SendError
	var refusal *Refusal
	return errors.As(err, &refusal) || errors.As(err, &failure) && !failure.IsTemp() && failure.ErrorCode() >= 500
}

// isRecipient reports whether a server has refused a recipient.
func isRecipient(err error) bool {
	var failure *gomail.SendError
	return errors.As(err, &failure) && failure.Reason == gomail.ErrSMTPRcptTo
}

// compose returns the mail to some of the recipients.
func (m *Mail) compose(message Message, to []string) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(m.From), msg.To(to...)); err != nil {
		return nil, &Refusal{err}
	}
	msg.Subject(message.Subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(messageID(m.From))
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office replies
	msg.SetBodyString(gomail.TypeTextPlain, message.Text)
	return msg, nil
}

// messageID returns a new Message-ID: letters and digits, and the host of the sender.
func messageID(from string) string {
	host := "executord.invalid"
	if a, err := mail.ParseAddress(from); err == nil {
		host = strings.Trim(a.Address[strings.LastIndexByte(a.Address, '@')+1:], ".")
	}
	return rand.Text() + "@" + host
}

// giveToSendmail has a program send the mail.
func (m *Mail) giveToSendmail(ctx context.Context, message Message) (string, error) {
	msg, err := m.compose(message, m.To)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if _, err := msg.WriteTo(&text); err != nil {
		return "", &Refusal{err}
	}
	output, err := m.Run(ctx, m.Sendmail, nil, strings.ReplaceAll(text.String(), "\r\n", "\n"))
	if err != nil {
		return "", fmt.Errorf("%s: %w %s", m.Sendmail[0], err, output)
	}
	return strings.TrimSpace("given to " + m.Sendmail[0] + " for " + strings.Join(m.To, ", ") + " " + output), nil
}

// deliver sends the mail to some of the recipients by the server.
func (m *Mail) deliver(ctx context.Context, message Message, to []string) (err error) {
	msg, err := m.compose(message, to)
	if err != nil {
		return err
	}
	secure := &tls.Config{ServerName: m.host, MinVersion: tls.VersionTLS12}
	if m.Roots != nil {
		secure = m.Roots
	}
	var connection net.Conn // which the client leaves open after some errors
	stop := func() bool { return true }
	defer func() {
		stop()
		if connection != nil {
			connection.Close()
		}
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	options := []gomail.Option{
		gomail.WithPort(m.port), gomail.WithTimeout(sendTimeout), gomail.WithoutNoop(), gomail.WithTLSConfig(secure),
		gomail.WithDialContextFunc(func(dial context.Context, network, address string) (c net.Conn, err error) {
			if c, err = new(net.Dialer).DialContext(dial, network, address); err != nil {
				return nil, err
			}
			c = &bounded{c, maxAnswers}
			if m.TLS == "tls" {
				c = tls.Client(c, secure) // which greets the server when it is used
			}
			stop = context.AfterFunc(ctx, func() { c.Close() }) // the client does not watch ctx while it reads and writes
			connection = c
			return c, nil
		}),
	}
	switch m.TLS {
	case "tls": // which is there already; with WithSSL, the client would not know that it is, and offer no password
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case "none":
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if m.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(m.User),
			gomail.WithPassword(m.Password))
	}
	c, err := gomail.NewClient(m.host, options...)
	if err != nil {
		return &Refusal{err}
	}
	client, err := c.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if err := c.SendWithSMTPClient(client, msg); err != nil {
		return err
	}
	c.CloseWithSMTPClient(client) // the mail is accepted, whatever the server says at the end
	return nil
}

// maxAnswers is how many bytes the answers of a server to one mail have, at most, with its certificates. The client keeps
// each line of them, however long.
const maxAnswers = 1 << 20

// errAnswers is the error of a server that answers more.
var errAnswers = fmt.Errorf("the mail server has answered with more than %d MiB", maxAnswers>>20)

// bounded is a connection from which so much is read.
type bounded struct {
	net.Conn
	left int
}

func (c *bounded) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, errAnswers
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// Secrets implements Way.
func (m *Mail) Secrets() []string { return []string{m.Password} }
