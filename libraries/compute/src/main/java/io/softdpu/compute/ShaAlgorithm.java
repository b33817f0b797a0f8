package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Algorithm of a hash ({@code doca_sha_algorithm}), as of FIPS 180-4. */
public enum ShaAlgorithm {
    /** SHA-1: digests of 20 bytes. */
    SHA1("SHA-1", 20, 64),
    /** SHA-256: digests of 32 bytes. */
    SHA256("SHA-256", 32, 64),
    /** SHA-512: digests of 64 bytes. */
    SHA512("SHA-512", 64, 128);

    /** The largest {@link #digestBytes()}. */
    static final int MAX_DIGEST_BYTES = 64;

    private final String standardName;
    private final int digestBytes;
    private final int blockBytes;

    ShaAlgorithm(String standardName, int digestBytes, int blockBytes) {
        this.standardName = standardName;
        this.digestBytes = digestBytes;
        this.blockBytes = blockBytes;
    }

    /** The name of the standard and of the JDK: {@code SHA-256}. */
    public String standardName() {
        return standardName;
    }

    /** Length of a digest. */
    public int digestBytes() {
        return digestBytes;
    }

    /** Length of a block of the algorithm: each part of a hash but the last is a multiple of it. */
    public int blockBytes() {
        return blockBytes;
    }

    /**
     * Creates the JDK's implementation, and lets it allocate what it does with its first block.
     *
     * @throws DpuException NOT_SUPPORTED if this JDK has none
     */
    MessageDigest newDigest() {
        try {
            MessageDigest digest = MessageDigest.getInstance(standardName);
            digest.update(new byte[blockBytes]);
            digest.reset();
            return digest;
        } catch (NoSuchAlgorithmException e) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "JDK has no such algorithm: algorithm=%s, expected=a security provider"
                                    + " with it",
                            standardName),
                    e);
        }
    }
}
