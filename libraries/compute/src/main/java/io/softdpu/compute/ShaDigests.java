package io.softdpu.compute;

import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.Map;

/** State of one hash at a time: the JDK's digest of each algorithm, once it is needed. */
final class ShaDigests {
    private final Map<ShaAlgorithm, MessageDigest> digests = new EnumMap<>(ShaAlgorithm.class);

    /** Creates those of all algorithms now, for tasks, which allocate nothing after start. */
    ShaDigests createAll() {
        for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
            digestOf(algorithm);
        }
        return this;
    }

    /** The digest of an algorithm; allocates if it is the first of it. */
    MessageDigest digestOf(ShaAlgorithm algorithm) {
        MessageDigest digest = digests.get(algorithm);
        if (digest == null) {
            digest = algorithm.newDigest();
            digests.put(algorithm, digest);
        }
        return digest;
    }
}
