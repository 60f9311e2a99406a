# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, zsh and fish: what each shell offers is what the programs take."""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time

import pytest
from conftest import BUILD, ROOT, analyze

SCRIPTS = ROOT / "scripts/completion"
COMMANDS = re.findall(r"^  ([a-z]+) ", analyze("--help").stdout.split("\n\n")[1], re.M)
ENVIRONMENT = {"PATH": f"{BUILD}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def in_bash(line, directory):
    """Bash splits words at `=`, as readline does."""
    words = re.findall(r"=|[^ =]+", line) + ([""] if line.endswith(" ") else [])
    script = (f"source {SCRIPTS}/tprof.bash; COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; "
              "_tprof; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return set(subprocess.run(["bash", "-c", script], cwd=directory, env=ENVIRONMENT, capture_output=True, text=True,
                              check=True).stdout.split())


def in_fish(line, directory):
    script = f"source {SCRIPTS}/tprof.fish; complete --do-complete {shlex.quote(line)}"
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=directory, env={**ENVIRONMENT, "HOME": str(directory)},
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


def in_zsh(line, directory):
    """Completion needs the line editor: a shell on a terminal, in which the words that are offered are noted."""
    offered = directory / ".offered"
    (directory / ".zshrc").write_text(f"""
fpath=({SCRIPTS} $fpath)
autoload -U compinit
compinit -u -D
compadd() {{
    local -a found
    [[ ${{@[1,(i)(-|--)]}} = *-[AODU]\\ * ]] || {{
        builtin compadd -A found "$@"
        (( $#found )) && print -rl -- "${{(@)found}}" >> {offered}
    }}
    builtin compadd "$@"
}}
done-completing() {{ touch {offered}; zle list-choices; print -r -- end >> {offered}; }}
zle -N done-completing
bindkey '^X' done-completing
PS1=ready:
""")
    pid, end = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.execve(shutil.which("zsh"), ["zsh", "-i"], {**ENVIRONMENT, "HOME": str(directory), "ZDOTDIR": str(directory)})
    shown, limit = b"", time.monotonic() + 60
    asked = False
    while not (offered.exists() and offered.read_text().endswith("end\n")):
        assert time.monotonic() < limit, shown
        if select.select([end], [], [], 0.1)[0]:
            shown += os.read(end, 65536)
        if not asked and b"ready:" in shown:
            os.write(end, line.encode() + b"\x18")
            asked = True
    os.close(end)
    os.waitpid(pid, 0)
    words = set(offered.read_text().splitlines()) - {"end"}
    offered.unlink()
    return words


SHELLS = [pytest.param(function, marks=pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed"), id=name)
          for name, function in (("bash", in_bash), ("fish", in_fish), ("zsh", in_zsh))]


def options_of(*command):
    text = subprocess.run([*command, "--help"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    return {option for line in text.splitlines() if re.match(r" {2,6}-", line)
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"(\w) {2,}.*", r"\1", line))}


@pytest.mark.parametrize("shell", SHELLS)
def test_commands(shell, tmp_path):
    (tmp_path / "peer.bin").touch()
    assert set(COMMANDS) | {"peer.bin"} <= shell("tprof-analyze ", tmp_path)
    assert shell("tprof-analyze pe", tmp_path) == {"peak", "peer.bin"}
    assert shell("tprof-analyze peak pe", tmp_path) == {"peer.bin"}
    assert shell("tprof at", tmp_path) == {"attach"}
    assert {"run", "attach", "detach", "ctl", "live", "help"} <= shell("tprof ", tmp_path)
    assert {"start", "stop", "mark"} <= shell("tprof ctl ", tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("shell", SHELLS)
def test_options(shell, command, tmp_path):
    """All that the command takes, and no others."""
    assert shell(f"tprof-analyze {command} --", tmp_path) == options_of("tprof-analyze", command)


@pytest.mark.parametrize("shell", SHELLS)
def test_options_of_the_launcher(shell, tmp_path):
    assert shell("tprof run --", tmp_path) == options_of("tprof")
    assert shell("tprof live --", tmp_path) == options_of("tprof-analyze", "live")
    assert shell("tprof run --alloc s", tmp_path) == {"sample:524288"}


@pytest.mark.parametrize("shell", SHELLS)
def test_fleet(shell, tmp_path):
    (tmp_path / "peer.bin").touch()
    assert {"load", "query", "help"} <= shell("tprof-fleet ", tmp_path)
    for command in ("load", "query"):
        assert shell(f"tprof-fleet {command} --", tmp_path) == options_of("tprof-fleet", command)
    assert shell("tprof-fleet query --format ", tmp_path) == {"table", "csv", "json"}
    assert shell("tprof-fleet query top", tmp_path) == {"top-sites"}
    assert shell("tprof-fleet load pe", tmp_path) == {"peer.bin"}
    assert "model_version=" in shell("tprof-fleet load --label mod", tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_values(shell, tmp_path):
    """A few words, keys of the command, files; and none where none can be told."""
    (tmp_path / "old.bin").touch()
    assert shell("tprof-analyze peak --color ", tmp_path) == {"auto", "always", "never"}
    assert {word.removeprefix("--color=") for word in shell("tprof-analyze peak --color=a", tmp_path)} == {"auto", "always"}
    assert shell("tprof-analyze steps --sort ", tmp_path) == {"time", "high", "growth", "step"}
    assert shell("tprof-analyze summary --format ", tmp_path) == {"text", "markdown", "json"}
    formats = re.search(r"--format .*: (.*)$", analyze("export", "--format", "none", "none.bin", status=2).stderr, re.M).group(1).split()
    assert shell("tprof-analyze export --format ", tmp_path) == set(formats) >= {"folded", "pprof"}
    assert shell("tprof-analyze diff --baseline o", tmp_path) == {"old.bin"}
    assert shell("tprof-analyze -o x peak --t", tmp_path) == {"--top", "--thread", "--to"}
