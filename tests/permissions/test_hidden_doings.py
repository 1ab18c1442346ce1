"""What may be more than it seems: text that bash evaluates, files that are not named, targets that are not known.

None of these lines is ever run. The workspace is /home/u/proj, the home /home/u.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.permissions.classify import Classifier
from deeptide.permissions.intents import Intent
from deeptide.permissions.levels import Level, worst
from deeptide.permissions.places import Places
from deeptide.permissions.policy import Policy
from deeptide.permissions.rules import Rules
from deeptide.workspace.roots import Roots
from tests.deep import count

CLASSIFIER = Classifier(Places(["/home/u/proj"], "/home/u"))

EVALUATES = r"""
x='a[$(id)]'; echo $((x))
x='a[$(id)]'; ((x))
x='a[$(id)]'; ((y = x + 1))
[[ 'a[$(id)]' -eq 1 ]]
[[ -v 'a[$(id)]' ]]
[[ -v $x ]]
[[ $x -lt 3 ]]; x='a[$(id)]'
[ -v 'a[$(id)]' ]
[ "$op" 'a[$(id)]' ]
op=-v; [ $op 'a[$(id)]' ]
test -v 'a[$(id)]'
test "$a" "$b"
command test -v 'a[$(id)]'
printf -v 'a[$(id)]' x
printf -v x y
let 'a[$(id)]'
let x=1
read 'a[$(id)]' <<<1
read -r PATH <<< sub
read -a PATH <<< sub
declare -i x=y
declare 'a[$(id)]=1'
declare -n r=PATH
declare "x=$y"
typeset -i x
local "$x"
export "$x"
export LD_PRELOAD
a[$(id)]=1; ls
a['$(id)']=1
a=([b]=1)
x='$(id)'; echo "${x@P}"
echo "${!x}"
x='a[$(id)]'; echo ${z:x}
x='a[$(id)]'; echo ${z[x]}
x='a[$(id)]'; echo $[x]
x='a[$(id)]'; for ((i=x;i<3;i++)); do ls; done
x=y; y='a[$(id)]'; echo $((x))
read x; echo $((x))
for x in $(cat f); do echo $((x)); done
echo $(($1))
echo $((PATH=3))
mapfile -C 'id #' -c 1 x < f
mapfile 'a[$(id)]' < f
hash -p ./sub/ls ls; ls
printf -v PATH %s ./sub:$PATH; ls
for PATH in sub:$PATH; do ls; done
select IFS in a b; do ls; done
unset PATH; ls
: ${PATH:=sub}; ls
: ${x=y}
shopt -s expand_aliases
shopt -s dotglob; cat *
set -- a b
set -a
set -k
enable -f ./x.so x
enable -n cat
alias ls=id
trap id DEBUG
eval ls
getopts ab x
wait -p PATH
/usr/bin/time -o out.txt ls
time -o out.txt ls
/usr/bin/time --output=out ls
/usr/bin/time -ao out.txt ls
xargs --process-slot-var=PATH ls
xargs -a .env echo
env -u PATH ls
env -S 'ls'
exec -a x ls
npx ls
busybox cat x
flock x ls
git branch --contains x -D y
git branch --merged x -d y
git tag -l x -d
git tag --sort=x v1
git branch --sort=x new
git branch --format=x new
git config --get x --add y z
git config --list --unset x
git config --list -f x
git remote -v update
git remote -v prune origin
tar tf x --to-c x
tar tf x --use-c x
tar tf h:x
tar tf x --check=1 --checkpoint-a=exec=x
pip list --log y
bash --rcfile x -ic ls
bash -ic ls
cat(){ ls; }; unset -f cat
export X=1; ls
X=1 ls
PATH=sub:$PATH
TAR_OPTIONS=--to-command=x; tar tf y
"""

SHOWS = r"""
tr '\0' '\n' < /proc/$PPID/environ
cat /dev/fd/../../self/environ
find /proc/self/ -name environ -exec cat {} ;
find /proc/self/ -name environ -exec cat {} \;
cat /proc/self/root/home/u/.ssh/id_rsa
cat /proc/self/cwd/.env
head /proc/$$/environ
grep x /proc/*/environ
find ~/.ssh -type f -exec cat {} +
find ~/.ssh -type f | xargs cat
cat $(find ~/.ssh -type f)
cat ~/.ss*/id*
grep -r X ~
grep -r X ..
grep -r X /
rg X ~
diff -r ~ x
find ~ -name 'id_*' -exec cat {} +
ls -A | xargs cat
for f in $(ls -A); do cat $f; done
f=xenv; cat .${f#x}
while read f; do cat "$f"; done
cat "$1"
cat $UNKNOWN
cat .*
cat .[a-z]*
cat ~/*
cat ../*
cat -- $(echo .env)
sort `echo .env`
cd $x && cat id
cd ~/.ssh && cat config
cat < $f
wc -l < "$(echo x)"
find . -type f -exec cat {} +
find . -name '.e*' -exec cat {} +
find . -exec cat {} + -name '*.py'
find . -name '*.py' -o -type f -exec cat {} +
find . ! -name '*.py' -exec cat {} +
find . -name '*' | xargs grep x
find . -name '*.py' | sed 's/.*/.env/' | xargs cat
echo .env | xargs cat
git ls-files | xargs cat
grep -f.env x
git diff --no-index /dev/null x
git grep --no-index x
sort --files0-from=x
nm @x
yq 'load("x")' y
cargo --version
yarn --version
f(){ cat $1; }; f .env
f() { cat config; }; cd ~/.ssh; f
f() { cat $x; }; x=.env; f
grep -d recurse x ..
grep --directories=recurse x ..
zgrep -r x ~
date --file=.env
jq -n 'import "a" as $a; $a'
"""

WRITES = r"""
(make() { ls; }); make
f() { ls; } > out.txt; f
f() { ls; } >> out.txt
if false; then make() { ls; }; fi; make
make; make() { ls; }
pytest --version
"""

DELETES_UNKNOWN = r"""
rm -rf "$(echo "$HOME")"
rm -rf $OLDPWD
read d <<< ~; rm -rf "$d"
printf -v d %s ~; rm -rf "$d"
for d in $(ls -d ~); do rm -rf $d; done
set -- ~; rm -rf "$1"
f(){ rm -rf "$1"; }; f ~
d=$(pwd); rm -rf "${d%/*}"
rm -rf -- "$(realpath ..)"
rm -rf $X
rm -fr "$(mktemp -d)"
rm -r "$x"
rm --recursive $x
cat list | xargs rm -rf
while read f; do rm -rf "$f"; done < list
gio trash $(echo ~)
shred $x
find "$(pwd)" -delete
find $x -delete
tar -cf x.tar --remove-files "$x"
rsync -a --delete empty/ "$x"
rsync -a --remove-source-files "$x" y
f(){ cd ~; }; f; rm -rf "$x"
d=build; while :; do rm -rf $d; d=$(echo ~); done
d=build; d+=/..; rm -rf $d
a=(~); rm -rf "${a[@]}"
mv $(echo ~) x
chmod -R 0 $(echo ~)
mapfile -t a < f; rm -rf "${a[0]}"
rm -rf "${x:-$(pwd)}"
echo ${y#$(rm -rf ~)}
rm -rf `pwd`
xargs rm -rf < f
f() { read d; }; d=build; f; rm -rf $d
f() { rm -rf build; }; cd $x; f
trap 'rm -rf *' EXIT; cd ~
xargs -a f rm -rf
ls build | xargs -a f rm -rf
alias r='rm -rf'; r ~
d=build; trap 'rm -rf $d' EXIT; d=~
d=build; f() { rm -rf $d; }; d=~; f
d=build; f() { d=~; }; f; rm -rf $d
dd of=$x if=y
echo ~ | { read d; rm -rf $d; }
cd - && rm -rf *
rm -rf "$x"/build
rm -rf build/$x
"""

REFUSED = r"""
tar -cf x.tar --remove-files ~
gio trash ~
rsync --remove-source-files ~/ x/
rsync --remove-source-files -a ~ h:x
d=~; if true; then :; else d=build; fi; rm -rf $d
false && d=build; d=~; rm -rf $d
d=build; true || d=~; rm -rf $d
zip -rm x.zip ~
trash-put ~
f(){ cd ~; }; f; rm -rf *
cd src; rm -rf $PWD/../..
rm -rf ${X:-~}
rm -rf ~/$(echo)
find ~/ -delete
f() { rm -rf *; }; cd ~; f
true && f() { rm -rf *; }; cd ~; f
xargs rm -rf <<< ~
rm -rf src/*/../../..
rm -rf */../..
"""

FREE = r"""
i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done
for i in 1 2 3; do echo $((i * 2)); done
for ((i=0; i<3; i++)); do echo $i; done
n=5; (( n > 3 )) && echo yes
[ "$x" = y ] && echo yes
[ -n "$x" -a -f y ] || echo no
[[ -z $x || $y == a* ]] && echo yes
[[ ${#x} -gt 3 ]]
[ $? -eq 0 ] && echo yes
test -f src/x && cat src/x
x=5; [[ $x -eq 5 ]]
echo ${x:-none} ${#x} ${x%.py} ${x##*/} ${x/a/b} ${x^^}
echo ${x:0:3} ${a[@]} ${a[0]} ${!a[@]} ${#a[@]} ${x@Q}
local x=1; declare -a y; readonly z=2
read -r a b < src/list; echo $a
while read -r line; do echo "$line"; done < src/list
printf '%s\n' "$x"
set -euo pipefail; ls
shopt -s nullglob; ls
unset x; ls
f() { ls src; }; f
f() { cat src/a.py; }; f | head
for f in src/a.py src/b.py; do cat $f; done
for f in src/*.py; do wc -l "$f"; done
d=src; cat $d/a.py
cd src && cat a.py
cat src/*.py | head
cat /proc/cpuinfo /proc/meminfo
grep -rn --include='*.py' x src
grep -r x .
rg x src
diff <(ls a) <(ls b)
find . -name '*.py' -type f | head | xargs wc -l
find src -type f \( -name '*.ts' -o -name '*.tsx' \) -not -path '*/x/*' | xargs grep -n foo
find . -name '*.py' -exec grep -l x {} +
find . -name '*.js' -o -name '*.ts' | xargs wc -l
timeout 10 grep -r x src
time -p ls
nice -n 10 ls
env LC_ALL=C sort x
stdbuf -oL cat x
echo "$(ls src)"
git log --oneline | head -5
git diff -- src
git branch -a --contains HEAD
git branch --list 'a*'
git tag -l 'v*'
git tag --sort=-version:refname
git config --local --get user.name
git config --get-regexp 'user.*'
git remote get-url origin
git reflog -5
tar -tvzf x.tgz
pip list --format=json
bash -lc 'ls'
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.parametrize("line", lines(EVALUATES))
def test_text_that_bash_would_evaluate_or_assign_is_asked(line: str) -> None:
    assert CLASSIFIER.level(line) in {Level.ASK, Level.STRONG}


@pytest.mark.parametrize("line", lines(SHOWS))
def test_showing_what_may_be_a_secret_is_asked(line: str) -> None:
    assert CLASSIFIER.level(line) in {Level.ASK, Level.STRONG}


@pytest.mark.parametrize("line", lines(WRITES))
def test_a_write_or_a_program_of_the_project_is_never_taken_for_reading(line: str) -> None:
    assert CLASSIFIER.level(line) >= Level.SANDBOXED


@pytest.mark.parametrize("line", lines(DELETES_UNKNOWN))
def test_deleting_what_is_not_known_is_asked_every_time(line: str) -> None:
    assert CLASSIFIER.level(line) >= Level.STRONG


@pytest.mark.parametrize("line", lines(REFUSED))
def test_deleting_a_protected_place_is_refused(line: str) -> None:
    assert CLASSIFIER.level(line) is Level.REFUSE


@pytest.mark.parametrize("line", lines(FREE))
def test_what_plainly_reads_stays_free(line: str) -> None:
    ruling = worst(part.ruling for part in CLASSIFIER.line(line))
    assert ruling.level is Level.AUTO, ruling


@pytest.mark.parametrize("mode", ["plan", "ask", "auto-edit", "yolo"])
@pytest.mark.parametrize("line", lines(DELETES_UNKNOWN))
def test_no_mode_deletes_the_unknown_unasked(tmp_path: Path, mode: str, line: str) -> None:
    work = tmp_path / "home" / "work"
    work.mkdir(parents=True)
    policy = Policy(Roots(work), tmp_path / "home", Rules())
    verdict = policy.judge("shell", False, [Intent("run", line)], mode)  # type: ignore[arg-type]
    assert verdict.action in {"ask_strong", "deny", "refuse"}


@pytest.mark.parametrize("line", [*lines(EVALUATES), *lines(SHOWS), *lines(WRITES)])
def test_plan_mode_does_none_of_it(tmp_path: Path, line: str) -> None:
    policy = Policy(Roots(tmp_path), Path("/home/u"), Rules())
    assert policy.judge("shell", False, [Intent("run", line)], "plan").action in {"deny", "refuse"}


def test_what_a_name_or_pattern_really_stands_for_is_looked_at(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text("x")
    (work / "certificates").mkdir(parents=True)
    classifier = Classifier(Places([str(work)], str(home)))
    assert classifier.level("cat certificates/* notes.txt") is Level.AUTO
    (work / "certificates" / "server.key").write_text("x")
    assert classifier.level("cat certificates/*") is Level.ASK
    assert classifier.level("cat certificates/s*") is Level.ASK
    assert classifier.level("grep -r word .") is Level.ASK
    assert classifier.level("grep -r --include=*.py word .") is Level.AUTO
    (work / "notes.txt").symlink_to(home / ".ssh" / "config")
    assert classifier.level("cat notes.txt") is Level.ASK
    assert classifier.level("cat < notes.txt") is Level.ASK


SETTERS = st.sampled_from(
    [
        "d={}",
        "read d <<< {}",
        "printf -v d %s {}",
        "for d in {}; do :; done",
        "d=x; d=$(echo {})",
        "d=x; d+=/{}",
        "declare d={}",
        "export d={}",
        "d=({})",
        "mapfile -t d <<< {}",
        "f() {{ d={}; }}; f",
        ": ${{d:={}}}",
        "true && d={}",
        "if true; then d={}; fi",
        "case 1 in 1) d={};; esac",
        "while d={}; do break; done",
    ]
)
USES = st.sampled_from(
    [
        "rm -rf $d",
        'rm -rf "$d"',
        "rm -rf ${d}",
        'rm -r -f -- "$d"',
        "rm -rf ${d[0]}",
        'rm -rf "${d%/}"',
        "rm -rf $d/",
        "find $d -delete",
        "xargs rm -rf <<< $d",
        "echo $d | xargs rm -rf",
        "for e in $d; do rm -rf $e; done",
        "f() { rm -rf $1; }; f $d",
        "f() { rm -rf $d; }; f",
        "e=$d; rm -rf $e",
        "cd $d && rm -rf *",
        "gio trash $d",
        'bash -c "rm -rf $d"',
        "eval rm -rf $d",
        "env rm -rf $d",
        "(rm -rf $d)",
        "rm -rf $(echo $d)",
        "rm -rf `echo $d`",
    ]
)


@settings(max_examples=count(250, 5000), deadline=None)
@given(
    SETTERS,
    st.sampled_from(["~", "/home/u", "$HOME", "/", "..", "/etc"]),
    USES,
    st.sampled_from(["", "d=build; "]),
)
def test_home_is_never_deleted_unasked_by_way_of_a_variable(
    setter: str, place: str, use: str, before: str
) -> None:
    line = f"{before}{setter.format(place)}; {use}"
    assert CLASSIFIER.level(line) >= Level.STRONG, line
