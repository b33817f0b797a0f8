package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaPairTest {

    @TempDir private Path folder;

    @Test
    void shouldConnectEachOfItsContextsToWhatTheOtherSideExported() {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("p0").open();
                ProgressEngine engine = ProgressEngine.create()) {
            RdmaPair here = pair(engine, device);
            RdmaPair there = pair(engine, device);
            for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
                assertThat(here.context(role).state()).isEqualTo(ContextState.STARTING);
                var ofHere = here.export(role);
                var ofThere = there.export(role);
                here.connect(role, ofThere);
                there.connect(role, ofHere);
                await(engine, here.context(role), ContextState.RUNNING);
                await(engine, there.context(role), ContextState.RUNNING);
            }
            for (RdmaPair pair : new RdmaPair[] {here, there}) {
                assertThat(pair.provider()).isEqualTo("shm");
                for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
                    pair.context(role).stop();
                    await(engine, pair.context(role), ContextState.IDLE);
                    pair.context(role).close();
                }
            }
        }
    }

    @Test
    void shouldSetTheProviderOfBothContexts() {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("p0").open();
                Rdma data = Rdma.create(device);
                Rdma control = Rdma.create(device)) {
            RdmaPair pair = new RdmaPair(data, control);
            pair.setProvider(Rdma.ANY_PROVIDER);
            assertThat(data.provider()).isEqualTo(Rdma.ANY_PROVIDER);
            pair.setProvider("shm");
            assertThat(List.of(data.provider(), control.provider())).containsOnly("shm");
            assertThatThrownBy(() -> pair.setProvider("ib"))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND));
        }
    }

    private static RdmaPair pair(ProgressEngine engine, Device device) {
        Rdma data = Rdma.create(device);
        Rdma control = Rdma.create(device);
        engine.connect(data);
        engine.connect(control);
        RdmaPair pair = new RdmaPair(data, control);
        data.setConnectionCallback((_, _, _) -> {});
        pair.configureMessages(1, _ -> {}, _ -> {}, _ -> {}, _ -> {});
        pair.start(Patience.NANOS);
        return pair;
    }

    private static void await(ProgressEngine engine, Rdma context, ContextState state) {
        Await.byStep(
                "context is in state " + state,
                () -> context.state() == state,
                () -> engine.await(Patience.LIMIT));
    }
}
