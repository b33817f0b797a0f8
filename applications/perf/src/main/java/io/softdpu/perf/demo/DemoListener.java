package io.softdpu.perf.demo;

import io.softdpu.perf.child.ProgressLine;

/** Listener for the progress of a demo; called on the thread that runs it. */
public interface DemoListener {
    /**
     * A process is being started.
     *
     * @param process its name
     * @param number its number, from 1 on
     * @param processes number of all
     */
    void starting(String process, int number, int processes);

    /** A step begins, is under way, or has ended. */
    void progress(DemoStep step, ProgressLine progress);

    /** A process has logged a line. */
    void log(String process, String line);
}
