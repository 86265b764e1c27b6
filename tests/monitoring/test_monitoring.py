"""The alert rules and the dashboard of monitoring/ ask for metrics and labels that cleat has."""

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MONITORING = ROOT / "monitoring"
# What Prometheus adds to each sample, and to a histogram's buckets.
ADDED_LABELS = {"job", "instance", "le"}


def documented() -> dict[str, set[str]]:
    """The labels of each series, from the reference, which a unit test holds to the program."""
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|",
        (ROOT / "docs/reference/metrics.md").read_text(),
        re.MULTILINE,
    )
    found = {"up": set()}  # Prometheus makes it.
    for name, kind, labels in rows:
        parts = ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]
        found |= {name + part: {*filter(None, labels.split(", "))} for part in parts}
    return found


def dashboard() -> dict:
    return json.loads((MONITORING / "dashboard.json").read_text())


def panels() -> list[dict]:
    return [each for each in dashboard()["panels"] if each["type"] != "row"]


def questions() -> list[str]:
    """Every expression in PromQL of the dashboard and the alerts."""
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    alerts = re.findall(
        r"expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", (MONITORING / "alerts.yml").read_text()
    )
    return shown + ["".join(each) for each in alerts]


def series_of(question: str) -> set[str]:
    return set(re.findall(r"\b(?:cleat|process)_\w+|\bup\b", question))


def test_every_alert_is_tested_to_be_quiet_on_a_calm_machine():
    quiet = (MONITORING / "alerts_test.yml").read_text()
    alerts = re.findall(r"- alert: (\w+)", (MONITORING / "alerts.yml").read_text())
    assert len(alerts) > 15
    assert [each for each in alerts if f"alertname: {each}}}" not in quiet] == []


def test_every_question_is_about_metrics_that_cleat_has():
    known = documented()
    assert len(questions()) > 30
    for question in questions():
        assert series_of(question), question
        assert series_of(question) <= known.keys(), question


def test_every_question_groups_by_labels_that_its_metrics_have():
    known = documented()
    for question in questions():
        labels = set().union(*(known[name] for name in series_of(question))) | ADDED_LABELS
        groups = re.findall(r"\b(?:by|without|on) \(([^)]*)\)", question)
        assert {name for group in groups for name in group.split(", ")} <= labels, question


def test_every_legend_shows_labels_that_its_question_keeps():
    for target in (each for panel in panels() for each in panel["targets"]):
        groups = re.findall(r"\bby \(([^)]*)\)", target["expr"])
        kept = {name for group in groups for name in group.split(", ")} if groups else ADDED_LABELS
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= kept, target


def test_the_dashboard_shows_what_is_down_refused_lost_and_near_its_limit():
    shown = {name for panel in panels() for t in panel["targets"] for name in series_of(t["expr"])}
    assert shown >= {
        "cleat_upstream_server_state", "cleat_connections_refused_total",
        "cleat_log_lines_lost_total", "cleat_access_log_lines_lost_total", "cleat_memory_level",
    }  # fmt: skip


def test_no_two_panels_lie_on_each_other():
    for one, other in combinations([each["gridPos"] for each in dashboard()["panels"]], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below, (one, other)
    identities = [each["id"] for each in dashboard()["panels"]]
    assert len(set(identities)) == len(identities)


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
class TestByPrometheus:
    def test_alerts_are_raised_and_are_quiet_on_a_calm_machine(self):
        for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
            command = ["promtool", *words]
            ran = subprocess.run(command, cwd=MONITORING, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stdout + ran.stderr

    def test_the_dashboard_speaks_promql(self, tmp_path):
        rules = tmp_path / "questions.yml"
        lines = ["groups:", "  - name: questions", "    rules:"]
        for number, question in enumerate(questions()):
            whole = question.replace("$__rate_interval", "5m")
            lines += [f"      - record: question:{number}", f"        expr: {json.dumps(whole)}"]
        rules.write_text("\n".join(lines) + "\n")
        ran = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert f"{len(questions())} rules found" in ran.stdout
