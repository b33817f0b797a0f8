package io.softdpu.core.execution;

/** Listener for the mistakes that a {@link Sanitizer} finds. */
@FunctionalInterface
public interface SanitizerListener {
    /** Called with a mistake, on the thread that made it, inside the call that shows it. */
    void onReport(SanitizerReport report);
}
