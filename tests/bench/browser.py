"""A browser without a window, driven over the W3C WebDriver protocol; Python's own library only."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

START_SECONDS = 60
ANSWER_SECONDS = 120


def missing() -> str:
    """missing says what is not installed, or nothing."""
    wanted = {"chromedriver": "chromium-driver", "chromium": "chromium"}
    absent = [package for program, package in wanted.items() if shutil.which(program) is None]
    return f"install the packages {' and '.join(absent)}" if absent else ""


class Browser:
    """Browser is one Chromium with a profile of its own. Everything that pages ask of the network,
    and say on the console, is kept in its logs."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="cleat-bench-browser-")
        self._base = f"http://127.0.0.1:{self._start_driver()}"
        options = {
            "binary": shutil.which("chromium"),
            "args": [
                "--headless=new",
                "--no-sandbox",  # Which root and containers cannot have.
                "--disable-dev-shm-usage",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                f"--user-data-dir={self._profile.name}",
            ],
        }
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs}
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _start_driver(self) -> int:
        """_start_driver returns the port on which chromedriver listens. It takes a port that is
        free in IPv4, and gives up where another program has it in IPv6: then it takes another."""
        while True:
            self._driver = subprocess.Popen(
                [shutil.which("chromedriver") or "chromedriver", "--port=0"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert self._driver.stdout is not None
            printed = ""
            for line in self._driver.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    return int(found[1])
                printed += line
            status = self._driver.wait()
            if "port not available" not in printed:
                raise RuntimeError(f"chromedriver ended with {status}: {printed}")

    def _ask(self, method: str, path: str, body: dict[str, object] | None = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode(errors="replace")) from error

    def _command(self, name: str, **parameters: object) -> object:
        """_command is one of the DevTools protocol."""
        body = {"cmd": name, "params": parameters}
        return self._ask("POST", f"{self._session}/goog/cdp/execute", body)

    def show(self, width: int, height: int = 900, dark: bool = False, scale: int = 1) -> None:
        """show sets the screen; `dark` is what its owner prefers."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path) -> None:
        self.visit(path.resolve().as_uri())

    def visit(self, address: str) -> None:
        go = f"{self._session}/url"
        self._ask("POST", go, {"url": "about:blank"})  # The page before may still ask its server.
        self.log("browser"), self.log("performance")  # Earlier entries are not this page's.
        self._ask("POST", go, {"url": address})

    def press(self, *keys: str) -> None:
        """press presses keys, one after the other: "Tab", "Enter", "Escape"."""
        codes = {"Tab": ("\t", 9), "Enter": ("\r", 13), "Escape": ("", 27), " ": (" ", 32)}
        for key in keys:
            text, code = codes[key]
            for kind in ("keyDown", "keyUp"):
                self._command(
                    "Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text,
                    windowsVirtualKeyCode=code,
                )

    def run(self, script: str) -> object:
        """run is the value that script returns."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def log(self, kind: str) -> list[dict[str, object]]:
        found = self._ask("POST", f"{self._session}/se/log", {"type": kind})
        assert isinstance(found, list)
        return found

    def requests(self) -> list[str]:
        """requests are the addresses that were asked for since open()."""
        found = []
        for entry in self.log("performance"):
            message = json.loads(str(entry["message"]))["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def picture(self, path: Path) -> None:
        """picture writes all of the page as PNG."""
        size = self._command("Page.getLayoutMetrics")["cssContentSize"]
        shot = self._command(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1},
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def print(self, path: Path) -> None:
        """print writes the page as PDF, as a printer would get it."""
        done = self._command("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(done["data"]))

    def close(self) -> None:
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=START_SECONDS)
            self._profile.cleanup()
