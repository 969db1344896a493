{{- define "gatehouse.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "gatehouse.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The public address of the page. */}}
{{- define "gatehouse.url" -}}
{{- if .Values.url -}}
{{- .Values.url -}}
{{- else if .Values.ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecret "")) .Values.ingress.host -}}
{{- else -}}
{{- printf "http://%s:%v" (include "gatehouse.fullname" .) .Values.service.port -}}
{{- end -}}
{{- end -}}

{{/* Kinds of pods, each with its values: `all-in-one`, or those of a distributed installation. */}}
{{- define "gatehouse.kinds" -}}
{{- if .Values.distributed -}}
scheduler: scheduler
merger: merger
executor: executor
web: web
{{- else -}}
all-in-one: allInOne
{{- end -}}
{{- end -}}

{{- define "gatehouse.settings" -}}
{{- $own := dict
  "scheduler" (dict "tenant_config" "/etc/gatehouse/tenants.yaml" "state_dir" "/var/lib/gatehouse")
  "web" (dict "listen_address" "0.0.0.0" "port" 9000 "root" (include "gatehouse.url" .))
  "metrics" (dict "listen_address" "0.0.0.0" "port" 9100)
-}}
{{- if .Values.nodes -}}
{{- $_ := set $own "nodes" (dict "config" "/etc/gatehouse/nodes.yaml") -}}
{{- end -}}
{{- if .Values.distributed -}}
{{- /* The address that an executor listens at is the one that webs are given. */ -}}
{{- $_ := set $own "executor" (dict "log_listen_address" "%(GATEHOUSE_POD_IP)s" "log_port" 7900 "log_token" "%(GATEHOUSE_LOG_TOKEN)s") -}}
{{- end -}}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.settings)) -}}
{{- end -}}

{{/* Section -> option -> value as the file that gatehouse reads. */}}
{{- define "gatehouse.conf" -}}
{{- range $section, $options := fromYaml (include "gatehouse.settings" .) }}
{{- if not (kindIs "invalid" $options) }}
[{{ $section }}]
{{- range $option, $value := $options }}
{{- if kindIs "slice" $value }}
{{ $option }} = {{ join ", " $value }}
{{- else if kindIs "string" $value }}
{{ $option }} = {{ $value | trim | replace "\n" "\n  " }}
{{- else if not (kindIs "invalid" $value) }}
{{ $option }} = {{ toJson $value }}
{{- end }}
{{- end }}
{{ end }}
{{- end }}
{{- end -}}

{{/* What no installation can do without, in one sentence each. */}}
{{- define "gatehouse.check" -}}
{{- if .Values.distributed -}}
{{- if not (dig "zookeeper" "hosts" "" .Values.settings) -}}
{{- fail "distributed: true needs settings.zookeeper.hosts, e.g. \"zk-0.zk:2181, zk-1.zk:2181, zk-2.zk:2181\"" -}}
{{- end -}}
{{- if not (hasPrefix "postgresql:" (dig "database" "dburi" "" .Values.settings)) -}}
{{- fail "distributed: true needs settings.database.dburi, e.g. \"postgresql://gatehouse:%(GATEHOUSE_DB_PASSWORD)s@postgres:5432/gatehouse\": webs share their history" -}}
{{- end -}}
{{- if not (or .Values.environmentSecrets .Values.environment) -}}
{{- fail "distributed: true needs GATEHOUSE_LOG_TOKEN: put it into a Secret, and name that in environmentSecrets" -}}
{{- end -}}
{{- else if hasKey .Values.settings "zookeeper" -}}
{{- fail "settings.zookeeper goes with distributed: true" -}}
{{- end -}}
{{- end -}}

{{/* The files of /etc/gatehouse. */}}
{{- define "gatehouse.files" -}}
gatehouse.conf: |
  {{- include "gatehouse.conf" . | trim | nindent 2 }}
tenants.yaml: |
  {{- toYaml .Values.tenants | nindent 2 }}
{{- if .Values.nodes }}
nodes.yaml: |
  {{- toYaml .Values.nodes | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The pod of a kind. Takes a dict of root, kind and values. */}}
{{- define "gatehouse.pod" -}}
{{- $root := .root -}}
{{- $kind := .kind -}}
{{- $runsJobs := has $kind (list "all-in-one" "executor") -}}
{{- $hasWeb := has $kind (list "all-in-one" "web") -}}
metadata:
  labels:
    {{- include "gatehouse.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $kind }}
  annotations:
    # Another configuration is a rolling restart.
    gatehouse/configuration: {{ include "gatehouse.files" $root | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "gatehouse.serviceAccount" $root }}
  automountServiceAccountToken: {{ and $runsJobs $root.Values.kubernetesNodes.enabled }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
  {{- if and $runsJobs (not (kindIs "invalid" $root.Values.sandbox.hostUsers)) }}
  hostUsers: {{ $root.Values.sandbox.hostUsers }}
  {{- end }}
  securityContext:
    {{- toYaml $root.Values.podSecurityContext | nindent 4 }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  containers:
    - name: gatehouse
      image: "{{ $root.Values.image.repository }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}"
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        - start
        {{- if ne $kind "all-in-one" }}
        - {{ $kind }}
        {{- end }}
        - -c
        - /etc/gatehouse/gatehouse.conf
      env:
        - name: GATEHOUSE_POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
        {{- with $root.Values.environment }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $root.Values.environmentSecrets }}
      envFrom:
        {{- range . }}
        - secretRef:
            name: {{ . }}
        {{- end }}
      {{- end }}
      ports:
        {{- if $hasWeb }}
        - name: http
          containerPort: 9000
        {{- end }}
        {{- if eq $kind "executor" }}
        - name: logs
          containerPort: 7900
        {{- end }}
        - name: metrics
          containerPort: 9100
      # A web stays in service once it was ready: it shows what it knew last while the store is away, and answers webhooks with 503 itself.
      startupProbe:
        httpGet:
          path: {{ ternary "/health/ready" "/health/live" (eq $kind "web") }}
          port: metrics
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 120
      readinessProbe:
        httpGet:
          path: {{ ternary "/health/live" "/health/ready" $hasWeb }}
          port: {{ ternary "http" "metrics" $hasWeb }}
        periodSeconds: 5
        timeoutSeconds: 5
      livenessProbe:
        httpGet:
          path: /health/live
          port: metrics
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      {{- if $hasWeb }}
      lifecycle:
        preStop:
          exec:
            # Until the service sends nothing here any more.
            command: [sleep, "5"]
      {{- end }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        {{- toYaml (ternary $root.Values.sandbox.securityContext $root.Values.securityContext $runsJobs) | nindent 8 }}
      volumeMounts:
        - name: configuration
          mountPath: /etc/gatehouse
          readOnly: true
        - name: state
          mountPath: /var/lib/gatehouse
        - name: temporary
          mountPath: /tmp
        {{- with $root.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: configuration
      configMap:
        name: {{ include "gatehouse.fullname" $root }}
    - name: temporary
      emptyDir: {}
    {{- if not (dig "persistence" "enabled" false .values) }}
    - name: state
      emptyDir: {}
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if and (ne $kind "all-in-one") (not .values.affinity) }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gatehouse.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $kind }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
