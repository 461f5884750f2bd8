package page

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// A Zone is in which time zone a reader wants times to be shown. The zero Zone is that of the program, [time.Local].
type Zone struct {
	name string         // as the cookie has it
	in   *time.Location // nil for time.Local
}

const (
	zoneCookie = "executor-zone"
	ofJobs     = "job"
	mostZone   = 64 // bytes of a name
)

// ZoneOf returns the Zone that the reader of a request has chosen by ServeZone.
func ZoneOf(r *http.Request) Zone {
	c, err := r.Cookie(zoneCookie)
	if err != nil {
		return Zone{}
	}
	z, _ := ZoneNamed(c.Value)
	return z
}

// ZoneNamed returns the Zone with a name, as Name returns it: "", "job", "UTC" or such as "Europe/Berlin". It returns false,
// and the zero Zone, if there is none.
func ZoneNamed(name string) (Zone, bool) {
	switch {
	case name == "":
		return Zone{}, true
	case name == ofJobs:
		return Zone{name: name}, true
	case len(name) > mostZone, name == "Local":
		return Zone{}, false
	}
	in, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, false
	}
	return Zone{name, in}, true
}

// Name returns the name of z, for ZoneNamed.
func (z Zone) Name() string { return z.name }

// OfJobs reports whether times of a job are to be shown in the zone of the job. Other times are in that of the program.
func (z Zone) OfJobs() bool { return z.name == ofJobs }

// Location returns the zone of times that are not those of a job.
func (z Zone) Location() *time.Location {
	if z.in == nil {
		return time.Local
	}
	return z.in
}

// In returns t in the zone, and the zero Time as it is.
func (z Zone) In(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(z.Location())
}

// OfJob returns a time of a job, which is in the job's zone, as it is to be shown.
func (z Zone) OfJob(t time.Time) time.Time {
	if z.OfJobs() {
		return t
	}
	return z.In(t)
}

// Now returns the time now, in the zone.
func (z Zone) Now() time.Time { return z.In(time.Now()) }

// Says returns the short name that the zone has now, such as "CET", or "the job's".
func (z Zone) Says() string {
	if z.OfJobs() {
		return "the job's"
	}
	return z.Now().Format("MST")
}

type zoneKey struct{}

// WithZone returns a context that has a Zone.
func WithZone(ctx context.Context, z Zone) context.Context {
	return context.WithValue(ctx, zoneKey{}, z)
}

// ZoneFrom returns the Zone that a context has, the zero Zone if it has none.
func ZoneFrom(ctx context.Context) Zone {
	z, _ := ctx.Value(zoneKey{}).(Zone)
	return z
}

// ServeZone keeps the Zone that the query names as "in" in a cookie, and leads to the page that it names as "to": one
// beside it, with its query. The answer has status 400 if there is no such zone.
func ServeZone(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	z, ok := ZoneNamed(q.Get("in"))
	if !ok {
		Refuse(w, r, http.StatusBadRequest, "there is no time zone "+Printable(q.Get("in"), mostZone)+"; name one such as Europe/Berlin, UTC, or job")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: zoneCookie, Value: z.name, MaxAge: 366 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	SeeOther(w, beside(q.Get("to")))
}

// beside returns the address of a page in the same directory, whatever a link says.
func beside(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return "./"
	}
	name := path.Base("/" + u.Path)
	if name == "/" || strings.HasSuffix(u.Path, "/") {
		name = ""
	}
	here := url.URL{Path: "./" + name, RawQuery: u.RawQuery}
	return here.String()
}
