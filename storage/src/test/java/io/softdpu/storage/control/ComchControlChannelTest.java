package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Clause("sto-005")
class ComchControlChannelTest extends ControlChannelContract {
    private static final String NAME = "contract";
    private static final long CLOSE_TIMEOUT = 5_000_000_000L;

    @TempDir private static Path folder;
    private static Machine host;
    private static Machine dpu;
    private static Device hostDevice;
    private static Device dpuDevice;
    private static Representor representor;

    @BeforeAll
    static void openMachines() {
        host = Machine.builder(Side.HOST).fabricFolder(folder).open();
        dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
        hostDevice = host.findDevice("pf0").open();
        dpuDevice = dpu.findDevice("p0").open();
        representor = dpuDevice.findRepresentor("0b:00.0").open(dpuDevice);
    }

    @AfterAll
    static void closeMachines() {
        representor.close();
        hostDevice.close();
        dpuDevice.close();
        host.close();
        dpu.close();
    }

    @Override
    End openServer() {
        AtomicReference<ProgressEngine> engine = new AtomicReference<>();
        return new End(
                "server",
                () -> {
                    engine.set(ProgressEngine.create());
                    return makeServer(engine.get());
                },
                () -> engine.get().close());
    }

    @Override
    End openClient(long timeoutNanos) {
        AtomicReference<ProgressEngine> engine = new AtomicReference<>();
        return new End(
                "client",
                () -> {
                    engine.set(ProgressEngine.create());
                    return makeClient(engine.get(), NAME, timeoutNanos);
                },
                () -> engine.get().close());
    }

    @Override
    Status statusOfSecondClient() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel second =
                        makeClient(engine, NAME, connectTimeoutNanos())) {
            second.awaitConnected(2 * connectTimeoutNanos());
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }

    @Test
    void shouldSayThatNobodyServesThatName() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel client = makeClient(engine, "nobody", 200_000_000L)) {
            assertStatus(
                    () -> client.awaitConnected(End.DEADLINE_NANOS), Status.NOT_FOUND, "nobody");
        }
    }

    @Test
    void shouldEndTheSearchForAServerWhenItIsAborted() {
        try (ProgressEngine engine = ProgressEngine.create();
                ComchClientControlChannel client =
                        makeClient(engine, "nobody", End.DEADLINE_NANOS)) {
            client.abort("User requested abort");

            assertStatus(
                    () -> client.awaitConnected(ControlChannel.NO_TIMEOUT),
                    Status.CONNECTION_ABORTED,
                    "User requested abort");
        }
    }

    @Test
    void shouldSayThatTheNameIsTaken() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            assertStatus(() -> makeServer(engine), Status.IN_USE, NAME);
        }
    }

    private static ComchServerControlChannel makeServer(ProgressEngine engine) {
        return ControlChannels.makeComchServer(
                engine, dpuDevice, representor, NAME, ConsumerListener.none(), CLOSE_TIMEOUT);
    }

    private static ComchClientControlChannel makeClient(
            ProgressEngine engine, String name, long timeoutNanos) {
        return ControlChannels.makeComchClient(
                engine, hostDevice, name, ConsumerListener.none(), timeoutNanos);
    }
}
