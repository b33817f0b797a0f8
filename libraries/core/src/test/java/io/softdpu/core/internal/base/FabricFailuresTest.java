package io.softdpu.core.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Threads;
import io.softdpu.fabric.error.FabricException;
import org.junit.jupiter.api.Test;

class FabricFailuresTest {
    @Test
    void shouldSayOfAnInterruptWhatTheWaitsOfEnginesSay() {
        FabricException interrupted =
                new FabricException(
                        FabricException.Kind.INTERRUPTED, "awaited=the lock of a file, file=name");
        DpuException named = FabricFailures.from(interrupted, "Machine.open");
        assertThat(named.status()).isEqualTo(Status.CONNECTION_ABORTED);
        assertThat(named)
                .hasMessageContaining(
                        "interrupted during a wait: thread="
                                + Threads.current()
                                + ", call=Machine.open, awaited=the lock of a file, file=name,"
                                + " expected=the same call again, after Thread.interrupted()")
                .hasCause(interrupted);
        assertThat(FabricFailures.from(interrupted))
                .hasMessageContaining(
                        "thread=" + Threads.current() + ", awaited=the lock of a file, file=name");
    }
}
