package io.softdpu.cli.card;

import io.softdpu.cli.options.PathConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.rdma.roce.RoceOptions;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options {@code --impair} and {@code --pcap} of the commands that use RDMA, for the provider
 * that has a network.
 */
public final class NetworkOptions {
    private static final String ROCE = "roce";
    private static final String IMPAIR = "--impair";
    private static final String PCAP = "--pcap";
    private static final String DELAY = "delay"; // an item, not a key of messages

    @Option(
            names = IMPAIR,
            paramLabel = "ITEMS",
            description = {
                "With --provider roce: impairs the packets that are sent, as a bad network would.",
                "ITEMS are separated by commas: loss=P, dup=P, reorder=P and corrupt=P with a"
                        + " probability from 0 to 1, "
                        + DELAY
                        + "=TIME such as 200us, partition=FROM-TO such as 1s-1500ms, seed=N"
                        + " (default: 1)."
            })
    private @Nullable String impairment;

    @Option(
            names = PCAP,
            paramLabel = "FILE",
            converter = PathConverter.class,
            description = {
                "With --provider roce: writes all packets, sent and received, to a new file or in"
                        + " place of a regular one; `softdpu packets FILE` explains it."
            })
    private @Nullable Path capture;

    /** For picocli. */
    public NetworkOptions() {}

    /** Options of this process that end. */
    public interface Use extends AutoCloseable {
        /** For a process that has none. */
        Use NONE = () -> {};

        /**
         * Ends them.
         *
         * @throws DpuException IO_FAILED if the capture lacks packets
         */
        @Override
        void close();
    }

    /**
     * The provider with these options.
     *
     * @throws DpuException INVALID_VALUE for an illegal value, or without the provider that they
     *     are for, naming the option
     */
    public ProviderChoice with(ProviderChoice provider) {
        if (impairment == null && capture == null) {
            return provider;
        }
        if (!provider.isOnly(ROCE)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "option has no effect with this provider: option="
                            + (impairment == null ? PCAP : IMPAIR)
                            + ", provider="
                            + ForeignText.escapeAndCut(provider.name())
                            + ", expected=--provider "
                            + ROCE);
        }
        if (impairment != null) {
            requireLegal(impairment);
        }
        return provider.with(impairment, capture);
    }

    private static void requireLegal(String items) {
        try {
            RoceOptions _ = RoceOptions.defaults().withImpairment(items);
        } catch (DpuException e) {
            String message = String.valueOf(e.getMessage());
            throw new DpuException(
                    e.status(), message.replaceFirst("call=withImpairment", "option=" + IMPAIR), e);
        }
    }

    /**
     * Makes the options those of this process, until they are closed; without any does nothing.
     *
     * @param provider as {@link #with} has made it
     * @param captures whether this process has the file, and not another one
     * @throws DpuException IO_FAILED if the file cannot be written; INVALID_VALUE for a variable
     */
    public static Use use(ProviderChoice provider, boolean captures) {
        String impairment = provider.impairment();
        Path capture = captures ? provider.capture() : null;
        if (impairment == null && capture == null) {
            return provider.isOnly(ROCE) ? RoceOptions::endCapture : Use.NONE;
        }
        RoceOptions options = RoceOptions.ofEnvironment();
        if (impairment != null) {
            options = options.withImpairment(impairment);
        }
        if (capture != null) {
            options = options.withCapture(Objects.requireNonNull(capture));
        }
        options.use();
        return RoceOptions::endCapture;
    }
}
