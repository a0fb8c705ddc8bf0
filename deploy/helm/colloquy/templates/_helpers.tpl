{{- define "colloquy.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* The labels by which a part's pods are found. Takes the root and the part's name. */ -}}
{{- define "colloquy.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "colloquy.labels" -}}
{{ include "colloquy.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "colloquy.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What all pods have of their security, placement and image. */ -}}
{{- define "colloquy.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* One host that is lost takes not all of a part with it. Takes the root and the part's name. */ -}}
{{- define "colloquy.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "colloquy.selector" . | nindent 8 }}
{{- end }}

{{- define "colloquy.container" -}}
image: {{ include "colloquy.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* How people reach the installation, and how logs are written: what the pages need, and others too. */ -}}
{{- define "colloquy.address" -}}
- {name: AUTH, value: {{ .Values.auth | quote }}}
- {name: PUBLIC_URL, value: {{ required "publicUrl: set the address that people type" .Values.publicUrl | quote }}}
{{- range $name, $value := .Values.settings }}
{{- if regexMatch "^(PROXY_|LOG_|TRUSTED_PROXIES$)" $name }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{- /* The settings of API, workers and migration; the secret ones come with `colloquy.secrets`. */ -}}
{{- define "colloquy.settings" -}}
{{ include "colloquy.address" . }}
{{- with .Values.artifactStore }}
- {name: ARTIFACT_STORE, value: {{ . | quote }}}
{{- end }}
- {name: GRACE_SECONDS, value: {{ .Values.graceSeconds | quote }}}
{{- range $name, $value := .Values.settings }}
{{- if not (regexMatch "^(PROXY_|LOG_|TRUSTED_PROXIES$)" $name) }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "colloquy.secrets" -}}
- secretRef:
    name: {{ required "existingSecret: name the Secret with DATABASE_URL, REDIS_URL and ENCRYPTION_KEY" .Values.existingSecret }}
{{- end }}

{{- define "colloquy.data" -}}
- name: data
  {{- if .Values.artifactStore }}
  emptyDir: {sizeLimit: {{ .Values.dataDir.size }}}
  {{- else }}
  persistentVolumeClaim:
    claimName: {{ .Values.dataDir.existingClaim | default (printf "%s-data" (include "colloquy.name" .)) }}
  {{- end }}
{{- with .Values.dataDir.sourcesClaim }}
- name: sources
  persistentVolumeClaim: {claimName: {{ . }}, readOnly: true}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: 2Gi}
{{- end }}

{{- define "colloquy.mounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
{{- if .Values.dataDir.sourcesClaim }}
- {name: sources, mountPath: /data/sources, readOnly: true}
{{- end }}
{{- end }}

{{- /* A probe of one of our servers, by a name that it accepts. Takes the path and the port's name. */ -}}
{{- define "colloquy.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .port }}
  httpHeaders: [{name: Host, value: localhost}]
timeoutSeconds: 5
{{- end }}

{{- /* Takes the root and the part's name. */ -}}
{{- define "colloquy.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "colloquy.name" .root }}-{{ .part }}
  labels: {{- include "colloquy.labels" . | nindent 4 }}
spec:
  minAvailable: {{ .root.Values.disruptionBudget.minAvailable }}
  selector:
    matchLabels: {{- include "colloquy.selector" . | nindent 6 }}
{{- end }}
