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
