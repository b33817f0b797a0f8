#!/usr/bin/env bash
# RDMA with Linux as the peer: the driver rdma_rxe of an unmodified Debian kernel, in a guest of QEMU.
#
#   interop/linux-roce.sh                    all cells
#   interop/linux-roce.sh --short            a minute: a few of each kind
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
guest=$here/softroce-guest.sh
softdpu=${SOFTDPU:-$(dirname "$here")/softdpu}
own4=10.77.0.1
own6=fd77::1
guest4=10.77.0.2
guest6=fd77::2
port=18515
limit=60 # seconds for each program of a cell

fail_usage() {
    echo "linux-roce.sh: ${*//[^[:print:]]/?}" >&2
    exit 2
}

skip() {
    echo "SKIPPED all cells: $*"
    exit 0
}

# ---- outside of the network namespace: options, guest, namespace ----

if [[ ${1:-} != --inside ]]; then
    short=
    while (($#)); do
        case $1 in
            --short) short=1 ;;
            --kernel)
                (($# > 1)) || fail_usage "value is missing: option=--kernel"
                export SOFTROCE_KERNEL=$2
                shift
                ;;
            --help | -h)
                sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
                exit 0
                ;;
            *) fail_usage "option is not known: option=$1, expected=--short or --kernel PACKAGE" ;;
        esac
        shift
    done
    for command in apt-get dpkg-deb unshare ip; do
        command -v "$command" >/dev/null || skip "command is missing: command=$command"
    done
    "$softdpu" --version >/dev/null # builds it, with the network
    "$guest" build || skip "guest cannot be built: script=$guest, expected=the packages of a Debian mirror"
    "$guest" with-tap true 2>/dev/null ||
        skip "no network namespace with a tap: expected=root, or user namespaces and /dev/net/tun for users"
    exec "$guest" with-tap "$0" --inside "$short"
fi

# ---- inside: the guest at 10.77.0.2 and fd77::2, this side at 10.77.0.1 and fd77::1 ----

short=$2
work=$(mktemp -d)
export SOFTDPU_FABRIC=$work/fabric
mkdir -m 700 "$SOFTDPU_FABRIC"
started=
failures=0

end() {
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
     "vuid": "interop-t0", "active_rate_bits_per_second": 100000000000}
  ]
}
J

started=$("$guest" start --net tap:srtap0 2>"$work/guest.log") || {
    cat "$work/guest.log" >&2
    skip "guest does not boot: files=$work"
}
echo "kernel of the guest: $("$guest" exec "$started" uname -r)"

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
    until grep -q "$3" "$2"; do
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

if [[ -n $short ]]; then
    pingpong 4 server 100 4096 1024
    pingpong 4 client 100 4096 1024
    pingpong 6 server 100 4096 1024
    pingpong 6 client 100 4096 1024
else
    for family in 4 6; do
        for role in server client; do
            pingpong "$family" "$role" 1000 4096 1024
            pingpong "$family" "$role" 100 61 1024
            pingpong "$family" "$role" 100 10000 4096
        done
    done
fi
((failures == 0))
