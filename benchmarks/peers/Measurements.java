import java.util.Arrays;
import java.util.Locale;

/** Measured values of the runs of a peer; the first two are for warm-up and do not count. */
final class Measurements {
    private static final int WARM_UPS = 2;

    /** How often a measurement is made. */
    static final int RUNS = WARM_UPS + 5;

    private Measurements() {}

    /** Prints {@code p50_ns N}, from the nanoseconds of all round trips of all runs in turn. */
    static void printMedianRoundTrip(long[] nanos) {
        long[] counted = Arrays.copyOfRange(nanos, nanos.length / RUNS * WARM_UPS, nanos.length);
        Arrays.sort(counted);
        System.out.printf(Locale.ROOT, "p50_ns %d%n", counted[counted.length / 2]);
    }

    /** Prints {@code messages_per_s N}, from the nanoseconds that each run took. */
    static void printMedianRate(long messages, long[] nanos) {
        long[] counted = Arrays.copyOfRange(nanos, WARM_UPS, RUNS);
        Arrays.sort(counted);
        double rate = messages * 1e9 / counted[counted.length / 2];
        System.out.printf(Locale.ROOT, "messages_per_s %.0f%n", rate);
    }
}
