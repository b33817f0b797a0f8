#!/usr/bin/env bash
# RDMA with Linux as the peer: the driver rdma_rxe of an unmodified Debian kernel, in a guest of QEMU.
#
#   interop/linux-roce.sh                    all cells: four minutes with the builds
#   interop/linux-roce.sh --short            a few of each kind: a minute, and the builds
#   interop/linux-roce.sh --cached [...]     fetches nothing: SKIPPED unless the guest is in the cache
#   interop/linux-roce.sh --cm [--short]     the cells of rdma_cm alone, with smaller numbers
#   interop/linux-roce.sh --kernel PACKAGE   a guest with the kernel of another Debian package, as
#                                            linux-image-6.12-amd64
#
# Prints a line per cell: `passed`, `FAILED` with the reason and the files to look at, or `SKIPPED`
# where the guest or a network for it is missing. Exit 1 if a cell has FAILED, 0 otherwise.
#
# Needs a JDK as ./softdpu does, apt-get and dpkg-deb for the guest, whose packages are kept in
# ~/.cache/softdpu-guest (SOFTROCE_CACHE names another folder; nothing is installed), and as root or
# by user namespaces a network namespace with a tap. Emulation shows correctness, never speed.
# SOFTDPU names another command than ./softdpu.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=interop/jars.sh
. "$here/jars.sh"
guest=$here/softroce-guest.sh
softdpu=${SOFTDPU:-$(dirname "$here")/softdpu}
own4=10.77.0.1
own6=fd77::1
other4=10.77.0.3
other6=fd77::3
guest4=10.77.0.2
guest6=fd77::2
port=18515
port_of_peer=18516
port_of_cm_peer=18517
limit=180 # seconds for each program of a cell

fail_usage() {
    echo "linux-roce.sh: ${*//[^[:print:]]/?}" >&2
    exit 2
}

skip() {
    echo "SKIPPED all cells: $*"
    wait # for the build
    exit 0
}

# ---- outside of the network namespace: options, guest, namespace ----

if [[ ${1:-} != --inside ]]; then
    short=
    only=
    cached=
    while (($#)); do
        case $1 in
            --short) short=1 ;;
            --cached) cached=1 ;;
            --cm) only=cm ;;
            --kernel)
                (($# > 1)) || fail_usage "value is missing: option=--kernel"
                export SOFTROCE_KERNEL=$2
                shift
                ;;
            --help | -h)
                sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
                exit 0
                ;;
            *) fail_usage "option is not known: option=$1, expected=--short, --cached, --cm or --kernel PACKAGE" ;;
        esac
        shift
    done
    for command in apt-get dpkg-deb unshare ip; do
        command -v "$command" >/dev/null || skip "command is missing: command=$command"
    done
    [[ -z $cached ]] || "$guest" cached || skip "guest is not in the cache: expected=a run without --cached, which fetches it"
    "$guest" build || skip "guest cannot be built: script=$guest, expected=the packages of a Debian mirror"
    export SOFTDPU_INTEROP_HEADERS
    SOFTDPU_INTEROP_HEADERS=$("$guest" headers) || skip "headers of the verbs cannot be fetched: script=$guest"
    "$guest" with-tap true 2>/dev/null ||
        skip "no network namespace with a tap: expected=root, or user namespaces and /dev/net/tun for users"
    SOFTDPU_JAVA_HOME=$("$softdpu" --print-jdk-home)
    SOFTDPU_INTEROP_WORK=$(mktemp -d)
    export SOFTDPU_JAVA_HOME SOFTDPU_INTEROP_WORK
    # Builds it, with the network, which there is not inside of the namespace; meanwhile the guest boots.
    (
        status=0
        "$softdpu" --print-jars >/dev/null 2>"$SOFTDPU_INTEROP_WORK/build.log" || status=$?
        echo "$status" >"$SOFTDPU_INTEROP_WORK/built.new"
        mv "$SOFTDPU_INTEROP_WORK/built.new" "$SOFTDPU_INTEROP_WORK/built"
    ) &
    exec "$guest" with-tap "$0" --inside "$short" "$only"
fi

# ---- inside: the guest at 10.77.0.2 and fd77::2, this side at 10.77.0.1 and fd77::1 ----

short=$2
only=$3
work=$SOFTDPU_INTEROP_WORK
export SOFTDPU_FABRIC=$work/fabric
mkdir -m 700 "$SOFTDPU_FABRIC"
started=
failures=0

end() {
    [[ -z $started ]] || kill -CONT "$(<"$started/.softroce/pid")" || true # a cell stops it
    [[ -z $started ]] || "$guest" stop "$started" || true
    ((failures)) || rm -rf "$work"
}
trap end EXIT

cat >"$work/card.json" <<J
{
  "softdpu_topology": 1,
  "name": "interop",
  "functions": [
    {"side": "target", "interface_name": "t0", "ibdev_name": "mlx5_0", "function_type": "PF",
     "pci_address": "41:00.0", "ipv4": "$own4", "ipv6": "$own6", "mac": "02:00:00:77:00:01",
     "vuid": "interop-t0", "active_rate_bits_per_second": 100000000000},
    {"side": "target", "interface_name": "t1", "ibdev_name": "mlx5_1", "function_type": "PF",
     "pci_address": "41:00.1", "ipv4": "$other4", "ipv6": "$other6", "mac": "02:00:00:77:00:03",
     "vuid": "interop-t1", "active_rate_bits_per_second": 100000000000}
  ]
}
J

ip address add "$other4/24" dev srtap0
ip address add "$other6/64" dev srtap0 nodad

"$guest" start --net tap:srtap0 >"$work/started" 2>"$work/guest.log" &
booting=$!

# The programs of both sides, while the guest boots.
compile_peer() { # source without .c, log, libraries
    gcc -O1 -I"$SOFTDPU_INTEROP_HEADERS/usr/include" -o "$work/$1" "$here/$1.c" \
        -L"$libraries" -Wl,-rpath-link,"$libraries" "${@:3}" 2>"$2"
}
libraries=$SOFTDPU_INTEROP_HEADERS/usr/lib/x86_64-linux-gnu
has_compiler=
echo 'int main(void) { return 0; }' >"$work/empty.c"
gcc -o "$work/empty" "$work/empty.c" 2>/dev/null && has_compiler=yes
has_peer=
compile_peer verbs-peer "$work/gcc.log" -libverbs && has_peer=yes
has_cm_peer=
compile_peer cm-peer "$work/gcc-cm.log" -lrdmacm -libverbs && has_cm_peer=yes
until [[ -f $work/built ]]; do
    sleep 0.1
done
if [[ $(<"$work/built") != 0 ]]; then
    cat "$work/build.log" >&2
    ! wait "$booting" || started=$(<"$work/started")
    failures=1
    exit 1
fi
hold_jars "$softdpu"
jars=$SOFTDPU_INTEROP_JARS
built=$SECONDS
java=("$SOFTDPU_JAVA_HOME/bin/java" -XX:+UseSerialGC --enable-native-access=io.softdpu.linux
    -p "$jars" --add-modules ALL-MODULE-PATH)
"$SOFTDPU_JAVA_HOME/bin/javac" -nowarn -p "$jars" --add-modules ALL-MODULE-PATH -d "$work/classes" \
    --source-path "$here" "$here/LinuxCells.java" "$here/CmCells.java" "$here/CmChild.java"
compiled=$SECONDS

wait "$booting" || {
    cat "$work/guest.log" >&2
    skip "guest does not boot: files=$work"
}
started=$(<"$work/started")
for program in verbs-peer cm-peer; do
    [[ ! -f $work/$program ]] || cp "$work/$program" "$started/"
done
echo "kernel of the guest: $("$guest" exec "$started" uname -r), seconds until softdpu was built: $built," \
    "its programs: $compiled, the guest was up: $SECONDS"

passed() {
    echo "passed   $1"
}

failed() { # cell, reason, file ...
    local cell=$1 reason=$2
    shift 2
    failures=$((failures + 1))
    echo "FAILED   $cell: reason=$reason, files=$*"
    tail -n 5 "$@" | sed 's/^/    /'
}

in_guest() {
    timeout "$limit" "$guest" exec "$started" "timeout $limit $*"
}

ours() {
    timeout "$limit" "$softdpu" sample rdma-pingpong --topology "$work/card.json" --device t0 --timeout "$limit" "$@"
}

# Waits for a line of a program of ours; fails if that ends before.
await_line() { # pid, file, pattern
    local deadline=$((SECONDS + limit))
    until grep -q "$3" "$2" 2>/dev/null; do
        kill -0 "$1" 2>/dev/null && ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

await_listening_guest() {
    in_guest "sh -c 'until netstat -ltn | grep -q :$port; do usleep 20000; done'"
}

# Messages to and fro: family (4, 6), role of ours, number of messages, size, path MTU.
pingpong() {
    local family=$1 role=$2 iters=$3 size=$4 mtu=$5
    local cell="ibv_rc_pingpong over IPv$family, we are the $role: messages=$iters, sizeBytes=$size, mtu=$mtu"
    local name=$work/pingpong-$family-$role-$size-$mtu
    local of_guest=guest$family of_own=own$family index=0 statuses=0 pid
    [[ $family == 4 ]] || index=1
    local options=(--iters "$iters" --size "$size" --mtu "$mtu" --gid-index "$index")
    local theirs="ibv_rc_pingpong -d rxe0 -g \$(gid rxe0 ${!of_guest}) -n $iters -s $size -m $mtu -r 10"
    if [[ $role == server ]]; then
        ours "${options[@]}" >"$name-ours" 2>&1 &
        pid=$!
        if ! await_line "$pid" "$name-ours" 'waiting for a client'; then
            failed "$cell" "our server does not listen" "$name-ours"
            wait "$pid" || true
            return
        fi
        in_guest "$theirs ${!of_own}" >"$name-linux" 2>&1 || statuses=1
        wait "$pid" || statuses=1
    else
        in_guest "$theirs" >"$name-linux" 2>&1 &
        pid=$!
        # Its server listens for IPv4 alone.
        await_listening_guest && ours "${options[@]}" --address "$guest4" >"$name-ours" 2>&1 || statuses=1
        wait "$pid" || statuses=1
    fi
    if ((statuses)); then
        failed "$cell" "a program has failed" "$name-ours" "$name-linux"
    elif ! grep -q "^$iters iters in " "$name-ours" || ! grep -q "^$iters iters in " "$name-linux"; then
        failed "$cell" "number of messages is missing" "$name-ours" "$name-linux"
    else
        passed "$cell"
    fi
}

# Connections by parameters to a program of ours in the guest, which executes verbs: kind of cells, words
# for a line that stands for all of them where they cannot be run.
verbs() {
    local name=$work/verbs-$1 pid status=0 capture=$work/verbs-$1.pcap
    [[ $1 == large || $1 == impaired ]] && capture=
    if [[ -z $has_peer && -n $has_compiler ]]; then
        failed "$2" "gcc has not compiled verbs-peer.c" "$work/gcc.log"
        return
    fi
    if [[ -z $has_peer ]]; then
        echo "SKIPPED  $2: gcc does not compile for the C library here, needed=packages gcc and libc6-dev"
        return
    fi
    "$guest" exec "$started" "timeout 3600 /share/verbs-peer rxe0 $port_of_peer" >"$name-linux" 2>&1 &
    pid=$!
    in_guest "sh -c 'until netstat -ltn | grep -q :$port_of_peer; do usleep 20000; done'" || status=1
    SOFTDPU_ROCE_PCAP=$capture timeout 3600 "${java[@]}" -cp "$work/classes" LinuxCells "$work/card.json" t0 "$port_of_peer" \
        "$guest4" "$index4" "$guest6" "$index6" "$1" 2>"$name-errors" | tee "$name-ours" || status=$?
    wait "$pid" || true
    if grep -q '^FAILED' "$name-ours"; then
        failures=$((failures + $(grep -c '^FAILED' "$name-ours")))
        echo "    files=$name-errors $name-linux $capture"
    elif ((status)); then
        failed "$2" "a program has failed: exit=$status" "$name-errors" "$name-linux"
    fi
}

# Connections by address to a program of ours in the guest, which uses librdmacm: smoke, short or long.
cm() {
    local name=$work/cm pid status=0
    if [[ -z $has_cm_peer && -n $has_compiler ]]; then
        failed rdma_cm "gcc has not compiled cm-peer.c" "$work/gcc-cm.log"
        return
    fi
    if [[ -z $has_cm_peer ]]; then
        echo "SKIPPED  rdma_cm: gcc does not compile for the C library here, needed=packages gcc and libc6-dev"
        return
    fi
    "$guest" exec "$started" "timeout 3600 /share/cm-peer $port_of_cm_peer" >"$name-linux" 2>&1 &
    pid=$!
    in_guest "sh -c 'until netstat -ltn | grep -q :$port_of_cm_peer; do usleep 20000; done'" || status=1
    SOFTDPU_ROCE_PCAP=$name-%p.pcap timeout 3600 "${java[@]}" -cp "$work/classes" CmCells "$work/card.json" \
        "$port_of_cm_peer" "$guest4" "$guest6" "$(<"$started/.softroce/pid")" "$1" 2>"$name-errors" |
        tee "$name-ours" || status=$?
    kill "$pid" 2>/dev/null || true # its program has ended, unless a cell could not reach it
    wait "$pid" || true
    failures=$((failures + $(grep -c '^FAILED' "$name-ours" || true)))
    if ((status)) && ! grep -q '^FAILED' "$name-ours"; then
        failed rdma_cm "a program has failed: exit=$status" "$name-errors" "$name-linux"
    fi
}

index4=$(in_guest "gid rxe0 $guest4")
index6=$(in_guest "gid rxe0 $guest6")
if [[ $only == cm ]]; then
    if [[ -n $short ]]; then cm short; else cm long; fi
elif [[ -n $short ]]; then
    pingpong 4 server 100 4096 1024
    pingpong 4 client 100 4096 1024
    pingpong 6 server 100 4096 1024
    pingpong 6 client 100 4096 1024
    verbs short "verbs, a few"
    cm smoke
else
    for family in 4 6; do
        for role in server client; do
            pingpong "$family" "$role" 1000 4096 1024
            pingpong "$family" "$role" 100 61 1024
            pingpong "$family" "$role" 100 10000 4096
        done
    done
    verbs operations operations
    verbs errors errors
    verbs sequences sequences
    verbs large "8 and 64 MiB"
    SOFTDPU_ROCE_IMPAIR=loss=0.01,dup=0.01,reorder=0.01 verbs impaired "4 MiB, impaired"
    cm long
fi
((failures == 0))
