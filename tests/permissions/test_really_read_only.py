"""Lines that are judged to only read are really run, by bash, in a folder of their own.

The pieces are chosen so that bash evaluates text wherever it can; the text makes one file in that folder.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from deeptide.permissions.classify import Classifier
from deeptide.permissions.levels import Level
from deeptide.permissions.places import Places
from tests.deep import count

PAYLOAD = "a[$(touch pwned)]"
VALUES = st.sampled_from(
    [
        f"'{PAYLOAD}'",
        "'$(touch pwned)'",
        "1",
        "y",
        "-v",
        "'-v a[$(touch pwned)]'",
        "sub:$PATH",
        "x",
        '"$y"',
        "$((y))",
        "$(cat payload)",
        "$(echo -v)",
        "(1 2)",
        f"('{PAYLOAD}' 1)",
        "word",
        "'ls; touch pwned'",
    ]
)
NAMES = st.sampled_from(["x", "y", "PATH", "z"])
FILLINGS = st.sampled_from(
    [
        "{n}={v}",
        "{n}+={v}",
        "{n}[1]={v}",
        "declare {n}={v}",
        "declare -i {n}={v}",
        "declare -a {n}={v}",
        "local {n}={v}",
        "export {n}={v}",
        "readonly {n}={v}",
        "typeset {n}={v}",
        "read {n} < payload",
        "read -r {n} <<< {v}",
        "read -a {n} <<< {v}",
        "mapfile -t {n} < payload",
        "printf -v {n} %s {v}",
        "set -- {v}",
        ": ${{{n}:={v}}}",
        ": ${{{n}={v}}}",
        "let {n}={v}",
        "for {n} in {v}; do :; done",
        "f() {{ {n}={v}; }}; f",
        "true && {n}={v}",
        "if true; then {n}={v}; fi",
        "case 1 in 1) {n}={v};; esac",
        "hash -p ./sub/ls ls",
        "alias ls={v}",
        "trap {v} EXIT",
        "shopt -s expand_aliases",
        "ls() {{ cat payload; }}",
        "f() {{ ls; }}",
        "while read {n}; do break; done < payload",
        "select {n} in {v}; do break; done <<< 1",
        'printf -v {n} %s "{v}"',
        "unset {n}",
        "{{ {n}={v}; }}",
        "(( {n} = 3 ))",
        "exec 3< payload; read -u 3 {n}",
    ]
)
USES = st.sampled_from(
    [
        "echo $(({n}))",
        "echo $(( $n + 1 ))".replace("$n", "${n}"),
        "(({n}++))",
        "echo $[{n}]",
        "[[ ${n} -eq 1 ]]",
        "[[ {n} -lt 1 ]]",
        "[[ -v ${n} ]]",
        "[[ -v {n} ]]",
        "[ ${n} -eq 1 ]",
        '[ "${n}" -eq 1 ]',
        "[ ${n} ]",
        '[ "${n}" "$y" ]',
        "[ -v ${n} ]",
        "test ${n} 'a[$(touch pwned)]'",
        'test -v "${n}"',
        "[ -n ${n} ]",
        "echo ${{{n}@P}}",
        "echo ${{!{n}}}",
        "echo ${{z[{n}]}}",
        "echo ${{z[${n}]}}",
        "echo ${{z:{n}}}",
        "echo ${{z:0:{n}}}",
        "echo ${{{n}#*a}}",
        "echo ${{{n}:-1}} ${{#{n}}}",
        'echo "${{{n}[@]}}"',
        "z[{n}]=1",
        "z=([{n}]=1)",
        "for ((i={n};i<2;i++)); do :; done",
        "eval ${n}",
        'eval "${n}"',
        "${n}",
        "ls",
        "f",
        "command ls",
        "time ls",
        "f > out",
        "f() {{ ls; }} > out; f",
        "{{ ls; }} > out",
        "( ls ) > out",
        "/usr/bin/time -o out ls",
        "cat <<E\n$(({n}))\nE",
        "cat <<< $(({n}))",
        'echo "$(echo $(({n})))"',
        "wait -p {n}",
        "cat < <(echo ${{{n}@P}})",
        "xargs -a payload ls",
        'env -S "${n}"',
        "find . -name x -fprint out",
        "find . ${n}",
        "sort payload -o out",
        "sort payload ${n}",
        'awk "${n}" payload',
        'sed -n "${n}" payload',
        "printf %d ${n}",
        'printf "${n}"',
        "exit ${n}",
        "shift ${n}",
        "return ${n}",
        "echo {{1..3}} ${n}",
        "[[ a =~ ${n} ]]",
        "[[ ${n} == a* ]]",
        "case ${n} in a*) ls;; esac",
        "while [ ${n} -gt 5 ]; do break; done",
        "cd sub && ls",
        "cd sub; ./ls",
        "sub/ls",
        "uniq payload out",
        "tee out < payload",
        "echo > out",
        "> out",
        ": > out",
    ]
)


def build(filling: list[tuple[str, str, str]], use: list[tuple[str, str]]) -> str:
    parts = [form.format(n=name, v=value) for form, name, value in filling]
    return "; ".join([*parts, *(form.format(n=name) for form, name in use)])


def changed_by(line: str, folder: Path) -> set[str]:
    """Runs `line` in `folder` and names what is there afterwards that was not before."""
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "payload").write_text(PAYLOAD + "\n")
    program = folder / "sub" / "ls"
    program.write_text(f"#!/bin/sh\n: > '{folder}/pwned'\n")
    program.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"}
    subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20
    )
    found = {path.name for path in folder.iterdir()} - {"sub", "payload"}
    for name in found:
        (folder / name).unlink()
    return found


@settings(
    max_examples=count(150, 6000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(FILLINGS, NAMES, VALUES), max_size=2),
    st.lists(st.tuples(USES, NAMES), min_size=1, max_size=2),
)
@example([("{n}={v}", "x", f"'{PAYLOAD}'")], [("echo $(({n}))", "x")])
@example([("{n}={v}", "x", "y"), ("{n}={v}", "y", f"'{PAYLOAD}'")], [("[[ {n} -lt 1 ]]", "x")])
@example([("{n}={v}", "x", "'-v a[$(touch pwned)]'")], [("[ ${n} -eq 1 ]", "x")])
@example([("read {n} < payload", "x", "")], [("(({}++))".format("{n}"), "x")])
def test_a_line_that_only_reads_changes_nothing_when_it_is_run(
    tmp_path: Path, filling: list[tuple[str, str, str]], use: list[tuple[str, str]]
) -> None:
    line = build(filling, use)
    classifier = Classifier(Places([str(tmp_path)], "/home/u"))
    if classifier.level(line) is Level.AUTO:
        assert changed_by(line, tmp_path) == set(), line
