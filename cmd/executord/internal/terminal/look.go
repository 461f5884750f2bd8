package terminal

import (
	"os"
	"strings"
)

// Look is how signs and colours are written.
type Look struct{ Color, ASCII bool }

// LookOf returns how signs and colours are written for the user to w: colours to a terminal only.
func LookOf(w *os.File) Look { return lookOf(Is(w)) }

func lookOf(terminal bool) Look {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = os.Getenv(name); locale != "" {
			break
		}
	}
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return Look{
		Color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		ASCII: !strings.Contains(locale, "utf8"),
	}
}

// Paint colours a text: by what a sequence of the terminal has for the color, as 31 for red.
func (l Look) Paint(color, text string) string {
	if !l.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
