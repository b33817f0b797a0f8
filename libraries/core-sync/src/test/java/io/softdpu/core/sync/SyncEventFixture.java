package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A device of the host and the port of the DPU that has created it. */
abstract class SyncEventFixture {
    static final long ALL = SyncEvent.ALL_BITS;

    @TempDir Path folder;
    Machines machines;
    Device pf0;
    Device p0;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        pf0 = machines.device(Side.HOST, "pf0");
        p0 = machines.device(Side.DPU, "p0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    /** An event from CPU to DPU, not started; stopped and closed with the test. */
    SyncEvent configured() {
        return closedLater(
                SyncEvent.create(pf0)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.DPU));
    }

    SyncEvent started() {
        return configured().start();
    }

    /** A DPU handle of a started event, not started; stopped and closed with the test. */
    SyncEvent imported(SyncEvent event) {
        return closedLater(SyncEvent.createFromExport(event.exportPci(pf0), p0));
    }

    SyncEvent closedLater(SyncEvent event) {
        machines.add(() -> end(event));
        return event;
    }

    /** Stops an event if it is started, and closes it. */
    static void end(SyncEvent event) {
        if (event.isStarted()) {
            try {
                event.stop();
            } catch (DpuException e) { // asynchronous
                stop(event.asContext());
            }
        }
        event.close();
    }

    private static void stop(Context context) {
        context.stop();
        if (context.state() != ContextState.IDLE) {
            throw new AssertionError("context does not stop: context=" + context);
        }
    }

    /** The built-in topology with a limit for each function. */
    static Topology limited(DeviceLimit limit, long most) {
        Topology.Builder topology = Topology.builder("limited");
        Topology.builtin()
                .functions()
                .forEach(f -> topology.add(f.toBuilder().limit(limit.id(), most).build()));
        return topology.build();
    }
}
