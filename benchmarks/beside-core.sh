#!/usr/bin/env bash
# A sync event between two processes beside Agrona's ring, and beside a Unix socket in epoll, by turns in
# one run.
#
#   benchmarks/beside-core.sh                 three rounds or more, a table
#   benchmarks/beside-core.sh --rounds N      N rounds or more
#   benchmarks/beside-core.sh --seconds N     duration of each of our measurements (default 2)
#   benchmarks/beside-core.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-core.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, two cores, 2 GiB of free memory, 16 MiB of space in /dev/shm, and gcc,
# libc6-dev, maven and python3, which it installs by these names where it runs as root; Maven fetches
# the jar of Agrona. The machine should be idle otherwise. Takes about a minute per round.
# SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not this one.
#
# A round trip is a value that the host sets and the DPU answers by the next one; of Agrona a message of
# 8 bytes each way; of the socket a message of 8 bytes each way, for which each process sleeps in
# epoll_wait(). Ours spins beside Agrona, and sleeps on the event handle of an engine beside the socket.
# The processes are pinned to one core each, and not to two threads of one core if there is a choice.
# The result is the median. Agrona reads the clock at both ends of a round trip and records the value
# outside it; ours reads it once between two, and records while the next is under way.
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
need_shared_memory 16
need_c_library
choose_cores
build_line_time
build_programs sockets
machine=$(machine)

say "building ours"
jdk=$("$root/softdpu" --print-jdk-home)
"$root/softdpu" --version >/dev/null
[[ -n $ours_only ]] || build_peers "$aeron" AgronaRing Measurements

# Ours: way of waiting, case.
ours() {
    run "$root/softdpu" perf sync-event latency --wait "$1" --cpu "$first,$second" \
        --seconds "$seconds" --json "$work/ours.json" >/dev/null
    figure "$2" ns ours "$(ours_value p50_ns)"
}

goals=()
[[ -n $ours_only ]] || goals=(
    sync_event_spinning Agrona 1.2x
    sync_event_asleep "C, epoll" 1.5x
)
round=0
while needs_round; do
    say "round $round of $rounds or more: round trips of processes that spin"
    measure ours busy sync_event_spinning
    [[ -n $ours_only ]] || measure agrona ping pong 8 p50_ns sync_event_spinning ns
    say "round $round of $rounds or more: round trips of processes that sleep"
    measure ours event sync_event_asleep
    [[ -n $ours_only ]] || measure sockets unix 8 sync_event_asleep "C, epoll" epoll
done

sum_up "Each process is pinned to a core." "$machine"
