#!/usr/bin/env bash
# The Comm Channel's fast path in each way of waiting (busy, adaptive, event), by turns in one run:
# rate with windows of 16, 64, 256 and 1,024 posted buffers, and round trips.
#
#   benchmarks/comch-modes.sh                 three rounds or more, a table
#   benchmarks/comch-modes.sh --rounds N      N rounds or more
#   benchmarks/comch-modes.sh --seconds N     duration of each measurement (default 2)
#   benchmarks/comch-modes.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#
# Needs a JDK as ./softdpu does, two cores, and gcc, libc6-dev and python3, which it installs by these
# names where it runs as root. The machine should be idle otherwise. Takes about two minutes per
# round. SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not this one.
#
# Both processes are pinned to a core each. Ratios are made of measurements with round trips of a cache
# line of the same class, near or far; while one has fewer than three pairs there are more rounds, up
# to twice as many. `softdpu perf comch` measures the cache line times itself.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}
windows=(16 64 256 1024)

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
[[ -z $ours_only ]] || {
    say "no such option: option=--ours"
    exit 2
}
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 setpriv:util-linux taskset:util-linux gcc:gcc
begin
need_writable_json
need_c_library
choose_cores
build_line_time
machine=$(machine)

say "building"
"$root/softdpu" --version >/dev/null

perf() { # measurement, way of waiting, further options
    run "$root/softdpu" perf comch "$1" --wait "$2" --cpu "$first,$second" --seconds "$seconds" \
        --json "$work/ours.json" "${@:3}" >/dev/null
    own_lines=$(ours_value line_before_ns line_after_ns)
}

# Keeps a figure of busy waiting for the rows of the others, and one of the others for its own row:
# way of waiting, case, unit, value.
keep() {
    if [[ $1 == busy ]]; then
        figure "$2_adaptive" "$3" busy "$4"
        figure "$2_event" "$3" busy "$4"
    else
        figure "$2_$1" "$3" ours "$4"
    fi
}

rate() { # way of waiting, window
    perf rate "$1" --size 32 --window "$2"
    keep "$1" "one_way_32_window_$2" messages/s "$(ours_value messages_per_s)"
}

latency() { # way of waiting
    local found p50 p99 p999
    perf latency "$1" --size 64
    found=$(ours_value p50_ns p99_ns p999_ns)
    read -r p50 p99 p999 <<<"$found"
    keep "$1" round_trip_64_p50 ns "$p50"
    keep "$1" round_trip_64_p99 ns "$p99"
    keep "$1" round_trip_64_p999 ns "$p999"
}

goals=(round_trip_64_p50_adaptive busy 1.3x one_way_32_window_1024_event busy 0.5x)
for window in "${windows[@]}"; do
    goals+=("one_way_32_window_${window}_adaptive" busy 0.8x)
done
round=0
while needs_round; do
    say "round $round of $rounds or more"
    for wait in busy adaptive event; do
        measure latency "$wait"
    done
    for window in "${windows[@]}"; do
        for wait in busy adaptive event; do
            measure rate "$wait" "$window"
        done
    done
done

sum_up "Each process is pinned to a core." "$machine"
