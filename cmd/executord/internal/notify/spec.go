package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
)

// A Setting is one key of a [notify.NAME] table.
type Setting struct {
	Name   string
	List   bool     // several texts are right, too
	Table  bool     // a table of texts; each value is "key: text"
	Values []string // the only ones that are right; nil for any
	Doc    string   // what it is for, for the schema
}

// Settings are the keys of a [notify.NAME] table, in the order of the manual. The first four are the ways, of which a
// channel has one.
var Settings = []Setting{
	{Name: "mail", List: true, Doc: "Addresses that mail is sent to."},
	{Name: "webhook", Doc: "A URL that messages are posted to."},
	{Name: "ping", Doc: "The URL of a monitor that gets the start and the end of each run; {job} stands for the name of the job."},
	{Name: "command", List: true, Doc: "A program and its arguments, with the text as its standard input."},

	{Name: "all", Values: []string{"true", "false"}, Doc: "false: only for jobs that name the channel."},
	{Name: "on", List: true, Values: words(Kinds), Doc: "The events that are sent."},
	{Name: "late", Doc: "Report a run that starts later than this."},
	{Name: "skips", Doc: "Report when this many due times in a row were skipped, or runs replaced."},
	{Name: "limit", Doc: "How many messages there are in an hour at most, 0 for no limit."},
	{Name: "digest", Doc: "For how long events are gathered for one message."},
	{Name: "quiet", Doc: "Hours in which nothing is sent, such as 22:00-07:00."},
	{Name: "timezone", Doc: "The zone of quiet."},
	{Name: "link", Doc: "The address of executord's pages, as readers reach it; messages link to the run."},

	{Name: "from", Doc: "The sender of the mail."},
	{Name: "server", Doc: "The mail server, HOST or HOST:PORT; without it, sendmail sends the mail."},
	{Name: "tls", Values: Securities, Doc: "How the connection to the server is encrypted."},
	{Name: "login", Doc: "The user name for the server."},
	{Name: "password_file", Doc: "A file with the password for the server."},

	{Name: "url_file", Doc: "A file with the URL, instead of one in webhook or ping, which is empty then."},
	{Name: "preset", Values: Presets, Doc: "The service that the URL belongs to."},
	{Name: "token_file", Doc: "A file with a token that is sent as Authorization: Bearer."},
	{Name: "headers", Table: true, Doc: "Headers of the requests."},
	{Name: "header_files", Table: true, Doc: "Headers whose values are in files."},
	{Name: "template", Doc: "The body of a request, a template of Go's text/template."},
	{Name: "style", Values: Styles, Doc: "The monitoring service that the URL belongs to."},
}

func words(kinds []Kind) (all []string) {
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return all
}

// SettingNames returns the names of Settings.
func SettingNames() (names []string) {
	for _, s := range Settings {
		names = append(names, s.Name)
	}
	return names
}

// A Spec is a channel as a file has it.
type Spec struct {
	Name string
	File string // in which it is
	Line int

	// Values has those of each key that is set. A number and a truth are as they are written.
	Values map[string][]string
}

// A SettingError is what is wrong with a channel.
type SettingError struct {
	Setting string // the key that it is about, "" for the table
	Err     error
}

func (e *SettingError) Error() string { return e.Err.Error() }
func (e *SettingError) Unwrap() error { return e.Err }

// These are documented.
const (
	defaultLate  = 5 * time.Minute
	defaultSkips = 3
	defaultLimit = 20
)

// needs has the ways that a key is for, if it is not for all.
var needs = map[string][]string{
	"from": {"mail"}, "server": {"mail"}, "tls": {"mail"}, "login": {"mail"}, "password_file": {"mail"},
	"url_file": {"webhook", "ping"}, "preset": {"webhook"}, "token_file": {"webhook"}, "template": {"webhook"},
	"headers": {"webhook"}, "header_files": {"webhook"},
	"style": {"ping"},
	"on":    {"mail", "webhook", "command"}, "late": {"mail", "webhook", "command"}, "skips": {"mail", "webhook", "command"},
	"limit": {"mail", "webhook", "command"}, "digest": {"mail", "webhook", "command"}, "quiet": {"mail", "webhook", "command"},
	"timezone": {"mail", "webhook", "command"}, "link": {"mail", "webhook", "command"},
}

// sendmail is the program that sends mail without a server, where each system has it.
var sendmail = []string{"/usr/sbin/sendmail", "-t", "-i"}

// Check returns what is wrong, at most once for each key. It does not read the files with secrets: they may be on
// another machine.
func (s Spec) Check() []*SettingError {
	b := &builder{values: s.Values, blind: true}
	s.build(b, func(context.Context, []string, []string, string) (string, error) { return "", nil })
	return b.wrong
}

// Build returns the channel, which runs its programs by run, or a *SettingError. It reads the files with secrets.
func (s Spec) Build(run Runner) (*Channel, error) {
	b := &builder{values: s.Values}
	c := s.build(b, run)
	if len(b.wrong) > 0 {
		return nil, b.wrong[0]
	}
	return c, nil
}

// build returns the channel, unless b has found something wrong.
func (s Spec) build(b *builder, run Runner) *Channel {
	c := &Channel{Name: s.Name}
	way := ""
	for _, setting := range Settings[:4] {
		if _, set := s.Values[setting.Name]; !set {
			continue
		}
		if way != "" {
			b.check(setting.Name, fmt.Errorf("a channel has one target, and this one has %s and %s", way, setting.Name))
			return nil
		}
		way = setting.Name
	}
	if way == "" {
		b.check("", errors.New("the channel has none of mail, webhook, ping, command"))
		return nil
	}
	for _, setting := range Settings {
		ways, limited := needs[setting.Name]
		if _, set := s.Values[setting.Name]; set && limited && !slices.Contains(ways, way) {
			b.check(setting.Name, fmt.Errorf("%s is not for a channel with %s, but for %s", setting.Name, way, strings.Join(ways, ", ")))
		}
		b.known(setting)
	}
	c.ForAll = b.text("all") != "false"
	for _, word := range b.values["on"] {
		c.On = append(c.On, Kind(word))
	}
	c.Late, c.Skips, c.Limit = b.duration("late", defaultLate), max(b.number("skips", defaultSkips), 1), b.number("limit", defaultLimit)
	c.Digest = b.duration("digest", 0)
	b.quiet(c)
	b.link(c)
	if len(b.wrong) > 0 { // the way would be wrong for the same reasons
		return nil
	}
	switch way {
	case "mail":
		b.mail(c, run)
	case "command":
		way, err := NewCommand(b.values["command"], run)
		b.check("command", err)
		c.Way = way
	case "webhook":
		b.webhook(c)
	case "ping":
		if url := b.url("ping"); len(b.wrong) == 0 {
			way, err := NewPing(url, b.text("style"))
			b.check("ping", err)
			c.Way = way
		}
	}
	return c
}

// builder reads values.
type builder struct {
	values map[string][]string
	blind  bool // files with secrets are not read
	wrong  []*SettingError
}

func (b *builder) check(setting string, err error) {
	known := func(e *SettingError) bool { return e.Setting == setting }
	if err != nil && !slices.ContainsFunc(b.wrong, known) {
		b.wrong = append(b.wrong, &SettingError{setting, err})
	}
}

// known checks that a setting has one of its values.
func (b *builder) known(s Setting) {
	for _, value := range b.values[s.Name] {
		if s.Values != nil && !slices.Contains(s.Values, value) {
			b.check(s.Name, fmt.Errorf("%s %q is not one of %s", s.Name, value, strings.Join(s.Values, ", ")))
		}
	}
}

// text returns the value of a key, "" if it is not set.
func (b *builder) text(key string) string {
	if len(b.values[key]) == 0 {
		return ""
	}
	return b.values[key][0]
}

func (b *builder) duration(key string, unset time.Duration) time.Duration {
	text := b.text(key)
	if text == "" {
		return unset
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		b.check(key, fmt.Errorf("%s %q is not a duration, such as 10m", key, text))
	}
	return d
}

func (b *builder) number(key string, unset int) int {
	text := b.text(key)
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		b.check(key, fmt.Errorf("%s %q is not a number, such as 10", key, text))
	}
	return n
}

func (b *builder) quiet(c *Channel) {
	zone := time.Local
	if name := b.text("timezone"); name != "" {
		loc, err := time.LoadLocation(name)
		if b.check("timezone", err); err == nil {
			zone = loc
		}
	}
	if text := b.text("quiet"); text != "" {
		q, err := ParseQuiet(text, zone)
		b.check("quiet", err)
		c.Quiet = q
	}
}

func (b *builder) link(c *Channel) {
	text := b.text("link")
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		b.check("link", errors.New("link is not the address of executord's pages"))
		return
	}
	c.Link = strings.TrimSuffix(u.String(), "/") + "/"
}

// secret returns what the file has that a key names, without blanks around it.
func (b *builder) secret(key string) string { return b.secretIn(key, b.text(key)) }

// maxSecret is how large a file with a secret may be.
const maxSecret = 4 << 10

// secretIn returns what a file has, without blanks around it, "" if there is no name of one.
func (b *builder) secretIn(key, name string) string {
	if name == "" {
		return ""
	}
	if b.blind {
		return "https://hc-ping.com/secret" // right in each place
	}
	text, err := inputfile.Read(name, maxSecret)
	if b.check(key, err); err != nil {
		return ""
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" || len(text) > maxSecret || strings.ContainsAny(secret, "\n\r\x00") {
		b.check(key, fmt.Errorf("%s must have exactly one line that is not empty", name))
	}
	return secret
}

// table returns the values of a table by their keys.
func (b *builder) table(key string) map[string]string {
	values := make(map[string]string)
	for _, entry := range b.values[key] {
		name, value, _ := strings.Cut(entry, ": ")
		values[name] = value
	}
	return values
}

func (b *builder) webhook(c *Channel) {
	config := WebhookConfig{
		URL: b.url("webhook"), Preset: b.text("preset"), Token: b.secret("token_file"), Template: b.text("template"),
		Headers: b.table("headers"), Hidden: b.table("header_files"),
	}
	for name, file := range config.Hidden {
		if file == "" {
			b.check("header_files", fmt.Errorf("the header %s has no file", name))
		}
		config.Hidden[name] = b.secretIn("header_files", file)
	}
	if len(b.wrong) > 0 {
		return
	}
	wrong := "headers"
	if len(config.Headers) == 0 {
		wrong = "header_files"
	}
	b.check(wrong, (&Webhook{headers: make(map[string]string)}).addHeaders(config))
	if len(b.wrong) > 0 {
		return
	}
	way, err := NewWebhook(config)
	b.check("webhook", err)
	c.Way = way
}

// url returns that of a way, which may be in a file.
func (b *builder) url(key string) string {
	url, file := b.text(key), b.secret("url_file")
	if url != "" && file != "" {
		b.check("url_file", fmt.Errorf("the URL is also in %s", key))
	}
	return cmp.Or(url, file)
}

func (b *builder) mail(c *Channel, run Runner) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	config := MailConfig{
		From: cmp.Or(b.text("from"), "executord@"+host), Server: b.text("server"), TLS: b.text("tls"), User: b.text("login"),
		Password: b.secret("password_file"), Sendmail: sendmail, Run: run,
	}
	for _, to := range b.values["mail"] {
		if config.Server == "" && !strings.Contains(to, "@") {
			to += "@" + host // a user of this machine
		}
		config.To = append(config.To, to)
	}
	way, err := NewMail(config)
	b.check("mail", err)
	c.Way = way
}

// FindSetting returns the setting of that name, nil if there is none.
func FindSetting(name string) *Setting {
	for i := range Settings {
		if Settings[i].Name == name {
			return &Settings[i]
		}
	}
	return nil
}

// Hint returns how to mend what is wrong with a setting, or with a channel if it is "".
func Hint(setting string) string {
	switch setting {
	case "":
		return `add one, such as: mail = "ops@example.org"`
	case "ping":
		return `write the whole URL, and whose it is: style = "healthchecks", or "success" if it is called after good runs alone`
	case "webhook":
		return `write the whole URL, such as: webhook = "https://ntfy.sh/my-jobs", and preset = "ntfy"`
	case "digest", "late":
		return "write a number with its unit, such as: " + setting + ` = "10m"`
	case "limit", "skips":
		return "write digits alone, such as: " + setting + " = 10"
	case "quiet":
		return `write two times of day, such as: quiet = "22:00-07:00"`
	case "timezone":
		return `write a name of the IANA database, such as: timezone = "Europe/Berlin"`
	case "link":
		return `write it as a browser of the readers has it: link = "https://cron.example.org/"`
	case "headers":
		return `write a table: headers = { X-Api-Version = "2" }`
	case "header_files":
		return `write a table of files that executord may read: header_files = { Authorization = "/etc/executord/alerts.header" }`
	case "password_file", "token_file", "url_file":
		return "write the path of a file that executord may read, with the secret in it"
	}
	s := FindSetting(setting)
	if s.Values != nil {
		return "choose from " + strings.Join(s.Values, ", ")
	}
	return s.Doc
}
