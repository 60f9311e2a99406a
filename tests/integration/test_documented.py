# SPDX-License-Identifier: Apache-2.0
"""What the programs take, and what help, man pages, README and completion say of it, are the same."""
import re
import subprocess

import pytest
from conftest import BUILD, LAUNCHER, ROOT, analyze

ANALYZER = BUILD / "bin" / "tprof-analyze"
COMMANDS = re.findall(r"^  ([a-z]+) ", analyze("--help").stdout.split("\n\n")[1], re.M)
# One option of a program that takes all; what it means is the command's.
EVERY_COMMAND = {"--process", "--debug-dir", "--color", "--output", "--help", "--version"}


def options_of(text):
    """Those that have lines of their own in a help text."""
    return {option for line in text.splitlines() if re.match(r" {2,6}-", line)
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"(\w) {2,}.*", r"\1", line))}


def help_of(command):
    return analyze(command, "--help").stdout


def options_in_manual(page):
    """Of the paragraphs that begin with them."""
    source = (ROOT / page).read_text(encoding="utf-8").replace("\\-", "-").replace("\\fI", " ")
    tags = re.findall(r"^\.TP\n(.*)$", source, re.M) + re.findall(r"^\.TQ\n(.*)$", source, re.M)
    return {option for tag in tags for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", tag)}


def complete(words, function):
    line = " ".join(f"'{word}'" for word in words)
    script = (f"source {ROOT}/scripts/completion.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
              f"{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_commands():
    assert len(COMMANDS) > 15
    page = (ROOT / "analyzer/tprof-analyze.1").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.TP\n\.BR? ([a-z]+)", page[page.index(".SH COMMANDS"):page.index(".SH OPTIONS")], re.M))
    assert named == set(COMMANDS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [command for command in COMMANDS if f"tprof-analyze {command}" not in readme and command != "summary"] == []
    assert set(COMMANDS) <= complete([ANALYZER, ""], "_tprof_analyze")
    assert complete([ANALYZER, "pe"], "_tprof_analyze") == {"peak"}


def test_options_of_the_analyzer():
    listed = options_of(analyze("--help").stdout)
    assert listed == set().union(*(options_of(help_of(command)) for command in COMMANDS))
    assert options_in_manual("analyzer/tprof-analyze.1") == listed
    assert all(EVERY_COMMAND <= options_of(help_of(command)) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_what_is_taken(command):
    """Every option that help names is known; every other one is refused, and the message says what there is."""
    everything, taken = analyze("--help").stdout, options_of(help_of(command))
    for option in sorted(options_of(everything) - {"--help", "--version"}):
        if option == "--measure" and option in taken:
            continue  # it would
        value = "=\x01" if re.search(rf"{option} [A-Z]", everything) else ""
        done = subprocess.run([ANALYZER, command, option + value, "none.bin"], capture_output=True, text=True, check=False)
        assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1, (option, done.stderr)
        refused = re.search(rf"{command} takes no {option}(;|$)", done.stderr) is not None
        assert refused == (option not in taken), (option, done.stderr)
    assert complete([ANALYZER, command, "--"], "_tprof_analyze") == taken


@pytest.mark.parametrize("option", ["--by", "--sort"])
@pytest.mark.parametrize("command", COMMANDS)
def test_keys(command, option):
    """What help lists is what completes, and what the message for a wrong one allows."""
    line = re.search(rf"^  {option} .* one of: (.*)$", help_of(command), re.M)
    if not line:
        assert complete([ANALYZER, command, option, ""], "_tprof_analyze") == set()
        return
    keys = line.group(1).split()
    assert complete([ANALYZER, command, option, ""], "_tprof_analyze") == set(keys)
    message = analyze(command, option, "nonsense", "none.bin", status=2).stderr
    assert all(re.search(rf"\b{key}\b", message) for key in keys), message


@pytest.mark.parametrize("option, command", [("--color", "peak"), ("--what", "flamegraph"), ("--language", "peak"),
                                             ("--format", "export")])
def test_words(option, command):
    words = complete([ANALYZER, command, option, ""], "_tprof_analyze")
    message = analyze(command, option, "nonsense", "none.bin", status=2).stderr
    assert words and set(re.split(r"[ ,]+", message.strip().split(": ")[-1])) - {"or", "allowed"} >= words, message


def test_options_of_the_launcher():
    text = subprocess.run([LAUNCHER, "--help"], capture_output=True, text=True, check=True).stdout
    listed = options_of(text)
    assert {"--output", "--depth", "--python"} <= listed
    assert options_in_manual("scripts/tprof.1") == listed
    assert complete([LAUNCHER, "run", "--"], "_tprof") == listed


def test_environment():
    """Each variable that the collector reads has its paragraph, and each paragraph its variable."""
    source = (ROOT / "preload/core/config.c").read_text(encoding="utf-8")
    read = set(re.findall(r'{ "TPROF_([A-Z]+)", read_', source))
    page = (ROOT / "scripts/tprof.1").read_text(encoding="utf-8")
    described = set(re.findall(r"TPROF_([A-Z]+)", page))
    assert read and read <= described, read - described
    assert described <= read | {"OUTPUT"}, described - read
