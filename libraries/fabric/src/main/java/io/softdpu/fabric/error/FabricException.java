package io.softdpu.fabric.error;

import io.softdpu.linux.text.ForeignText;

/**
 * A failure of the bus, before it has a DOCA status: {@code core} translates it. The message has
 * the form {@code reason: key=value, key=value}, in one line whatever the values are: each message
 * is escaped. A value from another process is also cut, by the code that formats the message.
 */
public final class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kinds of failures. */
    public enum Kind {
        /** No process serves the name, or the region does not exist any more. */
        NOT_FOUND,
        /** A living process serves the name already, or importers still hold the memory. */
        IN_USE,
        /** The peer did not reply within the deadline. */
        TIMED_OUT,
        /** The waiting thread was interrupted; its flag is still set. */
        INTERRUPTED,
        /** The peer's process or connection has ended. */
        PEER_GONE,
        /** The peer replied with a refusal; {@link FabricException#refusalCode()} has its code. */
        REFUSED,
        /** Data from the peer, in a blob or in the environment is malformed. */
        MALFORMED,
        /** The exporter has revoked the region. */
        REVOKED,
        /** No memory, or no space on the shared memory file system. */
        NO_MEMORY,
        /** A limit of this bus has been reached. */
        LIMIT,
        /** The region exceeds the import limit of this bus. */
        TOO_BIG,
        /** The peer or the folder belongs to another user, or access was not granted. */
        NOT_PERMITTED,
        /** The memory or the descriptor does not support the operation. */
        NOT_SUPPORTED,
        /** The folder is in use with another topology. */
        CONFLICT,
        /** The object has been closed. */
        CLOSED,
        /** The operating system refused a call. */
        SYSTEM
    }

    private final Kind kind;
    private final int refusalCode;

    /** Creates a failure of a kind other than {@link Kind#REFUSED}. */
    public FabricException(Kind kind, String message) {
        super(ForeignText.escape(message));
        this.kind = kind;
        this.refusalCode = 0;
    }

    /** Creates a failure with its cause. */
    public FabricException(Kind kind, String message, Throwable cause) {
        super(ForeignText.escape(message), cause);
        this.kind = kind;
        this.refusalCode = 0;
    }

    private FabricException(int refusalCode, String message) {
        super(ForeignText.escapeAndCut(message));
        this.kind = Kind.REFUSED;
        this.refusalCode = refusalCode;
    }

    /** A peer's refusal with the code that it chose, and its reason escaped and cut. */
    public static FabricException refused(int refusalCode, String reason) {
        return new FabricException(refusalCode, reason);
    }

    /** The kind of this failure. */
    public Kind kind() {
        return kind;
    }

    /** The code that a refusing peer chose; 0 for every other kind. */
    public int refusalCode() {
        return refusalCode;
    }
}
