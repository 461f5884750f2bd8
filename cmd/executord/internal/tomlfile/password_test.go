package tomlfile

import (
	"strings"
	"testing"
)

// A password in what becomes an argument of a process is noted, and is in no note; one that is a variable is not noted.
func TestParseNotesPasswords(t *testing.T) {
	const least = "[[job]]\nname = 'a'\nschedule = '@daily'\n"
	for text, want := range map[string]string{
		"url = 'https://me:hunter2@shop/x'\n":                                            "url has what may be a password",
		"url = 'https://me:hunter2@shop/$PAGE'\n":                                        "url has what may be a password",
		"url = 'https://me:hunter2$PART@shop/'\n":                                        "url has what may be a password",
		"url = 'https://me:$PASSWORD@shop/${PAGE}?token=$TOKEN'\n":                       "",
		"url = 'https://shop/$PAGE?password=hunter2'\n":                                  "url has what may be a password",
		"url = 'https://shop/$PAGE?password=$PASSWORD&a=b'\n":                            "",
		"url = 'https://shop/x'\nheaders = { X-Api-Key = 'hunter2-$PART' }\n":            "headers has what may be a password",
		"url = 'https://shop/x'\nheaders = { Cookie = 'session=$SESSION' }\n":            "",
		"url = 'https://shop/x?page=1'\n":                                                "",
		"url = 'https://shop/x'\nheaders = { Authorization = 'Bearer hunter2' }\n":       "headers has what may be a password",
		"url = 'https://shop/x'\nheaders = { X-Api-Key = 'hunter2' }\n":                  "headers has what may be a password",
		"url = 'https://shop/x'\nheaders = { authorization = 'Bearer $TOKEN', A = 'b' }": "",
	} {
		f, err := Parse("tab", []byte(least+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		notes := ""
		for _, note := range f.Notes {
			notes += note.What + note.Hint + note.Text
		}
		if (want == "") != (notes == "") || !strings.HasPrefix(notes, want) || strings.Contains(notes, "hunter2") {
			t.Errorf("%s: notes %q, want %q", text, notes, want)
		}
	}
}
