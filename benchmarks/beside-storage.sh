#!/usr/bin/env bash
# The storage pipeline beside nbdkit's memory plugin under fio's nbd engine, by turns in one run.
#
#   benchmarks/beside-storage.sh                 three rounds or more, a table
#   benchmarks/beside-storage.sh --rounds N      N rounds or more
#   benchmarks/beside-storage.sh --seconds N     duration of each measurement (default 3)
#   benchmarks/beside-storage.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-storage.sh --ours          ours alone; idle and paced for half of the time
#
# Needs a JDK as ./softdpu does, 300 MiB of space in /dev/shm, and maven, nbdkit, fio, gcc, libc6-dev
# and python3, which it installs by these names where it runs as root. The machine should be
# idle otherwise. Takes about three minutes per round. The idle and the paced phase last 10 seconds or
# more: the CPU time of a process comes in steps of 10 ms. SOFTDPU_ROOT names the tree whose ./softdpu is
# measured, where that is not this one.
#
# Before and after each measurement the round trip of a cache line between two cores is measured: it
# changes by a factor of five on some virtual machines. Ratios are made of measurements with round
# trips of the same class, near or far; while one has fewer than three pairs there are more rounds, up
# to twice as many. With more than two cores there are no classes, since ours is not pinned.
#
# Our load is part of the initiator, which passes requests in its own memory; theirs passes a
# socket. This compares the two from the view of a program that links either.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}
unpinned=yes
volume_mib=256 # far larger than the caches, for both

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
seconds=3
read_options "$@"
need python3:python3 mvn:maven setpriv:util-linux taskset:util-linux gcc:gcc
[[ -n $ours_only ]] || need nbdkit:nbdkit fio:fio
begin
need_writable_json
need_shared_memory 300
need_c_library
choose_cores
build_line_time
machine=$(machine)
unset GLIBC_TUNABLES # ./softdpu sets its own
tunable=
if [[ $(uname -m) == x86_64 ]]; then
    tunable=$(copy_tunable)
    [[ -n $tunable ]] || fail "./softdpu sets no size from which copies use non-temporal stores"
fi
file=$shm/volume # fio's: tmpfs, as our memory is

# ---- ours

# One run of the demo, which checks the data before it measures: suffix of the cases, seconds, what
# is measured.
ours() {
    run "$root/softdpu" demo --size "${volume_mib}MiB" --seconds "$2" --measure "$3" \
        --json "$work/demo.json" >/dev/null
    python3 - "$work/demo.json" "$1" "$work/allocated" >"$work/ours" <<'PY'
import json
import sys

demo, suffix = json.load(open(sys.argv[1])), sys.argv[2]
if not demo["valid"]:
    sys.exit("beside-storage: the demo has not read back what it wrote")
operations = 0
for case, found in demo.items():
    if not isinstance(found, dict) or "iops" not in found:
        continue
    operations += found["operations"]
    cores = found["cores_used"]
    if case == "idle":
        print("idle_cores", "cores", sum(cores.values()))
    elif case == "paced_read_4k":
        print("paced_p50", "us", found["p50_us"])
        print("paced_cores_of_service_and_target", "cores", cores["zero-copy"] + cores["target"])
    elif case.startswith("sequential"):
        print(case + suffix, "GB/s", found["gb_per_s"])
    else:
        print(case + suffix, "op/s", found["iops"])
if not suffix and demo["allocated_bytes_per_op"] is not None:
    print(operations, demo["allocated_bytes_per_op"] * operations, file=open(sys.argv[3], "a"))
PY
    local case unit value
    while read -r case unit value; do figure "$case" "$unit" ours "$value"; done <"$work/ours"
}

# The heap bytes per operation of all demos of this round. One-time allocations would distort the
# result of few operations.
allocated() {
    local operations bytes
    read -r operations bytes < <(awk '{n += $1; b += $2} END {printf "%d %f\n", n, b}' "$work/allocated")
    if ((operations < 1000000)); then
        say "allocated_bytes_per_op: n/a: operations=$operations, needed=1000000"
    else
        figure allocated_bytes_per_op B/op ours "$(awk -v n="$operations" -v b="$bytes" 'BEGIN {print b / n}')"
    fi
}

# ---- theirs

# nbdkit at the address in `listen`, its volume filled through `uri`; its pid in `server`. The
# command is what it runs under.
start_nbdkit() {
    rm -f "$work/nbd.sock" "$work/nbdkit.pid"
    start "$@" nbdkit -f -P "$work/nbdkit.pid" "${listen[@]}" memory "${volume_mib}M" \
        allocator=malloc 2>"$work/nbdkit.err"
    server=$started
    local deadline=$((SECONDS + 60))
    until [[ -s $work/nbdkit.pid ]]; do # it is there once clients are served
        kill -0 "$server" 2>/dev/null || return 1
        ((SECONDS < deadline)) || return 1
        sleep 0.02
    done
    run_fio fill --ioengine=nbd --uri="$uri" --rw=write --bs=1M --iodepth=4
}

no_nbdkit() {
    cat "$work/nbdkit.err" >&2
    fail "nbdkit does not start: address=$uri"
}

# Runs fio, what it runs under before a --, with its terse line in fio.row: name, arguments.
run_fio() {
    local status=0 name=$1
    shift
    start "${pin[@]}" fio --name="$name" --output-format=terse --terse-version=3 \
        --size="${volume_mib}M" "$@" >"$work/fio.out" 2>&1
    await "$started" || status=$?
    if ((status != 0)) || ! grep '^3;' "$work/fio.out" >"$work/fio.row"; then
        cat "$work/fio.out" >&2
        fail "fio failed: status=$status, after at most $limit s, arguments=$*"
    fi
}

# fio's operations per second, or GB/s where the case is sequential, pinned as `pin` says: case, who,
# arguments.
fio_figure() {
    local case=$1 who=$2
    shift 2
    run_fio x --norandommap --randrepeat=0 --time_based --ramp_time=0.5 --runtime="$seconds" "$@"
    if [[ $case == sequential* ]]; then
        figure "$case" GB/s "$who" "$(awk -F';' '{print ($7 + $48) * 1024 / 1e9}' "$work/fio.row")"
    else
        figure "$case" op/s "$who" "$(awk -F';' '{print $8 + $49}' "$work/fio.row")"
    fi
}

# The settings are the best found for each, of a Unix socket and TCP, and of client and server on a
# core each, on the same one and not bound: at depth 32 a core each over a Unix socket, at depth 1
# both on the same core, for 1 MiB over TCP and not bound.
theirs() {
    local listen=(-U "$work/nbd.sock") uri="nbd+unix:///?socket=$work/nbd.sock" pin=(taskset -c "$first")
    start_nbdkit taskset -c "$second" || no_nbdkit
    nbdkit_figure random_read_4k randread 4k 32
    nbdkit_figure random_write_4k randwrite 4k 32
    stop "$server"
    start_nbdkit taskset -c "$first" || no_nbdkit
    nbdkit_figure random_read_4k_depth1 randread 4k 1
    nbdkit_figure random_write_4k_depth1 randwrite 4k 1
    stop "$server"
    pin=()
    start_nbdkit_on_tcp
    nbdkit_figure sequential_read_1m read 1m 16
    nbdkit_figure sequential_write_1m write 1m 16
    stop "$server"
}

# A figure of nbdkit at the address in uri: case, fio's kind of load, size, depth.
nbdkit_figure() {
    measure fio_figure "$1" nbdkit --ioengine=nbd --uri="$uri" --rw="$2" --bs="$3" --iodepth="$4"
}

# Another port is tried where one was lost before nbdkit had it.
start_nbdkit_on_tcp() {
    local port tries=3
    while ((tries-- > 0)); do
        port=$(free_port)
        listen=(-i 127.0.0.1 -p "$port") uri="nbd://127.0.0.1:$port"
        start_nbdkit && return
        stop "$server"
        say "nbdkit does not start: port=$port, tries left=$tries"
    done
    no_nbdkit
}

theirs_with_competitor() {
    local listen=(-U "$work/nbd.sock") uri="nbd+unix:///?socket=$work/nbd.sock" pin=()
    start_nbdkit || no_nbdkit
    nbdkit_figure random_read_4k_with_competitor randread 4k 32
    stop "$server"
}

# ---- the ceiling

# C's memcpy: who, slice in bytes, read or write, case, unit, what GB/s are multiplied by; under the
# environment.
copy_figure() {
    run "$work/memcpy" "$volume_mib" "$2" "$seconds" "$3" >"$work/copied"
    figure "$4" "$5" "$1" "$(awk -v factor="$6" '{print $1 * factor}' "$work/copied")"
}

# A figure of fio on a mapped file: case, fio's kind of load, size.
mapped_figure() {
    measure fio_figure "$1" "fio mmap" --ioengine=mmap --filename="$file" --rw="$2" --bs="$3"
}

ceiling() {
    local pin=() per_operation
    per_operation=$(awk 'BEGIN {print 1e9 / 4096}')
    mapped_figure random_read_4k randread 4k
    mapped_figure random_write_4k randwrite 4k
    mapped_figure sequential_read_1m read 1m
    measure copy_figure "C memcpy" 4096 read random_read_4k op/s "$per_operation"
    measure copy_figure "C memcpy" 4096 write random_write_4k op/s "$per_operation"
    measure copy_figure "C memcpy" 1048576 read sequential_read_1m GB/s 1
    if [[ -n $tunable ]]; then
        # As the copies of ./softdpu are made.
        GLIBC_TUNABLES=$tunable \
            measure copy_figure "C memcpy, past the caches" 1048576 read sequential_read_1m GB/s 1
    fi
}

if [[ -z $ours_only ]]; then
    gcc -O2 -o "$work/memcpy" "$here/memcpy.c" || fail "memcpy.c does not compile: file=$here/memcpy.c"
fi
say "building ours"
"$root/softdpu" --version >/dev/null
at_least=$([[ -n $ours_only ]] && echo 5 || echo 10) # 0.1 % of a core is then a step of its CPU time, or two
long=$((seconds > at_least ? seconds : at_least))
cases=(random-read-4k random-write-4k random-read-4k-depth1 random-write-4k-depth1)
cases+=(sequential-read-1m sequential-write-1m)
goals=()
[[ -n $ours_only ]] || goals=(
    random_read_4k nbdkit 10x
    random_read_4k "C memcpy" 0.6x
    random_write_4k nbdkit 8x
    random_write_4k "C memcpy" 0.55x
    random_read_4k_depth1 nbdkit 4x
    sequential_read_1m nbdkit 3x
    sequential_read_1m "C memcpy" 0.9x
    random_read_4k_with_competitor nbdkit 3x
    idle_cores ours "<=0.02"
    paced_p50 ours "<=150"
    paced_cores_of_service_and_target ours "<=0.1"
    allocated_bytes_per_op ours "<=0.01"
)
round=0
while needs_round; do
    say "round $round of $rounds or more: ours"
    : >"$work/allocated"
    for case in "${cases[@]}"; do
        measure ours "" "$seconds" "$case"
    done
    measure allocated
    if [[ -z $ours_only ]]; then
        say "round $round of $rounds or more: nbdkit"
        theirs
        say "round $round of $rounds or more: ceiling"
        ceiling
    fi
    say "round $round of $rounds or more: idle and paced, $long s each"
    measure ours "" "$long" idle,paced-read-4k
    say "round $round of $rounds or more: with a competitor"
    start bash -c 'while :; do :; done'
    competitor=$started
    measure ours _with_competitor "$seconds" random-read-4k
    [[ -n $ours_only ]] || theirs_with_competitor
    kill -0 "$competitor" 2>/dev/null || fail "the competitor ended before the measurement"
    stop "$competitor"
done

sum_up "Ours is the initiator's own load, which hands its requests over in its own memory; theirs \
passes a socket. Idle and paced: $long s each." "$machine"
