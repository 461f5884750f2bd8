//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// podVariable has the root of a pod, as rootVariable has that of a container.
const podVariable = "EXECUTORD_TEST_POD_ROOT"

// object is an object of Kubernetes, or a part of one.
type object map[string]any

// at returns the value at a path of keys, and of indices of lists.
func (o object) at(path ...any) any {
	var v any = map[string]any(o)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// list returns the objects of a list at a path.
func (o object) list(path ...any) (all []object) {
	list, _ := o.at(path...).([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		all = append(all, m)
	}
	return all
}

// kubectl returns what kubectl, without a cluster, makes of an object in YAML.
func kubectl(t *testing.T, yaml string, args ...string) (o object) {
	t.Helper()
	cmd := exec.Command("kubectl", append(args, "--local", "-o", "json", "-f", "-")...)
	cmd.Stdin = strings.NewReader(yaml)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &o)
	}
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, stderr.String(), yaml)
	}
	return o
}

// manifest returns the objects of packaging/kubernetes.yaml by their kinds, of which there is one each.
func manifest(t *testing.T) (objects map[string]object, yaml map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("../../packaging/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, yaml = make(map[string]object), make(map[string]string)
	for _, one := range strings.Split(string(text), "\n---\n") {
		o := kubectl(t, one, "label", "tested=yes")
		kind := fmt.Sprint(o["kind"])
		objects[kind], yaml[kind] = o, one
	}
	return objects, yaml
}

// missing returns the paths of what a value has and another has not.
func missing(path string, have, want any) (lost []string) {
	switch want := want.(type) {
	case map[string]any:
		have, _ := have.(map[string]any)
		for key, v := range want {
			lost = append(lost, missing(path+"."+key, have[key], v)...)
		}
		return lost
	case []any:
		have, _ := have.([]any)
		for i, v := range want {
			var one any
			if i < len(have) {
				one = have[i]
			}
			lost = append(lost, missing(fmt.Sprintf("%s[%d]", path, i), one, v)...)
		}
		return lost
	}
	if !reflect.DeepEqual(have, want) {
		lost = append(lost, path)
	}
	return lost
}

// The types of Kubernetes have each field of the manifest, and its parts refer to each other.
func TestKubernetesManifestIsRight(t *testing.T) {
	objects, yaml := manifest(t)
	deployment, service := objects["Deployment"], objects["Service"]
	for kind, args := range map[string][]string{"Deployment": {"set", "env", "TESTED=yes"}, "Service": {"set", "selector", "app.kubernetes.io/name=executord"}} {
		typed, want := kubectl(t, yaml[kind], args...), objects[kind]
		delete(want.at("metadata", "labels").(map[string]any), "tested")
		for _, path := range missing(kind, map[string]any(typed), map[string]any(want)) {
			t.Errorf("there is no such field: %s", path)
		}
	}

	labels := deployment.at("spec", "template", "metadata", "labels")
	for what, selector := range map[string]any{
		"the deployment": deployment.at("spec", "selector", "matchLabels"), "the service": service.at("spec", "selector"),
	} {
		if labels == nil || !reflect.DeepEqual(selector, labels) {
			t.Errorf("%s selects %v, and the pods have %v", what, selector, labels)
		}
	}
	mounted := make(map[string]bool)
	for _, m := range deployment.list("spec", "template", "spec", "containers", 0, "volumeMounts") {
		mounted[fmt.Sprint(m["name"])] = true
	}
	for _, v := range deployment.list("spec", "template", "spec", "volumes") {
		if name := fmt.Sprint(v["name"]); !mounted[name] {
			t.Errorf("the volume %s is not mounted", name)
		} else {
			delete(mounted, name)
		}
		for path, kind := range map[[2]string]string{{"configMap", "name"}: "ConfigMap", {"persistentVolumeClaim", "claimName"}: "PersistentVolumeClaim"} {
			if name := v.at(path[0], path[1]); name != nil && name != objects[kind].at("metadata", "name") {
				t.Errorf("the volume %v is of a %s %v, which is not there", v["name"], kind, name)
			}
		}
	}
	if len(mounted) > 0 {
		t.Errorf("mounted, and no volumes: %v", mounted)
	}
}

// The pod of the manifest, whose root cannot be written to, is alive and ready by its probes, which come from another
// address than its own, and follows a change of the ConfigMap.
func TestKubernetesPodRuns(t *testing.T) {
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("it builds executord")
	}
	objects, _ := manifest(t)
	needNamespace(t)
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip(err)
	}
	dir, err := dist()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root")
	if out, err := exec.Command("../../packaging/image-root", root, filepath.Join(dir, "executord-linux-"+runtime.GOARCH)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pod, err := json.Marshal(map[string]any{
		"files":     objects["ConfigMap"]["data"],
		"container": objects["Deployment"].at("spec", "template", "spec", "containers", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	inside := exec.Command("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--propagation", "private",
		"sh", "-c", `ip link set lo up && ip address add 10.1.2.3/32 dev lo && exec "$0" "$@"`, os.Args[0], string(pod))
	inside.Env = append(os.Environ(), podVariable+"="+root)
	if out, err := inside.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// runPod runs what TestKubernetesPodRuns hands to it.
func runPod(root, text string) error {
	var pod struct {
		Files     map[string]string
		Container object
	}
	if err := json.Unmarshal([]byte(text), &pod); err != nil {
		return err
	}
	i, err := readImage()
	if err != nil {
		return err
	}
	i.root = root
	var arguments []string
	for _, arg := range pod.Container["args"].([]any) {
		arguments = append(arguments, fmt.Sprint(arg))
	}
	for _, e := range pod.Container.list("env") {
		i.Env = append(i.Env, fmt.Sprintf("%v=%v", e["name"], e["value"]))
	}
	if err := mountPod(root, pod.Files, pod.Container.list("volumeMounts")); err != nil {
		return err
	}

	daemon := i.command(true, append(i.Entrypoint, arguments...)...)
	log, err := daemon.StdoutPipe()
	if err != nil {
		return err
	}
	daemon.Stderr = os.Stderr
	if err := daemon.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(log)
	until := func(message, with string) error {
		for lines.Scan() {
			fmt.Println(lines.Text())
			if strings.Contains(lines.Text(), `"msg":"`+message+`"`) && strings.Contains(lines.Text(), with) {
				return nil
			}
		}
		return fmt.Errorf("%q did not come", message)
	}
	if err := until("job scheduled", ""); err != nil {
		return err
	}
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		url := fmt.Sprintf("http://10.1.2.3:%v%v", pod.Container.at("ports", 0, "containerPort"), pod.Container.at(probe, "httpGet", "path"))
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, answer.Status)
		}
	}
	pod.Files["jobs.toml"] += "\n[[job]]\nname = \"more\"\nschedule = \"@hourly\"\nurl = \"http://shop/more\"\n"
	if err := writeConfigMap(filepath.Join(root, "etc", "executord"), "..2", pod.Files); err != nil {
		return err
	}
	if err := until("job scheduled", `"job":"more"`); err != nil {
		return err
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	go io.Copy(io.Discard, log)
	return daemon.Wait()
}

// mountPod makes the file systems of the pod: its root is read-only, and its volumes lie in it.
func mountPod(root string, files map[string]string, mounts []object) error {
	err := syscall.Mount(root, root, "", syscall.MS_BIND, "")
	for _, m := range append(mounts, object{"mountPath": "/proc"}, object{"mountPath": "/dev"}) {
		dir := filepath.Join(root, fmt.Sprint(m["mountPath"]))
		err = errors.Join(err, os.MkdirAll(dir, 0o755))
		switch m["mountPath"] {
		case "/proc":
			err = errors.Join(err, syscall.Mount("proc", dir, "proc", 0, ""))
		case "/dev":
			err = errors.Join(err, syscall.Mount("/dev", dir, "", syscall.MS_BIND|syscall.MS_REC, ""))
		default:
			err = errors.Join(err, syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0770,gid=10001")) // fsGroup
		}
		switch m["name"] {
		case "jobs":
			err = errors.Join(err, writeConfigMap(dir, "..1", files))
		case "token":
			err = errors.Join(err, writeConfigMap(dir, "..1", map[string]string{"token": "a-token-of-a-test-1234"}))
		}
	}
	return errors.Join(err, syscall.Mount("", root, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

// writeConfigMap writes files as the kubelet does: in a directory of their own, to which a link leads that is replaced.
func writeConfigMap(dir, name string, files map[string]string) error {
	err := os.Mkdir(filepath.Join(dir, name), 0o755)
	for file, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644))
		if link := os.Symlink(filepath.Join("..data", file), filepath.Join(dir, file)); !errors.Is(link, os.ErrExist) {
			err = errors.Join(err, link)
		}
	}
	next := filepath.Join(dir, "..data_tmp")
	return errors.Join(err, os.Symlink(name, next), os.Rename(next, filepath.Join(dir, "..data")))
}
