package tomlfile

import (
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/job/jobtest"
)

// Of any input Parse returns either mistakes or jobs that can run, under names that
// a file may give.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		least, least + least,
		"timezone='UTC'\n[env]\nA='1'\n" + least + "[job.env]\nB=\"\"\"\n\"\"\"\n",
		"job = [{name='a', schedule='@every 1h', command=['x', 'y']}]",
		"[[job]\nname=a\n[job.env]\n[[job.env]]\n[job]\na.b.c=1\na.b=2\n",
		"a=[\n[[job]]\nx='''\n[y]\n", "\ufeff# \xff\n", "[", "[[", "a=", "a={", "\x00", "a=1\n\r", "=",
		"[env.x]\n[[env.x]]\n[env.x.y]\njob=1\n[[job]]\n[job]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > jobtest.MaxInput {
			return
		}
		file, err := Parse("f.toml", data)
		if wrong := jobtest.CheckRead(data, file, err); wrong != nil {
			t.Fatal(wrong)
		}
		for _, j := range file.Jobs {
			if !job.ValidName(j.Name) {
				t.Errorf("job with a bad name: %+v", j)
			}
		}
	})
}
