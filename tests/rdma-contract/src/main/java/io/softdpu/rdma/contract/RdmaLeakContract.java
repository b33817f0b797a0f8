package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Release of a connection's resources, for each kind of end; over every provider. */
public abstract class RdmaLeakContract extends RdmaContract {
    private static final int CONNECTIONS = 20;

    /** For subclasses. */
    protected RdmaLeakContract() {}

    /** End of a round of the test. */
    private enum Ending {
        BOTH_STOP,
        ONE_DISCONNECTS,
        NEVER_CONNECTED,
        PEER_NEVER_CAME
    }

    /** Fails if the provider has met, while the instances run, what it tells to no caller. */
    protected void assertNoHiddenFailures() {}

    @Test
    void shouldLeaveNothingBehind() {
        run(Ending.BOTH_STOP); // whatever is made once in a JVM
        LeakCheck check = LeakCheck.begin(folder());
        for (Ending ending : Ending.values()) {
            run(ending);
            check.assertNothingLeft();
        }
    }

    @Test
    void shouldGiveBackEachConnectionOfALongLivedInstance() {
        try (Machine machine = machineOf(environment().farSide());
                Device device = deviceOf(machine);
                ProgressEngine engine = ProgressEngine.create();
                Rdma one = open(device, engine, 4);
                Rdma two = open(device, engine, 4)) {
            connectAndDisconnect(engine, one, two);
            LeakCheck check = LeakCheck.begin(folder());
            for (int i = 0; i < CONNECTIONS; i++) {
                connectAndDisconnect(engine, one, two);
            }
            check.assertNothingLeft();
            assertNoHiddenFailures();
            one.stop();
            two.stop();
        }
    }

    private void run(Ending ending) {
        try (Machine machine = machineOf(environment().farSide());
                Machine target = machineOf(environment().nearSide());
                Device device = deviceOf(machine);
                Device targetDevice = deviceOf(target);
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
                until(
                        engine,
                        "the end there",
                        () -> there.state() == RdmaConnection.State.DISCONNECTED);
            }
            assertNoHiddenFailures();
            stop(engine, one);
            stop(engine, two);
        }
    }

    private Machine machineOf(Side side) {
        return environment().openMachine(folder(), side);
    }

    private Device deviceOf(Machine machine) {
        return machine.findDevice(environment().device(machine.side())).open();
    }

    private static void connectAndDisconnect(ProgressEngine engine, Rdma one, Rdma two) {
        RdmaConnection here = one.exportConnection();
        RdmaConnection there = two.exportConnection();
        connect(engine, one, two, here, there);
        here.disconnect();
        until(
                engine,
                "the end of both",
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
                "connection",
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
        until(engine, "the stop", () -> rdma.state() == ContextState.IDLE);
    }

    private static void until(ProgressEngine engine, String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    engine.progress();
                    return condition.getAsBoolean();
                });
    }
}
