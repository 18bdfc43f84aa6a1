"""A real browser for tests: headless Chromium, or a skip where there is none."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from extras import need


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Lend a browser with an empty profile; nothing is downloaded.

    Debian's packages are called chromium and chromium-driver. Where they are missing the tests are
    skipped; with GREEDYNET_REQUIRE_EXTRAS=1 they fail.
    """
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        told = "needs chromium and chromedriver: apt-get install chromium chromium-driver"
        if os.environ.get("GREEDYNET_REQUIRE_EXTRAS") == "1":
            pytest.fail(told)
        pytest.skip(told)
    need("selenium")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=programs[1])
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def look(driver: Any, *, width: int = 1000, scheme: str = "light", motion: str = "reduce") -> None:
    """Give the page a width in pixels, and tell it what its reader prefers."""
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": motion},
    ]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
