package io.softdpu.core;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions on {@link DpuException}s. */
public final class Thrown {
    private Thrown() {}

    /** Asserts that a call fails with this status; the message is left for more assertions. */
    public static AbstractThrowableAssert<?, DpuException> with(
            Status status, ThrowingCallable call) {
        AbstractThrowableAssert<?, DpuException> thrown =
                assertThatThrownBy(call)
                        .asInstanceOf(InstanceOfAssertFactories.throwable(DpuException.class));
        thrown.extracting(DpuException::status).isEqualTo(status);
        return thrown;
    }
}
