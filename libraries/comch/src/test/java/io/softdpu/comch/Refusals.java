package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
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
}
