package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.List;

/** All samples, by name. Any thread. */
public final class Samples {
    private static final List<Sample> ALL =
            List.of(
                    new DmaCopyHost(),
                    new DmaCopyDpu(),
                    new PePolling(),
                    new PeEvent(),
                    new PeReactive(),
                    new PeAsyncStop(),
                    new PeMultiContext(),
                    new PeTaskError(),
                    new PeTaskResubmit(),
                    new WorkQ());

    private Samples() {}

    /** All of them, in the order in which one would read them. */
    public static List<Sample> all() {
        return ALL;
    }

    /**
     * The sample with this name.
     *
     * @throws DpuException NOT_FOUND if there is none, naming those that there are
     */
    public static Sample find(String name) {
        return ALL.stream()
                .filter(sample -> sample.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new DpuException(
                                Status.NOT_FOUND,
                                "no such sample: sample=%s, available=%s"
                                        .formatted(name, ALL.stream().map(Sample::name).toList())));
    }
}
