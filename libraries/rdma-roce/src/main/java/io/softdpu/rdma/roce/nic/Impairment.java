package io.softdpu.rdma.roce.nic;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.linux.text.TimeText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Impairment of the packets that a NIC sends, as by a bad network. Probabilities are those of each
 * packet.
 *
 * @param loss that it is lost
 * @param duplication that it is sent twice
 * @param reordering that one to three later packets are sent before it
 * @param corruption that one of its bits is another
 * @param delayNanos by which each packet is sent later
 * @param partitionBeginNanos time from the first packet on after which all packets are lost
 * @param partitionEndNanos end of that time; the same as the begin if there is none
 * @param seed of the decisions, which are the same for the same packets
 */
public record Impairment(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        long delayNanos,
        long partitionBeginNanos,
        long partitionEndNanos,
        long seed) {
    private static final String DELAY = "delay";

    /** The form of the text. */
    public static final String FORM =
            "items of loss, dup, reorder, corrupt (probabilities from 0 to 1), delay (a time up to"
                    + " 10s), partition (FROM-TO, times), seed (a number), such as"
                    + " loss=0.01,"
                    + DELAY
                    + "=200us,partition=1s-1500ms,seed=7";

    private static final List<String> ITEMS =
            List.of("loss", "dup", "reorder", DELAY, "corrupt", "partition", "seed");

    private static final long DEFAULT_SEED = 1;
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(10);
    private static final Pattern PROBABILITY = Pattern.compile("0|1|[01]?\\.\\d{1,9}|1\\.0{1,9}");

    /**
     * Parses a text, such as {@code loss=0.01,dup=0.01,seed=7}.
     *
     * @param source of the text, for messages: {@code option=--impair}
     * @throws DpuException INVALID_VALUE for an illegal one, naming source and item
     */
    public static Impairment parse(String source, String text) {
        Map<String, String> given = new HashMap<>();
        for (String item : text.split(",", -1)) {
            int equals = item.indexOf('=');
            String name = equals < 0 ? item : item.substring(0, equals);
            if (equals < 0 || !ITEMS.contains(name)) {
                throw illegal(
                        source,
                        "item",
                        item,
                        FORM + Suggestions.question(Suggestions.of(name, ITEMS)));
            }
            if (given.put(name, item.substring(equals + 1)) != null) {
                throw illegal(source, "item", item, "each item once");
            }
        }
        long[] partition = partition(source, given.get("partition"));
        Impairment made =
                new Impairment(
                        probability(source, given, "loss"),
                        probability(source, given, "dup"),
                        probability(source, given, "reorder"),
                        probability(source, given, "corrupt"),
                        delay(source, given.get(DELAY)),
                        partition[0],
                        partition[1],
                        seed(source, given.get("seed")));
        if (made.isNone()) {
            throw illegal(source, "impairment", text, "an item besides seed that is not 0");
        }
        return made;
    }

    private boolean isNone() {
        return loss == 0
                && duplication == 0
                && reordering == 0
                && corruption == 0
                && delayNanos == 0
                && partitionBeginNanos == partitionEndNanos;
    }

    private static double probability(String source, Map<String, String> given, String name) {
        String text = given.get(name);
        if (text == null) {
            return 0;
        }
        if (PROBABILITY.matcher(text).matches()) {
            double value = Double.parseDouble(text);
            if (value <= 1) {
                return value;
            }
        }
        throw illegal(source, name, text, "a probability from 0 to 1, such as 0.01");
    }

    private static long delay(String source, @Nullable String text) {
        if (text == null) {
            return 0;
        }
        Supplier<DpuException> failure =
                () -> illegal(source, DELAY, text, "a time up to 10s, such as 200us");
        Duration time = TimeText.parse(text).orElseThrow(failure);
        if (time.compareTo(LONGEST_DELAY) > 0) {
            throw failure.get();
        }
        return time.toNanos();
    }

    private static long[] partition(String source, @Nullable String text) {
        if (text == null) {
            return new long[] {0, 0};
        }
        String[] times = text.split("-", -1);
        Optional<Duration> begin = TimeText.parse(times[0]);
        Optional<Duration> end =
                times.length == 2 ? TimeText.parse(times[1]) : Optional.<Duration>empty();
        if (begin.isEmpty() || end.isEmpty() || end.get().compareTo(begin.get()) <= 0) {
            throw illegal(
                    source,
                    "partition",
                    text,
                    "FROM-TO, two times since the first packet, such as 1s-1500ms");
        }
        return new long[] {begin.get().toNanos(), end.get().toNanos()};
    }

    private static long seed(String source, @Nullable String text) {
        if (text == null) {
            return DEFAULT_SEED;
        }
        try {
            return Text.parseLong(text);
        } catch (NumberFormatException e) {
            throw illegal(source, "seed", text, "a whole number");
        }
    }

    private static DpuException illegal(String source, String key, String value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "impairment is illegal: "
                        + source
                        + ", "
                        + key
                        + "="
                        + ForeignText.escapeAndCut(value)
                        + ", expected="
                        + expected);
    }

    /** A text that {@link #parse} accepts. */
    @Override
    public String toString() {
        List<String> items = new ArrayList<>();
        addProbability(items, "loss", loss);
        addProbability(items, "dup", duplication);
        addProbability(items, "reorder", reordering);
        if (delayNanos > 0) {
            items.add(DELAY + "=" + TimeText.of(Duration.ofNanos(delayNanos)));
        }
        addProbability(items, "corrupt", corruption);
        if (partitionEndNanos > partitionBeginNanos) {
            items.add(
                    "partition="
                            + TimeText.of(Duration.ofNanos(partitionBeginNanos))
                            + "-"
                            + TimeText.of(Duration.ofNanos(partitionEndNanos)));
        }
        items.add("seed=" + seed);
        return String.join(",", items);
    }

    private static void addProbability(List<String> items, String name, double value) {
        if (value > 0) {
            String digits = Text.format("%.9f", value).replaceFirst("\\.?0+$", "");
            items.add(name + "=" + digits);
        }
    }
}
