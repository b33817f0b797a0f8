package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.nic.NicFailures;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Release of a connection's resources, for each kind of end. */
class RoceLeakTest {

    /** End of a round of the test. */
    private enum Ending {
        BOTH_STOP,
        ONE_DISCONNECTS,
        NEVER_CONNECTED,
        PEER_NEVER_CAME
    }

    @Test
    void shouldLeaveNothingBehind(@TempDir Path folder) {
        run(folder, Ending.BOTH_STOP); // whatever is made once in a JVM
        LeakCheck check = LeakCheck.begin(folder);
        for (Ending ending : Ending.values()) {
            run(folder, ending);
            check.assertNothingLeft();
        }
    }

    @Test
    void shouldGiveBackEachConnectionOfALongLivedInstance(@TempDir Path folder) {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device device = machine.findDevice("03:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma one = open(device, engine, 4);
                Rdma two = open(device, engine, 4)) {
            connectAndDisconnect(engine, one, two);
            LeakCheck check = LeakCheck.begin(folder);
            for (int i = 0; i < 20; i++) {
                connectAndDisconnect(engine, one, two);
            }
            check.assertNothingLeft();
            assertThat(NicFailures.ofRunning()).as("exceptions on the NICs' threads").isZero();
            one.stop();
            two.stop();
        }
    }

    private static void run(Path folder, Ending ending) {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Machine target = Machine.builder(Side.TARGET).fabricFolder(folder).open();
                Device device = machine.findDevice("03:00.0").open();
                Device targetDevice = target.findDevice("t0").open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma one = open(device, engine, 1);
                Rdma two = open(targetDevice, engine, 1)) {
            RdmaConnection here = one.exportConnection();
            RdmaConnection there = two.exportConnection();
            switch (ending) {
                case BOTH_STOP, ONE_DISCONNECTS -> connect(engine, one, two, here, there);
                case PEER_NEVER_CAME -> {
                    one.connect(there.blob(), here);
                    for (int i = 0; i < 100; i++) {
                        engine.progress();
                    }
                }
                case NEVER_CONNECTED -> {}
            }
            if (ending == Ending.ONE_DISCONNECTS) {
                here.disconnect();
                until(engine, () -> there.state() == RdmaConnection.State.DISCONNECTED);
            }
            assertThat(NicFailures.ofRunning()).as("exceptions on the NICs' threads").isZero();
            stop(engine, one);
            stop(engine, two);
        }
    }

    private static void connectAndDisconnect(ProgressEngine engine, Rdma one, Rdma two) {
        RdmaConnection here = one.exportConnection();
        RdmaConnection there = two.exportConnection();
        connect(engine, one, two, here, there);
        here.disconnect();
        until(
                engine,
                () ->
                        here.state() == RdmaConnection.State.DISCONNECTED
                                && there.state() == RdmaConnection.State.DISCONNECTED);
    }

    private static void connect(
            ProgressEngine engine, Rdma one, Rdma two, RdmaConnection here, RdmaConnection there) {
        one.connect(there.blob(), here);
        two.connect(here.blob(), there);
        until(
                engine,
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
    }

    private static Rdma open(Device device, ProgressEngine engine, int maxConnections) {
        Rdma rdma = Rdma.create(device);
        rdma.setMaxConnections(maxConnections);
        rdma.setConnectionCallback((connection, previous, next) -> {});
        engine.connect(rdma);
        rdma.start();
        return rdma;
    }

    private static void stop(ProgressEngine engine, Rdma rdma) {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        until(engine, () -> rdma.state() == ContextState.IDLE);
    }

    private static void until(ProgressEngine engine, BooleanSupplier condition) {
        Await.until(
                "condition",
                () -> {
                    engine.progress();
                    return condition.getAsBoolean();
                });
    }
}
