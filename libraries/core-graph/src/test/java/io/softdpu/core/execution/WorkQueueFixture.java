package io.softdpu.core.execution;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A work queue of one context on one device. */
abstract class WorkQueueFixture {
    static final int DEPTH = 4;

    @TempDir Path folder;
    Machines machines;
    Device device;
    TinyJobs context;
    WorkQueue queue;
    final JobEvent event = JobEvent.create();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        context = machines.add(new TinyJobs("tiny", device));
        context.start();
        queue = machines.add(WorkQueue.create(DEPTH));
        queue.add(context);
    }

    @AfterEach
    void close() throws Exception {
        for (int left = queue.inFlightJobs(); left > 0; left--) { // what stays fails the next line
            retrieve();
        }
        machines.close();
    }

    /** Retrieves until the result is not AGAIN, at most 100 times. */
    Status retrieve() {
        for (int i = 0; i < 100; i++) {
            Status retrieved = queue.progressRetrieve(event);
            if (retrieved != Status.AGAIN) {
                return retrieved;
            }
        }
        throw new AssertionError("nothing has ended");
    }
}
