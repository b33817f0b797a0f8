package io.softdpu.perf.demo;

import io.softdpu.perf.child.ProgressLine;

/** Listener for the progress of a demo; called on the thread that runs it. */
public interface DemoListener {
    /** A process is being started. */
    void starting(String process);

    /** A phase is under way, or has ended. */
    void progress(DemoPhase phase, ProgressLine progress);

    /** A process has logged a line. */
    void log(String process, String line);
}
