package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Process that waits for a sync event. Arguments: class of the test environment, folder, how it
 * waits ({@code sync}, {@code engine} or {@code queue}), and for a DPU handle the blob of the
 * event. Without blob it is the far side: it prints the blobs of its connection and of its event,
 * reads the peer's blob from standard input, connects, posts one receive, and makes no call of RDMA
 * from then on.
 *
 * <p>For each number in a line of its input it prints the number and its thread, waits until the
 * event has a greater value, and prints that.
 */
public final class EventProgram {
    static final String CONNECTION = "connection ";
    static final String EVENT = "event ";
    static final String READY = "ready";
    static final String WAITING = "waiting ";
    static final String WOKEN = "woken ";

    private static final PrintStream OUTPUT = System.out;

    private final SyncEvent event;
    private final String mode;
    private final ProgressEngine engine = ProgressEngine.create();
    private final WorkQueue queue = WorkQueue.create(1).setEventDriven(true);
    private long woken;

    private EventProgram(SyncEvent event, String mode) {
        this.event = event;
        this.mode = mode;
    }

    /** Runs until standard input ends. */
    public static void main(String[] arguments) throws Exception {
        RdmaTestEnvironment site =
                Class.forName(arguments[0])
                        .asSubclass(RdmaTestEnvironment.class)
                        .getDeclaredConstructor()
                        .newInstance();
        Path folder = Path.of(arguments[1]);
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        if (arguments.length > 3) {
            asHandle(site, folder, arguments[2], HexFormat.of().parseHex(arguments[3]), input);
        } else {
            asExporter(site, folder, arguments[2], input);
        }
    }

    private static void asHandle(
            RdmaTestEnvironment site, Path folder, String mode, byte[] blob, BufferedReader input)
            throws IOException {
        try (Machine machine = site.openMachine(folder, Side.DPU);
                Device device = machine.findDevice(site.device(Side.DPU)).open()) {
            EventProgram program = new EventProgram(SyncEvent.createFromExport(blob, device), mode);
            program.start();
            tell(READY);
            program.serve(input);
            program.end();
        }
    }

    private static void asExporter(
            RdmaTestEnvironment site, Path folder, String mode, BufferedReader input)
            throws IOException {
        try (Peer self = Peer.open(site, folder, site.farSide())) {
            EventProgram program =
                    new EventProgram(
                            SyncEvent.create(self.device)
                                    .addPublisherLocation(SyncEventLocation.REMOTE)
                                    .addSubscriberLocation(SyncEventLocation.CPU),
                            mode);
            program.start();
            self.start();
            RdmaConnection connection = self.rdma.exportConnection();
            tell(CONNECTION + HexFormat.of().formatHex(connection.blob()));
            tell(EVENT + HexFormat.of().formatHex(program.event.exportRdma(self.device)));
            self.rdma.connect(HexFormat.of().parseHex(input.readLine()), connection);
            Peer.drive(
                    "connection", () -> connection.state() == RdmaConnection.State.CONNECTED, self);
            require(self.receive(self.room(0, 64), 0));
            tell(READY);
            program.serve(input);
            program.end();
        }
    }

    private static void require(Status status) {
        if (status != Status.SUCCESS) {
            throw new AssertionError("receive was not posted: status=" + status);
        }
    }

    private static void tell(String line) {
        OUTPUT.println(line);
        OUTPUT.flush();
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
        switch (mode) {
            case "sync" -> event.stop();
            case "queue" -> {
                queue.close();
                event.asContext().stop();
            }
            default -> event.asContext().stop();
        }
        event.close();
    }

    private void serve(BufferedReader input) throws IOException {
        String line;
        while ((line = input.readLine()) != null) {
            long above = Long.parseLong(line);
            tell(
                    WAITING
                            + above
                            + " "
                            + Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName());
            tell(
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
            engine.await(Patience.LIMIT);
        }
        return woken;
    }

    private long sleepOnQueue(long above) {
        JobEvent retrieved = JobEvent.create();
        queue.submit(event.asContext().createWaitGreaterJob(above, SyncEvent.ALL_BITS));
        Status status = queue.progressRetrieve(retrieved);
        while (status == Status.AGAIN) {
            queue.armEvent();
            queue.awaitEvent(Patience.LIMIT);
            queue.clearEvent();
            status = queue.progressRetrieve(retrieved);
        }
        return retrieved.result();
    }
}
