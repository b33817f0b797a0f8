package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostileTargetTest {
    private static final long CONTROL_TIMEOUT = 20_000_000_000L;

    @TempDir private Path folder;

    @Test
    void shouldRefuseAResponseThatNobodyAskedForAndTellTheInitiator() throws Exception {
        try (HostileTarget target = new HostileTarget(folder);
                Pipeline pipeline = new Pipeline(folder, CONTROL_TIMEOUT)) {
            pipeline.startService(target.port());
            try (HandInitiator initiator = new HandInitiator(folder, Pipeline.CHANNEL)) {
                for (int step = 0; step < 2; step++) {
                    initiator.proceed(step);
                }
                // The response may come before the answer to the start is on its way.
                ControlMessage heard = initiator.proceed(2);
                if (!(heard.payload() instanceof ControlPayload.ErrorResponse)) {
                    heard = initiator.hear();
                }
                var error = (ControlPayload.ErrorResponse) heard.payload();
                assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
                assertThat(error.message()).contains("response that nobody asked for: core=0");
            }
            DpuException failure = catchThrowableOfType(DpuException.class, pipeline::awaitService);
            assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(failure).hasMessageContaining("response that nobody asked for: core=0");
            assertThat(pipeline.serviceReport().operations()).isZero();
        }
    }
}
