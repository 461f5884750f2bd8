//go:build unix

package main

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// mailbox is a server that takes mail, by TLS, after STARTTLS or in the clear. It wants a login unless in the clear.
type mailbox struct {
	address string
	mails   chan string
}

func newMailbox(t *testing.T, security string, certificate tls.Certificate) *mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &mailbox{address: l.Addr().String(), mails: make(chan string, 100)}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	done := make(chan struct{})
	go func() { // ends when the listener is closed
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(patience))
			if security == "tls" {
				c = tls.Server(c, config)
			}
			b.serve(c, security, config)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return b
}

func (b *mailbox) serve(c net.Conn, security string, config *tls.Config) {
	defer func() { c.Close() }()
	in := bufio.NewReader(c)
	say := func(text string) { io.WriteString(c, text+"\r\n") }
	say("220 test")
	secure, login := security == "tls", ""
	var to []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		switch word, _, _ := strings.Cut(line, " "); strings.ToUpper(word) {
		case "EHLO":
			switch {
			case security == "starttls" && !secure:
				say("250-test\r\n250 STARTTLS")
			case secure:
				say("250-test\r\n250 AUTH PLAIN")
			default:
				say("250 test")
			}
		case "STARTTLS":
			say("220 go on")
			c, secure = tls.Server(c, config), true
			in = bufio.NewReader(c)
		case "AUTH":
			text, _ := base64.StdEncoding.DecodeString(line[len("AUTH PLAIN "):])
			login = strings.ReplaceAll(string(text), "\x00", " ")
			say("235 welcome")
		case "RCPT":
			to = append(to, line)
			say("250 ok")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for line := ""; line != ".\r\n"; text.WriteString(line) {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
			}
			say("250 queued")
			b.mails <- fmt.Sprintf("secure=%v login=%q to=%q\n%s", secure, login, to, text.String())
			to = nil
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// Mail about a job goes to the MAILTO above it, by the server of the channel, whose certificate is checked, and whose
// password is from a file and is shown nowhere.
func TestMailToSendsMail(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	s.Close() // for its certificate
	roots := write(t, "roots.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	tab := write(t, "jobs.crontab", "MAILTO=ada@example.org,bob@example.org\n# name: backup\n@reboot echo no space left; exit 4\nMAILTO=\"\"\n# name: silent\n@reboot exit 5\n")
	password := write(t, "password", "hunter2hunter2\n")
	for _, security := range []string{"tls", "none", "starttls"} {
		box := newMailbox(t, security, s.TLS.Certificates[0])
		settings := "mail = \"ops@example.org\"\nfrom = \"cron@example.org\"\nserver = \"" + box.address + "\"\ntls = \"" + security + "\"\n"
		login := ""
		if security != "none" {
			settings += "login = \"me\"\npassword_file = \"" + password + "\"\n"
			login = " me hunter2hunter2"
		}
		channels := write(t, "notify.toml", "[notify.mail]\n"+settings)
		if out, _, code := output(t, "", "notify", "test", channels); security != "none" && (code != exitMistake || !strings.Contains(out, "certificate") || len(box.mails) != 0) {
			t.Errorf("%s: a server that nobody knows: exit code %d, %s", security, code, out)
		} else if security == "none" && code != 0 || strings.Contains(out, "hunter2") {
			t.Errorf("%s: exit code %d, %s", security, code, out)
		} else if security == "none" {
			<-box.mails
		}
		cmd := executord(t, "run", tab, channels)
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+roots, "SSL_CERT_DIR=/none")
		p := startCommand(t, cmd)
		p.until("notification sent")
		p.end()
		mail := <-box.mails
		want := fmt.Sprintf("secure=%v login=%q to=[\"RCPT TO:<ada@example.org>\" \"RCPT TO:<bob@example.org>\"]\n", security != "none", login)
		if !strings.HasPrefix(mail, want) || !strings.Contains(mail, "backup has failed: exit status 4") || !strings.Contains(mail, "no space left") {
			t.Errorf("%s: the mail is %s, want %s", security, mail, want)
		}
		if len(box.mails) != 0 {
			t.Errorf("%s: there is another mail: %s", security, <-box.mails)
		}
		if log := fmt.Sprint(p.log); strings.Contains(log, "hunter2") {
			t.Errorf("%s: the password is in the log: %s", security, log)
		}
	}
}
