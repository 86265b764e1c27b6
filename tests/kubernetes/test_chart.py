"""The Helm chart: what its values make is valid for Kubernetes and for cleat, and values that
contradict each other are refused with the reason. Needs helm, which scripts/setup check builds."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="no python3-yaml: run scripts/setup check")

TREE = Path(__file__).resolve().parents[2]
KUBERNETES = TREE / "packaging" / "kubernetes"
CHART = KUBERNETES / "cleat"
CLEAT = Path(os.environ.get("CLEAT_BIN", TREE / "build" / "release" / "bin")) / "cleat"
VERSION = "1.34.0"
OWN = TREE / "build" / "tools" / "helm"
MONITORS = TREE / "build" / "tools" / "podmonitors.yaml"
HELM = str(OWN) if OWN.exists() else shutil.which("helm")
if not HELM:
    pytest.skip("there is no helm: run scripts/setup check", allow_module_level=True)

SETS = sorted(CHART.glob("ci/*-values.yaml"))
MINIMAL = CHART / "ci" / "minimal-values.yaml"
each_set = pytest.mark.parametrize("values", SETS, ids=lambda path: path.stem)

sys.path.insert(0, str(TREE / "tests" / "program"))
from certificates import CertificateMaker  # noqa: E402


def helm(*words):
    return subprocess.run([HELM, *map(str, words)], capture_output=True, text=True)


def template(*words):
    return helm("template", "web", CHART, "--namespace", "edge", "--kube-version", VERSION, *words)


def documents(*words):
    ran = template(*words)
    assert ran.returncode == 0, ran.stderr
    return {each["kind"]: each for each in yaml.safe_load_all(ran.stdout) if each}


def workload(found):
    return found.get("Deployment") or found["DaemonSet"]


def container_of(found):
    (made,) = workload(found)["spec"]["template"]["spec"]["containers"]
    return made


def values_file(tmp_path, changes):
    """values_file is the smallest set with some changes."""
    values = yaml.safe_load(MINIMAL.read_text())
    for name, value in changes.items():
        *outer, last = name.split(".")
        place = values
        for word in outer:
            place = place.setdefault(word, {})
        place[last] = value
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


@each_set
def test_helm_lint_has_no_complaint(values):
    ran = helm("lint", "--strict", CHART, "--kube-version", VERSION, "-f", values)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "[WARNING]" not in ran.stdout and "[ERROR]" not in ran.stdout


@each_set
def test_what_it_makes_fits_the_schemas_of_kubernetes(values):
    """The schemas come with the Python package. It has none of the Prometheus operator."""
    validate = pytest.importorskip("kubernetes_validate", reason="run scripts/setup check")
    checked = 0
    for kind, document in documents("-f", values).items():
        if kind == "PodMonitor":
            continue
        # Old and new: the chart says from 1.30 on.
        for version in ("1.30", "1.37"):
            validate.validate(document, version, strict=True)
            checked += 1
    assert checked >= 6


def closed(schema):
    """closed is a schema of Kubernetes that takes no field that it does not name, as a strict
    `kubectl apply` does."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


def monitor_schema():
    jsonschema = pytest.importorskip("jsonschema", reason="run scripts/setup check")
    if not MONITORS.exists():
        pytest.skip("the Prometheus operator's schema is not there: run scripts/setup check")
    found = yaml.safe_load(MONITORS.read_text())["spec"]
    assert found["names"]["kind"] == "PodMonitor"
    (version,) = (each for each in found["versions"] if each["name"] == "v1")
    schema = closed(version["schema"]["openAPIV3Schema"])
    # The API server checks what all resources have.
    schema["properties"]["metadata"] = {"type": "object"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_a_pod_monitor_fits_the_schema_of_the_prometheus_operator():
    schema = monitor_schema()
    monitor = documents("-f", CHART / "ci" / "everything-values.yaml")["PodMonitor"]
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert [each.message for each in schema.iter_errors(monitor)] == []
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    for name, value in (("intervall", "30s"), ("interval", "half a minute"), ("port", 9443)):
        broken = json.loads(json.dumps(monitor))
        broken["spec"]["podMetricsEndpoints"] = [endpoint | {name: value}]
        assert len(list(schema.iter_errors(broken))) == 1, name


@each_set
def test_parts_refer_to_each_other(values):
    found = documents("-f", values)
    spec = workload(found)["spec"]
    pod = spec["template"]
    labels = pod["metadata"]["labels"]
    container = container_of(found)
    ports = {port["name"] for port in container["ports"]}

    def selects(selector):
        assert selector and selector.items() <= labels.items(), selector

    selects(spec["selector"]["matchLabels"])
    if service := found.get("Service"):
        selects(service["spec"]["selector"])
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    if policy := found.get("NetworkPolicy"):
        selects(policy["spec"]["podSelector"]["matchLabels"])
        allowed = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        assert allowed <= ports
    if budget := found.get("PodDisruptionBudget"):
        selects(budget["spec"]["selector"]["matchLabels"])
    if monitor := found.get("PodMonitor"):
        assert set(monitor["spec"]) == {"selector", "podMetricsEndpoints"}
        selects(monitor["spec"]["selector"]["matchLabels"])
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert set(endpoint) == {"port", "path", "interval"} and endpoint["port"] in ports
    for constraint in pod["spec"].get("topologySpreadConstraints", []):
        selects(constraint["labelSelector"]["matchLabels"])

    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert volumes.keys() == mounts.keys()
    assert not any("subPath" in each for each in container["volumeMounts"])
    assert volumes["config"]["configMap"]["name"] == found["ConfigMap"]["metadata"]["name"]
    names = {document["metadata"]["namespace"] for document in found.values()}
    assert names == {"edge"}


@each_set
def test_the_pod_has_no_rights_and_time_to_drain(values):
    found = documents("-f", values)
    pod = workload(found)["spec"]["template"]["spec"]
    container = container_of(found)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    own = container["securityContext"]
    assert own["readOnlyRootFilesystem"] is True and own["allowPrivilegeEscalation"] is False
    port = container["ports"][0]["containerPort"]
    assert own["capabilities"] == {
        "drop": ["ALL"],
        **({"add": ["NET_BIND_SERVICE"]} if port < 1024 else {}),
    }
    assert ("sysctls" in pod["securityContext"]) == (port < 1024)
    shutdown = int(re.search(r"^shutdown-timeout = (\d+)$", configuration(found), re.M)[1])
    delay = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod["terminationGracePeriodSeconds"] > delay + shutdown
    for probe, path in (
        ("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"),
    ):  # fmt: skip
        asked = container[probe]
        if "httpGet" in asked:
            assert asked["httpGet"] == {"port": "admin", "path": path}
        else:
            assert asked["exec"]["command"][:2] == ["/usr/bin/cleat", "health"]
            assert ("--ready" in asked["exec"]["command"]) == (path == "/readyz")


def configuration(found):
    return found["ConfigMap"]["data"]["cleat.conf"]


@each_set
def test_cleat_takes_the_configuration(values, tmp_path):
    """With the arguments of the container, and files where the volumes are mounted."""
    found = documents("-f", values)
    certs = CertificateMaker(tmp_path)
    text = configuration(found)
    for path in re.findall(r'"(/etc/cleat/\S+)"', text):
        place = Path(f"{tmp_path}{path}")
        made = certs.named(place.parent.name, f"DNS:{place.parent.name}.test")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made.key if path.endswith(".key") else made.cert, place)
    # A name of the cluster has no address here; and another cleat may have the port.
    text = text.replace("/etc/cleat/", f"{tmp_path}/etc/cleat/")
    text = text.replace("web.default.svc", "127.0.0.1").replace("fd00::1", "::1")
    file = tmp_path / "cleat.conf"
    file.write_text(text)
    words = [word.replace("$(POD_IP)", "0.0.0.0") for word in container_of(found)["args"]]
    assert words[:2] == ["--config", "/etc/cleat/config/cleat.conf"]
    ran = subprocess.run(
        [CLEAT, "-t", "--config", file, *words[2:]], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_what_is_asked_is_what_cleat_serves():
    """The port of the probes is that of the configuration, and the image has the program there."""
    found = documents("-f", MINIMAL, "--set", "admin.port=9000")
    asked = container_of(found)["livenessProbe"]["exec"]["command"][-1]
    assert f'admin = "{asked}"' in configuration(found)


def test_a_daemonset_has_no_budget_and_takes_the_port_of_the_node():
    found = documents("-f", CHART / "ci" / "daemonset-values.yaml")
    assert "PodDisruptionBudget" not in found and "Service" not in found
    assert container_of(found)["ports"][0]["hostPort"] == 443


def test_a_changed_configuration_replaces_the_pods_where_that_is_wanted():
    def annotation(*words):
        spec = workload(documents("-f", MINIMAL, *words))["spec"]
        return spec["template"]["metadata"].get("annotations", {}).get("checksum/config")

    first = annotation()
    assert first and first == annotation()
    assert first != annotation("--set", "idleTimeout=7")
    assert annotation("--set", "restartOnConfigChange=false") is None


def test_a_header_is_taken_from_the_networks_that_are_named(tmp_path):
    changes = {"proxyProtocol": True, "announce": "none"}
    assert "\nproxy-proxy = on\n" in configuration(documents("-f", values_file(tmp_path, changes)))
    changes["proxyFrom"] = ["10.0.0.0/16", "2001:db8::/48"]
    found = configuration(documents("-f", values_file(tmp_path, changes)))
    assert '\nproxy-from = "10.0.0.0/16, 2001:db8::/48"\n' in found
    assert "proxy-proxy" not in found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"backend": ""}, "backend: it is not set"),
        ({"certificates": []}, "certificates: there is none"),
        ({"certificates": [{"secretName": "a"}, {"secretName": "a"}]}, "certificates"),
        ({"announce": "write-proxy-v2", "proxyProtocol": True}, "announce: with proxyProtocol"),
        ({"clientVerify.mode": "required"}, "clientVerify.secretName: it is not set"),
        ({"clientVerify.secretName": "ca"}, "clientVerify.mode: with none"),
        ({"admin.port": 8443}, "admin.port: it is the port of the clients"),
        ({"podMonitor.enabled": True}, "podMonitor.enabled: Prometheus cannot reach"),
        (
            {"podMonitor.enabled": True, "admin.remote": True},
            "networkPolicy.adminFrom: it lets nobody in",
        ),
        ({"networkPolicy.adminFrom": [{}]}, "networkPolicy.adminFrom: it has no effect"),
        (
            {"admin.remote": True, "networkPolicy.enabled": False},
            "admin.remote: without networkPolicy.enabled every pod",
        ),
        ({"proxyFrom": ["10.0.0.0/8"]}, "proxyFrom: it has no effect"),
        ({"proxyProtocol": True, "proxyFrom": ['10.0.0.0/8", user = "root']}, "proxyFrom"),
        ({"hostNetwork": True, "port": 443}, "port: in the node's network only root"),
        ({"hostNetwork": True, "admin.remote": True}, "admin.remote: no NetworkPolicy"),
        ({"hostNetwork": True, "hostPort": 443}, "hostPort: with hostNetwork"),
        ({"service.nodePort": 30443}, "service.nodePort: a ClusterIP has none"),
        ({"service.externalTrafficPolicy": "Local"}, "service.externalTrafficPolicy: a ClusterIP"),
        ({"service.loadBalancerClass": "a"}, "service.loadBalancerClass: it is for"),
        # The schema's.
        ({"kind": "StatefulSet"}, "kind"),
        ({"backend": "web"}, "backend"),
        ({"workers": 0}, "workers"),
        ({"idelTimeout": 7}, "idelTimeout"),
        ({"shutdownTimeout": -1}, "shutdownTimeout"),
        ({"image.digest": "sha256:12"}, "digest"),
    ],
)
def test_values_that_cannot_take_effect_are_refused(tmp_path, changes, said):
    ran = template("-f", values_file(tmp_path, changes))
    assert ran.returncode != 0 and said in ran.stderr


def test_every_value_is_in_the_schema():
    """And every key of the schema has a default, which explains it."""

    def names(schema, prefix=""):
        for name, part in schema.get("properties", {}).items():
            yield prefix + name
            yield from names(part, f"{prefix}{name}.")

    def set_names(values, prefix=""):
        for name, value in values.items():
            yield prefix + name
            if isinstance(value, dict) and prefix + name != "resources":
                yield from set_names(value, f"{prefix}{name}.")

    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert set(names(schema)) - {"global", "certificates.secretName"} == set(set_names(values))


def test_the_version_is_that_of_the_program():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = (TREE / "CMakeLists.txt").read_text()
    version = re.search(r"^project\(cleat VERSION (\S+)", project, re.M)
    assert chart["appVersion"] == version[1]


@pytest.mark.parametrize("kind", ["deployment", "daemonset"])
def test_the_manifests_are_what_the_chart_makes(kind):
    """packaging/kubernetes/manifests/make makes them again."""
    ran = subprocess.run(
        [KUBERNETES / "manifests" / "make", kind], capture_output=True, text=True,
        env={**os.environ, "HELM": HELM},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == (KUBERNETES / "manifests" / f"{kind}.yaml").read_text()
