"""Pages on paper: a PDF beside the HTML, printed by a Chromium of this machine that is let nowhere near a network."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSER_KEY = "GANGLINE_CHROMIUM"
BROWSERS = (
    "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)  # fmt: skip
NO_BROWSER = (
    "--pdf: no Chromium or Chrome on this machine, so the pages stay HTML alone; install one (Debian: apt install "
    f"chromium), or name it in {BROWSER_KEY}"
)
LIMIT_S = 180
SWITCHES = (
    "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-extensions", "--disable-sync", "--no-first-run",
    "--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def find_browser() -> Path | None:
    """Find the browser that prints: the one that GANGLINE_CHROMIUM names, else the first that is known by name."""
    given = os.environ.get(BROWSER_KEY)
    found = next((path for name in ((given,) if given else BROWSERS) if (path := shutil.which(name))), None)
    return Path(found) if found else None


def print_page(page: Path, browser: Path, limit_s: int = LIMIT_S) -> str:
    """Print a page to `NN_name.pdf` beside it, replacing the old one whole; give what went wrong in one line."""
    making, paper = page.with_suffix(".printing.pdf"), page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="gangline-print-", ignore_cleanup_errors=True) as profile:
        command = [str(browser), *SWITCHES, *_unsandboxed(), f"--user-data-dir={profile}"]
        problem = _run([*command, f"--print-to-pdf={making.absolute()}", page.absolute().as_uri()], limit_s)
    if making.is_file() and not problem:
        making.replace(paper)
        return ""
    making.unlink(missing_ok=True)
    return f"{paper.name} was not printed by {browser}: {problem or 'it wrote nothing'}"


def _run(command: list[str], limit_s: int) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a browser of this machine, told to open a page of ours
            command, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {limit_s} s"
    except OSError as error:
        return str(error.strerror)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return f"exit code {done.returncode}: {lines[-1][:300] if lines else 'it says no more'}" if done.returncode else ""


def _unsandboxed() -> list[str]:
    """Chromium refuses to run as root inside its sandbox; it opens only pages that were written here."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
