package io.softdpu.samples;

import java.io.PrintStream;

/** A program to learn from. */
@FunctionalInterface
public interface Sample {
    /**
     * Runs it to its end.
     *
     * @param out what it prints to
     * @throws io.softdpu.core.DpuException if anything failed, or the data was wrong
     */
    void run(PrintStream out);
}
