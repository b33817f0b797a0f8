package io.softdpu.fabric.error;

/**
 * Codes that the bus itself sends in a REFUSE frame. They are the numbers of the DOCA statuses of
 * the same names, so that they mean the same to every receiver; the modules above use codes of the
 * same list.
 */
public final class RefuseCode {
    public static final int NOT_PERMITTED = 2;
    public static final int NOT_SUPPORTED = 4;
    public static final int INVALID_VALUE = 6;
    public static final int NO_MEMORY = 7;
    public static final int NOT_FOUND = 16;
    public static final int OPERATING_SYSTEM = 20;
    public static final int FULL = 24;
    public static final int TOO_BIG = 27;

    private RefuseCode() {}

    public static int codeOf(FabricException e) {
        return switch (e.kind()) {
            case NOT_FOUND, REVOKED, CLOSED -> NOT_FOUND;
            case MALFORMED -> INVALID_VALUE;
            case NO_MEMORY -> NO_MEMORY;
            case LIMIT -> FULL;
            case TOO_BIG -> TOO_BIG;
            case NOT_PERMITTED -> NOT_PERMITTED;
            case NOT_SUPPORTED -> NOT_SUPPORTED;
            case REFUSED -> e.refusalCode();
            case IN_USE, TIMED_OUT, INTERRUPTED, PEER_GONE, CONFLICT, SYSTEM -> OPERATING_SYSTEM;
        };
    }
}
