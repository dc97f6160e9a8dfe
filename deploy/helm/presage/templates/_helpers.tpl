{{- define "presage.fullname" -}}
{{- if contains "presage" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-presage" (.Release.Name | trunc 44 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "presage.selector" -}}
app.kubernetes.io/name: presage
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "presage.labels" -}}
{{ include "presage.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "presage.image" -}}
{{- $repository := required "image.repository is not set: build the image (docs/delivery.md), push it to your registry, and name it here." .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* The host of publicUrl, which a way from outside needs. */ -}}
{{- define "presage.host" -}}
{{- $url := required "publicUrl is not set: an ingress and an HTTPRoute need it." .Values.publicUrl -}}
{{- first (splitList ":" (urlParse $url).host) -}}
{{- end -}}
