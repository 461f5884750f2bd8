// Package roles reads the file of tokens by which a daemon knows who asks, and what that one may do.
package roles

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Role is what a token is for. The words are documented.
type Role string

const (
	View    Role = "view"    // look at all pages
	Operate Role = "operate" // act on jobs, too
)

// All are all roles.
var All = []string{string(View), string(Operate)}

const (
	// Shortest is how many characters a token has at least. It is documented.
	Shortest = 16

	// MaxSize is how many bytes a file of tokens may have, and most how many tokens. They are documented.
	MaxSize, most = 64 << 10, 500
)

// Sum is what is kept of a token.
type Sum [sha256.Size]byte

// Token is one of a file.
type Token struct {
	Name string // of who has it; "" for the only one of a file that has nothing else
	Role Role
	Sum  Sum
}

// SumOf returns the sum of the text of a token.
func SumOf(text string) Sum { return sha256.Sum256([]byte(text)) }

// Tokens are those of a file.
type Tokens []Token

// Find returns the token with a text, in a time that says nothing of the others; false if there is none.
func (ts Tokens) Find(text string) (found Token, ok bool) { return ts.BySum(SumOf(text)) }

// BySum is Find for a sum.
func (ts Tokens) BySum(sum Sum) (found Token, ok bool) {
	for _, t := range ts {
		if subtle.ConstantTimeCompare(t.Sum[:], sum[:]) == 1 {
			found, ok = t, true
		}
	}
	return found, ok
}

const (
	hint     = "write NAME ROLE TOKEN on each line, as in: ann operate TOKEN; or one token alone"
	tokenIs  = "a token is one word of 16 characters or more, as head -c 24 /dev/urandom | base64 prints it"
	nameHint = "use one word of letters, digits and . _ - /"
)

// Parse reads a file. It has a token alone, which may all; or a line for each token: the name of who has it, its role,
// and the token, with blanks between them. Empty lines and those that begin with # do not count. An error has no word
// of a token.
func Parse(data []byte) (tokens Tokens, err error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the file is larger than %d KiB", MaxSize>>10)
	}
	alone := false
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		wrong := func(format string, args ...any) (Tokens, error) {
			return nil, fmt.Errorf("line %d: "+format, append([]any{number}, args...)...)
		}
		if len(tokens) == most {
			return wrong("a file has at most %d tokens", most)
		}
		t := Token{Role: Operate}
		if len(fields) > 1 {
			t.Name, t.Role = fields[0], Role(fields[1])
		}
		switch {
		case alone, len(fields) == 1 && len(tokens) > 0:
			return wrong("a token without a name has to be alone; %s", hint)
		case len(fields) != 1 && len(fields) != 3:
			return wrong("it has %d words; %s", len(fields), hint)
		case t.Name != "" && !job.ValidName(t.Name):
			return wrong("the first word cannot be a name; %s", nameHint)
		case !slices.Contains(All, string(t.Role)):
			return wrong("the second word is no role; it must be one of %s", strings.Join(All, ", "))
		case !valid(fields[len(fields)-1]):
			return wrong("%s", tokenIs)
		}
		t.Sum = SumOf(fields[len(fields)-1])
		if i := slices.IndexFunc(tokens, func(other Token) bool { return other.Name == t.Name }); i >= 0 {
			return wrong("the name %s is used twice", t.Name)
		}
		if other, taken := tokens.BySum(t.Sum); taken {
			return wrong("%s and %s have the same token", other.Name, t.Name)
		}
		alone = len(fields) == 1
		tokens = append(tokens, t)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("the file has no token; %s", tokenIs)
	}
	return tokens, nil
}

// valid reports whether a word can be a token.
func valid(word string) bool {
	return len(word) >= Shortest && !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Only reads the file of who has a token: that alone, in which a name and a role may be before it.
func Only(data []byte) (text string, err error) {
	tokens, err := Parse(data)
	if err != nil {
		return "", err
	}
	if len(tokens) > 1 {
		return "", fmt.Errorf("the file has %d tokens; write yours alone into a file", len(tokens))
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			text = fields[len(fields)-1]
		}
	}
	return text, nil
}
