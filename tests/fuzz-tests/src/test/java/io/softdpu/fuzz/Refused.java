package io.softdpu.fuzz;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.error.FabricException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.function.UnaryOperator;

/** Checks of the results of a decoder: a value that encodes to the same bytes, or a refusal. */
public final class Refused {
    private Refused() {}

    /** Decodes and encodes again; returns null for a refusal. */
    public interface Decoding<T> {
        /** May throw a refusal. */
        T decode();
    }

    /**
     * What a decoder makes of hostile bytes.
     *
     * @return the value; null where the bytes were refused as documented
     * @throws RuntimeException anything but a documented refusal
     */
    public static <T> T orValue(Decoding<T> decoding) {
        try {
            return decoding.decode();
        } catch (DpuException e) {
            if (e.status() != Status.INVALID_VALUE && e.status() != Status.UNSUPPORTED_VERSION) {
                throw new AssertionError("refused with another status: status=" + e.status(), e);
            }
            requireReason(e);
        } catch (FabricException e) {
            if (e.kind() != FabricException.Kind.MALFORMED) {
                throw new AssertionError("refused as of another kind: kind=" + e.kind(), e);
            }
            requireReason(e);
        }
        return null;
    }

    /** The reason for a person: {@code what is wrong: name=value}, of a length that a log takes. */
    private static void requireReason(RuntimeException refusal) {
        String reason = refusal.getMessage();
        if (reason == null || !reason.contains("=") || reason.length() > 1000) {
            throw new AssertionError("refused without a usable reason: reason=" + reason, refusal);
        }
    }

    /** What was decoded has to encode to what it was decoded from. */
    public static void requireSame(String what, byte[] from, byte[] again) {
        if (!Arrays.equals(from, again)) {
            throw new AssertionError(
                    what
                            + " encodes to other bytes: from="
                            + HexFormat.of().formatHex(from)
                            + ", again="
                            + HexFormat.of().formatHex(again));
        }
    }

    /** A value has to come back from its own bytes. */
    public static <T> void requireReturns(T value, UnaryOperator<T> throughBytes) {
        T again = throughBytes.apply(value);
        if (!value.equals(again)) {
            throw new AssertionError("came back as another: sent=" + value + ", came=" + again);
        }
    }
}
