package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventAddJob;
import io.softdpu.core.sync.SyncEventAddTask;
import io.softdpu.core.sync.SyncEventCapabilities;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventGetJob;
import io.softdpu.core.sync.SyncEventGetTask;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.core.sync.SyncEventSetJob;
import io.softdpu.core.sync.SyncEventSetTask;
import io.softdpu.core.sync.SyncEventTaskCallback;
import io.softdpu.core.sync.SyncEventWaitJob;
import io.softdpu.core.sync.SyncEventWaitTask;
import java.util.List;
import java.util.function.Function;

/** Sync events, their contexts, tasks and jobs. */
final class SyncFixtures {
    /** A value that ends each wait of the good arguments. */
    private static final long VALUE = 3;

    private static final List<String> TASK_STATES =
            List.of("allocated", "in flight", "done", "freed");
    private static final List<String> JOB_STATES = List.of("created", "in flight", "retrieved");

    private SyncFixtures() {}

    static void register(Registry registry) {
        registry.none(
                SyncEventTaskCallback.class, "implemented by users, called by libraries only");
        registry.value(SyncEventLocation.class, SyncEventLocation.CPU);
        registry.add(
                SyncEventCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> SyncEventCapabilities.of(scope.environment.pf0.info()));
        registry.add(
                SyncEvent.class,
                Threads.ONE_AT_A_TIME,
                List.of(
                        "started",
                        "created",
                        "configured",
                        "as context",
                        "asynchronous",
                        "stopped",
                        "closed",
                        "DPU handle",
                        "DPU started",
                        "DPU ended",
                        "of a peer"),
                SyncFixtures::event);
        registry.add(
                RemoteSyncEvent.class,
                Threads.ANY,
                List.of("open", "ended", "closed"),
                SyncFixtures::remote);
        registry.add(
                SyncEventContext.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "running",
                        "for jobs",
                        "on a queue",
                        "stopped",
                        "closed"),
                SyncFixtures::context);
        task(registry, SyncEventGetTask.class, SyncEventContext::allocateGet);
        task(registry, SyncEventSetTask.class, context -> context.allocateSet(VALUE));
        task(registry, SyncEventAddTask.class, context -> context.allocateAdd(1));
        task(
                registry,
                SyncEventWaitTask.class,
                context -> context.allocateWaitNotEqual(1, SyncEvent.ALL_BITS));
        job(registry, SyncEventGetJob.class, SyncEventContext::createGetJob);
        job(registry, SyncEventSetJob.class, context -> context.createSetJob(VALUE));
        job(registry, SyncEventAddJob.class, context -> context.createAddJob(1));
        job(
                registry,
                SyncEventWaitJob.class,
                context -> context.createWaitGreaterJob(0, SyncEvent.ALL_BITS));
    }

    /** A blob for the near side of a started event of the far side. */
    static byte[] remoteBlob(FixtureScope scope) {
        SyncEvent event =
                scope.keep(SyncEvent.create(scope.environment.t0))
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.CPU)
                        .start();
        event.set(VALUE);
        return event.exportRdma(scope.environment.t0);
    }

    private static RemoteSyncEvent remote(FixtureScope scope, String state) {
        SyncEvent event =
                scope.keep(SyncEvent.create(scope.environment.t0))
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.CPU)
                        .start();
        RemoteSyncEvent remote =
                scope.keep(
                        RemoteSyncEvent.createFromExport(
                                event.exportRdma(scope.environment.t0), scope.environment.p0));
        switch (state) {
            case "ended" -> {
                event.stop();
                event.close();
            }
            case "closed" -> remote.close();
            default -> {}
        }
        return remote;
    }

    /** A blob of a started event. */
    static byte[] blob(FixtureScope scope) {
        return event(scope, "started").exportPci(scope.environment.pf0);
    }

    private static SyncEvent configured(FixtureScope scope) {
        return scope.keep(SyncEvent.create(scope.environment.pf0))
                .addPublisherLocation(SyncEventLocation.CPU)
                .addSubscriberLocation(SyncEventLocation.DPU);
    }

    private static SyncEvent event(FixtureScope scope, String state) {
        switch (state) {
            case "created" -> {
                return scope.keep(SyncEvent.create(scope.environment.pf0));
            }
            case "DPU handle", "DPU started", "DPU ended" -> {
                return handle(scope, state);
            }
            case "of a peer" -> {
                SyncEvent event =
                        scope.keep(SyncEvent.create(scope.environment.pf0))
                                .addPublisherLocation(SyncEventLocation.REMOTE)
                                .addSubscriberLocation(SyncEventLocation.CPU)
                                .start();
                event.set(VALUE); // or waits for it would not end
                return event;
            }
            default -> {}
        }
        SyncEvent event = configured(scope);
        switch (state) {
            case "started" -> event.start().set(VALUE);
            case "as context" -> scope.keep(event.asContext());
            case "asynchronous" -> scope.keep(event.asContext()).start();
            case "stopped" -> event.start().stop();
            case "closed" -> event.close();
            default -> {}
        }
        return event;
    }

    private static SyncEvent handle(FixtureScope scope, String state) {
        SyncEvent event = event(scope, "started");
        SyncEvent handle =
                scope.keep(
                        SyncEvent.createFromExport(
                                event.exportPci(scope.environment.pf0), scope.environment.p0));
        if (!state.equals("DPU handle")) {
            handle.start();
        }
        if (state.equals("DPU ended")) {
            event.stop();
            event.close();
        }
        return handle;
    }

    private static SyncEventContext context(FixtureScope scope, String state) {
        SyncEventContext context = scope.keep(configured(scope).asContext());
        switch (state) {
            case "created" -> {
                return context;
            }
            case "for jobs", "on a queue" -> {
                context.start();
                if (state.equals("on a queue")) {
                    scope.keep(WorkQueue.create(2)).add(context);
                }
                return context;
            }
            default -> {}
        }
        context.setGetTasks(1, task -> {}, task -> {})
                .setSetTasks(2, task -> {}, task -> {})
                .setAddTasks(1, task -> {}, task -> {})
                .setWaitGreaterTasks(1, task -> {}, task -> {})
                .setWaitEqualTasks(1, task -> {}, task -> {})
                .setWaitNotEqualTasks(1, task -> {}, task -> {});
        scope.engine().connect(context);
        switch (state) {
            case "running" -> context.start();
            case "stopped" -> {
                context.start();
                scope.stop(context);
            }
            case "closed" -> context.close();
            default -> {}
        }
        return context;
    }

    private static <T extends Task> void task(
            Registry registry, Class<T> type, Function<SyncEventContext, T> allocate) {
        registry.add(
                type,
                Threads.OF_ENGINE,
                TASK_STATES,
                (scope, state) -> {
                    SyncEventContext context = context(scope, "running");
                    T task = scope.keep(allocate.apply(context));
                    switch (state) {
                        case "in flight" -> task.submit();
                        case "done" -> {
                            task.submit();
                            scope.until("done", () -> context.inFlightTasks() == 0);
                        }
                        case "freed" -> task.free();
                        default -> {}
                    }
                    return task;
                });
    }

    private static <J extends Job> void job(
            Registry registry, Class<J> type, Function<SyncEventContext, J> create) {
        registry.add(
                type,
                Threads.ONE_AT_A_TIME,
                JOB_STATES,
                (scope, state) -> {
                    SyncEventContext context = context(scope, "for jobs");
                    WorkQueue queue = scope.keep(WorkQueue.create(2));
                    queue.add(context);
                    J job = create.apply(context);
                    JobEvent event = JobEvent.create();
                    queue.submit(context.createSetJob(VALUE));
                    scope.until("set", () -> queue.progressRetrieve(event) == Status.SUCCESS);
                    if (!state.equals("created")) {
                        queue.submit(job);
                    }
                    if (state.equals("retrieved")) {
                        scope.until("done", () -> queue.progressRetrieve(event) == Status.SUCCESS);
                    }
                    return job;
                });
    }
}
