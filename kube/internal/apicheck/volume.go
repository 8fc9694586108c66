package apicheck

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumes checks volumes, and returns the valid ones by name.
func (c *check) volumes(list []corev1.Volume, at *field.Path) map[string]corev1.VolumeSource {
	out := map[string]corev1.VolumeSource{}
	for i := range list {
		v, at := &list[i], at.Index(i)
		before := len(c.errs)
		c.text(at.Child("name"), v.Name, validation.IsDNS1123Label)
		if _, ok := out[v.Name]; ok {
			c.duplicate(at.Child("name"), v.Name)
		}
		c.volume(&v.VolumeSource, at)
		if len(c.errs) == before {
			out[v.Name] = v.VolumeSource
		}
	}
	return out
}

// maxMode is the highest mode of a file.
const maxMode = 0o777

func (c *check) volume(v *corev1.VolumeSource, at *field.Path) {
	sources := 0
	for i, s := 0, reflect.ValueOf(v).Elem(); i < s.NumField(); i++ {
		if !s.Field(i).IsNil() {
			sources++
		}
	}
	if sources > 1 {
		c.invalid(at, "", "must not have more than one type")
	}
	if s := v.EmptyDir; s != nil && s.SizeLimit != nil {
		c.must(s.SizeLimit.Sign() >= 0, at.Child("emptyDir", "sizeLimit"), s.SizeLimit.String(), "must not be negative")
	}
	if s := v.HostPath; s != nil {
		at := at.Child("hostPath")
		c.text(at.Child("path"), s.Path, noBacksteps)
		if s.Type != nil {
			c.oneOf(at.Child("type"), string(*s.Type), false, "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
		}
	}
	if s := v.Secret; s != nil {
		at := at.Child("secret")
		c.text(at.Child("secretName"), s.SecretName, nil)
		number(c, at.Child("defaultMode"), s.DefaultMode, 0, maxMode)
		c.items(s.Items, at.Child("items"), nil)
	}
	if s := v.ConfigMap; s != nil {
		at := at.Child("configMap")
		c.text(at.Child("name"), s.Name, nil)
		number(c, at.Child("defaultMode"), s.DefaultMode, 0, maxMode)
		c.items(s.Items, at.Child("items"), nil)
	}
	if s := v.DownwardAPI; s != nil {
		at := at.Child("downwardAPI")
		number(c, at.Child("defaultMode"), s.DefaultMode, 0, maxMode)
		c.downward(s.Items, at.Child("items"), nil)
	}
	if s := v.PersistentVolumeClaim; s != nil {
		c.text(at.Child("persistentVolumeClaim", "claimName"), s.ClaimName, nil)
	}
	if s := v.Projected; s != nil {
		c.projected(s, at.Child("projected"))
	}
	if s := v.NFS; s != nil {
		c.text(at.Child("nfs", "server"), s.Server, nil)
		c.text(at.Child("nfs", "path"), s.Path, func(path string) []string {
			if !strings.HasPrefix(path, "/") {
				return []string{"must be an absolute path"}
			}
			return nil
		})
	}
	if s := v.CSI; s != nil {
		c.text(at.Child("csi", "driver"), s.Driver, func(name string) []string {
			if len(name) > validation.DNS1123LabelMaxLength {
				return []string{validation.MaxLenError(validation.DNS1123LabelMaxLength)}
			}
			return validation.IsDNS1123Subdomain(strings.ToLower(name))
		})
		if r := s.NodePublishSecretRef; r != nil {
			c.text(at.Child("csi", "nodePublishSecretRef", "name"), r.Name, validation.IsDNS1123Subdomain)
		}
	}
}

// filePath checks the path of a file in a volume. Paths, unless nil, are those of other files.
func (c *check) filePath(path string, at *field.Path, paths map[string]bool) {
	c.text(at, path, func(path string) []string {
		if strings.HasPrefix(path, "..") {
			return []string{`must not start with ".."`}
		}
		return descending(path)
	})
	if paths != nil && path != "" {
		c.must(!paths[path], at, path, "another file has the path")
		paths[path] = true
	}
}

func (c *check) items(list []corev1.KeyToPath, at *field.Path, paths map[string]bool) {
	for i, x := range list {
		at := at.Index(i)
		c.text(at.Child("key"), x.Key, nil)
		c.filePath(x.Path, at.Child("path"), paths)
		number(c, at.Child("mode"), x.Mode, 0, maxMode)
	}
}

func (c *check) downward(list []corev1.DownwardAPIVolumeFile, at *field.Path, paths map[string]bool) {
	for i, x := range list {
		at := at.Index(i)
		c.filePath(x.Path, at.Child("path"), paths)
		number(c, at.Child("mode"), x.Mode, 0, maxMode)
		switch {
		case (x.FieldRef == nil) == (x.ResourceFieldRef == nil):
			c.invalid(at, "", "must have exactly one of fieldRef and resourceFieldRef")
		case x.FieldRef != nil:
			c.fieldRef(x.FieldRef, at.Child("fieldRef"), "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
		default:
			if x.ResourceFieldRef.ContainerName == "" {
				c.required(at.Child("resourceFieldRef", "containerName"), "")
			}
			c.resourceRef(x.ResourceFieldRef, at.Child("resourceFieldRef"))
		}
	}
}

// The least and the longest time in seconds for which a token can be valid.
const (
	minExpiration = 10 * 60
	maxExpiration = 1 << 32
)

func (c *check) projected(s *corev1.ProjectedVolumeSource, at *field.Path) {
	number(c, at.Child("defaultMode"), s.DefaultMode, 0, maxMode)
	paths := map[string]bool{}
	for i, x := range s.Sources {
		at := at.Child("sources").Index(i)
		if n := count(x.Secret != nil, x.ConfigMap != nil, x.DownwardAPI != nil, x.ServiceAccountToken != nil, x.ClusterTrustBundle != nil, x.PodCertificate != nil); n > 1 {
			c.invalid(at, "", "must not have more than one type")
		}
		if x.Secret != nil {
			c.text(at.Child("secret", "name"), x.Secret.Name, nil)
			c.items(x.Secret.Items, at.Child("secret", "items"), paths)
		}
		if x.ConfigMap != nil {
			c.text(at.Child("configMap", "name"), x.ConfigMap.Name, nil)
			c.items(x.ConfigMap.Items, at.Child("configMap", "items"), paths)
		}
		if x.DownwardAPI != nil {
			c.downward(x.DownwardAPI.Items, at.Child("downwardAPI", "items"), paths)
		}
		if t := x.ServiceAccountToken; t != nil {
			at := at.Child("serviceAccountToken")
			number(c, at.Child("expirationSeconds"), t.ExpirationSeconds, minExpiration, maxExpiration)
			c.filePath(t.Path, at.Child("path"), nil)
		}
	}
}
