#!/usr/bin/env bash
# RDMA by RoCE v2 between two machines: two network namespaces, joined by a veth pair, each with its own
# addresses, topology file and fabric folder.
#
#   interop/two-machines.sh              all cells
#   interop/two-machines.sh PATTERN ...  those whose lines contain one of these texts
#   interop/two-machines.sh --keep       keeps the outputs of all programs, and names their folder
#
# Prints a line per cell: passed, FAILED with the reason, or SKIPPED. Exits with 1 if a cell has FAILED.
# A line names the provider and the path MTU that the program has reported.
#
#   pipeline   the target in the other namespace, a test that compares all data
#   sample     each pair of RDMA samples, connected by descriptors and by address
#   perf       perf rdma, the host here and the DPU in the other namespace, per operation
#   network    the interface is down for a second, or for longer than the retries; its address is removed;
#              its MTU is lowered
#
# over IPv4 and IPv6, with an MTU of 1,500 and 9,000 bytes of both interfaces. The programs ask for a path MTU
# of 4,096 bytes, and have at most what fits the interface. Needs a JDK as ./softdpu does; ip, nsenter,
# setpriv and unshare, whose packages root installs where they are missing; and root, or the right to create
# user namespaces: without these it prints one line, SKIPPED. It touches no interface of this machine. Takes
# four minutes or more.
set -euo pipefail

# shellcheck source=interop/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

while (($#)); do
    take "$1"
    shift
done

# ---- namespaces

isolate
limit=120 # of each program
# In a user namespace the files of other users have no known owner, which the launcher refuses: its folder
# is seen through a file system of our own.
if [[ $(stat -c %u /) != "$(id -u)" ]]; then
    mount -t tmpfs tmpfs /mnt
    mkdir -m 700 /mnt/cache
    mount --bind "${SOFTDPU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softdpu}" /mnt/cache
    export SOFTDPU_CACHE=/mnt/cache
fi

add_machine v-here there
ip link set lo up
families=4
[[ ! -d /proc/sys/net/ipv6 ]] || families="4 6"

# Last numbers of the addresses: of a machine, and in it of each side.
number() {
    case $1 in
        here) echo 1 ;;
        there) echo 2 ;;
        host) echo 1 ;;
        dpu) echo 2 ;;
        target) echo 3 ;;
    esac
}

# The address of a side in a machine: machine, side, family.
address() {
    local last
    last=$(number "$1")$(number "$2")
    if [[ $3 == 4 ]]; then echo "10.91.0.$last"; else echo "fd91::$last"; fi
}

for machine in here there; do
    [[ $families == 4 ]] || on "$machine" sh -c \
        "echo 1 >/proc/sys/net/ipv6/conf/v-$machine/keep_addr_on_down"
    for side in host dpu target; do
        on "$machine" ip address add "$(address "$machine" "$side" 4)/24" dev "v-$machine"
        [[ $families == 4 ]] ||
            on "$machine" ip address add "$(address "$machine" "$side" 6)/64" dev "v-$machine" nodad
    done
    on "$machine" ip link set "v-$machine" up
    mkdir -m 700 "$work/$machine"
done

set_mtu() {
    ip link set v-here mtu "$1"
    on there ip link set v-there mtu "$1"
}

# A function of a topology: machine, side, interface, device, PCI address, further keys.
port_of() {
    function_of "$2" "$3" "$4" "$5" "02:53:44:91:0$(number "$1"):0$(number "$2")" "$1-$3" \
        "\"ipv4\": \"$(address "$1" "$2" 4)\", \"ipv6\": \"$(address "$1" "$2" 6)\"${6:-}"
}

# Writes a topology: file, machine of the host, of the DPU, of the target.
topology() {
    write_topology "$1" "$(port_of "$3" dpu p0 mlx5_0 03:00.0)" \
        "$(port_of "$2" host pf0 mlx5_1 0b:00.0 ', "parent": "p0", "representor": "hpf0"')" \
        "$(port_of "$4" target t0 mlx5_2 41:00.0)"
}
topology "$work/here.json" here here here
topology "$work/there.json" there there there
topology "$work/both.json" here there there # of perf, whose processes have one
enter there
dpu_prefix=${prefix[*]}

# Starts ./softdpu on a machine, in the background: name of the outputs, machine, arguments.
launch() {
    start_on "$1" "$2" env "SOFTDPU_RDMA_GID_INDEX=$gid_index" "SOFTDPU_TOPOLOGY=$work/$2.json" \
        "SOFTDPU_FABRIC=$work/$2/fabric" "$root/softdpu" "${@:3}"
}

# ---- cells

gid_index=0 # of the programs without an option for it
export SOFTDPU_RDMA_PATH_MTU=4096

# A pair of samples: the one that runs there and listens, the one that runs here, family, MTU, way.
sample_pair() {
    local listener=$1 caller=$2 family=$3 mtu=$4 way=$5 file=() common provider bytes pid
    cell "sample $2, IPv$family, MTU $mtu, by $way" || return 0
    [[ $listener == rdma-receive* ]] || file=(-m "$out/exported")
    common=(--provider roce -g $((family == 6)) --timeout 60)
    if [[ $way == descriptors ]]; then
        launch listener there sample "$listener" "${common[@]}" "${file[@]}" \
            -ld "$out/of-listener" -re "$out/of-caller"
        pid=$started
        launch caller here --log-level debug sample "$caller" "${common[@]}" "${file[@]}" \
            -ld "$out/of-caller" -re "$out/of-listener"
    else
        launch listener there sample "$listener" "${common[@]}" "${file[@]}" --use-rdma-cm
        pid=$started
        await_line "$out/listener" "listening for" "$pid" || {
            fails "the listener does not listen"
            return 0
        }
        launch caller here --log-level debug sample "$caller" "${common[@]}" "${file[@]}" --use-rdma-cm \
            --address "$(value_of "$out/listener" address)"
    fi
    await "$started" || {
        fails "the caller has failed: exit=$?"
        return 0
    }
    await "$pid" || {
        fails "the listener has failed: exit=$?"
        return 0
    }
    provider=$(value_of "$out/caller.err" provider)
    bytes=$(value_of "$out/caller.err" pathMtuBytes)
    expect_path "$provider" "$bytes" "$mtu" || return 0
    passed "provider=$provider, pathMtuBytes=$bytes"
}

# Ends the cell as failed unless the path MTU is the largest that the interface takes: provider, path MTU, MTU.
expect_path() {
    local expected=4096
    (($3 > 4500)) || expected=1024
    [[ $1 == roce && $2 == "$expected" ]] || {
        fails "another path: provider=$1, pathMtuBytes=$2, expected=roce, $expected"
        return 1
    }
}

# Starts a pipeline, with the target there: family, arguments of the initiator. Sets target, service and
# initiator; ends the cell as failed if one of them does not begin.
begin_pipeline() {
    local port
    gid_index=$(($1 == 6))
    launch target there storage target -d t0 --cpu any --listen-port 0 \
        --listen-address "$(address there target 4)" --volume memory:16MiB --provider roce
    target=$started
    await_line "$out/target" "listening:" "$target" || {
        fails "the target does not listen"
        return 1
    }
    port=$(value_of "$out/target" port)
    launch service here storage zero-copy -d 03:00.0 --cpu any -r 0b:00.0 --provider roce \
        --storage-server "$(address there target 4):$port"
    service=$started
    await_line "$out/service" "waiting:" "$service" || {
        fails "the service does not wait for an initiator"
        return 1
    }
    launch initiator here storage initiator -d 0b:00.0 --cpu any "${@:2}"
    initiator=$started
}

# The pipeline with a comparison of all data: family, MTU.
pipeline() {
    local provider bytes
    cell "pipeline, IPv$1, MTU $2" || return 0
    begin_pipeline "$1" --execution-strategy read_write_data_validity_test || return 0
    await "$initiator" || {
        fails "valid=false: exit=$?"
        return 0
    }
    if ! await "$service" || ! await "$target"; then
        fails "service or target have failed"
        return 0
    fi
    provider=$(sed -n 's/^target: RDMA provider \([^,]*\), path MTU .*/\1/p' "$out/target")
    bytes=$(sed -n 's/^target: RDMA provider .*, path MTU \([0-9]*\) bytes$/\1/p' "$out/target")
    expect_path "$provider" "$bytes" "$2" || return 0
    passed "provider=$provider, pathMtuBytes=$bytes, valid=true"
}

# Packets that the interface here has received so far.
received_here() {
    awk '$1 == "v-here:" {print $3}' /proc/net/dev
}

# Waits until packets have come since there were so many, while a program runs: number, pid.
await_traffic() {
    local deadline=$((SECONDS + limit))
    until (($(received_here) > $1 + 2000)); do
        if ! kill -0 "$2" 2>/dev/null || ((SECONDS > deadline)); then
            fails "no traffic: packets=$(($(received_here) - $1)), expected=more than 2000"
            return 1
        fi
        sleep 0.05
    done
}

# A pipeline whose network changes while it reads: name, family, action, end: none if it goes on, or a status.
network() {
    local family=$2 end=$4 before role
    cell "network, $1, IPv$family, MTU 9000, path MTU 4096" || return 0
    before=$(received_here)
    # The end comes before the storage programs miss an answer, for which they wait 5 s.
    [[ $end == none ]] || local -x SOFTDPU_ROCE_ACK_TIMEOUT=100ms SOFTDPU_ROCE_RETRIES=3
    begin_pipeline "$family" --execution-strategy read_throughput_test \
        --run-limit-operation-count "$([[ $end == none ]] && echo 20000 || echo 100000000)" || return 0
    await_traffic "$before" "$initiator" || return 0
    "$3"
    if [[ $end == none ]]; then
        if ! await "$initiator" || ! await "$service" || ! await "$target"; then
            restore_network
            fails "traffic does not continue"
            return 0
        fi
    else
        await "$target" || true
        await "$service" || true
        restore_network
        stop "$initiator"
        for role in target service; do
            grep -q "$end" "$out/$role.err" || {
                fails "another end: role=$role, expected=$end"
                return 0
            }
        done
    fi
    restore_network
    if grep -q "goes on after a failure" "$out"/*.err; then
        fails "the thread of a NIC has met exceptions"
        return 0
    fi
    passed "provider=roce, end=$end"
}

# The MTU of the sender's interface is lowered below the packets of a connection: family.
lowered_mtu() {
    local before text
    cell "network, MTU of the sender lowered, IPv$1, MTU 9000, path MTU 4096" || return 0
    before=$(received_here)
    SOFTDPU_TOPOLOGY=$work/both.json SOFTDPU_RDMA_GID_INDEX=$(($1 == 6)) \
        start "$root/softdpu" perf rdma rate --op write --size 4096 --provider roce --wait adaptive \
        --seconds 60 --dpu-prefix "$dpu_prefix" >"$out/perf" 2>"$out/perf.err"
    await_traffic "$before" "$started" || return 0
    ip link set v-here mtu 1500
    if await "$started"; then
        restore_network
        fails "the connection goes on"
        return 0
    fi
    restore_network
    grep -q "too long for the interface: .* mtuBytes=1500, interface=v-here, packetBytes=41" "$out/perf.err" || {
        fails "another reason: expected=both values"
        return 0
    }
    passed "provider=roce, end=$(sed -n 's/^softdpu: \([A-Z_]*\): .*/\1/p' "$out/perf.err" | head -n 1)"
}

down_for_a_second() {
    ip link set v-here down
    sleep 1
    ip link set v-here up
}

down() { ip link set v-here down; }

# That of the target, whose TCP socket has the same address of IPv4.
remove_address() {
    on there ip address del "$(address there target 4)/24" dev v-there
    [[ $families == 4 ]] || on there ip address del "$(address there target 6)/64" dev v-there
}

# Packets of the target do not arrive.
lower_mtu_here() { ip link set v-here mtu 1500; }

restore_network() {
    ip link set v-here up
    set_mtu 9000
    on there ip address replace "$(address there target 4)/24" dev v-there
    [[ $families == 4 ]] || on there ip address replace "$(address there target 6)/64" dev v-there nodad
}

# perf rdma, whose DPU is in the other namespace: operation, family, MTU.
measure_operation() {
    local family=$2 mtu=$3 provider bytes
    cell "perf rdma rate --op $1, IPv$family, MTU $mtu" || return 0
    SOFTDPU_TOPOLOGY=$work/both.json SOFTDPU_RDMA_GID_INDEX=$((family == 6)) \
        start "$root/softdpu" perf rdma rate --op "$1" --provider roce \
        --wait adaptive --seconds 1 --json "$out/json" \
        --dpu-prefix "$dpu_prefix" >"$out/perf" 2>"$out/perf.err"
    await "$started" || {
        fails "the measurement has failed: exit=$?"
        return 0
    }
    provider=$(json_value provider)
    bytes=$(json_value path_mtu_bytes)
    expect_path "$provider" "$bytes" "$mtu" || return 0
    passed "provider=$provider, pathMtuBytes=$bytes, operations=$(json_value messages)"
}

# A value of the measurement's JSON: key.
json_value() {
    sed -n "s/^ *\"$1\" : \"\{0,1\}\([^\",]*\).*/\1/p" "$out/json" | tail -n 1
}

# ---- all of them

for mtu in 1500 9000; do
    set_mtu "$mtu"
    for family in $families; do
        pipeline "$family" "$mtu"
        for operation in write read send write-imm fetch-add cmp-swap; do
            measure_operation "$operation" "$family" "$mtu"
        done
        for way in descriptors address; do
            sample_pair rdma-read-responder rdma-read-requester "$family" "$mtu" "$way"
            sample_pair rdma-write-responder rdma-write-requester "$family" "$mtu" "$way"
            sample_pair rdma-write-immediate-responder rdma-write-immediate-requester "$family" "$mtu" "$way"
            sample_pair rdma-receive rdma-send "$family" "$mtu" "$way"
            sample_pair rdma-receive-immediate rdma-send-immediate "$family" "$mtu" "$way"
            sample_pair rdma-sync-event-responder rdma-sync-event-requester "$family" "$mtu" "$way"
        done
    done
done

for family in $families; do
    network "down for a second" "$family" down_for_a_second none
    network "down" "$family" down CONNECTION_RESET
    network "address removed" "$family" remove_address CONNECTION_RESET
    lowered_mtu "$family"
    network "MTU of the receiver lowered" "$family" lower_mtu_here CONNECTION_RESET
done

total
