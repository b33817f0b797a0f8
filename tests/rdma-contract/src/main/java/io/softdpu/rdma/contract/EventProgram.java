package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Waits for a sync event. Arguments: how it waits ({@code sync}, {@code engine} or {@code queue}),
 * and for a DPU handle the blob of the event. Without blob it is the far side: it prints the blobs
 * of its connection and of its event, reads the peer's blob, connects, posts one receive, and makes
 * no call of RDMA from then on.
 *
 * <p>For each number in a line of its input it prints the number and its thread, waits until the
 * event has a greater value, and prints that.
 */
final class EventProgram {
    static final String READY = "ready";
    static final String WAITING = "waiting ";
    static final String WOKEN = "woken ";

    private final SyncEvent event;
    private final String mode;
    private final Console console;
    private final ProgressEngine engine = ProgressEngine.create();
    private final WorkQueue queue = WorkQueue.create(1).setEventDriven(true);
    private long woken;

    private EventProgram(SyncEvent event, Console console) {
        this.event = event;
        this.mode = console.arguments().getFirst();
        this.console = console;
    }

    /** Runs until its input ends. */
    static void run(Console console) throws Exception {
        if (console.arguments().size() > 1) {
            asHandle(console);
        } else {
            asExporter(console);
        }
    }

    private static void asHandle(Console console) throws Exception {
        RdmaTestEnvironment site = console.site();
        byte[] blob = HexFormat.of().parseHex(console.arguments().get(1));
        try (Machine machine = site.openMachine(console.folder(), Side.DPU);
                Device device = machine.findDevice(site.device(Side.DPU)).open()) {
            EventProgram program =
                    new EventProgram(SyncEvent.createFromExport(blob, device), console);
            program.start();
            console.print(READY);
            program.serve();
            program.end();
        }
    }

    private static void asExporter(Console console) throws Exception {
        RdmaTestEnvironment site = console.site();
        try (Peer self = Peer.open(site, console.folder(), site.farSide())) {
            EventProgram program =
                    new EventProgram(
                            SyncEvent.create(self.device)
                                    .addPublisherLocation(SyncEventLocation.REMOTE)
                                    .addSubscriberLocation(SyncEventLocation.CPU),
                            console);
            program.start();
            self.start();
            RdmaConnection connection = self.rdma.exportConnection();
            console.print(PeerProgram.CONNECTION, connection.blob());
            console.print(PeerProgram.EVENT, program.event.exportRdma(self.device));
            String blob = console.read();
            if (blob == null) {
                throw new IllegalStateException("no blob of the peer");
            }
            self.rdma.connect(HexFormat.of().parseHex(blob), connection);
            Peer.drive(
                    "connection", () -> connection.state() == RdmaConnection.State.CONNECTED, self);
            require(self.receive(self.room(0, 64), 0));
            console.print(READY);
            program.serve();
            program.end();
        }
    }

    private static void require(Status status) {
        if (status != Status.SUCCESS) {
            throw new AssertionError("receive was not posted: status=" + status);
        }
    }

    private void start() {
        switch (mode) {
            case "sync" -> event.start();
            case "engine" -> {
                SyncEventContext context = event.asContext();
                context.setWaitGreaterTasks(
                        1,
                        task -> {
                            woken = task.value();
                            task.free();
                        },
                        task -> {
                            throw new AssertionError("wait has failed: " + task.status());
                        });
                engine.connect(context);
                context.start();
            }
            case "queue" -> {
                event.asContext().start();
                queue.add(event.asContext());
            }
            default -> throw new IllegalArgumentException(mode);
        }
    }

    private void end() {
        queue.close();
        if (mode.equals("sync")) {
            event.stop();
        } else {
            event.asContext().stop();
        }
        event.close();
        engine.close();
    }

    private void serve() throws Exception {
        for (String line = console.read(); line != null; line = console.read()) {
            long above = Long.parseLong(line);
            Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
            console.print(WAITING + above + " " + thread);
            console.print(
                    WOKEN
                            + switch (mode) {
                                case "sync" -> spin(above);
                                case "engine" -> sleepOnEngine(above);
                                default -> sleepOnQueue(above);
                            });
        }
    }

    private long spin(long above) {
        event.waitGreaterYield(above, SyncEvent.ALL_BITS);
        return event.get();
    }

    private long sleepOnEngine(long above) {
        woken = 0;
        event.asContext().allocateWaitGreater(above, SyncEvent.ALL_BITS).submit();
        while (woken == 0) {
            engine.await(Deadline.NO_LIMIT);
        }
        return woken;
    }

    private long sleepOnQueue(long above) {
        JobEvent retrieved = JobEvent.create();
        queue.submit(event.asContext().createWaitGreaterJob(above, SyncEvent.ALL_BITS));
        Status status = queue.progressRetrieve(retrieved);
        while (status == Status.AGAIN) {
            queue.armEvent();
            queue.awaitEvent(Deadline.NO_LIMIT);
            queue.clearEvent();
            status = queue.progressRetrieve(retrieved);
        }
        return retrieved.result();
    }
}
