package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/ui/page"
)

// A zone that is chosen by a link is that of later requests, and the link leads back to its page, and to no other site.
func TestZoneIsKept(t *testing.T) {
	for name, says := range map[string]string{"UTC": "UTC", "Asia/Tokyo": "JST", "job": "the job's"} {
		w := httptest.NewRecorder()
		page.ServeZone(w, httptest.NewRequest("GET", "/x/zone?in="+url.QueryEscape(name)+"&to=jobs%3Fstate%3Ddead", nil))
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./jobs?state=dead" {
			t.Errorf("%s: %d %s", name, w.Code, w.Header())
		}
		r := httptest.NewRequest("GET", "/x/", nil)
		for _, c := range w.Result().Cookies() {
			if c.Path != "" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				t.Errorf("the cookie is %+v", c)
			}
			r.AddCookie(c)
		}
		if z := page.ZoneOf(r); z.Name() != name || z.Says() != says || page.ZoneFrom(page.WithZone(context.Background(), z)) != z {
			t.Errorf("%s: %+v %s", name, z, z.Says())
		}
	}
	for _, to := range []string{"https://evil.example/a?b", "//evil.example/a?b", `/\evil.example/a?b`, "../../a?b", "a?b", "/y/a?b"} {
		w := httptest.NewRecorder()
		page.ServeZone(w, httptest.NewRequest("GET", "/x/zone?in=&to="+url.QueryEscape(to), nil))
		at := w.Header().Get("Location")
		if there, err := url.Parse("https://here.example/x/zone"); err != nil {
			t.Fatal(err)
		} else if u, err := there.Parse(at); err != nil || u.Host != "here.example" || !strings.HasPrefix(u.Path, "/x/") || u.RawQuery != "b" {
			t.Errorf("%s leads to %s", to, at)
		}
	}
}

// What is no zone is refused, and in a cookie it is that of the program.
func TestZoneIsKnown(t *testing.T) {
	for _, name := range []string{"Local", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", strings.Repeat("x", 100), "<b>", "utc\n"} {
		w := httptest.NewRecorder()
		page.ServeZone(w, httptest.NewRequest("GET", "/zone?in="+url.QueryEscape(name), nil))
		if w.Code != http.StatusBadRequest || len(w.Result().Cookies()) > 0 {
			t.Errorf("%q: %d", name, w.Code)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(&http.Cookie{Name: "executor-zone", Value: name})
		if z := page.ZoneOf(r); z != (page.Zone{}) || z.Location() != time.Local {
			t.Errorf("%q: %+v", name, z)
		}
	}
}

// Times of jobs stay in the zone of the job if that is wanted, and others are never changed beside.
func TestZoneOfJob(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, tokyo)
	for name, want := range map[string]string{"UTC": "03:00", "job": "12:00", "Europe/Berlin": "04:00"} {
		z, ok := page.ZoneNamed(name)
		if got := z.OfJob(at).Format("15:04"); !ok || got != want || !z.In(time.Time{}).IsZero() {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
