package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.linux.text.TimeText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Faults that the options of a URI ask for. Immutable; any thread. */
final class FaultOptions {
    private static final String SEED = "seed";
    private static final String ERROR = "error";
    private static final String DELAY = "delay";
    private static final String HOLD = "hold";
    private static final String CORRUPT = "corrupt";
    private static final String TORN = "torn";
    private static final String VOLATILE = "volatile-cache";

    /** The form of the options. */
    static final String FORM =
            "seed=N,error=OP/STATUS/RATE,"
                    + DELAY
                    + "=OP/TIME,hold=FILE,corrupt=OP/RATE,torn=RATE,volatile-cache";

    private static final List<String> NAMES =
            List.of(SEED, ERROR, DELAY, HOLD, CORRUPT, TORN, VOLATILE);

    /** Statuses of failed requests, as the contract of devices has them. */
    private static final Set<Status> FAILURES =
            EnumSet.of(Status.IO_FAILED, Status.FULL, Status.NOT_PERMITTED);

    private static final Set<BlockOperation> WITH_DATA =
            EnumSet.of(BlockOperation.READ, BlockOperation.WRITE);
    private static final Set<BlockOperation> ALL = EnumSet.allOf(BlockOperation.class);

    private static final Duration LONGEST_DELAY = Duration.ofSeconds(10);
    private static final Pattern RATE = Pattern.compile("0|1|0?\\.\\d{1,9}|1\\.0{1,9}");

    /**
     * Failure of the requests of one operation.
     *
     * @param status with which they end
     * @param rate which part of them, from 0 to 1
     */
    record Failure(Status status, double rate) {}

    private final Map<BlockOperation, Failure> failures = new EnumMap<>(BlockOperation.class);
    private final Map<BlockOperation, Duration> delays = new EnumMap<>(BlockOperation.class);
    private final Map<BlockOperation, Double> corruptions = new EnumMap<>(BlockOperation.class);
    private final Set<String> given = new HashSet<>();
    private long seed = 1;
    private double torn;
    private @Nullable Path hold;

    private FaultOptions() {}

    /**
     * Parses options.
     *
     * @param text those of the URI, separated by commas
     * @throws DpuException INVALID_VALUE for an unknown one and an illegal value, naming it
     */
    static FaultOptions parse(DeviceUri uri, String text) {
        FaultOptions made = new FaultOptions();
        for (String option : text.split(",", -1)) {
            made.add(uri, option);
        }
        return made;
    }

    private void add(DeviceUri uri, String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        String value = equals < 0 ? "" : option.substring(equals + 1);
        switch (name) {
            case SEED -> seed = number(uri, option, value);
            case ERROR -> addFailure(uri, option, value);
            case DELAY -> addDelay(uri, option, value);
            case HOLD -> hold = file(uri, option, value);
            case CORRUPT -> addCorruption(uri, option, value);
            case TORN -> torn = rate(uri, option, value);
            case VOLATILE -> requireNoValue(uri, option);
            default ->
                    throw refused(
                            uri,
                            "no such option",
                            option,
                            String.join(", ", NAMES)
                                    + Suggestions.question(Suggestions.of(name, NAMES)));
        }
        boolean isNew =
                given.add(isPerOperation(name) ? name + "=" + value.split("/", 2)[0] : name);
        if (!isNew) {
            throw refused(
                    uri,
                    "option is there twice",
                    option,
                    isPerOperation(name) ? "one per operation" : "one");
        }
    }

    private static boolean isPerOperation(String name) {
        return name.equals(ERROR) || name.equals(DELAY) || name.equals(CORRUPT);
    }

    private static void requireNoValue(DeviceUri uri, String option) {
        if (!option.equals(VOLATILE)) {
            throw refused(uri, "option has a value", option, VOLATILE);
        }
    }

    private static long number(DeviceUri uri, String option, String value) {
        try {
            return Text.parseLong(value);
        } catch (NumberFormatException e) {
            throw refused(uri, "not a seed", option, "seed=N with a whole number");
        }
    }

    private void addFailure(DeviceUri uri, String option, String value) {
        String[] parts = parts(uri, option, value, 3, "error=OP/STATUS/RATE");
        Status status =
                FAILURES.stream()
                        .filter(each -> each.name().equals(parts[1]))
                        .findFirst()
                        .orElseThrow(() ->
                                refused(uri, "no status of a failure", option, names(FAILURES)));
        failures.put(
                operation(uri, option, parts[0], ALL),
                new Failure(status, rate(uri, option, parts[2])));
    }

    private void addDelay(DeviceUri uri, String option, String value) {
        String[] parts = parts(uri, option, value, 2, DELAY + "=OP/TIME");
        Optional<Duration> time = TimeText.parse(parts[1]);
        if (time.isEmpty() || time.get().isZero() || time.get().compareTo(LONGEST_DELAY) > 0) {
            throw refused(uri, "not a delay", option, "a time up to 10s, such as 200us");
        }
        delays.put(operation(uri, option, parts[0], ALL), time.get());
    }

    private void addCorruption(DeviceUri uri, String option, String value) {
        String[] parts = parts(uri, option, value, 2, "corrupt=OP/RATE");
        corruptions.put(operation(uri, option, parts[0], WITH_DATA), rate(uri, option, parts[1]));
    }

    private static Path file(DeviceUri uri, String option, String value) {
        if (value.isEmpty()) {
            throw refused(uri, "name of a file is missing", option, "hold=FILE");
        }
        return GivenText.path("option=hold", value, uri::refused);
    }

    private static String[] parts(
            DeviceUri uri, String option, String value, int count, String form) {
        String[] parts = value.split("/", -1);
        if (parts.length != count) {
            throw refused(uri, "option has another form", option, form);
        }
        return parts;
    }

    private static BlockOperation operation(
            DeviceUri uri, String option, String text, Set<BlockOperation> legal) {
        return legal.stream()
                .filter(each -> word(each).equals(text))
                .findFirst()
                .orElseThrow(() ->
                        refused(
                                uri,
                                "no such operation",
                                option,
                                legal.stream()
                                        .map(FaultOptions::word)
                                        .collect(Collectors.joining(", "))));
    }

    private static double rate(DeviceUri uri, String option, String text) {
        if (!RATE.matcher(text).matches()) {
            throw refused(uri, "not a rate", option, "a number from 0 to 1, such as 0.01");
        }
        return Double.parseDouble(text);
    }

    private static String word(BlockOperation operation) {
        return operation.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String names(Set<Status> statuses) {
        return statuses.stream().map(Status::name).collect(Collectors.joining(", "));
    }

    private static DpuException refused(
            DeviceUri uri, String reason, String option, String expected) {
        return uri.refused(
                reason
                        + ", option="
                        + ForeignText.escapeAndCut(option)
                        + ", expectedOption="
                        + expected);
    }

    // ---- the faults ----

    /** Seed of all decisions. */
    long seed() {
        return seed;
    }

    /** Failure of the requests of an operation; null if they do not fail. */
    @Nullable Failure failureOf(BlockOperation operation) {
        return failures.get(operation);
    }

    /** Delay of each request of an operation in nanoseconds; 0 if there is none. */
    long delayNanosOf(BlockOperation operation) {
        Duration delay = delays.get(operation);
        return delay == null ? 0 : delay.toNanos();
    }

    /** Part of the requests of an operation of whose bytes one bit is changed, from 0 to 1. */
    double corruptionOf(BlockOperation operation) {
        Double rate = corruptions.get(operation);
        return rate == null ? 0 : rate.doubleValue();
    }

    /** Part of the writes that fail and leave some of their sectors, from 0 to 1. */
    double torn() {
        return torn;
    }

    /** The file whose presence holds requests; null if there is none. */
    @Nullable Path hold() {
        return hold;
    }

    /** Whether what was not flushed is held in memory. */
    boolean hasVolatileCache() {
        return given.contains(VOLATILE);
    }
}
