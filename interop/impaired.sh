#!/usr/bin/env bash
# RDMA by RoCE v2 over a network whose kernel loses, duplicates, reorders and corrupts packets: two
# processes in two network namespaces, and the wire between these in a third one.
#
#   interop/impaired.sh              writes, reads and sends at a loss of 0, 1 and 10 %, 1 GiB each way
#   interop/impaired.sh --size SIZE  less, in bytes or with K, M or G for powers of 1024
#   interop/impaired.sh PATTERN ...  those whose lines contain one of these texts
#   interop/impaired.sh --keep       keeps the outputs of all programs, and names their folder
#
# At each loss 1 % of the packets are duplicated, 1 % come after later ones, and 0.1 % have two changed
# bytes. Prints a line per operation and loss: passed with the SHA-256 of the data of each way, FAILED
# with the reason, or SKIPPED. `kernel` are the packets of both ways that the wire has treated so, and
# `retransmissions` those that both processes have sent again. Exits with 1 if a line has FAILED.
#
# Needs a JDK as ./softdpu does, and nft, ip and tc, whose packages root installs where they are missing;
# a kernel with nf_tables and HTB; and root, or the right to create user namespaces: without these it
# prints one line, SKIPPED. It touches no interface of this machine. On two
# processors it takes four minutes, most of them at loss 10, and half a minute with --size 64M.
set -euo pipefail

# shellcheck source=interop/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

size=1G
while (($#)); do
    case $1 in
        --size)
            (($# > 1)) || fail "a value is missing: option=$1"
            size=$2
            shift
            ;;
        *) take "$1" ;;
    esac
    shift
done
bytes=$(numfmt --from=iec "${size%iB}" 2>/dev/null) && ((bytes > 0 && bytes % 65536 == 0)) ||
    fail "not a multiple of 64 KiB: option=--size, value=$size"

isolate tc:iproute2 nft:nftables
limit=3600 # of each program

declare -A address=([here]=10.92.0.1 [there]=10.92.0.2)
for machine in here there; do
    add_machine "wire-$machine" "$machine"
    ip link set "wire-$machine" mtu 9000 up
    on "$machine" ip address add "${address[$machine]}/24" dev "v-$machine"
    # Packets are cut out of those of segmentation before they come to the wire.
    on "$machine" ip link set "v-$machine" mtu 9000 gso_max_segs 1 up
    mkdir -m 700 "$work/$machine"
    write_topology "$work/$machine.json" "$(function_of target t0 mlx5_0 41:00.0 \
        "02:53:44:92:00:0${address[$machine]##*.}" "$machine" "\"ipv4\": \"${address[$machine]}\"")"
done

# The way of packets that leave a machine, in parts of 10,000: from, to, lost, twice, late, other bytes.
way() {
    local some="udp dport 4791 numgen random mod 10000"
    cat <<NFT
    chain of-$1 {
        type filter hook ingress device "wire-$1" priority 0; policy accept;
        $some < $3 counter name lost drop
        $some < $6 counter name corrupted @th,192,16 set 0xdead
        $some < $4 counter name duplicated dup to "wire-$2"
        $some < $5 counter name late meta priority set 1:20
        fwd to "wire-$2"
    }
NFT
}

# Sets the wire, its counters at 0: the loss in percent.
set_wire() {
    local loss=$(($1 * 100)) machine
    {
        echo "table netdev wire"
        echo "delete table netdev wire"
        echo "table netdev wire {"
        printf '    counter %s {}\n' lost duplicated late corrupted
        way here there "$loss" 100 100 10
        way there here "$loss" 100 100 10
        echo "}"
    } | nft -f -
    for machine in here there; do
        tc qdisc del dev "wire-$machine" root 2>/dev/null || true
        tc qdisc add dev "wire-$machine" root handle 1: htb default 10
        tc class add dev "wire-$machine" parent 1: classid 1:10 htb rate 100gbit quantum 60000
        # The slow lane: what is put in it comes after packets that were sent later.
        tc class add dev "wire-$machine" parent 1: classid 1:20 htb rate 40mbit burst 1500 cburst 1500 quantum 60000
        tc qdisc add dev "wire-$machine" parent 1:20 handle 20: pfifo limit 1000
    done
}
reason=$(set_wire 0 2>&1) || skip "kernel cannot impair packets: needed=nf_tables with netdev and numgen, HTB, reason=${reason##*$'\n'}"

# What the wire has done: name.
counted() {
    nft list counter netdev wire "$1" | sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

# ---- lines

java=("$SOFTDPU_JAVA_HOME/bin/java" -XX:+UseSerialGC --enable-native-access=io.softdpu.linux
    -p "$SOFTDPU_INTEROP_JARS" --add-modules ALL-MODULE-PATH)
"$SOFTDPU_JAVA_HOME/bin/javac" -nowarn -p "$SOFTDPU_INTEROP_JARS" --add-modules ALL-MODULE-PATH \
    -d "$work/classes" "$here/Transfer.java"
port=13579

# Starts a process: machine, listen or connect, operation.
launch() {
    local -x SOFTDPU_FABRIC=$work/$1/fabric
    start_on "$1" "$1" "${java[@]}" -cp "$work/classes" Transfer \
        "$2" "$work/$1.json" t0 "${address[there]}" "$port" "$3" "$bytes"
}

# A line: operation, loss in percent.
transfer() {
    local there status=0 began=$EPOCHREALTIME took
    cell "$1, loss $2 %" || return 0
    set_wire "$2"
    launch there listen "$1"
    there=$started
    await_line "$out/there" listening "$there" || true
    launch here connect "$1"
    await "$started" || status=$?
    ((status == 0)) || stop "$there"
    ((status != 0)) || await "$there" || status=$?
    took=$(((${EPOCHREALTIME/./} - ${began/./}) / 100000))
    if ((status)); then
        fails "a process has failed: exit=$status"
    elif [[ $(value_of "$out/here" sent) != "$(value_of "$out/there" received)" ||
        $(value_of "$out/there" sent) != "$(value_of "$out/here" received)" || -z $(value_of "$out/here" sent) ]]; then
        fails "sums differ: $(tail -qn 1 "$out/here" "$out/there" | tr '\n' ' ')"
    else
        passed "$(numfmt --to=iec-i --suffix=B "$bytes") each way," \
            "sha256=$(value_of "$out/here" sent | cut -c 1-16)/$(value_of "$out/there" sent | cut -c 1-16)," \
            "retransmissions=$(($(value_of "$out/here" retransmissions) + $(value_of "$out/there" retransmissions)))," \
            "timeouts=$(($(value_of "$out/here" timeouts) + $(value_of "$out/there" timeouts)))," \
            "badIcrc=$(($(value_of "$out/here" bad_icrc) + $(value_of "$out/there" bad_icrc)))," \
            "kernel=lost:$(counted lost)+duplicated:$(counted duplicated)+late:$(counted late)+corrupted:$(counted corrupted)," \
            "seconds=$((took / 10)).$((took % 10))"
    fi
}

for loss in 0 1 10; do
    for operation in write read send; do
        transfer "$operation" "$loss"
    done
done
total
