"""Settings come from the environment, checked; a mistake stops the start with a sentence in both languages."""

import pytest

from vitexplorer.core.settings import Settings, WrongSettingError, settings

pytestmark = pytest.mark.usefixtures("own_environment")


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("VIT_PORT", "8080")
    monkeypatch.setenv("VIT_DOWNLOADS", "0")
    assert settings().port == 8080
    assert settings().downloads is False
    assert settings() is settings()


def test_an_empty_variable_is_no_setting(monkeypatch):
    monkeypatch.setenv("VIT_PORT", "")
    assert settings().port == 7860


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VIT_PORT", "65536"),
        ("VIT_PORT", "http"),
        ("VIT_DOWNLOADS", "perhaps"),
        ("VIT_LANGUAGE", "fr"),
        ("VIT_MAX_MEGAPIXELS", "0"),
        ("VIT_SESSIONS", "-1"),
    ],
)
def test_a_wrong_value_is_a_sentence_that_names_the_variable_and_the_value(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettingError) as raised:
        settings()
    for sentence in raised.value.text:
        assert f"{name}={value}" in sentence
        assert "\n" not in sentence


def test_a_mistyped_name_is_not_ignored(monkeypatch):
    monkeypatch.setenv("VIT_DOWNLOAD", "0")
    with pytest.raises(WrongSettingError, match=r"VIT_DOWNLOAD is not a setting\. There is VIT_DOWNLOADS\."):
        settings()


def test_every_setting_says_what_it_is_for():
    assert all(field.description for field in Settings.model_fields.values())
    assert Settings.model_config["frozen"]
