#!/usr/bin/env bash
# The Comm Channel beside Agrona's ring, Aeron IPC, UCX, C's memcpy and a Unix socket, by turns in one
# run; its idle connections beside their rings, and connecting during imports beside connecting.
#
#   benchmarks/beside-comch.sh                 three rounds or more, a table
#   benchmarks/beside-comch.sh --rounds N      N rounds or more
#   benchmarks/beside-comch.sh --seconds N     duration of each of our measurements (default 2)
#   benchmarks/beside-comch.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-comch.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, two cores, 4 GiB of free memory, 160 MiB of space in /dev/shm, and gcc,
# libc6-dev, maven, python3 and ucx-utils, which it installs by these names where it runs as root; Maven
# fetches the jar of Aeron and Agrona. The machine should be idle otherwise. Takes about three minutes per round.
# SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not this one.
#
# All of them poll, except for ours in the default mode (adaptive). The processes are pinned to one
# core each, and not to two threads of one core if there is a choice. The result of round trips is the
# median. Agrona and Aeron read the clock at both ends of one and record the value outside it; ours
# reads it once between two, and recording the value counts.
#
# Before and after each measurement the round trip of a cache line between both cores is measured: it
# changes by a factor of five on some virtual machines. Ratios are made of measurements with round
# trips of the same class, near or far; while one has fewer than three pairs there are more rounds, up
# to twice as many. `softdpu perf comch` measures the cache line times itself, between its own threads.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}
slice=262144 # of a large copy, Copier.SLICE_BYTES

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 mvn:maven setpriv:util-linux taskset:util-linux gcc:gcc
[[ -n $ours_only ]] || need ucx_perftest:ucx-utils
begin
need_writable_json
need_shared_memory 160
need_c_library
choose_cores
build_line_time
build_programs one-way sockets
machine=$(machine)
tunable=
if [[ $(uname -m) == x86_64 ]]; then
    tunable=$(copy_tunable)
    [[ -n $tunable ]] || fail "./softdpu sets no size from which copies use non-temporal stores"
fi

say "building ours"
jdk=$("$root/softdpu" --print-jdk-home)
"$root/softdpu" --version >/dev/null

[[ -n $ours_only ]] || build_peers "$aeron" AgronaRing AeronIpc Measurements

# What a tree does not know, as an old one given in SOFTDPU_ROOT, is left out.
"$root/softdpu" perf comch --help >"$work/help"
knows() {
    grep -q -e "$1" "$work/help"
}
pinned=()
! knows --cpu || pinned=(--cpu "$first,$second")

# Ours: mode, size, way of waiting, key in its JSON, case, unit.
ours() {
    local value
    run "$root/softdpu" perf comch "$1" --size "$2" --wait "$3" "${pinned[@]}" \
        --seconds "$seconds" --json "$work/ours.json" >/dev/null
    value=$(ours_value "$4")
    ((${#pinned[@]} == 0)) || own_lines=$(ours_value line_before_ns line_after_ns)
    if [[ $3 == busy ]]; then
        figure "$5" "$6" ours "$value"
        case $5 in
            round_trip_64 | one_way_32) figure "$5_adaptive" "$6" "ours busy" "$value" ;;
        esac
    else
        figure "$5_$3" "$6" ours "$value"
    fi
}

aeron_ipc() { # mode here, mode there, size, figure: name, case, unit
    local driver there
    start_ready taskset -c "$first,$second" "${java[@]}" AeronIpc driver "$shm/aeron"
    driver=$started
    start_ready taskset -c "$second" "${java[@]}" AeronIpc "$2" "$shm/aeron" "$3"
    there=$started
    run taskset -c "$first" "${java[@]}" AeronIpc "$1" "$shm/aeron" "$3" >"$work/printed"
    finish "$there"
    stop "$driver"
    rm -rf "$shm/aeron"
    printed "$4" "$5" "$6" "Aeron IPC"
}

ucx_round_trips() {
    ucx ucp_am_lat 64 1000000
    figure round_trip_64 ns "UCX AM" "$(awk '{print $1 * 2000}' <<<"${told[1]}")" # the half, in us
}

ucx_messages() {
    ucx tag_bw 32 3000000
    figure one_way_32 messages/s "UCX tag" "${told[7]}"
}

ucx_bandwidth() { # test, bytes, iterations, who, case
    ucx "$1" "$2" "$3"
    figure "$5" GB/s "$4" "$(awk '{print $1 * 1.048576 / 1000}' <<<"${told[5]}")"
}

# C's memcpy with our window, slices and kind of memory, and the C library's setting of ./softdpu: bytes
# of a message, window, case.
memcpy_one_way() {
    run env GLIBC_TUNABLES="$tunable" \
        taskset -c "$first" "$work/one-way" "$1" "$2" "$slice" "$seconds" >"$work/printed"
    figure "$3" GB/s memcpy "$(<"$work/printed")"
}

# Idle connections, not pinned: options.
idle() {
    run "$root/softdpu" perf comch idle --clients 256 --seconds "$seconds" "$@" \
        --json "$work/ours.json" >/dev/null
}

# First without an import, then with one of 1 GiB.
idle_connections() {
    own_lines="- -" # not pinned
    local resident rings
    idle
    read -r resident rings < <(ours_value resident_bytes_per_connection ring_bytes_per_connection)
    figure idle_resident bytes/connection ours "$resident"
    figure idle_resident bytes/connection rings "$rings"
    figure connect_p99_import ns "no import" "$(ours_value connect_p99_ns)"
    figure idle_cores cores ours "$(python3 -c 'import json, sys
print(sum(json.load(open(sys.argv[1]))["cores_used"].values()))' "$work/ours.json")"
    idle --import 1GiB
    figure connect_p99_import ns ours "$(ours_value connect_p99_ns)"
}

goals=()
[[ -n $ours_only ]] || goals=(
    round_trip_64 Agrona 1.4x
    round_trip_64 "UCX AM" 0.8x
    round_trip_64_adaptive "ours busy" 1.3x
    one_way_32 Agrona 0.5x
    one_way_32 "Aeron IPC" 0.6x
    one_way_32 "UCX tag" 2.5x
    one_way_32_adaptive "ours busy" 0.8x
    one_way_1m memcpy 0.9x
    one_way_1m "UCX AM" 1.0x
    one_way_1g memcpy 0.9x
    one_way_1g "UCX AM" 1.0x
    control_64 "Unix socket" 0.5x
    idle_resident rings 1.2x
    idle_cores ours "<=0.01"
    connect_p99_import "no import" 3x
)
round=0
while needs_round; do
    say "round $round of $rounds or more: 64 bytes there and back"
    measure ours latency 64 busy p50_ns round_trip_64 ns
    measure ours latency 64 adaptive p50_ns round_trip_64 ns
    if [[ -z $ours_only ]]; then
        measure agrona ping pong 64 p50_ns round_trip_64 ns
        measure aeron_ipc ping pong 64 p50_ns round_trip_64 ns
        measure ucx_round_trips
    fi
    say "round $round of $rounds or more: 32 bytes one way"
    measure ours rate 32 busy messages_per_s one_way_32 messages/s
    measure ours rate 32 adaptive messages_per_s one_way_32 messages/s
    if [[ -z $ours_only ]]; then
        measure agrona send receive 32 messages_per_s one_way_32 messages/s
        measure aeron_ipc send receive 32 messages_per_s one_way_32 messages/s
        measure ucx_messages
    fi
    say "round $round of $rounds or more: 1 MiB one way"
    measure ours bandwidth 1048576 busy gb_per_s one_way_1m GB/s
    if [[ -z $ours_only ]]; then
        measure memcpy_one_way 1048576 64 one_way_1m
        measure ucx_bandwidth ucp_put_bw 1048576 3000 "UCX put" one_way_1m
        measure ucx_bandwidth ucp_am_bw 1048576 3000 "UCX AM" one_way_1m
    fi
    say "round $round of $rounds or more: 1 GiB one way"
    ! knows control || measure ours bandwidth 1073741824 busy gb_per_s one_way_1g GB/s
    if [[ -z $ours_only ]]; then
        measure memcpy_one_way 1073741824 1 one_way_1g
        measure ucx_bandwidth ucp_am_bw 1073741824 10 "UCX AM" one_way_1g
    fi
    say "round $round of $rounds or more: 64 bytes there and back on the basic path"
    ! knows control || measure ours control 64 busy p50_ns control_64 ns
    [[ -n $ours_only ]] || measure sockets unix 64 control_64 "Unix socket"
    say "round $round of $rounds or more: idle connections"
    ! knows --clients || measure idle_connections
done

sum_up "Each process is pinned to a core. All poll, except for ours in the default mode." "$machine"
