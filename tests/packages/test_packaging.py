"""The files that the Debian packages are made of: units, first configuration, certificate, manual
pages and completions. tests/packages/prove installs the packages themselves."""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shells import Shell

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
BIN = Path(os.environ.get("CLEAT_BIN", ROOT / "build" / "release" / "bin"))
PROGRAMS = ["cleat", "cleat-bench", "cleat-locks"]


def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    if not shutil.which(str(words[0])):
        pytest.skip(f"{words[0]} is not installed")
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, timeout=60, **options
    )


def printed(program: str, *flags: str) -> str:
    """A text that the program prints about itself."""
    ran = run(BIN / program, *flags)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def systemd_version() -> int:
    said = run("systemd-analyze", "--version").stdout
    return int(re.search(r"systemd (\d+)", said)[1])


def unit_for(version: int) -> str:
    """The unit as debian/rules makes it for this version of systemd."""
    text = (PACKAGING / "systemd/cleat.service").read_text()
    rules = (PACKAGING / "debian/rules").read_text()
    change = re.search(r"'s\|\^(.*)\$\$\|(.*)\|' ", rules)
    new = change[2].replace("\\n", "\n").replace("$$", "$")
    assert f"{change[1]}\n" in text and "-ge 253" in rules
    return text if version >= 253 else text.replace(f"{change[1]}\n", f"{new}\n")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """A folder with the units, whose program is the one that was built."""
    unit = unit_for(systemd_version()).replace("/usr/bin/cleat", str(BIN / "cleat"))
    (tmp_path / "cleat.service").write_text(unit)
    shutil.copy(PACKAGING / "systemd/cleat.socket", tmp_path)
    return tmp_path


def verify(folder: Path) -> str:
    units = [folder / "cleat.service", folder / "cleat.socket"]
    ran = run("systemd-analyze", "verify", "--man=no", *units)
    # Units of this machine are none of ours.
    lines = [line for line in ran.stderr.splitlines() if "cleat" in line or str(folder) in line]
    return "\n".join(lines)


def exposure(unit: Path) -> float:
    ran = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", ran.stdout)
    assert found, ran.stdout + ran.stderr
    return float(found[1])


def test_the_units_are_good(units: Path):
    assert verify(units) == ""


def test_a_mistake_in_a_unit_is_found(units: Path):
    unit = units / "cleat.service"
    unit.write_text(unit.read_text().replace("ProtectSystem=strict", "ProtectSystm=strict"))
    assert "ProtectSystm" in verify(units)


def test_an_old_systemd_gets_a_unit_that_it_knows():
    old = unit_for(252)
    assert "notify-reload" not in old
    assert "Type=notify\nExecReload=/usr/bin/cleat reload $MAINPID\n" in old
    assert "Type=notify-reload\n" in unit_for(253)


def test_the_service_is_confined(units: Path):
    assert exposure(units / "cleat.service") < 2.0


def test_the_service_may_enter_its_own_sandbox():
    """systemd 252 has these calls in no set."""
    unit = (PACKAGING / "systemd/cleat.service").read_text()
    allowed = " ".join(re.findall(r"^SystemCallFilter=([^~].*)", unit, re.MULTILINE)).split()
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
            "seccomp"} <= set(allowed)  # fmt: skip


def test_a_start_as_root_is_confined_too(units: Path):
    added = (PACKAGING / "examples/root-start.conf").read_text().partition("[Service]")[2]
    unit = units / "cleat.service"
    unit.write_text(unit.read_text().replace("[Install]", f"{added}\n[Install]"))
    assert verify(units) == ""
    assert exposure(unit) <= 2.5  # As docs/guides/systemd.md says.


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder like /etc/cleat after an installation, with paths of its own in cleat.conf."""
    (tmp_path / "certificates").mkdir()
    made = run(PACKAGING / "self-signed-certificate", tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    text = (PACKAGING / "cleat.conf").read_text()
    for folder in ("/etc/cleat", "/run/cleat", "/var/log/cleat"):
        text = text.replace(folder, str(tmp_path))
    (tmp_path / "cleat.conf").write_text(text)
    return tmp_path


def test_the_first_configuration_and_its_certificate_have_no_findings(installed: Path):
    ran = run(BIN / "cleat", "check", "--config", installed / "cleat.conf")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "errors 0, warnings 0, notices 0" in ran.stdout


def test_every_line_that_is_commented_out_is_a_setting(installed: Path):
    text = (installed / "cleat.conf").read_text()
    settings, count = re.subn(r"^# (?=[a-z-]+ = \S+$)", "", text, flags=re.MULTILINE)
    assert count >= 4
    (installed / "site.pem").write_text("".join(
        (installed / f"self-signed.{end}").read_text() for end in ("crt", "key")))
    shutil.copy(installed / "site.pem", installed / "certificates")
    (installed / "cleat.conf").write_text(settings)
    ran = run(BIN / "cleat", "check", "--config", installed / "cleat.conf")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_first_configuration_is_open_to_this_machine_only():
    text = (PACKAGING / "cleat.conf").read_text()
    assert re.findall(r"^(?:frontend|admin) = .*", text, re.MULTILINE) == [
        'frontend = "[127.0.0.1]:8443"', 'admin = "/run/cleat/admin.sock"']


def test_the_certificate_is_for_this_machine_and_the_key_for_its_group(installed: Path):
    shown = run("openssl", "x509", "-noout", "-ext", "subjectAltName,basicConstraints",
                "-in", installed / "self-signed.crt").stdout
    assert "DNS:localhost, IP Address:127.0.0.1" in shown and "CA:FALSE" in shown
    assert oct((installed / "self-signed.key").stat().st_mode & 0o777) == "0o600"
    for each in installed.glob("self-signed.*"):
        each.unlink()
    group = os.getgid()
    assert run(PACKAGING / "self-signed-certificate", installed, str(group)).returncode == 0
    assert oct((installed / "self-signed.key").stat().st_mode & 0o777) == "0o640"
    assert {each.name for each in installed.iterdir()} == {
        "certificates", "cleat.conf", "self-signed.crt", "self-signed.key"}


def test_a_certificate_that_is_there_stays(installed: Path):
    before = (installed / "self-signed.crt").read_text()
    (installed / "self-signed.key").unlink()
    assert run(PACKAGING / "self-signed-certificate", installed).returncode == 0
    assert (installed / "self-signed.crt").read_text() == before
    assert not (installed / "self-signed.key").exists()


PAGES = [(program, "--manual") for program in PROGRAMS] + [("cleat", "--config-manual")]


@pytest.mark.parametrize("program, flag", PAGES, ids=" ".join)
def test_a_manual_page_is_good(tmp_path: Path, program: str, flag: str):
    page = tmp_path / (f"{program}.conf.5" if flag == "--config-manual" else f"{program}.1")
    page.write_text(printed(program, flag))
    said = run("mandoc", "-T", "lint", "-W", "warning", page).stdout
    # A page of a build has a version in the place of a date.
    assert [line for line in said.splitlines() if "missing date" not in line] == []
    for columns in (60, 80, 120):
        ran = run("groff", "-man", "-Tutf8", "-ww", "-z", f"-rLL={columns}n", page)
        assert (ran.returncode, ran.stderr) == (0, ""), columns
    # Bold letters are printed twice.
    shown = re.sub(".\x08", "", run("mandoc", "-T", "utf8", page).stdout)
    assert "SYNOPSIS" in shown or flag == "--config-manual"


def bash_words(program: str, *words: str) -> set[str]:
    """The words that bash offers for the last one."""
    quoted = " ".join(f"'{word}'" for word in (program, *words))
    script = (
        f"{printed(program, '--completion', 'bash')}\n"
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}\n"
        f"_{program.replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    ran = run("bash", "-uc", script, cwd="/")
    assert (ran.returncode, ran.stderr) == (0, "")
    return set(ran.stdout.split())


def test_bash_completes_words():
    assert bash_words("cleat", "--worker") == {"--workers"}
    assert bash_words("cleat", "expl") == {"explain"}
    assert bash_words("cleat", "explain", "--") >= {"--sni", "--alpn", "--config"}
    assert not bash_words("cleat", "check", "--") & {"--manual", "--test", "--sni"}
    assert bash_words("cleat-bench", "load", "--arrivals", "p") == {"poisson"}
    assert bash_words("cleat-locks", "") == {
        "run", "report", "diff", "folded", "html", "per-operation", "mark", "attach", "lines",
        "lines-report", "lines-mark", "lines-flags"}  # fmt: skip


def test_bash_offers_every_value_of_a_flag_that_has_few():
    verify = {"none", "optional", "required"}
    assert bash_words("cleat", "--client-verify", "") == verify
    assert bash_words("cleat", "--client-verify", "=") == verify
    assert bash_words("cleat", "--client-verify", "=", "o") == {"optional"}
    assert bash_words("cleat", "--log-level", "") == {"0", "1", "2"}
    assert bash_words("cleat", "--tls-protos", "") == {"TLSv1.2", "TLSv1.3"}
    assert bash_words("cleat", "--syslog-facility", "local") == {
        f"local{number}" for number in range(8)}  # fmt: skip
    assert bash_words("cleat", "--help", "wo") == {"workers"}
    assert bash_words("cleat", "--tickets-resumed", "") == set()  # Any number.
    assert bash_words("cleat-bench", "compare", "--base", "ha") == {"haproxy", "haproxy-awslc"}
    assert "blocked" in bash_words("cleat-locks", "folded", "--what", "")
    assert bash_words("cleat-bench", "load", "--rate", "") == set()


def test_bash_offers_on_and_off_behind_an_equals_sign_only():
    """A flag of its own means on, so the next word is another one's."""
    assert bash_words("cleat", "--daemon", "=") == {"on", "off"}
    assert not bash_words("cleat", "--daemon", "") & {"on", "off"}


def test_bash_offers_files_where_a_file_is_meant():
    assert bash_words("cleat", "--config", "/et") == {"/etc"}
    assert bash_words("cleat", "--access-log", "std") == {"stdout"}
    assert bash_words("cleat", "--access-log", "/et") == {"/etc"}
    assert bash_words("cleat", "/et") == {"/etc"}  # A certificate.
    assert bash_words("cleat", "health", "/et") == {"/etc"}  # A socket.
    assert bash_words("cleat-bench", "load", "--ca", "/et") == {"/etc"}
    assert bash_words("cleat-bench", "load", "/et") == set()  # A host.


def test_bash_knows_which_word_of_a_subcommand_is_next():
    assert bash_words("cleat", "ticket-secret", "") == {"new"}
    assert bash_words("cleat", "ticket-secret", "new", "/et") == {"/etc"}
    assert bash_words("cleat-bench", "serve", "--scenario", "x", "hi") == {"hitch"}
    assert bash_words("cleat-bench", "serve", "--scenario", "=", "x", "hi") == {"hitch"}
    assert bash_words("cleat-bench", "serve", "hitch", "") == set()
    assert bash_words("cleat-locks", "mark", "/et") == {"/etc"}
    assert bash_words("cleat-locks", "mark", "t.locks", "") == {"begin", "end"}
    assert "printf" in bash_words("cleat-locks", "run", "--hz", "9", "--", "print")
    assert bash_words("cleat-bench", "report", "a", "b", "/et") == {"/etc"}


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_tab_completes_a_line(tmp_path: Path, name: str):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    (tmp_path / "a site.pem").touch()
    script = printed("cleat", "--completion", name)
    with contextlib.closing(Shell(name, "cleat", script, tmp_path)) as shell:
        assert shell.arguments("cleat expl\t x") == ["explain", "x"]
        assert shell.arguments("cleat --worker\t") == ["--workers"]
        assert shell.arguments("cleat --client-verify req\t x") == [
            "--client-verify", "required", "x"]  # fmt: skip
        assert shell.arguments("cleat --client-verify=req\t x") == ["--client-verify=required", "x"]
        assert shell.arguments("cleat --daemon=of\t x") == ["--daemon=off", "x"]
        assert shell.arguments("cleat --access-log std\t x") == ["--access-log", "stdout", "x"]
        assert shell.arguments("cleat --access-log a\t x") == ["--access-log", "a site.pem", "x"]
        assert shell.arguments("cleat --pem-file a\t x") == ["--pem-file", "a site.pem", "x"]
        assert shell.arguments("cleat a\t x") == ["a site.pem", "x"]
        assert shell.arguments("cleat --workers a\t x") == ["--workers", "auto", "x"]
        assert shell.arguments("cleat --keepalive a\t x") == ["--keepalive", "a", "x"]
        assert shell.arguments("cleat check --all --pem-dir-rec\t x") == [
            "check", "--all", "--pem-dir-recursive", "x"]  # fmt: skip
        assert shell.arguments("cleat ticket-secret n\t a\t") == [
            "ticket-secret", "new", "a site.pem"]  # fmt: skip


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_tab_completes_lines_of_the_other_programs(tmp_path: Path, name: str):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    (tmp_path / "a.locks").touch()
    for program, line, words in (
        ("cleat-bench", "serve hi\t --scenario full-rsa-2\t", [
            "serve", "hitch", "--scenario", "full-rsa-2048"]),
        ("cleat-bench", "transfer --direction u\t", ["transfer", "--direction", "up"]),
        ("cleat-locks", "mark a\t b\t", ["mark", "a.locks", "begin"]),
    ):  # fmt: skip
        script = printed(program, "--completion", name)
        with contextlib.closing(Shell(name, program, script, tmp_path)) as shell:
            assert shell.arguments(f"{program} {line}") == words


@pytest.mark.parametrize("program", PROGRAMS)
def test_zsh_reads_its_completion(tmp_path: Path, program: str):
    file = tmp_path / f"_{program}"
    file.write_text(printed(program, "--completion", "zsh"))
    ran = run("zsh", "-n", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    # _arguments reads the specifications: here it shows them.
    shown = run(
        "zsh", "-fc",
        "_arguments() { print -l -- \"$@\"; }; _describe() { print -l -- $commands }; "
        f"words=({program} -); CURRENT=2; . {file}",
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    specification = re.compile(
        r"\*-[\w-]*(=-?)?\[(\\.|[^\]\\])*\](::?[^:]+(\\:[^:]+)*:.*)?|(\*|\d):[^:]+:.*")
    lines = shown.stdout.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if not specification.fullmatch(line)] == []


def test_logrotate_reads_its_file(tmp_path: Path):
    file = tmp_path / "cleat"
    # The user is not there before the installation.
    text = (PACKAGING / "logrotate").read_text().replace("cleat cleat\n", "root root\n")
    file.write_text(text)
    ran = run("/usr/sbin/logrotate", "--debug", "--state", tmp_path / "state", file)
    assert ran.returncode == 0 and "error" not in ran.stderr, ran.stderr


@pytest.mark.parametrize("name", ["cleat.postinst", "cleat.postrm"])
def test_a_script_of_the_package_is_good(name: str):
    file = PACKAGING / "debian" / name
    assert run("sh", "-n", file).returncode == 0
    text = file.read_text()
    assert text.startswith("#!/bin/sh\nset -e\n") and "\n#DEBHELPER#\n" in text


def test_what_the_installation_makes_a_purge_removes():
    removed = (PACKAGING / "debian/cleat.postrm").read_text()
    for made in ("self-signed.crt", "self-signed.key"):
        assert made in (PACKAGING / "self-signed-certificate").read_text()
        assert f"/etc/cleat/{made}" in removed
    unit = (PACKAGING / "systemd/cleat.service").read_text()
    for key, folder in (("StateDirectory", "/var/lib/cleat"), ("LogsDirectory", "/var/log/cleat")):
        assert f"{key}=cleat\n" in unit and folder in removed


def test_the_guide_needs_at_most_five_commands():
    guide = (ROOT / "docs/guides/first-five-minutes.md").read_text()
    commands = re.findall(r"^    (\S.*)$", guide.partition("\n## ")[0], re.MULTILINE)
    assert 1 <= len(commands) <= 5
    assert commands[0].startswith("apt-get install -y ./cleat_*.deb")


def test_the_overview_of_help_fits_one_screen():
    lines = printed("cleat", "--help").splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 80
