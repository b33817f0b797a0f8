package io.softdpu.testkit;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Runs an action repeatedly and fails if the resources of this JVM grow.
 *
 * <p>After some rounds for resources that are created once, descriptors, mappings, threads,
 * processes, files and regions are counted, and have to be the same ones after each eighth of the
 * rounds. The heap after a collection and the JVM's memory outside of the heap never stand still,
 * so their least of the second half is compared with their least of the first: it may be more by
 * {@link #HEAP_BYTES} and {@link #NATIVE_BYTES} at most, however many rounds there were. The JVM
 * has to count its own memory: {@code -XX:NativeMemoryTracking=summary}.
 *
 * <p>Not counted is what the JVM does not know of, above all what a native function that is called
 * through a downcall has from {@code malloc}; and what its compilers hold, who go on for long and
 * at times of their own.
 *
 * <p>Belongs to one thread; other tests must not run in the same JVM meanwhile.
 */
public final class GrowthCheck {

    /** Permitted growth of the heap from the first half to the second: some 20 KiB are normal. */
    public static final long HEAP_BYTES = 256L << 10;

    /** Permitted growth outside the heap: stacks and tables vary. */
    public static final long NATIVE_BYTES = 8L << 20;

    /**
     * What compilers hold, in the words of the JVM: their code, their tables, and for their work.
     */
    private static final List<String> COMPILERS = List.of("Code", "Compiler", "Arena Chunk");

    private static final int PARTS = 8;

    /**
     * The later ones find what the first has only made reachable by no more than a cleaner. The
     * serial collector, which the JVM takes on one processor, leaves a twentieth of the heap in
     * gaps, except in one of four.
     */
    private static final int COLLECTIONS = 4;

    private final long[] heapBytes = new long[PARTS];
    private final long[] nativeBytes = new long[PARTS];

    private GrowthCheck() {}

    /** The repeated action. */
    @FunctionalInterface
    public interface Round {

        /**
         * One round, which gives back all it takes.
         *
         * @param number from 0; the rounds before the counted ones have numbers too
         * @throws Exception fails the test
         */
        void run(int number) throws Exception;
    }

    /**
     * Runs the rounds.
     *
     * @param warmUp rounds before anything is counted; enough to have gone through each kind twice
     * @param rounds how many are counted, at least 8
     * @param round what is done
     * @return how much was held, for {@link Soak#report}
     * @throws AssertionError that names what grew
     * @throws Exception of a round
     */
    public static String over(int warmUp, int rounds, Round round) throws Exception {
        for (int i = 0; i < warmUp; i++) {
            round.run(i);
        }
        GrowthCheck growth = new GrowthCheck();
        growth.measure(0); // what the measuring itself keeps would be seen as growth below
        LeakCheck check = LeakCheck.begin();
        int done = 0;
        for (int part = 0; part < PARTS; part++) {
            int end = (int) ((part + 1L) * rounds / PARTS);
            for (; done < end; done++) {
                round.run(warmUp + done);
            }
            check.assertNothingLeft();
            growth.measure(part);
        }
        return growth.compare(rounds);
    }

    private void measure(int part) {
        heapBytes[part] = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            heapBytes[part] = Math.min(heapBytes[part], used);
        }
        nativeBytes[part] = nativeBytes();
    }

    private String compare(int rounds) {
        long heap = grown("heap", heapBytes, HEAP_BYTES);
        long outside = grown("memory outside the heap", nativeBytes, NATIVE_BYTES);
        return String.format(
                        Locale.ROOT,
                        "sessions=%d, heap_growth_bytes=%d, heap_growth_limit_bytes=%d, ",
                        rounds,
                        heap,
                        HEAP_BYTES)
                + String.format(
                        Locale.ROOT,
                        "native_growth_bytes=%d, native_growth_limit_bytes=%d, other_growth=0",
                        outside,
                        NATIVE_BYTES);
    }

    private static long grown(String what, long[] parts, long limitBytes) {
        long first = Long.MAX_VALUE;
        long second = Long.MAX_VALUE;
        for (int part = 0; part < PARTS; part++) {
            if (part < PARTS / 2) {
                first = Math.min(first, parts[part]);
            } else {
                second = Math.min(second, parts[part]);
            }
        }
        if (second - first > limitBytes) {
            throw new AssertionError(
                    what
                            + " grows: firstHalfBytes="
                            + first
                            + ", secondHalfBytes="
                            + second
                            + ", limitBytes="
                            + limitBytes
                            + ", afterEachEighth="
                            + Arrays.toString(parts));
        }
        return second - first;
    }

    /**
     * What the JVM has of the system beside the heap: stacks, code, classes, buffers, its own
     * tables. What is mapped past it is counted with the mappings.
     */
    private static long nativeBytes() {
        try {
            Object report =
                    ManagementFactory.getPlatformMBeanServer()
                            .invoke(
                                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                                    "vmNativeMemory",
                                    new Object[] {new String[] {"summary", "scale=B"}},
                                    new String[] {String[].class.getName()});
            long bytes = committed("Total: ", report) - committed("Java Heap (", report);
            for (String part : COMPILERS) {
                if (report.toString().contains(part + " (")) { // what holds nothing is not said
                    bytes -= committed(part + " (", report);
                }
            }
            return bytes;
        } catch (JMException e) {
            throw new IllegalStateException("JVM does not tell its native memory", e);
        }
    }

    private static long committed(String what, Object report) {
        Matcher matcher =
                Pattern.compile(Pattern.quote(what) + "reserved=\\d+B?, committed=(\\d+)")
                        .matcher(report.toString());
        if (!matcher.find()) {
            throw new IllegalStateException(
                    "JVM does not count its native memory:"
                            + " missing=-XX:NativeMemoryTracking=summary, said="
                            + report);
        }
        return Long.parseLong(matcher.group(1));
    }
}
