package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.CountedCalls;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Process that has a handle of a sync event at times, and does what its standard input says: a
 * command per line, after a number. It prints lines that begin with the number, of which the one
 * with the command's word is the answer and the last. {@code open FOLDER MODE [BLOB]} opens a DPU
 * handle, or without a blob the CPU handle, and answers with the blob that is to be imported;
 * {@code close} closes it. A mode is {@code sync}, {@code engine} or {@code queue}.
 */
public final class SyncEventPeer {
    /** Number of the command that is executed. */
    private static String number = "";

    private final Machine machine;
    private final Device device;
    private final SyncEvent event;
    private final byte[] blob;
    private final String mode;
    private final ProgressEngine engine = ProgressEngine.create();
    private final WorkQueue queue = WorkQueue.create(4).setEventDriven(true);
    private long woken;
    private Status ended = Status.SUCCESS;

    /** A CPU handle without a blob, else a DPU handle; started. */
    private SyncEventPeer(String folder, String mode, @Nullable String imported) {
        this.mode = mode;
        boolean cpu = imported == null;
        machine = Machine.builder(cpu ? Side.HOST : Side.DPU).fabricFolder(Path.of(folder)).open();
        device = machine.findDevice(cpu ? "pf0" : "p0").open();
        event =
                cpu
                        ? SyncEvent.create(device)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                        : SyncEvent.createFromExport(HexFormat.of().parseHex(imported), device);
        start();
        blob = cpu ? event.exportPci(device) : HexFormat.of().parseHex(imported);
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        SyncEventPeer peer = null;
        String line;
        while ((line = commands.readLine()) != null) {
            String[] words = line.split(" ");
            number = words[0];
            String command = words[1];
            Object answer;
            try {
                if (command.equals("open")) {
                    peer =
                            new SyncEventPeer(
                                    words[2], words[3], words.length > 4 ? words[4] : null);
                    answer = HexFormat.of().formatHex(peer.blob);
                } else {
                    answer =
                            Objects.requireNonNull(peer, "a handle is open")
                                    .run(command, words.length > 2 ? Long.parseLong(words[2]) : 0);
                    if (command.equals("close")) {
                        peer = null;
                    }
                }
            } catch (DpuException e) {
                answer = e.status();
            }
            say(command + " " + answer);
        }
    }

    private static void say(String line) {
        System.out.println(number + " " + line);
    }

    private void start() {
        switch (mode) {
            case "sync" -> event.start();
            case "engine" -> {
                SyncEventContext context = event.asContext();
                context.setSetTasks(1, SyncEventSetTask::free, this::failed)
                        .setAddTasks(1, SyncEventAddTask::free, this::failed)
                        .setGetTasks(
                                1,
                                task -> {
                                    woken = task.value();
                                    task.free();
                                },
                                this::failed)
                        .setWaitGreaterTasks(
                                1,
                                task -> {
                                    woken = task.value();
                                    task.free();
                                },
                                this::failed);
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

    private void close() {
        queue.close();
        if (mode.equals("sync")) {
            event.stop();
        } else {
            event.asContext().stop();
            while (event.asContext().state() != ContextState.IDLE) {
                engine.progress();
            }
        }
        event.close();
        engine.close();
        device.close();
        machine.close();
    }

    private void failed(Task task) {
        ended = task.status();
        task.free();
    }

    private Object run(String command, long value) throws IOException {
        switch (command) {
            case "close" -> {
                close();
                return "done";
            }
            case "compute" -> { // until the next command
                say("computing " + value);
                long sum = value;
                while (System.in.available() == 0) {
                    for (int i = 0; i < 1_000_000; i++) {
                        sum += System.nanoTime() ^ sum;
                    }
                }
                return sum;
            }
            case "churn" -> { // updates, requests and short sleeps in turn, until it is killed
                SplittableRandom random = new SplittableRandom(value);
                SyncEventContext context = event.asContext();
                say("churning " + value);
                while (true) {
                    context.allocateAdd(random.nextInt(3)).submit();
                    if (context.allocatedTasks() < 2) {
                        context.allocateWaitGreater(Long.MAX_VALUE, SyncEvent.ALL_BITS).submit();
                    }
                    engine.await(Duration.ofNanos(random.nextInt(300_000)));
                    while (context.inFlightTasks() > 1) {
                        engine.progress();
                    }
                }
            }
            case "adds" -> { // many, and their system calls
                for (int i = 0; i < 1000; i++) {
                    event.add(1); // what is done once
                }
                Map<String, Long> before = CountedCalls.ofThisThread();
                for (long i = 1000; i < value; i++) {
                    event.add(1);
                }
                return since(before);
            }
            case "add1" -> { // one, and its system calls
                Map<String, Long> before = CountedCalls.ofThisThread();
                event.add(1);
                return since(before);
            }
            case "bus" -> {
                return busCalls();
            }
            case "set" -> {
                event.set(value);
                return value;
            }
            case "add" -> {
                return event.add(value);
            }
            case "get" -> {
                return event.get();
            }
            case "wait" -> {
                say("waiting " + thread());
                event.waitGreaterYield(value, SyncEvent.ALL_BITS);
                return event.get();
            }
            case "sleep" -> {
                return mode.equals("queue") ? sleepOnQueue(value) : sleepOnEngine(value);
            }
            default -> throw new IllegalArgumentException(command);
        }
    }

    /** System calls of the bus thread so far, which answers a client for that. */
    private long busCalls() {
        Bus bus = HandleImport.busOf(event.device());
        CompletableFuture<Long> calls = new CompletableFuture<>();
        SharedSegment memory = SharedSegment.allocate("question", 1);
        Endpoint asked =
                bus.listen(
                        "calls-" + ProcessHandle.current().pid(),
                        client -> {
                            calls.complete(
                                    CountedCalls.ofThisThread().values().stream()
                                            .mapToLong(count -> count)
                                            .sum());
                            client.refuse(Status.FULL.code(), "no handle: handles=0");
                        });
        try {
            var _ =
                    bus.connect(
                                    "calls-" + ProcessHandle.current().pid(),
                                    new byte[0],
                                    memory,
                                    Patience.NANOS)
                            .future();
            return calls.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
        } finally {
            asked.close();
            bus.release(memory);
        }
    }

    private static Map<String, Long> since(Map<String, Long> before) {
        Map<String, Long> calls = new TreeMap<>();
        CountedCalls.ofThisThread()
                .forEach((name, count) -> {
                    long more = count - before.getOrDefault(name, 0L);
                    if (more > 0) {
                        calls.put(name, more);
                    }
                });
        return calls;
    }

    private static String thread() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    }

    /** Prints a line once this thread has requested to be woken, from another thread. */
    private void tellWhenArmed() throws IOException {
        String line = number + " asleep " + thread();
        Sleepers sleepers = Objects.requireNonNull(event.handle(), "is started").sleepers;
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    Await.until("the thread has requested to be woken", sleepers::anyArmed);
                    System.out.println(line);
                });
    }

    private Object sleepOnEngine(long above) throws IOException {
        woken = 0;
        ended = Status.SUCCESS;
        event.asContext().allocateWaitGreater(above, SyncEvent.ALL_BITS).submit();
        tellWhenArmed();
        while (woken == 0 && ended == Status.SUCCESS) {
            engine.await(Deadline.NO_LIMIT);
        }
        return ended == Status.SUCCESS ? woken : ended;
    }

    private Object sleepOnQueue(long above) throws IOException {
        JobEvent retrieved = JobEvent.create();
        queue.submit(event.asContext().createWaitGreaterJob(above, SyncEvent.ALL_BITS));
        Status status = queue.progressRetrieve(retrieved);
        tellWhenArmed();
        while (status == Status.AGAIN) {
            queue.armEvent();
            queue.awaitEvent(Deadline.NO_LIMIT);
            queue.clearEvent();
            status = queue.progressRetrieve(retrieved);
        }
        return status == Status.SUCCESS ? retrieved.result() : retrieved.status();
    }
}
