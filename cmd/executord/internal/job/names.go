package job

import (
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// NameHint describes the names that a job may have.
const NameHint = "use one word of letters, digits and . _ - / (no longer than 64 bytes)"

// CanonicalName returns a name in the form in which it is kept and looked for, NFC: an
// accented letter can be one character or two, as keyboards, editors and file systems
// have it.
func CanonicalName(name string) string { return norm.NFC.String(name) }

// ValidName reports whether a job may have a name. Names go into logs and
// the environment, and are looked for with grep: no blanks, no colons.
//
// A mark is a part of the letter before it: the vowels of Hindi and Thai are marks. On
// anything else, a slash or the blank before the name, it would hide what that is.
// What has no shape, as a selector or a filler, would make two names that look the same.
func ValidName(name string) bool {
	letter := false // before r is a letter, with or without marks
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		letter = unicode.IsLetter(r) || letter && unicode.IsMark(r)
		return r == unicode.ReplacementChar || shapeless(r) ||
			!letter && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
}

// shapeless reports whether a letter or a mark is invisible.
func shapeless(r rune) bool {
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// ValidVariable reports whether name can be that of an environment variable
// which shells can use.
func ValidVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// ShellHint is the hint for a shell for which TakesC is false.
const ShellHint = `use a TOML file with a command that is a list, such as ["cmd.exe", "/c", "..."], or another shell`

// TakesC reports whether a shell can be given its command after -c. That of
// Windows cannot: it takes no notice, reads its input, which is empty, and ends
// well, as if the command had run.
func TakesC(shell string) bool {
	shell = strings.ToLower(strings.ReplaceAll(shell, `\`, "/"))
	return !strings.HasSuffix(shell, "/cmd.exe") && (strings.HasPrefix(shell, "/") || !strings.HasSuffix(shell, "/cmd"))
}

// IsAbs reports whether a path names the same file from every directory. A
// path with a leading slash does on every system executord is for.
func IsAbs(path string) bool {
	return strings.HasPrefix(path, "/") || filepath.IsAbs(path)
}
