package io.softdpu.cli;

/** Exit codes of the softdpu command, as in the table of docs/tour.md. */
public enum ExitCode {
    /** Everything was done, and all data was right. */
    OK(0),
    /** Something failed: a device, a file, a peer, an operation. Standard error has the reason. */
    FAILED(1),
    /**
     * The command line is wrong: an unknown option, a value out of range, a file for results that
     * cannot be written.
     */
    USAGE(2),
    /** Data arrived that differs from what was expected. */
    DATA_WRONG(3),
    /** SIGINT (Ctrl-C) ended the command; the number is the shells' 128 + 2. */
    INTERRUPTED(130),
    /**
     * Output could not be written to a pipe, mostly since its reader has closed it, as {@code head}
     * does; the code of a program that SIGPIPE ended, 128 + 13. Nothing is printed.
     */
    PIPE_CLOSED(141),
    /** SIGTERM ended the command; 128 + 15. */
    TERMINATED(143);

    private final int code;

    ExitCode(int code) {
        this.code = code;
    }

    /** The exit code as a number. */
    public int code() {
        return code;
    }
}
