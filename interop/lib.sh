# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the scripts
# Functions of the scripts here that make machines of network namespaces and print a line per cell. A
# script sources this file first.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
PATH=$PATH:/usr/sbin:/sbin # where ip, nft and tc are, for users too
seconds=1

# shellcheck source=benchmarks/lib.sh
. "$root/benchmarks/lib.sh"
# shellcheck source=interop/jars.sh
. "$here/jars.sh"

arguments=("$@")
keep=
patterns=()

# Takes an argument that all scripts have.
take() {
    case $1 in
        --keep) keep=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*)
            say "no such option: option=$1"
            usage >&2
            exit 2
            ;;
        *) patterns+=("$1") ;;
    esac
}

skip() {
    echo "${script//-/ }: SKIPPED, $*"
    exit 0
}

# ---- namespaces

# Builds ours and starts the script again in a network and a mount namespace of its own; there it begins.
# Sets SOFTDPU_INTEROP_JARS and SOFTDPU_JAVA_HOME. Needs, besides its own: command:package ...
isolate() {
    local pair reason as_root=()
    if [[ -n ${SOFTDPU_INTEROP_INSIDE:-} ]]; then
        unset SOFTDPU_INTEROP_INSIDE SOFTDPU_FABRIC SOFTDPU_TOPOLOGY SOFTDPU_RDMA_PROVIDER XDG_RUNTIME_DIR
        begin
        return
    fi
    for pair in ip:iproute2 nsenter:util-linux setpriv:util-linux unshare:util-linux "$@"; do
        (need "$pair") || skip "command is missing: command=${pair%%:*}, package=${pair#*:}"
    done
    say "building ours"
    hold_jars "$root/softdpu"
    export SOFTDPU_INTEROP_INSIDE=yes
    (($(id -u) == 0)) || as_root=(--user --map-root-user)
    reason=$(unshare "${as_root[@]}" --net --mount true 2>&1) ||
        skip "namespaces cannot be made: uid=$(id -u), reason=${reason##*: }"
    exec unshare "${as_root[@]}" --net --mount "$here/$script.sh" "${arguments[@]}"
}

declare -A namespace=() # the process that holds it, by machine

# Makes a network namespace for a machine, and a cable of two interfaces to it: name of the interface here;
# machine, whose interface is v- and its name.
add_machine() {
    setpriv --pdeathsig KILL unshare --net sleep infinity &
    namespace[$2]=$!
    background[$!]=1
    until [[ $(readlink "/proc/$!/ns/net") != "$(readlink /proc/self/ns/net)" ]]; do
        kill -0 "$!" 2>/dev/null || fail "namespace has ended: process=$!"
        sleep 0.02
    done
    ip link add "$1" type veth peer name "v-$2"
    ip link set "v-$2" netns "$!"
    on "$2" ip link set lo up
}

# Sets prefix to the words that run a command in a machine; none if it has no namespace of its own.
enter() {
    prefix=()
    [[ ! -v namespace[$1] ]] || prefix=(nsenter "--net=/proc/${namespace[$1]}/ns/net" --)
}

# Runs a command in a machine.
on() {
    local prefix
    enter "$1"
    "${prefix[@]}" "${@:2}"
}

# Starts a command in a machine, in the background, its outputs in files of the cell: name of these, machine.
start_on() {
    local prefix
    enter "$2"
    start "${prefix[@]}" "${@:3}" >"$out/$1" 2>"$out/$1.err"
}

# A function of a topology: side, interface, device, PCI address, MAC, name, addresses and further keys.
function_of() {
    cat <<JSON
    {"side": "$1", "interface_name": "$2", "ibdev_name": "$3", "function_type": "PF",
     "pci_address": "$4", "mac": "$5", "vuid": "$6", $7,
     "active_rate_bits_per_second": 100000000000}
JSON
}

# Writes a topology: file, functions.
write_topology() {
    local IFS=,
    printf '{"softdpu_topology": 1, "name": "%s", "functions": [\n%s]}\n' "$(basename "$1" .json)" "${*:2}" >"$1"
}

# ---- cells

failed=0
cells=0
out=

# Begins a cell, whose name is the rest of its line; whether it is to be run.
cell() {
    local pattern
    name=$*
    if ((${#patterns[@]})); then
        for pattern in "${patterns[@]}"; do
            [[ $name != *"$pattern"* ]] || break
            pattern=
        done
        [[ -n $pattern ]] || return 1
    fi
    cells=$((cells + 1))
    out=$work/$cells
    mkdir "$out"
}

# Ends a cell: what the line has behind its name.
passed() {
    echo "$name: passed, $*"
    [[ -n $keep ]] || rm -rf "$out"
}

# Ends a cell with a reason, and the last lines of its programs. What still runs is ended.
fails() {
    local file pid
    failed=$((failed + 1))
    for pid in "${!background[@]}"; do
        [[ " ${namespace[*]} " == *" $pid "* ]] || stop "$pid"
    done
    echo "$name: FAILED, $*"
    for file in "$out"/*; do
        { grep -v '^	' "$file" || true; } | tail -n 3 | sed "s|^|    $(basename "$file"): |"
    done
}

# Ends the script with the number of cells, and with 1 if one has failed.
total() {
    if [[ -n $keep ]]; then
        echo "outputs: folder=$work"
        work=
    fi
    ((cells)) || fail "no cell has this text in its line: texts=${patterns[*]}"
    echo "${script//-/ }: cells=$cells, failed=$failed"
    ((failed == 0))
}

# Waits for a line of a program that begins with a text: file, text, pid.
await_line() {
    local deadline=$((SECONDS + limit))
    until grep -q "^$2" "$1" 2>/dev/null; do
        kill -0 "$3" 2>/dev/null || return 1
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

# The first value of a key in the output of a program: file, key.
value_of() {
    sed -n "s/.*\b$2=\([^, ]*\).*/\1/p" "$1" | head -n 1
}
