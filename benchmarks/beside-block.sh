#!/usr/bin/env bash
# Block devices of files beside fio's io_uring engine, by turns in one run, on one file.
#
#   benchmarks/beside-block.sh                 three rounds or more, a table
#   benchmarks/beside-block.sh --rounds N      N rounds or more
#   benchmarks/beside-block.sh --seconds N     duration of each measurement (default 2)
#   benchmarks/beside-block.sh --json FILE|-   the figures as JSON as well; -: instead of the table
#   benchmarks/beside-block.sh --ours          ours alone
#
# Needs a JDK as ./softdpu does, fio, python3, setpriv, and 256 MiB in the folder TMPDIR, on a file
# system with direct I/O. Takes about 80 seconds per round. The machine should be idle otherwise.
# SOFTDPU_ROOT names the tree whose ./softdpu is measured, where that is not this one.
#
# Both use the same file, which is written as a whole before, and buffers of huge pages where the kernel
# has them: with small pages the disk of a virtual machine moved 0.39 GB/s, with huge ones 0.6. Both
# run for the duration once before it counts. Of the two, each is the first in every other round, since
# a disk may allow more to the first after a pause.
#
# The CPU time of ours is that of all threads of the process, with those of the kernel for it; fio
# tells that of its job.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${SOFTDPU_ROOT:-$(dirname "$here")}

# shellcheck source=benchmarks/lib.sh
. "$here/lib.sh"
read_options "$@"
if [[ -z $ours_only ]] && ! command -v fio >/dev/null; then
    say "fio is not installed: apt-get install fio, or ours alone with --ours"
    exit 2
fi
need python3:python3 setpriv:util-linux
begin
need_writable_json
first=- second=- # nothing here passes between two cores
machine=$(machine)
file=$work/volume
mib=256

# One measurement of ours: case, who, measurement, options of the volume, arguments.
ours() {
    local case=$1 who=$2
    run "$root/softdpu" perf block "$3" --volume "file:$file$4" "${@:5}" --seconds "$seconds" \
        --json "$work/ours.json" >/dev/null
    case $case in
        sequential*) figure "$case" GB/s "$who" "$(ours_value gb_per_s)" ;;
        *) figure "$case" op/s "$who" "$(ours_value operations_per_s)" ;;
    esac
    figure "${case}_cpu" ns "$who" "$(ours_value cpu_ns_per_op)"
    figure "${case}_p50" ns "$who" "$(ours_value p50_ns)"
    figure "${case}_p99" ns "$who" "$(ours_value p99_ns)"
    [[ $who != ours ]] || figure "${case}_allocated" B/op "$who" "$(ours_value allocated_bytes_per_op)"
}

# Runs fio with its JSON in fio.json: arguments. The tunable makes its buffers what ours are: memory for
# which huge pages are advised.
run_fio() {
    run env GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.malloc.hugetlb=1" \
        fio --name=block --filename="$file" --size="${mib}M" --ioengine=io_uring --thread \
        --output-format=json --output="$work/fio.json" --lat_percentiles=1 "$@"
}

# The same by fio: case, direct or not (1, 0), arguments.
theirs() {
    local case=$1 rate bytes cpu p50 p99
    run_fio --direct="$2" --norandommap --randrepeat=0 --time_based --ramp_time="$seconds" \
        --runtime="$seconds" "${@:3}"
    read -r rate bytes cpu p50 p99 < <(python3 - "$work/fio.json" <<'PY'
import json
import sys

job = json.load(open(sys.argv[1]))["jobs"][0]
found = max(job["read"], job["write"], key=lambda each: each["total_ios"])
cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * found["runtime"] * 1e6 / found["total_ios"]
times = found["lat_ns"]["percentile"]
print(found["iops"], found["bw_bytes"] / 1e9, cpu, times["50.000000"], times["99.000000"])
PY
    )
    case $case in
        sequential*) figure "$case" GB/s fio "$bytes" ;;
        *) figure "$case" op/s fio "$rate" ;;
    esac
    figure "${case}_cpu" ns fio "$cpu"
    figure "${case}_p50" ns fio "$p50"
    figure "${case}_p99" ns fio "$p99"
}

# One case of both, fio first in every other round: case, measurement, options of the volume, direct or
# not for fio, arguments of ours, --, arguments of fio.
pair() {
    local case=$1 measurement=$2 options=$3 direct=$4 own=()
    shift 4
    while [[ $1 != -- ]]; do
        own+=("$1")
        shift
    done
    shift
    ((round % 2)) || fio_case "$case" "$direct" "$@"
    measure ours "$case" ours "$measurement" "$options" "${own[@]}"
    ((round % 2 == 0)) || fio_case "$case" "$direct" "$@"
}

fio_case() {
    [[ -n $ours_only ]] || measure theirs "$@"
}

random=(--size 4KiB --depth 32 --random)
large=(--size 1MiB --depth 4)
one=(--size 4KiB --depth 1 --random)
write=(--op write --overwrite)

cases() {
    cat "$file" >/dev/null # into the page cache
    pair cached_read_4k rate "" 0 --op read "${random[@]}" \
        -- --invalidate=0 --rw=randread --bs=4k --iodepth=32
    measure ours cached_read_4k "ours by threads" rate "?threads=4" --op read "${random[@]}"

    pair direct_read_4k rate "?direct" 1 --op read "${random[@]}" \
        -- --rw=randread --bs=4k --iodepth=32
    measure ours direct_read_4k "ours by threads" rate "?direct&threads=4" --op read "${random[@]}"

    pair direct_write_4k rate "?direct" 1 "${write[@]}" "${random[@]}" \
        -- --rw=randwrite --bs=4k --iodepth=32
    measure ours direct_write_4k "ours by threads" rate "?direct&threads=4" "${write[@]}" \
        "${random[@]}"

    pair sequential_read_1m bandwidth "?direct" 1 --op read "${large[@]}" \
        -- --rw=read --bs=1m --iodepth=4
    pair sequential_write_1m bandwidth "?direct" 1 "${write[@]}" "${large[@]}" \
        -- --rw=write --bs=1m --iodepth=4

    pair direct_read_4k_depth1 latency "?direct" 1 --op read "${one[@]}" \
        -- --rw=randread --bs=4k --iodepth=1

    pair fua_write_4k_depth1 latency "?direct" 1 "${write[@]}" --fua "${one[@]}" \
        -- --rw=randwrite --bs=4k --iodepth=1 --sync=dsync
}

say "building ours"
"$root/softdpu" --version >/dev/null
run dd if=/dev/zero of="$file" bs=1M count="$mib" conv=fsync status=none
goals=()
[[ -n $ours_only ]] || goals=(
    cached_read_4k fio 0.8x
    cached_read_4k_cpu fio 1.3x
    direct_read_4k fio 0.95x
    direct_write_4k fio 0.95x
    sequential_read_1m fio 0.95x
    sequential_write_1m fio 0.95x
    direct_read_4k_depth1_p50 fio 1.2x
    fua_write_4k_depth1 fio 0.95x
)
round=0
while needs_round; do
    say "round $round of $rounds or more"
    cases
done

sum_up "One file of $mib MiB, one thread each; fio by its engine io_uring." "$machine"
