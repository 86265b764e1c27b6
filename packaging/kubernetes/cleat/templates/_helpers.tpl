{{- define "cleat.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "cleat.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "cleat.labels" -}}
{{ include "cleat.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "cleat.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* Values that contradict each other. The schema cannot say why, nor what to write instead. */ -}}
{{- define "cleat.check" -}}
{{- if not .Values.backend -}}
{{- fail "backend: it is not set. Write where the plaintext goes, such as [web.default.svc]:8080." -}}
{{- end -}}
{{- if not .Values.certificates -}}
{{- fail "certificates: there is none. Name a Secret of type kubernetes.io/tls: certificates: [{secretName: NAME}]." -}}
{{- end -}}
{{- if and (ne .Values.announce "none") .Values.proxyProtocol -}}
{{- fail "announce: with proxyProtocol cleat passes the load balancer's PROXY header on. Write announce: none." -}}
{{- end -}}
{{- if and (ne .Values.clientVerify.mode "none") (not .Values.clientVerify.secretName) -}}
{{- fail "clientVerify.secretName: it is not set. Name the Secret that has the authorities' certificates." -}}
{{- end -}}
{{- if and (eq .Values.clientVerify.mode "none") .Values.clientVerify.secretName -}}
{{- fail "clientVerify.mode: with none nobody is verified. Write optional or required, or leave clientVerify.secretName out." -}}
{{- end -}}
{{- if eq (int .Values.port) (int .Values.admin.port) -}}
{{- fail "admin.port: it is the port of the clients, too. Choose another." -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled (not .Values.admin.remote) -}}
{{- fail "podMonitor.enabled: Prometheus cannot reach the admin server. Write admin.remote: true." -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.adminFrom) -}}
{{- fail "networkPolicy.adminFrom: it lets nobody in, so Prometheus cannot scrape. Select its pods." -}}
{{- end -}}
{{- if and .Values.networkPolicy.adminFrom (not (and .Values.networkPolicy.enabled .Values.admin.remote)) -}}
{{- fail "networkPolicy.adminFrom: it has no effect without networkPolicy.enabled and admin.remote." -}}
{{- end -}}
{{- if and .Values.admin.remote (not .Values.networkPolicy.enabled) -}}
{{- fail "admin.remote: without networkPolicy.enabled every pod of the cluster could end cleat. Write networkPolicy.enabled: true." -}}
{{- end -}}
{{- if and .Values.proxyFrom (not .Values.proxyProtocol) -}}
{{- fail "proxyFrom: it has no effect without proxyProtocol: true." -}}
{{- end -}}
{{- if and .Values.hostNetwork (lt (int .Values.port) 1024) -}}
{{- fail "port: in the node's network only root may open a port below 1024. Write 8443, and hostPort: 443 without hostNetwork." -}}
{{- end -}}
{{- if and .Values.hostNetwork .Values.admin.remote -}}
{{- fail "admin.remote: no NetworkPolicy protects the network of the node, and the admin server takes commands. Write hostNetwork: false with a hostPort." -}}
{{- end -}}
{{- if and .Values.hostNetwork .Values.hostPort -}}
{{- fail "hostPort: with hostNetwork the port of the node is `port`. Leave hostPort out." -}}
{{- end -}}
{{- if and .Values.service.nodePort (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.nodePort: a ClusterIP has none. Write service.type: NodePort." -}}
{{- end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.externalTrafficPolicy: a ClusterIP has no traffic from outside. Write service.type: LoadBalancer or NodePort." -}}
{{- end -}}
{{- if and .Values.service.loadBalancerClass (ne .Values.service.type "LoadBalancer") -}}
{{- fail "service.loadBalancerClass: it is for service.type: LoadBalancer." -}}
{{- end -}}
{{- end -}}

{{- define "cleat.config" -}}
frontend = "[*]:{{ int .Values.port }}"
backend = {{ .Values.backend | quote }}
{{- range .Values.certificates }}
pem-file = {
    cert = "/etc/cleat/certificates/{{ .secretName }}/tls.crt"
    private-key = "/etc/cleat/certificates/{{ .secretName }}/tls.key"
}
{{- end }}
reload-on-change = on
workers = {{ .Values.workers }}
{{- with .Values.tlsProtocols }}
tls-protos = "{{ join " " . }}"
{{- end }}
{{- with .Values.alpn }}
alpn-protos = "{{ join "," . }}"
{{- end }}
{{- if ne .Values.announce "none" }}
{{ .Values.announce }} = on
{{- end }}
{{- if .Values.proxyFrom }}
proxy-from = "{{ join ", " .Values.proxyFrom }}"
{{- else if .Values.proxyProtocol }}
proxy-proxy = on
{{- end }}
{{- if ne .Values.clientVerify.mode "none" }}
client-verify = {{ .Values.clientVerify.mode }}
client-verify-ca = "/etc/cleat/client-ca/{{ .Values.clientVerify.key }}"
{{- end }}
{{- if not (kindIs "invalid" .Values.idleTimeout) }}
idle-timeout = {{ int .Values.idleTimeout }}
{{- end }}
{{- if not (kindIs "invalid" .Values.handshakeTimeout) }}
ssl-handshake-timeout = {{ int .Values.handshakeTimeout }}
{{- end }}
shutdown-timeout = {{ int .Values.shutdownTimeout }}
{{- if not .Values.admin.remote }}
admin = "[127.0.0.1]:{{ int .Values.admin.port }}"
{{- end }}
log-level = {{ int .Values.logLevel }}
{{- with .Values.extraConfig }}
{{ trim . }}
{{- end }}
{{- end -}}

{{- define "cleat.probe" -}}
{{- $root := index . 0 -}}
{{- $path := index . 1 -}}
{{- if $root.Values.admin.remote -}}
httpGet:
  port: admin
  path: {{ $path }}
{{- else -}}
exec:
  command:
    - /usr/bin/cleat
    - health
    {{- if eq $path "/readyz" }}
    - --ready
    {{- end }}
    - "[127.0.0.1]:{{ int $root.Values.admin.port }}"
{{- end }}
timeoutSeconds: 6
{{- end -}}

{{- define "cleat.pod" -}}
metadata:
  labels:
    {{- include "cleat.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.podAnnotations .Values.restartOnConfigChange }}
  annotations:
    {{- if .Values.restartOnConfigChange }}
    checksum/config: {{ include "cleat.config" . | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # The time before SIGTERM counts, too.
  terminationGracePeriodSeconds: {{ add .Values.drainDelay .Values.shutdownTimeout 10 }}
  {{- if .Values.hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    # Owns the files of Secrets.
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
    {{- if lt (int .Values.port) 1024 }}
    # A capability that is added does not reach a process that is not root; this does.
    sysctls:
      - name: net.ipv4.ip_unprivileged_port_start
        value: "{{ int .Values.port }}"
    {{- end }}
  containers:
    - name: cleat
      image: {{ include "cleat.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - --config
        - /etc/cleat/config/cleat.conf
        {{- if .Values.admin.remote }}
        - --admin
        - "[$(POD_IP)]:{{ int .Values.admin.port }}"
        - --admin-allow-remote
      env:
        - name: POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
        {{- end }}
      ports:
        - name: tls
          containerPort: {{ int .Values.port }}
          protocol: TCP
          {{- with .Values.hostPort }}
          hostPort: {{ int . }}
          {{- end }}
        {{- if .Values.admin.remote }}
        - name: admin
          containerPort: {{ int .Values.admin.port }}
          protocol: TCP
        {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
          {{- if lt (int .Values.port) 1024 }}
          add: [NET_BIND_SERVICE]
          {{- end }}
      # The start reads every certificate.
      startupProbe:
        {{- include "cleat.probe" (list . "/healthz") | nindent 8 }}
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        {{- include "cleat.probe" (list . "/healthz") | nindent 8 }}
        periodSeconds: 10
        failureThreshold: 3
      readinessProbe:
        {{- include "cleat.probe" (list . "/readyz") | nindent 8 }}
        periodSeconds: 5
        failureThreshold: 2
      {{- if gt (int .Values.drainDelay) 0 }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int .Values.drainDelay }}
      {{- end }}
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        # Whole folders: the kubelet never updates a subPath.
        - name: config
          mountPath: /etc/cleat/config
          readOnly: true
        {{- range $i, $each := .Values.certificates }}
        - name: certificate-{{ $i }}
          mountPath: /etc/cleat/certificates/{{ $each.secretName }}
          readOnly: true
        {{- end }}
        {{- if ne .Values.clientVerify.mode "none" }}
        - name: client-ca
          mountPath: /etc/cleat/client-ca
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "cleat.fullname" . }}
    {{- range $i, $each := .Values.certificates }}
    - name: certificate-{{ $i }}
      secret:
        secretName: {{ $each.secretName }}
        defaultMode: 0440
    {{- end }}
    {{- if ne .Values.clientVerify.mode "none" }}
    - name: client-ca
      secret:
        secretName: {{ .Values.clientVerify.secretName }}
        defaultMode: 0440
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if not (kindIs "invalid" .Values.topologySpreadConstraints) }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- else if eq .Values.kind "Deployment" }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "cleat.selector" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
