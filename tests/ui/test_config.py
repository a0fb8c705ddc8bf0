"""Streamlit's options that the pages lean on, one of them hidden: a new release may drop it."""

import tomllib
from pathlib import Path

import pytest
from streamlit import config

from backend.addresses import Address
from backend.artifacts.documents.charts import COLOURS
from ui.server import options

OPTIONS = tomllib.loads(Path(".streamlit/config.toml").read_text())
FLAT = [f"{part}.{name}" for part, names in OPTIONS.items() for name in names]


@pytest.mark.parametrize("option", [name for name in FLAT if not name.startswith("theme.")])
def test_every_option_is_one_that_streamlit_knows(option):
    assert option in config.get_config_options()


@pytest.mark.parametrize("option", options(Address("127.0.0.1", 8501)))
def test_every_option_that_follows_from_the_address_is_known_too(option):
    assert option in config.get_config_options()


def test_the_second_wall_stands_at_the_same_addresses():
    walls = options(Address("127.0.0.1", 8501, "https://desk.example.com"))

    assert walls["server.enableXsrfProtection"] is walls["server.enableCORS"] is True
    assert "https://desk.example.com" in walls["server.corsAllowedOrigins"]
    assert "desk.example.com" in walls["server.allowedHosts"]
    assert walls["browser.serverAddress"] == "desk.example.com"
    assert walls["browser.serverPort"] == 443


def test_no_garbage_collection_after_every_run():
    assert OPTIONS["runner"]["postScriptGC"] is False


def test_both_themes_set_the_same_colours():
    assert OPTIONS["theme"]["light"].keys() == OPTIONS["theme"]["dark"].keys()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["backgroundColor", "secondaryBackgroundColor"])
@pytest.mark.parametrize("ink", ["textColor", "linkColor"])
def test_text_can_be_read(theme, ground, ink):
    colours = OPTIONS["theme"][theme]

    light, dark = sorted((luminance(colours[ground]), luminance(colours[ink])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_charts_can_be_seen(theme):
    colours = OPTIONS["theme"][theme]
    ground, categories = colours["backgroundColor"], colours["chartCategoricalColors"]

    assert len(set(categories)) == len(categories) >= 12
    assert theme == "dark" or (*categories,) == COLOURS  # of exports, which are read on white
    for colour in categories:
        light, dark = sorted((luminance(ground), luminance(colour)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
