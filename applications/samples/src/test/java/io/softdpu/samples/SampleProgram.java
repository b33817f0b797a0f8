package io.softdpu.samples;

import io.softdpu.core.device.Topology;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A sample as a separate process. Arguments: its name, then {@code option=value} each; without a
 * timeout it has that of {@link Patience}. Whatever it throws ends the process with 1, and with 3
 * where the data is wrong. With {@link #PAUSE_AFTER} in its environment it waits after the line
 * that begins so for its standard input, so that it can be killed exactly there.
 */
public final class SampleProgram {
    /** Name of the environment variable with the begin of the line after which it pauses. */
    static final String PAUSE_AFTER = "SAMPLE_PAUSE_AFTER";

    /**
     * Name of the environment variable by which an RDMA sample tells of the end of its peer, and of
     * what it opens when it runs.
     */
    static final String TELL_END_OF_PEER = "SAMPLE_TELL_END_OF_PEER";

    /** Line that it prints when it has handled the end of its peer. */
    static final String PEER_HAS_ENDED = "the peer has disconnected";

    private SampleProgram() {}

    /** The sample with this name. */
    static Sample find(String name) {
        return Samples.all().stream()
                .filter(sample -> sample.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such sample: sample=" + name));
    }

    private static SampleOption option(Sample sample, String longName) {
        return sample.options().stream()
                .filter(option -> option.longName().equals(longName))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("no such option: option=" + longName));
    }

    /** The settings that follow the name. */
    static SampleSettings settings(String... arguments) {
        Sample sample = find(arguments[0]);
        Map<SampleOption, String> values = new HashMap<>();
        values.put(SampleOption.TIMEOUT, Long.toString(Patience.SECONDS));
        for (int i = 1; i < arguments.length; i++) {
            String name = arguments[i].replaceFirst("=.*", "");
            values.put(option(sample, name), arguments[i].substring(name.length() + 1));
        }
        return new SampleSettings(Topology.builtin(), values);
    }

    /** Runs the sample. */
    public static void main(String[] arguments) {
        try {
            started(arguments[0]).run(settings(arguments), output());
        } catch (WrongDataException e) {
            System.err.println(e);
            System.exit(3);
        }
    }

    private static Sample started(String name) {
        return System.getenv(TELL_END_OF_PEER) == null ? find(name) : new TellingEndOfPeer(name);
    }

    /** A sample that has lines more, and is the same else. */
    private static final class TellingEndOfPeer extends ChangedSample {
        TellingEndOfPeer(String name) {
            super(name);
        }

        @Override
        void disconnected(RdmaProgram program) {
            super.disconnected(program);
            program.print(PEER_HAS_ENDED);
        }

        @Override
        void running(RdmaProgram program) {
            int opened = openedWhenItRuns(program);
            if (opened != 0) {
                program.print("opened in RUNNING: " + opened);
            }
        }
    }

    private static PrintStream output() {
        String line = System.getenv(PAUSE_AFTER);
        return line == null ? System.out : new Pausing(line);
    }

    /** Standard output, which waits after one line. */
    private static final class Pausing extends PrintStream {
        private final String begin;

        Pausing(String begin) {
            super(System.out, true);
            this.begin = begin;
        }

        @Override
        public void println(@Nullable String line) {
            super.println(line);
            if (line != null && line.startsWith(begin)) {
                try {
                    System.in.read();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }
}
