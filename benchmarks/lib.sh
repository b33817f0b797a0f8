# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the scripts
# Functions of the scripts here, which source this file after setting `here` and `root`.

export LC_ALL=C # figures have a point, whatever the user's language

script=$(basename "$0" .sh)

# The options of the comparisons; a script with another default sets it behind this file.
rounds=3
seconds=2
json=
ours_only=

# Control characters of names and values are replaced: they could control the terminal.
say() {
    local message=$*
    printf '%s: %s\n' "$script" "${message//[[:cntrl:]]/?}" >&2
}

fail() {
    say "$@"
    exit 1
}

# The comment at the beginning of the script.
usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
}

# Parses the options of a comparison: sets rounds, seconds, json and ours_only.
read_options() {
    while (($#)); do
        case $1 in
            -h | --help)
                usage
                exit 0
                ;;
            --ours)
                ours_only=yes
                shift
                continue
                ;;
            --rounds | --seconds | --json)
                (($# > 1)) || {
                    say "a value is missing: option=$1"
                    exit 2
                }
                ;;
            *)
                say "no such option: option=$1"
                usage >&2
                exit 2
                ;;
        esac
        if [[ $1 == --json ]]; then
            json=$2
        else
            [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || {
                say "not a number from 1 to 9999: option=$1, value=$2"
                exit 2
            }
            [[ $1 == --rounds ]] && rounds=$2 || seconds=$2
        fi
        shift 2
    done
}

# ---- requirements

# Installs the packages of the commands that are missing: command:package ...
need() {
    local missing=() pair
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
    done
    ((${#missing[@]})) || return 0
    install_packages "${missing[@]}"
}

declare -A absent=() # peers that cannot be had, and what to install

# Installs the package of a peer's command if it is missing. Where that cannot be, the script goes on
# without the peer: command:package, names of the peer in goals ...
need_peer() {
    local command=${1%%:*} package=${1#*:} name
    shift
    command -v "$command" >/dev/null && return
    if (install_packages "$package") && command -v "$command" >/dev/null; then
        return
    fi
    for name in "$@"; do
        absent[$name]="$command is not installed: apt-get install $package"
    done
}

# Whether a peer can be measured.
has_peer() {
    [[ -z ${absent[$1]:-} ]]
}

install_packages() {
    say "installing $*"
    if [[ $(id -u) != 0 ]]; then
        fail "packages are missing, and only root can install them: apt-get install $*"
    fi
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# The C library's headers, which Debian's gcc does no more than recommend. After `begin`.
need_c_library() {
    printf '#include <stdio.h>\nint main(void) { return 0; }\n' >"$work/nothing.c"
    gcc -o "$work/nothing" "$work/nothing.c" 2>/dev/null || install_packages libc6-dev
}

# Checks the free space in /dev/shm: MiB.
need_shared_memory() {
    local free
    free=$(df -Pk /dev/shm | awk 'NR == 2 {print int($4 / 1024)}')
    ((free >= $1)) || fail "too little space: folder=/dev/shm, free=$free MiB, needed=$1 MiB"
}

# The file of --json must be writable before anything is measured, not only after it.
need_writable_json() {
    [[ -n $json && $json != - ]] || return 0
    local old=
    [[ ! -e $json ]] || old=1
    { : >>"$json"; } 2>/dev/null || fail "cannot be written: file=$json"
    [[ -n $old ]] || rm "$json"
}

# Maven on the JDK that ./softdpu uses, given in jdk; its own libraries would make it warn.
maven() {
    JAVA_HOME=$jdk \
        MAVEN_OPTS="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}" \
        mvn -B "$@" </dev/null
}

# ---- processes and files, which all end with the script

declare -A background=() # pids

# Folders of this run: work on disk, shm in memory.
begin() {
    work=$(mktemp -d)
    trap tidy EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    shm=$(mktemp -d /dev/shm/softdpu-beside.XXXXXX)
    # Nothing here takes as long as this, however slow the machine is.
    limit=$((300 + 20 * seconds))
}

tidy() {
    trap '' INT TERM HUP
    local pid
    for pid in "${!background[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in "${!background[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work" "${shm:-}"
}

# Starts a command in the background, its pid in `started`. It ends at the limit, and with this
# script even if that is killed.
start() {
    setpriv --pdeathsig TERM timeout -k 5 "$limit" "$@" &
    started=$!
    background[$started]=1
}

# Starts a Java program in the background and waits until it says that it is ready.
start_ready() {
    local line='' both in
    rm -f "$work/ready"
    mkfifo "$work/ready"
    exec {both}<>"$work/ready" # else either end would wait for the other to be opened
    start "$@" 1>&"$both" 2>"$work/started.err"
    exec {in}<"$work/ready" {both}>&- # from here on the end of the program is the end of the file
    IFS= read -r -t "$limit" -u "$in" line || true
    exec {in}<&-
    [[ $line == ready ]] || {
        cat "$work/started.err" >&2
        fail "not ready: command=$*"
    }
}

# Ends a command of the background: pid.
stop() {
    kill "$1" 2>/dev/null || true
    await "$1" 2>/dev/null || true
}

# Waits for the end of a command of the background and has its status: pid.
await() {
    local status=0
    wait "$1" || status=$?
    unset "background[$1]"
    return "$status"
}

# Waits for the end of a command of the background, which must succeed: pid.
finish() {
    await "$1" || fail "background command has failed: status=$?"
}

# Runs a command; its standard error is shown if it fails. It is in the background, for
# a signal would have to wait until a command in the foreground ends.
run() {
    start "$@" 2>"$work/err"
    await "$started" || {
        say "failed: status=$?, after at most $limit s, command=$*"
        cat "$work/err" >&2
        exit 1
    }
}

# Waits until a command of the background listens: port, pid. Not by connecting to it: what serves
# one client only would take that for the client.
listening() {
    local socket deadline=$((SECONDS + 30))
    socket=$(printf ':%04X 0*:0000 0A' "$1") # 0A: it listens
    until grep -qs "$socket" /proc/net/tcp /proc/net/tcp6; do
        kill -0 "$2" 2>/dev/null || return 1
        ((SECONDS < deadline)) || return 1
        sleep 0.02
    done
}

# A TCP port that is free at the moment.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# ---- cores

# The numbers of a list such as 0-3,8, one per line.
numbers() {
    tr , '\n' | while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done
}

# Sets first and second: two cores that this process may use, not siblings where there are such.
# On a machine of one core both are that one.
choose_cores() {
    local allowed siblings core
    mapfile -t allowed < <(taskset -cp $$ | sed 's/.*: //' | numbers)
    first=${allowed[0]}
    second=${allowed[1]:-$first}
    siblings=$(numbers 2>/dev/null <"/sys/devices/system/cpu/cpu$first/topology/thread_siblings_list" || echo "$first")
    for core in "${allowed[@]}"; do
        if ! grep -qx "$core" <<<"$siblings"; then
            second=$core
            return
        fi
    done
}

# ---- peers

aeron=io.aeron:aeron-all:1.51.0 # its jar has Agrona, too
jucx=org.openucx:jucx:1.12.1     # on the UCX of the distribution

# Fetches the jar of an artifact; whether it is there.
fetch_peer() {
    say "fetching a peer: artifact=$1"
    # -N: once, not for each module.
    (cd "$root" && maven -q -N dependency:copy -Dartifact="$1" -DoutputDirectory="$work") \
        >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        return 1
    }
}

# Compiles the peers that are Java programs, and sets java to how these are started: the artifact that
# they use, their classes.
build_peers() {
    local artifact=$1 name version class_path
    local -a sources
    shift
    IFS=: read -r _ name version <<<"$artifact"
    sources=("${@/#/$here/peers/}")
    sources=("${sources[@]/%/.java}")
    [[ -e $work/$name-$version.jar ]] || fetch_peer "$artifact" ||
        fail "the peers cannot be fetched: artifact=$artifact"
    say "compiling the peers: ${*}"
    class_path=$work/classes:$work/$name-$version.jar
    "$jdk/bin/javac" -nowarn -d "$work/classes" -cp "$class_path" "${sources[@]}" \
        >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        fail "the peers do not compile: folder=$here/peers"
    }
    java=("$jdk/bin/java" --add-opens java.base/jdk.internal.misc=ALL-UNNAMED
        --add-opens java.base/sun.nio.ch=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
        --enable-native-access=ALL-UNNAMED
        -Dagrona.disable.bounds.checks=true -Xmx1g -cp "$class_path")
}

# Compiles programs here that are in C: names. After `begin`.
build_programs() {
    local program
    for program in "$@"; do
        gcc -O2 -o "$work/$program" "$here/$program.c" ||
            fail "does not compile: file=$here/$program.c"
    done
}

# ---- figures

# Compiles what measures the round trip of a cache line between first and second. After `begin`.
build_line_time() {
    gcc -O2 -pthread -o "$work/line-time" "$here/line-time.c" ||
        fail "line-time.c does not compile: file=$here/line-time.c"
}

# The glibc tunable with which ./softdpu starts a JVM on x86-64: in the file that it shares with the
# launcher of the archives, in an old tree in itself.
copy_tunable() {
    local file
    for file in "$root/applications/cli/src/main/sh/java.sh" "$root/softdpu"; do
        [[ ! -e $file ]] ||
            sed -n 's/.*\(glibc\.cpu\.x86_non_temporal_threshold=0x[0-9a-f]*\).*/\1/p' "$file"
    done
}

# Sets line to that round trip, in ns; to - where both are the same, or where processes that are not
# pinned may run on others (unpinned is set).
line_time() {
    line=-
    [[ $first != "$second" ]] || return 0
    [[ -z ${unpinned:-} ]] || (($(nproc) == 2)) || return 0
    run "$work/line-time" "$first" "$second" >"$work/line"
    line=$(<"$work/line")
    [[ $line =~ ^[0-9]+$ ]] || fail "no round trip of a cache line: value=$line"
}

# Runs a measurement, with the round trip of a cache line before and after it for its figures. A
# measurement that takes these two times itself, between its own threads, sets own_lines to them:
# they are closer to what it has measured.
measure() {
    local before after own_lines=
    : >"$work/taken"
    line_time
    before=$line
    "$@"
    line_time
    after=$line
    [[ -z $own_lines ]] || read -r before after <<<"$own_lines"
    [[ $after == - ]] || say "cache line: $before ns before, $after ns after: $*"
    sed "s/\$/\t$before\t$after/" "$work/taken" >>"$work/figures"
}

# Values of our JSON, by key, as far as the tree writes them; each measurement of ours writes it to
# ours.json.
ours_value() {
    python3 -c 'import json, sys; found = json.load(open(sys.argv[1]))
print(*(found[key] for key in sys.argv[2:] if key in found))' "$work/ours.json" "$@"
}

# Keeps a figure of the measurement in this round: case, unit, who, value.
figure() {
    [[ $4 =~ ^[0-9] ]] || fail "no figure: case=$1, who=$3, value=$4"
    printf '%s\t%s\t%s\t%s\t%s\n' "$round" "$@" >>"$work/taken"
}

# A figure that a Java peer has printed: name, case, unit, who.
printed() {
    figure "$2" "$3" "$4" "$(awk -v name="$1" '$1 == name {print $2}' "$work/printed")"
}

# Agrona's ring: mode here, mode there, size of a message in bytes, figure: name, case, unit.
agrona() {
    local there
    rm -f "$shm/ring"
    start_ready taskset -c "$second" "${java[@]}" AgronaRing "$2" "$shm/ring" "$3"
    there=$started
    run taskset -c "$first" "${java[@]}" AgronaRing "$1" "$shm/ring" "$3" >"$work/printed"
    finish "$there"
    printed "$4" "$5" "$6" Agrona
}

ucx_transports=posix,self

# UCX over shared memory, by the transports in ucx_transports: test, size, iterations, options. Sets what it tells in the end, in its own order:
# iterations; latency in us: median, average, overall; MB/s (2^20 bytes) and messages/s: average,
# overall. Where the port was lost before the server had it, another is tried.
ucx() {
    local port server tries=3
    while ((tries-- > 0)); do
        port=$(free_port)
        : >"$work/ucx.client"
        start env UCX_TLS="$ucx_transports" taskset -c "$second" ucx_perftest -p "$port" \
            >"$work/ucx.server" 2>&1
        server=$started
        if listening "$port" "$server"; then
            start env UCX_TLS="$ucx_transports" taskset -c "$first" ucx_perftest 127.0.0.1 -p "$port" \
                -t "$1" -s "$2" -n "$3" -w "$(($3 / 10))" -f "${@:4}" >"$work/ucx.client" 2>&1
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

# Round trips over a pair of sockets: unix or udp, bytes, case, who, epoll to sleep in it.
sockets() {
    run "$work/sockets" "$1" "$2" "$seconds" "$first" "$second" "${@:5}" >"$work/printed"
    figure "$3" ns "$4" "$(<"$work/printed")"
}

# Sets resident to the most memory, in bytes, that commands of the background and their children use
# together until the first of them ends, as proportional set size: pid,pid ...
watch_memory() {
    python3 - "$1" <<'PYTHON' >"$work/resident"
import os, sys, time

def children(pid):
    found = [pid]
    for one in found:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children", encoding="ascii") as names:
                    found += map(int, names.read().split())
        except OSError:
            pass  # it has ended meanwhile
    return found

def bytes_of(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except OSError:
        return 0  # it has ended meanwhile

def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True

most = 0
roots = list(map(int, sys.argv[1].split(",")))
while not has_ended(roots[0]):
    most = max(most, sum(bytes_of(pid) for root in roots for pid in children(root)))
    time.sleep(0.1)
print(most)
PYTHON
    resident=$(<"$work/resident")
}

# Whether one more round is due: those asked for, and as many again while some ratio of the goals
# lacks figures of the same class.
needs_round() {
    local status=0 name
    without=()
    for name in "${!absent[@]}"; do
        without+=(--absent "$name" "${absent[$name]}")
    done
    ((++round > rounds)) || return 0
    ((round <= 2 * rounds && ${#goals[@]} > 0)) || return 1
    python3 "$here/summary.py" --enough "${without[@]}" "$work/figures" "${goals[@]}" || status=$?
    ((status == 0 || status == 3)) || fail "the figures cannot be read: status=$status"
    ((status == 3))
}

# The machine of the measurements, determined before they begin.
machine() {
    echo "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)," \
        "Linux $(uname -r), load average before it $(cut -d ' ' -f 1 /proc/loadavg)"
}

# Prints all figures as --json asks for it, with the goals: note, machine.
sum_up() {
    local note=$1 machine=$2
    summary() {
        python3 "$here/summary.py" --form "$1" "${without[@]}" --note "$note" --machine "$machine" \
            --rounds "$((round - 1))" --seconds "$seconds" "$work/figures" "${goals[@]}"
    }
    if [[ $json == - ]]; then
        summary json
        return
    fi
    if [[ -n $json ]]; then
        summary json >"$json"
    fi
    summary table
}
