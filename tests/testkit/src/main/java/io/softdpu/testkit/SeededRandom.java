package io.softdpu.testkit;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Repeatable random values: the same seed gives the same values on every machine.
 *
 * <p>A test takes one as a parameter of its method. When the test fails, its failure names the
 * seed, and {@code -Dsoftdpu.seed=N} runs the test with that seed again. Not for use by several
 * threads; give each its own {@link #fork()}.
 */
public final class SeededRandom implements RandomGenerator {

    /** The system property that sets the seed of every test. */
    public static final String SEED_PROPERTY = "softdpu.seed";

    private final long seed;
    private final SplittableRandom source;

    /**
     * Starts the sequence of a seed.
     *
     * @param seed any number
     */
    public SeededRandom(long seed) {
        this(seed, new SplittableRandom(seed));
    }

    private SeededRandom(long seed, SplittableRandom source) {
        this.seed = seed;
        this.source = source;
    }

    /**
     * The seed that the whole sequence follows from; a fork answers with that of its origin.
     *
     * @return the seed
     */
    public long seed() {
        return seed;
    }

    /**
     * A second sequence that follows from this one, for another thread or another purpose.
     *
     * @return an independent sequence with the same {@link #seed()}
     */
    public SeededRandom fork() {
        return new SeededRandom(seed, source.split());
    }

    @Override
    public long nextLong() {
        return source.nextLong();
    }

    /**
     * Random bytes.
     *
     * @param sizeBytes how many
     * @return a new array
     */
    public byte[] bytes(int sizeBytes) {
        byte[] bytes = new byte[sizeBytes];
        nextBytes(bytes);
        return bytes;
    }

    /**
     * Overwrites a whole segment with random bytes.
     *
     * @param segment writable memory of any size
     */
    public void fill(MemorySegment segment) {
        long offset = 0;
        for (; offset + Long.BYTES <= segment.byteSize(); offset += Long.BYTES) {
            segment.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, nextLong());
        }
        for (; offset < segment.byteSize(); offset++) {
            segment.set(ValueLayout.JAVA_BYTE, offset, (byte) nextLong());
        }
    }

    /**
     * A number within limits that are both included.
     *
     * @param least the least
     * @param greatest the greatest, not below {@code least}
     * @return a number from {@code least} to {@code greatest}
     */
    public long between(long least, long greatest) {
        return greatest == Long.MAX_VALUE
                ? (least == Long.MIN_VALUE ? nextLong() : nextLong(least - 1, greatest) + 1)
                : nextLong(least, greatest + 1);
    }

    /**
     * True now and then.
     *
     * @param probability from 0 (never) to 1 (always)
     * @return whether it happens this time
     */
    public boolean chance(double probability) {
        return nextDouble() < probability;
    }

    /**
     * One of some values, each as likely as the others.
     *
     * @param values at least one
     * @param <T> their type
     * @return one of them
     */
    @SafeVarargs
    public final <T> T oneOf(T... values) {
        return values[nextInt(values.length)];
    }

    /**
     * A name of lower-case letters and digits, as long as a test's own port, folder or channel
     * needs to be unlike any other.
     *
     * @param length how many characters
     * @return the name
     */
    public String name(int length) {
        StringBuilder name = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            name.append(Character.forDigit(nextInt(36), 36));
        }
        return name.toString();
    }

    /**
     * A copy of some bytes with one to eight of them changed, for decoders that must refuse or
     * survive what a hostile peer sends.
     *
     * @param original at least one byte; stays as it is
     * @return an array of the same length that differs from {@code original}
     */
    public byte[] damaged(byte[] original) {
        byte[] copy = original.clone();
        int first = nextInt(copy.length);
        copy[first] ^= (byte) nextInt(1, 256);
        for (int more = nextInt(8); more > 0; more--) {
            int at = nextInt(copy.length);
            if (at != first) {
                copy[at] = (byte) nextLong();
            }
        }
        return copy;
    }
}
