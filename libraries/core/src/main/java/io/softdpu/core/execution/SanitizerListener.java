package io.softdpu.core.execution;

/** Is told of each mistake that a {@link Sanitizer} finds. */
@FunctionalInterface
public interface SanitizerListener {
    /** A mistake was found. Runs on the thread that made it, inside the call that shows it. */
    void onReport(SanitizerReport report);
}
