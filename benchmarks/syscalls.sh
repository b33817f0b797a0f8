#!/usr/bin/env bash
# System calls of both processes of the Comm Channel's fast path while they poll (`--wait busy`), per
# million messages, without sched_yield.
#
#   benchmarks/syscalls.sh                 three rounds, a table
#   benchmarks/syscalls.sh --rounds N      N rounds
#   benchmarks/syscalls.sh --seconds N     duration of a measurement (default 8, at least 4)
#
# Needs a JDK as ./softdpu does, two cores, and strace and python3, which it installs by these names
# where it runs as root. The machine should be idle otherwise: the JVM's own threads make calls per
# second, and what counts is how many messages go meanwhile. SOFTDPU_ROOT names the tree whose
# ./softdpu is measured, where that is not this one.
#
# strace is attached to all threads of both processes after the warm-up, for two seconds less than the
# measurement takes. The number of messages in that time is that of the measurement's rate.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
seconds=8
read_options "$@"
[[ -z $ours_only ]] || {
    say "no such option: option=--ours"
    exit 2
}
[[ -z $json ]] || {
    say "no such option: option=--json"
    exit 2
}
((seconds >= 4)) || {
    say "too short: option=--seconds, value=$seconds, expected=4 or more"
    exit 2
}
(($(nproc) > 1)) || fail "two polling processes need two cores: cores=1"
need python3:python3 setpriv:util-linux taskset:util-linux strace:strace
begin
choose_cores
machine=$(machine)

say "building"
"$root/softdpu" --version >/dev/null

# Sets measured to the two processes, of which one has started the other, below a command: pid.
find_measured() {
    local pid deadline=$((SECONDS + 60))
    while ((SECONDS < deadline)) && kill -0 "$1" 2>/dev/null; do
        measured=()
        pid=$1
        while [[ -n $pid ]]; do
            [[ $(cat "/proc/$pid/comm" 2>/dev/null) != java ]] || measured+=("$pid")
            # A thread of a JVM may have started it.
            pid=$(cat "/proc/$pid/task"/*/children 2>/dev/null | awk 'NR == 1 {print $1}' || true)
        done
        ((${#measured[@]} < 2)) || return 0
        sleep 0.1
    done
    cat "$work/perf.err" >&2
    fail "the two processes were not found: pid=$1"
}

# Counts the calls of both processes during a measurement, and writes them to a file by their names.
count() {
    local perf
    start "$root/softdpu" perf comch rate --wait busy --cpu "$first,$second" --seconds "$seconds" \
        --json "$work/ours.json" >/dev/null 2>"$work/perf.err"
    perf=$started
    find_measured "$perf"
    sleep $((seconds + 1)) # the warm-up takes as long as the measurement
    start timeout -s INT "$((seconds - 2))" \
        strace -f -qq -c -o "$work/summary" -p "${measured[0]}" -p "${measured[1]}" \
        2>"$work/strace.err"
    await "$started" || true # the status of timeout says that the time was over
    await "$perf" || {
        cat "$work/perf.err" >&2
        fail "the measurement has failed"
    }
    # Columns: percent, seconds, microseconds per call, calls, errors where there are any, name.
    awk '$4 ~ /^[0-9]+$/ && $NF != "total" && $NF != "sched_yield" {print $NF, $4}' \
        "$work/summary" >"$1"
    [[ -s $1 ]] || {
        cat "$work/strace.err" >&2
        fail "strace has counted nothing: file=$work/summary"
    }
}

printf '%5s  %12s  %12s  %s\n' round messages calls 'per million messages'
for ((round = 1; round <= rounds; round++)); do
    count "$work/calls"
    rate=$(ours_value messages_per_s)
    awk -v round="$round" -v rate="${rate%.*}" -v seconds="$((seconds - 2))" '
        {calls += $2}
        END {
            messages = rate * seconds
            printf "%5d  %12d  %12d  %.1f\n", round, messages, calls, calls * 1e6 / messages
        }' "$work/calls" | tee -a "$work/rounds"
    cat "$work/calls" >>"$work/by_name"
done

echo
sort -g -k 4 "$work/rounds" | awk -v goal=100 '{value[NR] = $4} END {
    median = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
    printf "median: %.1f system calls per million messages, goal=at most %d: %s\n", \
        median, goal, median <= goal ? "met" : "MISSED"
}'
echo "most of them, per round: $(awk -v rounds="$rounds" '{sum[$1] += $2}
    END {for (name in sum) printf "%s=%.0f\n", name, sum[name] / rounds}' "$work/by_name" |
    sort -t = -k 2 -gr | head -5 | paste -sd , | sed 's/,/, /g')"
echo "machine: $machine"
