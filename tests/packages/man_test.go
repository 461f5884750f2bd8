package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Nothing of the manual's text is lost in the page, and the sections are those of the manual.
func TestManPageHasTheManual(t *testing.T) {
	manual := readManual(t)
	page := manPage(manual, "v0.1.0")
	sections := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(manual, -1)
	for _, m := range sections {
		if !strings.Contains(page, "\n.SH \""+strings.ToUpper(m[1])+"\"\n") {
			t.Errorf("the section %q is missing", m[1])
		}
	}
	if len(sections) < 10 {
		t.Errorf("found only %d sections", len(sections))
	}
	word := regexp.MustCompile(`\pL[\pL\pN_]+`)
	shown := strings.NewReplacer(`\-`, "-", `\fB`, " ", `\fR`, " ", `\e`, `\`, `\&`, "").Replace(page)
	got := make(map[string]int)
	for _, w := range word.FindAllString(strings.ToLower(shown), -1) {
		got[w]++
	}
	// Take out what the page leaves out, and where links lead.
	rest := regexp.MustCompile(`(?m)^- \[.*\]\(#.*\)$|^!\[.*|\]\([^)]*\)`).ReplaceAllString(manual, "")
	rest = regexp.MustCompile(`(?m)^`+"```"+`\w+`).ReplaceAllString(rest, "")
	rest = regexp.MustCompile(`(?m)^\|[^|\n]*(\|.*\n\|---)`).ReplaceAllString(rest, "$1") // the title of the terms of a list
	lost := 0
	for _, w := range word.FindAllString(strings.ToLower(rest), -1) {
		if got[w]--; got[w] < 0 {
			if lost++; lost <= 10 {
				t.Errorf("a %q is lost", w)
			}
		}
	}
}

// Texts that roff could take for commands are shown as they are.
func TestManPageShowsCommandsOfRoff(t *testing.T) {
	page := manPage("# x\n\n.start of `.code`\n'quote\n\n```\n.TH \\fB --flag\n```\n\n| a | b |\n|---|---|\n| `x \\| y` | .z |\n| n |  |\n", "v1")
	for _, want := range []string{
		"\n\\&.start of \\fB.code\\fR\n\\&'quote\n", "\n.EX\n\\&.TH \\efB \\-\\-flag\n.EE\n", "\n.TP\n\\fBx | y\\fR\nb: .z\n", "\n.TP\nn\n\\&\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}

// groff has nothing to warn of.
func TestManPageIsRight(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(groff, "-man", "-Kutf8", "-Tutf8", "-ww", "-rLL=100n")
	cmd.Stdin = strings.NewReader(manPage(readManual(t), "v0.1.0"))
	var warnings strings.Builder
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	// A line that is too long, in an example or a name, is shown all the same.
	text := regexp.MustCompile(`(?m)^.*(can't break line|cannot adjust line).*\n?`).ReplaceAllString(warnings.String(), "")
	if err != nil || text != "" || len(out) < 10_000 {
		t.Errorf("%d bytes, error %v, warnings:\n%s", len(out), err, text)
	}
}

func readManual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/executord.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
