"""The settings file: read, refused in one sentence, written out; nothing is drawn for it."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from clusterscope.errors import SpecError
from clusterscope.tui import config, settings
from clusterscope.tui.keymap import key_of
from clusterscope.tui.keys import EXPLORER, MOVES, SIDE, contexts
from clusterscope.tui.settings import Look, Settings


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def write(text: str):
        file = tmp_path / "clusterscope" / "config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    return write


def test_without_a_file_there_are_defaults(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings.load() == Settings()


def test_the_file_is_under_the_config_directory_or_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings.path() == tmp_path / "clusterscope" / "config.toml"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for relative in ("", "here"):
        monkeypatch.setenv("XDG_CONFIG_HOME", relative)
        assert settings.path() == tmp_path / "home" / ".config" / "clusterscope" / "config.toml"


def test_everything_can_be_set(write):
    write(
        'theme = "light"\nramp = "mono"\nglyphs = false\nmouse = false\n'
        "thresholds = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1]\n"
        '[keys]\nrun = "p"\nundo = ["ctrl+u", "~"]\n'
    )
    assert settings.load() == Settings(
        Look("light", "mono", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0), glyphs=False),
        mouse=False,
        keys={"run": ("p",), "undo": ("ctrl+u", "tilde")},
    )


def test_flags_are_stronger_than_the_file(write):
    write('theme = "light"\nmouse = false\n')
    loaded = settings.load()
    assert loaded.with_flags(theme="dark", mouse=True, ascii=True) == Settings(
        Look("dark"), mouse=False, ascii=True
    )
    with pytest.raises(SpecError, match="--theme: 'darc' is not allowed; did you mean 'dark'"):
        loaded.with_flags(theme="darc", mouse=True, ascii=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("them = 1", ["there is no setting 'them'", "did you mean 'theme'"]),
        ('theme = "drak"', ["theme: 'drak' is not allowed", "did you mean 'dark'"]),
        ("theme = 3", ["theme: 3 is not allowed", "dark, light, high-contrast or plain"]),
        ('ramp = "rainbow"', ["ramp: 'rainbow' is not allowed", "cividis, inferno, viridis, mono"]),
        ("glyphs = 1", ["glyphs: 1 is not allowed", "true or false"]),
        ("thresholds = [0.1]", ["thresholds", "does not make 8 levels"]),
        ("thresholds = [0.1,0.2,0.3,0.3,0.5,0.6,0.7]", ["0.3 is not allowed", "rise"]),
        ("thresholds = [0.1,0.2,0.3,0.4,0.5,0.6,true]", ["true is not allowed"]),
        ("keys = 3", ["keys: 3 is not a table"]),
        ('[keys]\nrunn = "p"', ["keys.'runn'", "no such action", "did you mean 'run'"]),
        ('[keys]\nrun = "spcae"', ["'spcae' is not a key", "did you mean 'space'"]),
        ("[keys]\nrun = 3", ["3 is not a key", "use a character"]),
        ('[keys]\nrun = ["p", []]', ["an array is not a key"]),
        ('[keys]\nrun = "x"', ["keys.'run'", "'x' is the key of 'fail'", "give 'fail' another"]),
        ('[keys]\nrun = "j"', ["'j' is the key of \"move('down')\""]),
        ('[keys]\nrun = "p"\nzoom = "p"', ["'p' is the key of 'zoom'"]),
        ("theme = ", ["is not TOML"]),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_file(write, text, words):
    file = write(text)
    with pytest.raises(SpecError) as refused:
        settings.load()
    assert refused.value.exit_code == 2
    sentence = str(refused.value)
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


def test_keys_can_change_places(write):
    write('[keys]\nrun = "x"\nfail = "space"\n')
    assert settings.load().keys == {"run": ("x",), "fail": ("space",)}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("p", "p"), ("P", "P"), (".", "full_stop"), ("/", "slash"), ("-", "minus"), ("@", "at"),
        ("{", "left_curly_bracket"), ("_", "underscore"), ("esc", "escape"), ("PgUp", "pageup"),
        ("ctrl+o", "ctrl+o"), ("f5", "f5"), ("shift+tab", "shift+tab"), ("?", "question_mark"),
    ],
)  # fmt: skip
def test_keys_are_written_as_one_reads_them(text, key):
    from textual.keys import _character_to_key

    assert key_of(text, "f") == key
    if len(text) == 1:
        assert _character_to_key(text) == key


def test_the_template_is_all_defaults_and_every_line_of_it_can_be_used(write):
    text = config.template()
    assert tomllib.loads(text) == {}
    for action in (*EXPLORER, *MOVES, *SIDE):
        assert f'# "{action.name}" = ' in text
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    write("\n".join(lines))
    loaded = settings.load()
    assert loaded.look == Look()
    assert loaded.keys["run"] == ("space",)


def test_what_is_printed_can_be_read_again():
    given = Settings(Look("light", "viridis"), mouse=False, keys={"step(1)": ("n", "minus")})
    text = config.effective(given)
    table = tomllib.loads(text)
    table["keys"] = {}
    assert config.parse(table, "f") == Settings(Look("light", "viridis"), mouse=False)
    assert tomllib.loads(text)["keys"] == {"step(1)": ["n", "-"]}


def test_every_table_of_keys_is_in_a_context():
    from clusterscope.tui import keys

    known = {action for actions in contexts().values() for action in actions}
    for name, value in vars(keys).items():
        if isinstance(value, tuple) and value and isinstance(value[0], keys.Action):
            assert known >= set(value), name


def test_settings_are_read_without_the_libraries_that_draw():
    code = "import clusterscope.tui.config, sys; print({'textual', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
