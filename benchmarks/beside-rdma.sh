#!/usr/bin/env bash
# RDMA on shared memory beside UCX (C), JUCX (Java), libfabric's provider shm and C's memcpy, by turns in
# one run.
#
#   benchmarks/beside-rdma.sh                 three rounds or more, a table
#   benchmarks/beside-rdma.sh --rounds N      N rounds or more
#   benchmarks/beside-rdma.sh --seconds N     duration of each of our measurements (default 2)
#   benchmarks/beside-rdma.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-rdma.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, two cores, 6 GiB of free memory, 160 MiB of space in /dev/shm, and gcc,
# libc6-dev, maven and python3, which it installs by these names where it runs as root. So it does with
# ucx-utils and libfabric-bin; Maven fetches the jar of JUCX. A peer that cannot be had is left out, and the
# lines of its goals tell what to install. The machine should be idle otherwise. Takes about four minutes
# per round. SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not this one.
#
# All of them poll. The processes are pinned to one core each, and not to two threads of one core if
# there is a choice. Cost per operation is the time by their number, with 64 in flight; round trips and
# operations one at a time are medians, of libfabric means. UCX and JUCX use their transport posix, and
# UCX for 1 GiB cma as well, without which it copies such a size through a queue. Ours uses two
# buffers of 1 MiB again and again, UCX one; C's memcpy copies between two memfds as ours does, in the
# same slices and with the C library's setting of ./softdpu. Resident memory is the most of both processes
# together while they measure (proportional set size).
#
# Before and after each measurement the round trip of a cache line between both cores is measured: it
# changes by a factor of five on some virtual machines. Ratios are made of measurements with round
# trips of the same class, near or far; while one has fewer than three pairs there are more rounds, up
# to twice as many. `softdpu perf rdma` measures the cache line times itself, between its own threads.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}
slice=262144 # of a large copy, Copier.SLICE_BYTES

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 mvn:maven setpriv:util-linux taskset:util-linux gcc:gcc
begin
need_writable_json
need_shared_memory 160
need_c_library
if [[ -z $ours_only ]]; then
    # JUCX uses the library of ucx-utils.
    need_peer ucx_perftest:ucx-utils UCX "UCX put" "UCX get" "UCX fadd" "UCX cswap" "UCX tag" JUCX "JUCX put"
    need_peer fi_pingpong:libfabric-bin "libfabric shm"
fi
choose_cores
build_line_time
build_programs one-way
machine=$(machine)
tunable=
if [[ $(uname -m) == x86_64 ]]; then
    tunable=$(copy_tunable)
    [[ -n $tunable ]] || fail "./softdpu sets no size from which copies use non-temporal stores"
fi

say "building ours"
jdk=$("$root/softdpu" --print-jdk-home)
"$root/softdpu" --version >/dev/null
if [[ -z $ours_only ]] && has_peer JUCX; then
    if fetch_peer "$jucx"; then
        build_peers "$jucx" JucxPut
    else
        absent[JUCX]="the jar is not there: Maven Central, $jucx"
        absent["JUCX put"]=${absent[JUCX]}
    fi
fi

# Ours: measurement, operation, size, key in its JSON, case, unit, options.
ours() {
    run "$root/softdpu" perf rdma "$1" --op "$2" --size "$3" --wait busy --cpu "$first,$second" \
        --seconds "$seconds" --json "$work/ours.json" "${@:7}" >/dev/null
    own_lines=$(ours_value line_before_ns line_after_ns)
    local value
    value=$(ours_value "$4")
    [[ $5 != *_window_64 ]] || value=$(awk '{print 1e9 / $1}' <<<"$value") # ns per operation
    figure "$5" "$6" ours "$value"
    [[ $1 == bandwidth ]] || figure "allocated_$1_$2" B/op ours "$(ours_value allocated_bytes_per_op)"
}

# Memory of both of our processes while they write.
ours_resident() {
    start "$root/softdpu" perf rdma rate --op write --size 8 --window 64 --wait busy \
        --cpu "$first,$second" --seconds "$seconds" --json "$work/ours.json" >/dev/null 2>"$work/err"
    local pid=$started
    watch_memory "$pid"
    finish "$pid"
    figure resident bytes ours "$resident"
}

# Memory of one more idle connection, both ends in one process, and of its two rings.
idle_connections() {
    own_lines="- -" # no round trips
    mkdir "$work/idle"
    run "$root/softdpu" perf rdma-idle --connections 256 --fabric "$work/idle" >"$work/printed"
    rm -rf "$work/idle"
    printed resident_bytes_per_connection idle_connection bytes/connection ours
    printed ring_bytes_per_connection idle_connection bytes/connection rings
}

ucx_latency() { # test, size, iterations, case, factor of a round trip, who
    ucx "$1" "$2" "$3"
    figure "$4" ns "$6" "$(awk -v n="$5" '{print $1 * 1000 * n}' <<<"${told[1]}")" # in us
}

ucx_cost() { # test, size, iterations, case
    ucx "$1" "$2" "$3" -O 64
    figure "$4" ns "UCX put" "$(awk '{print 1e9 / $1}' <<<"${told[7]}")"
}

ucx_bandwidth() { # test, bytes, iterations, who, case
    ucx "$1" "$2" "$3"
    figure "$5" GB/s "$4" "$(awk '{print $1 * 1.048576 / 1000}' <<<"${told[5]}")"
}

ucx_large() { # test, who, case
    local ucx_transports=posix,cma,self
    ucx_bandwidth "$1" 1073741824 10 "$2" "$3"
}

ucx_messages() {
    ucx tag_bw 64 3000000
    figure send_64 messages/s "UCX tag" "${told[7]}"
}

# JUCX: puts of 8 bytes, 64 in flight, and the memory of both processes meanwhile. With the garbage
# collector of ./softdpu, whose own memory would count otherwise.
jucx_puts() {
    local server client
    local -a jvm=("${java[@]}" -XX:+UseSerialGC)
    mkdir "$work/jucx"
    start_ready env UCX_TLS=posix,self UCX_ERROR_SIGNALS= taskset -c "$second" \
        "${jvm[@]}" JucxPut server "$work/jucx"
    server=$started
    start env UCX_TLS=posix,self UCX_ERROR_SIGNALS= taskset -c "$first" \
        "${jvm[@]}" JucxPut client "$work/jucx" 8 64 "$seconds" >"$work/printed" 2>"$work/err"
    client=$started
    watch_memory "$client,$server"
    await "$client" || {
        cat "$work/err" >&2
        fail "JUCX has failed: status=$?"
    }
    stop "$server"
    rm -rf "$work/jucx"
    printed put_ns write_8_window_64 ns "JUCX put"
    figure resident bytes JUCX "$resident"
}

# libfabric's provider shm: bytes, case.
libfabric() {
    local port server tries=3
    while ((tries-- > 0)); do
        port=$(free_port)
        start taskset -c "$second" fi_pingpong -p shm -e rdm -I 100000 -S "$1" -B "$port" \
            >"$work/fi.server" 2>&1
        server=$started
        if listening "$port" "$server"; then
            start taskset -c "$first" fi_pingpong -p shm -e rdm -I 100000 -S "$1" -P "$port" \
                127.0.0.1 >"$work/fi.client" 2>&1
            if await "$started" && await "$server"; then
                # bytes, sent, acknowledged, total, time, MB/s, us per message one way, messages
                figure "$2" ns "libfabric shm" \
                    "$(awk '$NF + 0 > 0 {half = $(NF - 1)} END {print half * 2000}' "$work/fi.client")"
                return
            fi
        fi
        stop "$server"
        say "fi_pingpong has not measured: port=$port, tries left=$tries"
        cat "$work/fi.server" "$work/fi.client" >&2
    done
    fail "fi_pingpong gives no figures: size=$1"
}

# C's memcpy with our buffers, slices and kind of memory: bytes of an operation, buffers, cases.
memcpy_one_way() {
    local case
    run env GLIBC_TUNABLES="$tunable" \
        taskset -c "$first" "$work/one-way" "$1" "$2" "$slice" "$seconds" >"$work/printed"
    for case in "${@:3}"; do
        figure "$case" GB/s memcpy "$(<"$work/printed")"
    done
}

goals=()
[[ -n $ours_only ]] || goals=(
    write_8_window_64 "UCX put" 1.5x
    write_8_window_64 "JUCX put" 0.25x
    read_8 "UCX get" 1.5x
    fetch_add "UCX fadd" 1.5x
    cmp_swap "UCX cswap" 1.5x
    write_1g "UCX put" 1.0x
    read_1g "UCX get" 1.0x
    write_1m memcpy 0.9x
    read_1m memcpy 0.9x
    round_trip_64 "UCX tag" 1.5x
    round_trip_64 "libfabric shm" 1.0x
    send_64 "UCX tag" 1.0x
    resident JUCX 1.5x
    idle_connection rings 1.2x
    allocated_latency_write ours "<=0.01"
    allocated_latency_read ours "<=0.01"
    allocated_latency_send ours "<=0.01"
    allocated_latency_write-imm ours "<=0.01"
    allocated_latency_fetch-add ours "<=0.01"
    allocated_latency_cmp-swap ours "<=0.01"
    allocated_rate_write ours "<=0.01"
    allocated_rate_send ours "<=0.01"
)

# Whether a peer is to be measured.
wants() {
    [[ -z $ours_only ]] && has_peer "$1"
}

round=0
while needs_round; do
    say "round $round of $rounds or more: small operations"
    measure ours rate write 8 messages_per_s write_8_window_64 ns --window 64
    measure ours latency read 8 p50_ns read_8 ns
    measure ours latency fetch-add 8 p50_ns fetch_add ns
    measure ours latency cmp-swap 8 p50_ns cmp_swap ns
    measure ours latency write 8 p50_ns write_round_trip_8 ns
    measure ours latency write-imm 8 p50_ns write_imm_round_trip_8 ns
    measure ours_resident
    measure idle_connections
    ! wants JUCX || measure jucx_puts
    if wants UCX; then
        measure ucx_cost ucp_put_bw 8 3000000 write_8_window_64
        measure ucx_latency ucp_get 8 1000000 read_8 1 "UCX get"
        measure ucx_latency ucp_fadd 8 1000000 fetch_add 1 "UCX fadd"
        measure ucx_latency ucp_cswap 8 1000000 cmp_swap 1 "UCX cswap"
        measure ucx_latency ucp_put_lat 8 1000000 write_round_trip_8 2 "UCX put"
    fi
    say "round $round of $rounds or more: sends of 64 bytes"
    measure ours latency send 64 p50_ns round_trip_64 ns
    measure ours rate send 64 messages_per_s send_64 messages/s --window 64
    ! wants "libfabric shm" || measure libfabric 64 round_trip_64
    if wants UCX; then
        measure ucx_latency tag_lat 64 1000000 round_trip_64 2 "UCX tag"
        measure ucx_messages
    fi
    say "round $round of $rounds or more: 1 MiB"
    measure ours bandwidth write 1048576 gb_per_s write_1m GB/s --window 2
    measure ours bandwidth read 1048576 gb_per_s read_1m GB/s --window 2
    ! wants memcpy || measure memcpy_one_way 1048576 2 write_1m read_1m
    if wants UCX; then
        measure ucx_bandwidth ucp_put_bw 1048576 3000 "UCX put" write_1m
        measure ucx_bandwidth ucp_get 1048576 3000 "UCX get" read_1m
    fi
    say "round $round of $rounds or more: 1 GiB"
    measure ours bandwidth write 1073741824 gb_per_s write_1g GB/s
    measure ours bandwidth read 1073741824 gb_per_s read_1g GB/s
    ! wants memcpy || measure memcpy_one_way 1073741824 1 write_1g read_1g
    if wants UCX; then
        measure ucx_large ucp_put_bw "UCX put" write_1g
        measure ucx_large ucp_get "UCX get" read_1g
    fi
done

sum_up "Each process is pinned to a core. All poll." "$machine"
