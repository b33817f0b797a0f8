#!/usr/bin/env bash
# RDMA by RoCE v2 between two processes beside UDP in C, by turns in one run.
#
#   benchmarks/beside-roce.sh                 three rounds or more, a table
#   benchmarks/beside-roce.sh --rounds N      N rounds or more
#   benchmarks/beside-roce.sh --seconds N     duration of each of our measurements (default 2)
#   benchmarks/beside-roce.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-roce.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, two cores, 2 GiB of free memory, and gcc, libc6-dev, maven and python3,
# which it installs by these names where it runs as root. The machine should be idle otherwise. Takes
# about a minute per round. SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not
# this one.
#
# A round trip is a write that the peer answers by a write, or where both sleep a message that it
# answers by one, over the loopback interface; of UDP a datagram each way, with as many bytes as our
# packet. Both poll, or both sleep: ours on the event handle of its engine, C in epoll_wait(), since a
# peer that is written to is not notified. The processes are pinned to
# one core each, and not to two threads of one core if there is a choice. The result is the median. The
# idle phase of the demo, with connections over the network, tells the processors that its three
# processes use.
#
# Before and after each measurement the round trip of a cache line between both cores is measured: it
# changes by a factor of five on some virtual machines. Ratios are made of measurements with round
# trips of the same class, near or far; while one has fewer than three pairs there are more rounds, up
# to twice as many.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 mvn:maven setpriv:util-linux taskset:util-linux gcc:gcc
begin
need_writable_json
need_c_library
choose_cores
build_line_time
build_programs sockets
machine=$(machine)
write_headers=32 # BTH, RETH and ICRC
send_headers=16

say "building ours"
"$root/softdpu" --version >/dev/null

# Ours: operation, size, way of waiting, case.
ours() {
    run "$root/softdpu" perf rdma latency --provider roce --op "$1" --size "$2" --wait "$3" \
        --cpu "$first,$second" --seconds "$seconds" --json "$work/ours.json" >/dev/null
    own_lines=$(ours_value line_before_ns line_after_ns)
    figure "$4" ns ours "$(ours_value p50_ns)"
    figure "allocated_$4" B/op ours "$(ours_value allocated_bytes_per_op)"
}

# Processors that the three processes of the demo use while they are connected and idle.
idle_processes() {
    own_lines="- -" # no round trips
    run "$root/softdpu" demo --provider roce --measure idle --seconds 10 --json "$work/ours.json" >/dev/null
    figure idle_cores processors ours \
        "$(python3 -c 'import json, sys; print(sum(json.load(open(sys.argv[1]))["idle"]["cores_used"].values()))' \
            "$work/ours.json")"
}

goals=(
    idle_cores ours "<=0.03"
    allocated_round_trip_64 ours "<=0.01"
    allocated_round_trip_4k_asleep ours "<=0.01"
    allocated_send_64 ours "<=0.01"
)
[[ -n $ours_only ]] || goals+=(
    round_trip_64 UDP 1.3x
    round_trip_4k_asleep "UDP, epoll" 2.5x
)
round=0
while needs_round; do
    say "round $round of $rounds or more: processes that poll"
    measure ours write 64 busy round_trip_64
    [[ -n $ours_only ]] || measure sockets udp $((64 + write_headers)) round_trip_64 UDP
    measure ours send 64 busy send_64
    say "round $round of $rounds or more: processes that sleep"
    measure ours send 4096 event round_trip_4k_asleep
    [[ -n $ours_only ]] || measure sockets udp $((4096 + send_headers)) round_trip_4k_asleep "UDP, epoll" epoll
    measure idle_processes
done

sum_up "Each process is pinned to a core." "$machine"
