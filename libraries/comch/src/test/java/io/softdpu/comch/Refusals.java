package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions about rejected calls. */
final class Refusals {
    private Refusals() {}

    /**
     * Asserts that a call is rejected with a status, and returns the exception for further
     * assertions.
     */
    static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
            Status status, ThrowingCallable call) {
        return assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }

    /** Asserts that a task is refused, submitted alone and as one of several. */
    static void assertNotSubmitted(Status status, Task task) {
        assertThat(task.trySubmit()).isEqualTo(status);
        assertThat(task.context().trySubmitAll(new Task[] {task}, 0, 1)).isZero();
        assertRefused(
                status,
                () -> {
                    throw task.refusal();
                });
    }
}
