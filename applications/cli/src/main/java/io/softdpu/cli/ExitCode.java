package io.softdpu.cli;

/** What the softdpu command ends with. README.md has this table. */
public enum ExitCode {
    /** Everything was done, and all data was right. */
    OK(0),
    /** Something failed: a device, a file, a peer, an operation. Standard error says what. */
    FAILED(1),
    /** The command line asks for what cannot be: an unknown option, a value out of range. */
    USAGE(2),
    /** Data arrived that differs from what was expected. */
    DATA_WRONG(3),
    /** SIGINT (Ctrl-C) ended the command; the number is the shells' 128 + 2. */
    INTERRUPTED(130),
    /** SIGTERM ended the command; 128 + 15. */
    TERMINATED(143);

    private final int code;

    ExitCode(int code) {
        this.code = code;
    }

    /** The number that the process ends with. */
    public int code() {
        return code;
    }
}
