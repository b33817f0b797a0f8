package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.ScriptedTarget;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostileTargetTest {
    private static final long CONTROL_TIMEOUT = 20_000_000_000L;

    @TempDir private Path folder;

    @Test
    void shouldRefuseAResponseThatNobodyAskedForAndTellTheInitiator() throws Exception {
        try (ScriptedTarget target = new ScriptedTarget(folder);
                Pipeline pipeline = new Pipeline(folder, CONTROL_TIMEOUT)) {
            pipeline.startService(target.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                for (int step = 0; step < 2; step++) {
                    initiator.proceed(step);
                }
                target.answer(new byte[IoMessageView.WIRE_BYTES]);
                // The response may come before the answer to the start is on its way.
                ControlMessage heard = initiator.proceed(2);
                if (!(heard.payload() instanceof ControlPayload.ErrorResponse)) {
                    heard = initiator.hear();
                }
                var error = (ControlPayload.ErrorResponse) heard.payload();
                assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
                assertThat(error.message()).contains("response without a request: worker=0");
            }
            DpuException failure = catchThrowableOfType(DpuException.class, pipeline::awaitService);
            assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(failure).hasMessageContaining("response without a request: worker=0");
            assertThat(pipeline.serviceReport().operations()).isZero();
        }
    }

    /** The service gives up after the control timeout, which is the default of the guide. */
    @Test
    @Clause("sto-106")
    void shouldNotStartBeforeTheContextsOfItsWorkersAreReady() throws Exception {
        try (ScriptedTarget target = new ScriptedTarget(folder).withoutConnections();
                Pipeline pipeline = new Pipeline(folder, StorageDefaults.CONTROL_TIMEOUT_NANOS)) {
            pipeline.startService(target.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                initiator.proceed(0);
                initiator.proceed(1);
                var error = (ControlPayload.ErrorResponse) initiator.proceed(2).payload();
                assertThat(error.status()).isEqualTo(Status.TIME_OUT);
                assertThat(error.message()).contains("notRunning=");
            }
            assertThat(target.isStarted()).isFalse();
            assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitService).status())
                    .isEqualTo(Status.TIME_OUT);
        }
    }
}
