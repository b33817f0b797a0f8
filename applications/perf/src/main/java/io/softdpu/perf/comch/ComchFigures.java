package io.softdpu.perf.comch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a run of a Comm Channel measurement that other runs do not have.
 *
 * @param sentByProducer messages that each producer of the host has sent; with {@link
 *     ComchMode#LATENCY} round trips of the one
 * @param idle figures of connections without messages; null in all modes but {@link ComchMode#IDLE}
 */
public record ComchFigures(List<Long> sentByProducer, @Nullable IdleFigures idle) {
    /** Copies the list. */
    public ComchFigures {
        sentByProducer = List.copyOf(sentByProducer);
    }

    /**
     * Shares of the producers in all messages sent, 0 to 1, in the order of the producers; zeros if
     * none was sent.
     */
    public List<Double> shares() {
        long all = sentByProducer.stream().mapToLong(Long::longValue).sum();
        return sentByProducer.stream().map(each -> all == 0 ? 0 : (double) each / all).toList();
    }
}
