package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.CountedCalls;
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

/**
 * Process with one handle of a sync event, which does what its standard input says, a command per
 * line, and prints a line for each. Arguments: folder; {@code sync}, {@code engine} or {@code
 * queue}; the blob for a DPU handle, none for the CPU handle, whose blob it prints.
 */
public final class SyncEventPeer {

    private final SyncEvent event;
    private final String mode;
    private final ProgressEngine engine = ProgressEngine.create();
    private final WorkQueue queue = WorkQueue.create(4).setEventDriven(true);
    private long woken;
    private Status ended = Status.SUCCESS;

    private SyncEventPeer(SyncEvent event, String mode) {
        this.event = event;
        this.mode = mode;
    }

    public static void main(String[] arguments) throws IOException {
        boolean cpu = arguments.length == 2;
        Machine machine =
                Machine.builder(cpu ? Side.HOST : Side.DPU)
                        .fabricFolder(Path.of(arguments[0]))
                        .open();
        Device device = machine.findDevice(cpu ? "pf0" : "p0").open();
        SyncEvent event =
                cpu
                        ? SyncEvent.create(device)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU)
                        : SyncEvent.createFromExport(HexFormat.of().parseHex(arguments[2]), device);
        SyncEventPeer peer = new SyncEventPeer(event, arguments[1]);
        peer.start();
        if (cpu) {
            System.out.println("blob " + HexFormat.of().formatHex(event.exportPci(device)));
        } else {
            System.out.println("joined");
        }
        peer.serve();
        peer.stop();
        event.close();
        device.close();
        machine.close();
        System.out.println("closed");
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

    private void stop() {
        if (mode.equals("sync")) {
            event.stop();
            return;
        }
        if (mode.equals("queue")) {
            queue.close();
        }
        event.asContext().stop();
        while (event.asContext().state() != ContextState.IDLE) {
            engine.progress();
        }
    }

    private void failed(Task task) {
        ended = task.status();
        task.free();
    }

    private void serve() throws IOException {
        BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        String line;
        while ((line = commands.readLine()) != null) {
            String[] words = line.split(" ");
            long value = words.length > 1 ? Long.parseLong(words[1]) : 0;
            try {
                System.out.println(words[0] + " " + run(words[0], value));
            } catch (DpuException e) {
                System.out.println(words[0] + " " + e.status());
            }
        }
    }

    private Object run(String command, long value) throws IOException {
        switch (command) {
            case "compute" -> {
                System.out.println("computing");
                long sum = value;
                while (true) {
                    sum += System.nanoTime() ^ sum;
                    if (sum == 42) {
                        System.out.println("improbable");
                    }
                }
            }
            case "churn" -> { // updates, requests and short sleeps in turn, until it is killed
                SplittableRandom random = new SplittableRandom(value);
                SyncEventContext context = event.asContext();
                System.out.println("churning");
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
                return value + " " + busCalls();
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
                System.out.println("waiting " + thread());
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
                            Patience.NANOS);
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
        String line = "asleep " + thread();
        Sleepers sleepers = Objects.requireNonNull(event.handle(), "is started").sleepers;
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    while (!sleepers.anyArmed()) {
                        Thread.onSpinWait();
                    }
                    System.out.println(line);
                });
    }

    private Object sleepOnEngine(long above) throws IOException {
        woken = 0;
        ended = Status.SUCCESS;
        event.asContext().allocateWaitGreater(above, SyncEvent.ALL_BITS).submit();
        tellWhenArmed();
        while (woken == 0 && ended == Status.SUCCESS) {
            engine.await(Patience.LIMIT);
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
            queue.awaitEvent(Patience.LIMIT);
            queue.clearEvent();
            status = queue.progressRetrieve(retrieved);
        }
        return status == Status.SUCCESS ? retrieved.result() : retrieved.status();
    }
}
