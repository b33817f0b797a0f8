#!/usr/bin/env bash
# The Comm Channel's fast path beside Agrona's ring, Aeron IPC and UCX, by turns in one run.
#
#   benchmarks/beside-comch.sh                 three rounds, a table
#   benchmarks/beside-comch.sh --rounds N      more of them
#   benchmarks/beside-comch.sh --seconds N     duration of each of our measurements (default 2)
#   benchmarks/beside-comch.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-comch.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, two cores, 160 MiB of space in /dev/shm, and maven, python3 and
# ucx-utils, which it installs by these names where it runs as root; Maven fetches the jar of Aeron
# and Agrona. The machine should be idle otherwise. Takes about two minutes per round. SOFTDPU_ROOT names
# the tree whose ./softdpu is measured, where that is not this one.
#
# All of them poll. The peers' processes are pinned to one core each, which is best for them, and
# not to two threads of one core if there is a choice; ours are not pinned. The result of round trips
# is the median. Agrona and Aeron read the clock at both ends of one and record the value outside it;
# ours reads it once between two, and recording the value counts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}
aeron=1.51.0
rounds=3
seconds=2
json=
ours_only=

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 mvn:maven setpriv:util-linux taskset:util-linux
[[ -n $ours_only ]] || need ucx_perftest:ucx-utils
begin
need_writable_json
need_shared_memory 160
choose_cores
machine=$(machine)

say "building ours"
jdk=$("$root/softdpu" --print-jdk-home)
"$root/softdpu" --version >/dev/null

# Fetches and compiles the peers that are Java programs; how to start them is in java.
build_peers() {
    say "fetching and compiling the peers"
    # -N: once, not for each module.
    (cd "$root" && maven -q -N dependency:copy -Dartifact="io.aeron:aeron-all:$aeron" \
        -DoutputDirectory="$work") >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        fail "the peers cannot be fetched: artifact=io.aeron:aeron-all:$aeron"
    }
    class_path=$work/classes:$work/aeron-all-$aeron.jar
    "$jdk/bin/javac" -nowarn -d "$work/classes" -cp "$class_path" "$here"/peers/*.java \
        >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        fail "the peers do not compile: folder=$here/peers"
    }
    java=("$jdk/bin/java" --add-opens java.base/jdk.internal.misc=ALL-UNNAMED
        --add-opens java.base/sun.nio.ch=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
        -Dagrona.disable.bounds.checks=true -Xmx1g -cp "$class_path")
}
[[ -n $ours_only ]] || build_peers

# Ours: mode, size, key in its JSON, case, unit.
ours() {
    local value
    run "$root/softdpu" perf comch "$1" --size "$2" --wait busy --seconds "$seconds" \
        --json "$work/ours.json" >/dev/null
    value=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
        "$work/ours.json" "$3")
    figure "$4" "$5" ours "$value"
}

# A figure that a Java peer has printed: name, case, unit, who.
printed() {
    figure "$2" "$3" "$4" "$(awk -v name="$1" '$1 == name {print $2}' "$work/printed")"
}

agrona() { # mode here, mode there, size
    local there
    rm -f "$shm/ring"
    start_ready taskset -c "$second" "${java[@]}" AgronaRing "$2" "$shm/ring" "$3"
    there=$started
    run taskset -c "$first" "${java[@]}" AgronaRing "$1" "$shm/ring" "$3" >"$work/printed"
    finish "$there"
}

aeron_ipc() { # mode here, mode there, size
    local driver there
    start_ready taskset -c "$first,$second" "${java[@]}" AeronIpc driver "$shm/aeron"
    driver=$started
    start_ready taskset -c "$second" "${java[@]}" AeronIpc "$2" "$shm/aeron" "$3"
    there=$started
    run taskset -c "$first" "${java[@]}" AeronIpc "$1" "$shm/aeron" "$3" >"$work/printed"
    finish "$there"
    stop "$driver"
    rm -rf "$shm/aeron"
}

# UCX over shared memory: test, size, iterations. Sets what it tells in the end, in its own order:
# iterations; latency in us: median, average, overall; MB/s (2^20 bytes) and messages/s: average,
# overall. Where the port was lost before the server had it, another is tried.
ucx() {
    local port server tries=3
    while ((tries-- > 0)); do
        port=$(free_port)
        : >"$work/ucx.client"
        start env UCX_TLS=posix,self taskset -c "$second" ucx_perftest -p "$port" \
            >"$work/ucx.server" 2>&1
        server=$started
        if listening "$port" "$server"; then
            start env UCX_TLS=posix,self taskset -c "$first" ucx_perftest 127.0.0.1 -p "$port" \
                -t "$1" -s "$2" -n "$3" -w "$(($3 / 10))" -f >"$work/ucx.client" 2>&1
            if await "$started" && await "$server"; then
                read -ra told < <(sed 's/.*Final://' "$work/ucx.client" |
                    awk 'NF == 8 && $1 ~ /^[0-9]+$/ {line = $0} END {print line}')
                ((${#told[@]} == 8)) && return
            fi
        fi
        stop "$server"
        say "ucx_perftest has not measured: test=$1, port=$port, tries left=$tries"
        cat "$work/ucx.server" "$work/ucx.client" >&2
    done
    fail "ucx_perftest gives no figures: test=$1"
}

their_round_trips() {
    agrona ping pong 64
    printed p50_ns round_trip_64 ns Agrona
    aeron_ipc ping pong 64
    printed p50_ns round_trip_64 ns "Aeron IPC"
    ucx ucp_am_lat 64 1000000
    figure round_trip_64 ns "UCX AM" "$(awk '{print $1 * 2000}' <<<"${told[1]}")" # the half, in us
}

their_messages() {
    agrona send receive 32
    printed messages_per_s one_way_32 messages/s Agrona
    aeron_ipc send receive 32
    printed messages_per_s one_way_32 messages/s "Aeron IPC"
    ucx tag_bw 32 3000000
    figure one_way_32 messages/s "UCX tag" "${told[7]}"
}

their_bandwidth() {
    ucx ucp_put_bw 1048576 3000
    figure one_way_1m GB/s "UCX put" "$(awk '{print $1 * 1.048576 / 1000}' <<<"${told[5]}")"
}

for ((round = 1; round <= rounds; round++)); do
    say "round $round of $rounds: 64 bytes there and back"
    ours latency 64 p50_ns round_trip_64 ns
    [[ -n $ours_only ]] || their_round_trips
    say "round $round of $rounds: 32 bytes one way"
    ours rate 32 messages_per_s one_way_32 messages/s
    [[ -n $ours_only ]] || their_messages
    say "round $round of $rounds: 1 MiB one way"
    ours bandwidth 1048576 gb_per_s one_way_1m GB/s
    [[ -n $ours_only ]] || their_bandwidth
done

goals=()
[[ -n $ours_only ]] || goals=(
    round_trip_64 Agrona 2x
    round_trip_64 "UCX AM" 1x
    one_way_32 "UCX tag" 1x
)
sum_up "All look all the time. The peers' processes are bound to a core each, ours are not." \
    "$machine" "${goals[@]}"
