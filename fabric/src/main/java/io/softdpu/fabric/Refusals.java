package io.softdpu.fabric;

/**
 * Codes that the bus itself puts into a REFUSE frame. They are the numbers of the DOCA statuses of
 * the same names, so that they mean the same to every reader; the floors above choose theirs from
 * the same list.
 */
final class Refusals {
    static final int NOT_PERMITTED = 2;
    static final int NOT_SUPPORTED = 4;
    static final int INVALID_VALUE = 6;
    static final int NO_MEMORY = 7;
    static final int NOT_FOUND = 16;
    static final int OPERATING_SYSTEM = 20;
    static final int FULL = 24;
    static final int TOO_BIG = 27;

    private Refusals() {}

    static int codeOf(FabricException e) {
        return switch (e.kind()) {
            case NOT_FOUND, REVOKED, CLOSED -> NOT_FOUND;
            case MALFORMED -> INVALID_VALUE;
            case NO_MEMORY -> NO_MEMORY;
            case LIMIT -> FULL;
            case TOO_BIG -> TOO_BIG;
            case NOT_PERMITTED -> NOT_PERMITTED;
            case NOT_SUPPORTED -> NOT_SUPPORTED;
            case REFUSED -> e.refusalCode();
            case IN_USE, TIMED_OUT, PEER_GONE, CONFLICT, SYSTEM -> OPERATING_SYSTEM;
        };
    }
}
