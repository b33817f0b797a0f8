package io.softdpu.storage.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.ScriptedTarget;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HostileTargetTest {

    @TempDir private Path folder;

    @Test
    @Clause("sto-112")
    void shouldRefuseAResponseThatNobodyAskedForAndTellTheInitiator() throws Exception {
        try (ScriptedTarget target = new ScriptedTarget(folder);
                Pipeline pipeline = new Pipeline(folder)) {
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

    /** The service gives up after its control timeout, within which the other steps come. */
    @ParameterizedTest
    @EnumSource
    @Clause("sto-106")
    void shouldNotStartBeforeEachContextOfItsWorkersIsReady(RdmaConnectionRole missing)
            throws Exception {
        try (ScriptedTarget target = new ScriptedTarget(folder).without(Set.of(missing));
                Pipeline pipeline = new Pipeline(folder, TimeUnit.SECONDS.toNanos(1))) {
            pipeline.startService(target.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                initiator.proceed(0);
                initiator.proceed(1);
                var error = (ControlPayload.ErrorResponse) initiator.proceed(2).payload();
                assertThat(error.status()).isEqualTo(Status.TIME_OUT);
                assertThat(error.message()).contains("notRunning=").doesNotContain(" and ");
            }
            assertThat(target.isStarted()).isFalse();
            assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitService).status())
                    .isEqualTo(Status.TIME_OUT);
        }
    }

    /** The target connects its contexts when the service looks at its own. */
    @Test
    @Clause("sto-106")
    void shouldStartOnceTheContextsOfItsWorkersAreReady() throws Exception {
        try (ScriptedTarget target =
                        new ScriptedTarget(folder)
                                .without(EnumSet.allOf(RdmaConnectionRole.class));
                Pipeline pipeline = new Pipeline(folder)) {
            pipeline.serviceListener(
                    new SessionListener() {
                        @Override
                        public void step(SessionStep step, String detail) {
                            if (step == SessionStep.START) {
                                target.connectTheRest();
                            }
                        }
                    });
            pipeline.startService(target.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                initiator.proceed(0);
                initiator.proceed(1);
                assertThat(initiator.proceed(2).payload())
                        .isEqualTo(new ControlPayload.StartStorageResponse());
            }
            assertThat(target.isStarted()).isTrue();
        }
    }
}
