package complaint

import "testing"

// What is no password stays as it is.
func TestWithoutSecretsKeepsTheRest(t *testing.T) {
	for _, text := range []string{
		"jobs.crontab does not exist", "tab:3: minute \"61\": must be 0 to 59", "the store postgres://me@h:5432/db: no",
		"the store's URL cannot be read: a character such as % # / ? @ in the password is written as %25 %23 %2F %3F %40",
		"executord: at 12:30 to me@example.org", "postgres://me@h:1/x?a=b: cannot parse: `postgres://me@h:1/x`",
	} {
		if got := WithoutSecrets(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"postgres://me:pw@h/db no":      "postgres://me:xxxxx@h/db no",
		"postgres://me:p@w@h/db":        "postgres://me:xxxxx@h/db",
		"/srv/me:pw@h":                  "/srv/me:xxxxx@h",
		"host=h password='p w' user=me": "host=h password=xxxxx user=me",
		"a?password=pw&b=c":             "a?password=xxxxx&b=c",
	} {
		if got := WithoutSecrets(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
