package io.softdpu.cli;

/**
 * Environment variable that softdpu or a program with its libraries reads: the table of the man
 * pages, which is that of docs/environment.md.
 */
public enum EnvironmentVariable {
    /** Folder of the fabric. */
    SOFTDPU_FABRIC(
            "commands and programs",
            "the fabric folder, an absolute path (default: $XDG_RUNTIME_DIR/softdpu, else"
                    + " /tmp/softdpu-UID); programs find each other if it is the same"),
    /** Card. */
    SOFTDPU_TOPOLOGY(
            "commands and programs",
            "the card: a JSON file, or default or storage-guide (default: default); a program needs"
                    + " the artefact softdpu-topology-json to read it, and --topology or"
                    + " Machine.Builder.topology goes before it"),
    /** Sanitizer. */
    SOFTDPU_SANITIZE(
            "commands and programs",
            "a number turns the sanitizer on, as the seed of the order of completions (default:"
                    + " off)"),
    /** Provider of RDMA. */
    SOFTDPU_RDMA_PROVIDER(
            "commands and programs",
            "the RDMA provider of instances whose program sets none, such as shm, or auto (default:"
                    + " auto, the one that the first connection selects); Rdma.setProvider and"
                    + " --provider NAME go before it"),
    /** GID of RDMA instances. */
    SOFTDPU_RDMA_GID_INDEX(
            "commands and programs",
            "the GID of RDMA instances whose program sets none: 0 for the IPv4 address of the"
                    + " device, 1 for the IPv6 address (default: 0)"),
    /** Path MTU of RDMA instances. */
    SOFTDPU_RDMA_PATH_MTU(
            "commands and programs",
            "the path MTU of RDMA instances whose program sets none, in bytes: 256, 512, 1024,"
                    + " 2048 or 4096 (default: 1024)"),
    /** Longest time until the provider roce repeats a packet. */
    SOFTDPU_ROCE_ACK_TIMEOUT(
            "commands and programs",
            "the longest time until the provider roce repeats a packet, 4ms to 17s (default:"
                    + " 537ms); RoceOptions.use goes before it, as before the other five"),
    /** Repeats of a packet. */
    SOFTDPU_ROCE_RETRIES(
            "commands and programs",
            "repeats of a packet before its connection fails, 0 to 7 (default: 7)"),
    /** Buffer for received packets. */
    SOFTDPU_ROCE_RECEIVE_BUFFER(
            "commands and programs",
            "the buffer for packets that wait for the process, in bytes, 65536 to"
                    + " 536870912 (default: 4194304)"),
    /** Buffer for packets to send. */
    SOFTDPU_ROCE_SEND_BUFFER(
            "commands and programs",
            "the buffer for packets that wait for the network, as that (default: 4194304)"),
    /** Impairment. */
    SOFTDPU_ROCE_IMPAIR(
            "commands and programs",
            "what happens to the packets that roce sends, such as loss=0.01,seed=7"
                    + " (default: nothing); --impair ITEMS goes before it"),
    /** Capture. */
    SOFTDPU_ROCE_PCAP(
            "commands and programs",
            "the file for all packets of roce, %p in its name is the number of the process"
                    + " (default: none); --pcap FILE goes before it, in the process that writes"
                    + " FILE"),
    /** JDK. */
    SOFTDPU_JAVA_HOME("commands", "the JDK to use, before any other"),
    /** Options of the JVM. */
    SOFTDPU_JAVA_OPTS("commands", "more options of the JVM, separated by blanks"),
    /** Folder of builds. */
    SOFTDPU_CACHE(
            "./softdpu of a source tree",
            "the folder to build in, an absolute path (default: softdpu in $XDG_CACHE_HOME or"
                    + " ~/.cache)"),
    /** Folder of the user. */
    XDG_RUNTIME_DIR("commands and programs", "see SOFTDPU_FABRIC"),
    /** Folder of the user. */
    XDG_CACHE_HOME("./softdpu of a source tree", "see SOFTDPU_CACHE"),
    /** JDK of the system. */
    JAVA_HOME("commands", "a JDK to use if it is new enough and SOFTDPU_JAVA_HOME is not set"),
    /** Colour. */
    NO_COLOR("commands", "any value but the empty one turns colour off"),
    /** Kind of terminal. */
    TERM("commands", "dumb turns colour off"),
    /** Width. */
    COLUMNS("commands", "the width of help texts (default: that of the terminal)");

    private final String readBy;
    private final String meaning;

    EnvironmentVariable(String readBy, String meaning) {
        this.readBy = readBy;
        this.meaning = meaning;
    }

    /** Programs that read it. */
    public String readBy() {
        return readBy;
    }

    /** Meaning and default. */
    public String meaning() {
        return meaning;
    }
}
