"""A real browser, driven by its DevTools protocol over a pipe: file descriptors 3 and 4, JSON between NUL bytes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless=new",
    "--no-sandbox",  # which root needs
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--remote-debugging-pipe",
]
PATIENCE = 60  # seconds


class Chromium:
    """One tab. ``events`` are all that the page has reported."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # bash, since Python cannot say which descriptors its child shall get.
        command = [PROGRAM, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        shell = ["bash", "-c", f'exec "$@" 3<&{read_there} 4>&{write_there}', "bash", *command]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            shell, pass_fds=(read_there, write_there), stdin=quiet, stdout=quiet, stderr=quiet
        )
        os.close(read_there)
        os.close(write_there)
        self.inbox, self.outbox, self.pending = read_here, write_here, b""
        self.events, self.number, self.session, self.runs_scripts = [], 0, None, True
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        os.close(self.inbox)
        os.close(self.outbox)
        self.profile.cleanup()

    def call(self, method, **parameters):
        """Send a command and wait for its answer; events on the way are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.outbox, json.dumps(message).encode() + b"\0")
        while True:
            found = self._receive()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self.events.append(found)

    def _receive(self):
        while b"\0" not in self.pending:
            if not select.select([self.inbox], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            self.pending += os.read(self.inbox, 2**20) or self._gone()
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def _gone(self):
        raise ConnectionError(f"the browser has ended, with code {self.process.wait(PATIENCE)}")

    def size(self, width, height=900, mobile=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def scheme(self, name, media=""):
        """Prefer light or dark; on a screen, or in print."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", media=media, features=[feature])

    def scripts(self, allowed):
        """Whether pages may run scripts; without them, nothing can be evaluated that takes time."""
        self.runs_scripts = allowed
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, url):
        """Go there, and wait until the page and its pictures are loaded."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        if self.runs_scripts:
            self.evaluate(
                "new Promise(done => document.readyState == 'complete' ? done() : onload = () => done())"
            )
        deadline = time.monotonic() + PATIENCE
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            assert time.monotonic() < deadline
            found = self._receive()
            if "method" in found:
                self.events.append(found)
        if self.runs_scripts:
            self.settle()

    def settle(self):
        """Wait until pictures are decoded and everything is painted."""
        self.evaluate("Promise.all([...document.images].map(image => image.decode().catch(() => 0)))")
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def complaints(self):
        """Console errors and warnings, exceptions, failed requests, and requests to anywhere but the file itself."""
        found = []
        for event in self.events:
            name, what = event.get("method"), event.get("params", {})
            if name == "Runtime.exceptionThrown":
                found.append(("exception", what["exceptionDetails"]["text"]))
            elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(("console", str(what["args"])))
            elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(("log", what["entry"]["text"]))
            elif name == "Network.loadingFailed":
                found.append(("failed", what["errorText"]))
            elif name == "Network.requestWillBeSent":
                url = what["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(("request", url))
        return found

    def screenshot(self, path=None):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, **self._whole())["data"]
        if path:
            with open(path, "wb") as file:
                file.write(base64.b64decode(data))
        return base64.b64decode(data)

    def _whole(self):
        content = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": content["width"], "height": content["height"], "scale": 1}}

    def pdf(self):
        return base64.b64decode(
            self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        )
