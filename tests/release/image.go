package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/executor-go/executor/tests/internal/dockerfile"
)

// imageName is the file of a release that has the image, in the layout of OCI, for each system of Linux.
const imageName = "executord-image.tar"

// published is the name by which it is published.
const published = "ghcr.io/executor-go/executord"

// descriptor names a blob of the image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// archive is a tar file with the blobs of an image, each named by its digest.
type archive struct {
	b   bytes.Buffer
	tar *tar.Writer
	had map[string]bool
}

func (a *archive) file(name string, data []byte) error {
	err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0)})
	if err == nil {
		_, err = a.tar.Write(data)
	}
	return err
}

func (a *archive) blob(mediaType string, data []byte) (descriptor, error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	d := descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
	if a.had[sum] {
		return d, nil
	}
	a.had[sum] = true
	return d, a.file("blobs/sha256/"+sum, data)
}

func (a *archive) document(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, err
	}
	return a.blob(mediaType, data)
}

// image returns the image that packaging/Dockerfile makes, of the programs for Linux in a directory: as a file from which
// skopeo and podman take it. It needs no container to be made, only packaging/image-root. With the same programs, and the
// same authorities on the machine, it is the same.
func image(tree, dist, version string, systems []string) ([]byte, error) {
	run, err := dockerfile.Read(filepath.Join(tree, "packaging", "Dockerfile"))
	if err != nil {
		return nil, err
	}
	var uid, gid int
	if _, err := fmt.Sscanf(run.User, "%d:%d", &uid, &gid); err != nil {
		return nil, fmt.Errorf("the user of the image is %q: %w", run.User, err)
	}
	const kind = "application/vnd.oci.image."
	a := archive{had: make(map[string]bool)}
	a.tar = tar.NewWriter(&a.b)
	var manifests []descriptor
	for _, system := range systems {
		arch, linux := strings.CutPrefix(system, "linux/")
		if !linux {
			continue
		}
		plain, err := layer(tree, filepath.Join(dist, "executord-linux-"+arch), filepath.Join(dist, "NOTICES"), uid, gid)
		if err != nil {
			return nil, fmt.Errorf("the image for %s: %w", system, err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(plain); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		files, err := a.blob(kind+"layer.v1.tar+gzip", packed.Bytes())
		if err != nil {
			return nil, err
		}
		config, err := a.document(kind+"config.v1+json", map[string]any{
			"created": "1970-01-01T00:00:00Z", "architecture": arch, "os": "linux",
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
			"config": map[string]any{
				"User": run.User, "WorkingDir": run.Dir, "Env": run.Env, "Entrypoint": run.Entrypoint, "Cmd": run.Arguments,
				"ExposedPorts": map[string]any{run.Port + "/tcp": struct{}{}},
				"Volumes":      map[string]any{run.Volume: struct{}{}},
				"Healthcheck": map[string]any{ // of Docker
					"Test":     append([]string{"CMD"}, run.Health.Command...),
					"Interval": run.Health.Interval, "Timeout": run.Health.Timeout, "StartPeriod": run.Health.StartPeriod,
				},
				"Labels": map[string]string{
					"org.opencontainers.image.source":   "https://github.com/executor-go/executor",
					"org.opencontainers.image.version":  strings.TrimPrefix(version, "v"),
					"org.opencontainers.image.licenses": "MIT",
				},
			},
		})
		if err != nil {
			return nil, err
		}
		manifest, err := a.document(kind+"manifest.v1+json", map[string]any{
			"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "config": config, "layers": []descriptor{files},
		})
		if err != nil {
			return nil, err
		}
		manifest.Platform = map[string]string{"os": "linux", "architecture": arch}
		manifests = append(manifests, manifest)
	}
	index := map[string]any{"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": manifests}
	all, err := a.document(kind+"index.v1+json", index)
	if err != nil {
		return nil, err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": published + ":" + strings.TrimPrefix(version, "v")}
	index["manifests"] = []descriptor{all}
	outer, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	err = errors.Join(a.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)), a.file("index.json", outer), a.tar.Close())
	return a.b.Bytes(), err
}

// layer returns the files of the image for one system, as tar. The user of the image owns /data.
func layer(tree, program, notices string, uid, gid int) ([]byte, error) {
	root, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if out, err := exec.Command(filepath.Join(tree, "packaging", "image-root"), root, program).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("packaging/image-root: %w\n%s", err, out)
	}
	text, err := os.ReadFile(notices)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "etc", "executord", "NOTICES"), text, 0o644); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		h = &tar.Header{Typeflag: h.Typeflag, Name: name, Mode: h.Mode, Size: h.Size, ModTime: time.Unix(0, 0)}
		if d.IsDir() {
			h.Name += "/"
		}
		if name == "data" {
			h.Uid, h.Gid = uid, gid
		}
		if err := w.WriteHeader(h); err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
	return b.Bytes(), errors.Join(err, w.Close())
}
