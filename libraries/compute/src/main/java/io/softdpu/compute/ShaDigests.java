package io.softdpu.compute;

import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** State of one hash at a time: the JDK's digest of each algorithm, once it is needed. */
final class ShaDigests {
    private static final ShaAlgorithm[] ALGORITHMS = ShaAlgorithm.values();

    private final @Nullable MessageDigest[] digests = new MessageDigest[ALGORITHMS.length];

    /** Creates those of all algorithms now, for tasks, which allocate nothing after start. */
    ShaDigests createAll() {
        for (ShaAlgorithm algorithm : ALGORITHMS) {
            digestOf(algorithm);
        }
        return this;
    }

    /** The digest of an algorithm; allocates if it is the first of it. */
    MessageDigest digestOf(ShaAlgorithm algorithm) {
        MessageDigest digest = digests[algorithm.ordinal()];
        if (digest == null) {
            digest = algorithm.newDigest();
            digests[algorithm.ordinal()] = digest;
        }
        return digest;
    }
}
