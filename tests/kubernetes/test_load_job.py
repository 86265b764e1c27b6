"""The Job of a load: it is valid for Kubernetes, and cleat-bench takes its arguments."""

import os
import re
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="no python3-yaml: run scripts/setup check")

TREE = Path(__file__).resolve().parents[2]
JOB = TREE / "packaging" / "kubernetes" / "manifests" / "load-job.yaml"
BENCH = Path(os.environ.get("CLEAT_BIN", TREE / "build" / "release" / "bin")) / "cleat-bench"


@pytest.fixture
def job():
    (found,) = yaml.safe_load_all(JOB.read_text())
    return found


def container_of(job):
    (found,) = job["spec"]["template"]["spec"]["containers"]
    return found


def arguments_of(job, start):
    """arguments_of the container of one pod, but for the target."""
    values = {"START": start, "JOB_COMPLETION_INDEX": "2"}
    assert [each["name"] for each in container_of(job)["env"]] == ["START"]
    return [
        re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], word)
        for word in container_of(job)["args"]
    ][:-1]


def test_it_fits_the_schemas_of_kubernetes(job):
    validate = pytest.importorskip("kubernetes_validate", reason="run scripts/setup check")
    for version in ("1.30", "1.37"):
        validate.validate(job, version, strict=True)
    assert job["spec"]["completionMode"] == "Indexed"
    assert job["spec"]["completions"] == job["spec"]["parallelism"]


def test_cleat_bench_takes_its_arguments(job):
    """A pod finds out whether the server is there before the start, and does not come late."""
    ahead = arguments_of(job, container_of(job)["env"][0]["value"])
    ran = subprocess.run([BENCH, *ahead, "127.0.0.1:1"], capture_output=True, text=True)
    assert ran.returncode == 1 and "nothing listens at 127.0.0.1:1" in ran.stderr
    past = arguments_of(job, "2020-01-01T00:00:00Z")
    ran = subprocess.run([BENCH, *past, "127.0.0.1:1"], capture_output=True, text=True)
    assert ran.returncode == 2 and "that time has passed" in ran.stderr


def test_the_image_is_of_this_version(job):
    version = re.search(r"cleat-bench:(\S+)", container_of(job)["image"])[1]
    project = (TREE / "CMakeLists.txt").read_text()
    assert version == re.search(r"^project\(cleat VERSION (\S+)", project, re.M)[1]


def test_the_results_of_pods_are_the_last_lines_of_their_logs():
    """So the guide takes them."""
    guide = (TREE / "docs" / "guides" / "measuring.md").read_text()
    (start,) = re.findall(r'value: "(\S+Z)"', JOB.read_text())
    assert f"s/{start}/$at/" in guide and f"s/{start}/$at/" in JOB.read_text()
    assert "tail -n 1" in guide
    assert container_of(next(yaml.safe_load_all(JOB.read_text())))["args"][-3:-1] == [
        "--json",
        "/dev/stdout",
    ]
