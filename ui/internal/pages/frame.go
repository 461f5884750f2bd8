package pages

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// layout is what all pages have.
type layout struct {
	Title, Name string
	Problems    string // how many, "" if there are none
	Events      string
	Tabs        []tab
	Sources     []tab  // links to the same page of another source
	Zone        string // in which times are shown
	Zones       []tab  // to choose another
	Offset      int    // of the zone, in seconds
	ZoneName    string
	Banner      template.HTML
	Main        template.HTML
	Menu        template.HTML
	ReadOnly    bool
}

// serve answers with a page around main.
func (u *Site) serve(w http.ResponseWriter, r *http.Request, status int, v address.View, title, events string, main []byte) {
	text, err := u.framed(r, v, u.problems(r.Context()), title, events, template.HTML(main))
	if err != nil {
		http.Error(w, "ui: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the browser may have left; net/http leaves it out for HEAD
}

// framed returns a page around main.
func (u *Site) framed(r *http.Request, v address.View, problems, title, events string, main template.HTML) ([]byte, error) {
	p := layout{
		Title: title, Name: u.Title, Problems: problems, Events: events, Tabs: u.tabs(v), Main: main, Menu: u.Menu,
		ReadOnly: !v.Act && !u.own, Banner: u.banner(r.Context()),
	}
	p.zones(r, len(u.Sources) > 0 || u.own)
	if u.kinds[v.Name].jobs && len(u.Sources) > 1 {
		for _, s := range u.Sources {
			to := address.View{Name: v.Name, Source: s.Name}
			if v.Name == "job" {
				to.Name = "jobs"
			}
			p.Sources = append(p.Sources, tab{page.Printable(s.Name, 40), to.Link(), s.Name == v.Source})
		}
	}
	return p.rendered()
}

// zones fills in the time zone of a request, and links to others. That of the browser is added by a script.
func (p *layout) zones(r *http.Request, jobs bool) {
	z := page.ZoneOf(r)
	p.Zone, p.ZoneName = z.Says(), z.Name()
	_, p.Offset = z.Now().Zone()
	to := path.Base("/" + r.URL.Path)
	if to == "/" || strings.HasSuffix(r.URL.Path, "/") {
		to = ""
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	add := func(name, says string) {
		q := url.Values{"in": {name}, "to": {to}}
		p.Zones = append(p.Zones, tab{says, "zone?" + q.Encode(), z.Name() == name})
	}
	add("", "of the program, "+time.Now().Local().Format("MST"))
	add("UTC", "UTC")
	if jobs {
		add("job", "the job's")
	}
	if z.Name() != "" && z.Name() != "UTC" && !z.OfJobs() {
		add(z.Name(), z.Name())
	}
}

func (p layout) rendered() ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "page", p)
	return b.Bytes(), err
}

// tabs returns the links of the header to the views that there are.
func (u *Site) tabs(v address.View) (all []tab) {
	shown, known := u.kinds[v.Name]
	first := known && shown.template == "" && shown.tab == "" // it is of the program's own, and has no tab
	for i, name := range u.tabOrder {
		kind := u.kinds[name]
		if kind.pools && !u.Pooled || kind.jobs && u.sourceOf(kind, "") == nil {
			continue
		}
		to := address.View{Name: name}
		if kind.jobs {
			to.Source = v.Source
		}
		all = append(all, tab{kind.tab, to.Link(), name == v.Name || first && i == 0 || slices.Contains(under[name], v.Name)})
	}
	return all
}

// under are the views whose tab is that of another one.
var under = map[string][]string{"pools": {"pool"}, "jobs": {"job", "dead"}}

// here is where the content of a page is, while there is none.
const here = "\x00"

// Frame returns what is before and after the content of a page with this title. The tab of the page with this path is
// marked, if there is one. Problems are not counted.
func (u *Site) Frame(r *http.Request, title, path string) (head, tail []byte, err error) {
	return around(u.framed(r, address.View{Name: path}, "", title, "", here))
}

// BareFrame is Frame without tabs, menu and footer.
func (u *Site) BareFrame(title string) (head, tail []byte, err error) {
	return around(layout{Title: title, Name: u.Title, Main: here}.rendered())
}

func around(text []byte, err error) (head, tail []byte, _ error) {
	head, tail, _ = bytes.Cut(text, []byte(here))
	return head, tail, err
}
