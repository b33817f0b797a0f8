package io.softdpu.samples;

import java.io.PrintStream;
import java.util.List;

/** A program to learn from, as the command {@code softdpu sample} finds it. */
public interface Sample {
    /** The name on the command line: lower case with hyphens. */
    String name();

    /** A sentence about the topic of the sample. */
    String summary();

    /** Facts to look at in its output, a sentence or two. */
    String output();

    /** Places to look at in its source, a sentence or two. */
    String source();

    /** Arguments of each example call of its command, for its help; none: it has no arguments. */
    default List<String> exampleArguments() {
        return List.of();
    }

    /** The settings that it knows, in the order in which help lists them. */
    List<SampleOption> options();

    /**
     * Runs it to its end, on the calling thread.
     *
     * @param settings what the user has chosen, of its {@link #options()} alone
     * @param out what it prints to
     * @throws WrongDataException if it has not computed what it should have
     * @throws io.softdpu.core.DpuException if anything else failed; TIME_OUT if it took too long
     */
    void run(SampleSettings settings, PrintStream out);
}
