package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;

/**
 * Type of a job, such as the copy of the DMA library: a constant of its library. Immutable; any
 * thread.
 *
 * @param name the name, for messages: {@code dma copy}
 */
public record JobType(String name) {
    /** Type of the event of a graph instance that has ended, which has no job. */
    public static final JobType GRAPH_JOB = new JobType("graph");

    /**
     * Creates a type of jobs.
     *
     * @throws DpuException INVALID_VALUE if the name is null or blank
     */
    public JobType {
        if (Arguments.notNull(name, "name").isBlank()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format("name of a job type is blank: name=\"%s\"", name));
        }
    }

    /** The name. */
    @Override
    public String toString() {
        return name;
    }
}
