# shellcheck shell=bash
# Jars of softdpu for scripts that compile programs against them.

# Sets SOFTDPU_INTEROP_JARS and SOFTDPU_JAVA_HOME by the command in $1: ./softdpu of a tree or bin/softdpu of
# an archive. This process, and what it becomes and starts, holds the lock of the jars of a tree: no build
# removes them before the last of these has ended.
hold_jars() {
    local lock
    SOFTDPU_JAVA_HOME=$("$1" --print-jdk-home)
    while :; do
        SOFTDPU_INTEROP_JARS=$("$1" --print-jars)
        if [[ -e $SOFTDPU_INTEROP_JARS/in-use ]]; then
            exec {lock}<"$SOFTDPU_INTEROP_JARS/in-use"
            flock -s "$lock"
            [[ ! -e $SOFTDPU_INTEROP_JARS/in-use ]] || break # else they were removed meanwhile
            exec {lock}<&-
        elif [[ -d $SOFTDPU_INTEROP_JARS ]]; then
            break # of an archive, which keeps them
        fi
    done
    export SOFTDPU_INTEROP_JARS SOFTDPU_JAVA_HOME
}
