# shellcheck shell=sh
# Finds a JDK and starts the softdpu command from a folder of jars: what ./softdpu of a source tree and
# bin/softdpu of an archive have in common. It needs sh and the coreutils.
#
#   SOFTDPU_JAVA_HOME   the JDK to use, before any other
#   SOFTDPU_JAVA_OPTS   more options of the JVM, separated by blanks; a garbage collector or a log
#                       (-Xlog) that they or JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS or _JAVA_OPTIONS
#                       select replaces this script's
#   GLIBC_TUNABLES      on x86-64 gets the size from which copies use non-temporal stores, unless it
#                       names one
#   LC_ALL              is set to a locale with UTF-8 for all that is started here

NEEDED=25
NEEDED_DESCRIPTORS=40 # of a command: the JVM, its modules and an open machine take 33
TOOLS=java # the tools that a JDK must have
home=${HOME:-/dev/null} # without HOME a file, so that nothing is found in it or made

# Control characters of names and values are replaced: they could control the terminal.
say() {
    printf 'softdpu: %s\n' "$(printf %s "$*" | LC_ALL=C tr '[:cntrl:]' '?')" >&2
}

fail() {
    say "$@"
    exit 1
}

# Chooses the locale of all that is started here, the JVM among it. It decodes arguments, variables
# and names of files by the locale, so that needs UTF-8; and texts of the system are in the language
# of the locale, but the same everywhere in C.UTF-8. That of the user may lack UTF-8 or not be
# installed. If none has it, the command refuses what it cannot represent.
choose_locale() {
    unset LANGUAGE # else it would name the language of texts, also beside LC_ALL
    if ! command -v locale >/dev/null; then
        export LC_ALL=C.UTF-8 # a small system, whose C library has it built in
        return
    fi
    for name in C.UTF-8 "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" en_US.UTF-8; do
        if [ "$(LC_ALL=$name locale charmap 2>/dev/null)" = UTF-8 ]; then
            export LC_ALL="$name"
            return
        fi
    done
}
choose_locale

# Ends with an error if a command has too few descriptors: the JVM would fail anywhere. The hard limit
# counts, to which the JVM raises the soft one.
require_descriptors() {
    limit=$(ulimit -H -n)
    [ "$limit" = unlimited ] || [ "$limit" -ge "$NEEDED_DESCRIPTORS" ] ||
        fail "too few descriptors: resource=RLIMIT_NOFILE, limit=$limit, expected=$NEEDED_DESCRIPTORS or" \
            "more (ulimit -n 1024)"
}

# Prints the feature version of the JDK in $1, from its release file: no JVM is started for it.
feature_version() {
    for tool in $TOOLS; do
        [ -x "$1/bin/$tool" ] || return 1
    done
    [ -r "$1/release" ] || return 1
    while IFS='=' read -r key value; do
        if [ "$key" = JAVA_VERSION ]; then
            value=${value#\"}
            printf '%s\n' "${value%%[!0-9]*}"
            return
        fi
    done <"$1/release"
    return 1
}

is_new_enough() {
    version=$(feature_version "$1") && [ "${version:-0}" -ge "$NEEDED" ]
}

# Candidates, one per line; those that do not exist are ignored later.
jdk_candidates() {
    printf '%s\n' "${JAVA_HOME:-}"
    if java=$(command -v java); then
        dirname "$(dirname "$(readlink -f "$java")")"
    fi
    if [ -r "$home/.m2/toolchains.xml" ]; then
        while IFS= read -r line || [ -n "$line" ]; do
            case $line in
                *"<jdkHome>"*"</jdkHome>"*)
                    line=${line#*<jdkHome>}
                    # Without the blanks around it.
                    read -r line <<EOF
${line%%</jdkHome>*}
EOF
                    printf '%s\n' "$line"
                    ;;
            esac
        done <"$home/.m2/toolchains.xml"
    fi
    printf '%s\n' /usr/lib/jvm/* /usr/java/* /usr/local/lib/jvm/* /opt/* /opt/java/* /opt/jdk/* \
        "$home"/.sdkman/candidates/java/* "$home"/.jdks/* "$home"/.asdf/installs/java/* \
        "$home"/.local/share/mise/installs/java/*
}

# Prints the JDK to use. Fails with a message if there is none.
find_jdk() {
    if [ -n "${SOFTDPU_JAVA_HOME:-}" ]; then
        is_new_enough "$SOFTDPU_JAVA_HOME" ||
            fail "SOFTDPU_JAVA_HOME is no JDK $NEEDED or newer: SOFTDPU_JAVA_HOME=$SOFTDPU_JAVA_HOME"
        printf '%s\n' "$SOFTDPU_JAVA_HOME"
        return
    fi
    found=$(
        jdk_candidates | while IFS= read -r candidate; do
            if [ -n "$candidate" ] && is_new_enough "$candidate"; then
                printf '%s\n' "$candidate"
                break
            fi
        done
    )
    [ -n "$found" ] || fail "no JDK $NEEDED or newer found: install one or set SOFTDPU_JAVA_HOME" \
        "(looked at JAVA_HOME, PATH, ~/.m2/toolchains.xml, /usr/lib/jvm, /usr/java, /opt, ~/.sdkman, ~/.jdks)"
    printf '%s\n' "$found"
}

# True if the command line is docs, the command of the launchers themselves. Its help and the refusal
# of an argument end the process as those of the other commands.
is_docs() {
    [ "${1:-}" = docs ] || return 1
    [ $# -gt 1 ] || return 0
    case $2 in
        -h | --help)
            printf 'Usage: softdpu docs [-h]\nPrints the path of the first page of the Javadoc of all libraries.\n'
            exit 0
            ;;
    esac
    say "docs takes no arguments, it prints the path of the Javadoc of all libraries: argument=$2"
    exit 2
}

# Prints the path of the first page of the Javadoc in the folder $1.
print_docs() {
    [ -e "$1/index.html" ] || fail "the Javadoc is missing: file=$1/index.html"
    printf '%s\n' "$1/index.html"
}

# Becomes the JVM that runs the command: the JDK, the folder of the jars, the command's arguments.
run_command() {
    java=$1/bin/java
    jars=$2
    shift 2
    case $jars in
        *:*) fail "Java would end a path at the colon: folder=$jars: move it to another" ;;
    esac
    # As many characters as bytes that begin one.
    [ "$(printf %s "$jars" | wc -m)" -eq "$(printf %s "$jars" | LC_ALL=C tr -d '\200-\277' | wc -c)" ] ||
        fail "Java cannot decode a path that is not UTF-8: folder=$jars: move it to another"
    # The data of large requests would only displace other data from the caches.
    if [ "$(uname -m)" = x86_64 ]; then
        case ${GLIBC_TUNABLES:-} in
            *x86_non_temporal_threshold=*) ;; # the user's own
            *) export GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.cpu.x86_non_temporal_threshold=0x20000" ;;
        esac
    fi
    options="${SOFTDPU_JAVA_OPTS:-} ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-} ${_JAVA_OPTIONS:-}"
    # The JVM refuses a second one, wherever it comes from.
    case $options in
        *-XX:+UseSerialGC* | *-XX:+UseParallelGC* | *-XX:+UseG1GC* | *-XX:+UseZGC* | \
            *-XX:+UseShenandoahGC* | *-XX:+UseEpsilonGC*) collector= ;;
        *) collector=-XX:+UseSerialGC ;;
    esac
    # What the JVM says goes to standard error, since standard output belongs to the command; not that
    # a thread cannot be started, since the command says so.
    case $options in
        *-Xlog*) log= ;;
        *) log='-Xlog:disable -Xlog:all=warning,os+thread=off:stderr' ;;
    esac
    # shellcheck disable=SC2086 # the options are separated by blanks
    exec "$java" $collector -XX:+DisplayVMOutputToStderr $log --enable-native-access=io.softdpu.linux \
        ${SOFTDPU_JAVA_OPTS:-} -p "$jars" -m io.softdpu.cli/io.softdpu.cli.SoftDpu "$@"
}
