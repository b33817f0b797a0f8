package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaCapabilities;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.compute.DmaTaskCallback;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import java.util.List;

/** DMA contexts, tasks and jobs. */
final class DmaFixtures {
    private DmaFixtures() {}

    static void register(Registry registry) {
        registry.none(DmaTaskCallback.class, "implemented by users, called by libraries only");
        registry.add(
                DmaCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> DmaCapabilities.of(scope.environment.p0.info()));
        registry.add(
                Dma.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "configured",
                        "running",
                        "running for jobs",
                        "on a queue",
                        "stopping",
                        "stopped",
                        "closed"),
                DmaFixtures::dma);
        registry.add(
                DmaMemcpyTask.class,
                Threads.OF_ENGINE,
                List.of("allocated", "in flight", "done", "freed", "context closed"),
                DmaFixtures::task);
        registry.add(
                DmaMemcpyJob.class,
                Threads.ONE_AT_A_TIME,
                List.of("created", "in flight", "retrieved", "context closed"),
                DmaFixtures::job);
    }

    private static Dma dma(FixtureScope scope, String state) {
        switch (state) {
            case "created" -> {
                return scope.keep(Dma.create(scope.environment.p0));
            }
            case "running for jobs" -> {
                return scope.startedDma();
            }
            case "on a queue" -> {
                return scope.dmaOf(scope.queueWithDma());
            }
            default -> {}
        }
        Dma dma = scope.dma();
        if (state.equals("configured")) {
            return dma;
        }
        scope.engine().connect(dma);
        switch (state) {
            case "running" -> dma.start();
            case "stopping" -> {
                dma.start();
                scope.keep(allocate(scope, dma));
                dma.stop();
            }
            case "stopped" -> {
                dma.start();
                scope.stop(dma);
            }
            case "closed" -> dma.close();
            default -> {}
        }
        return dma;
    }

    private static DmaMemcpyTask allocate(FixtureScope scope, Dma dma) {
        return dma.allocateMemcpy(
                scope.buf(scope.environment.p0, 64, 16), scope.buf(scope.environment.p0, 64, 16));
    }

    private static DmaMemcpyTask task(FixtureScope scope, String state) {
        Dma dma = dma(scope, "running");
        DmaMemcpyTask task = scope.keep(allocate(scope, dma));
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("done", () -> dma.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(dma);
                dma.close();
            }
            default -> {}
        }
        return task;
    }

    private static DmaMemcpyJob job(FixtureScope scope, String state) {
        // That which is closed is its own: other queues of the scope use theirs.
        Dma dma = state.equals("context closed") ? scope.startedDma() : scope.queuedDma();
        WorkQueue queue = scope.queueWith(dma);
        DmaMemcpyJob job = scope.job(queue);
        switch (state) {
            case "in flight" -> queue.submit(job);
            case "retrieved" -> {
                JobEvent event = JobEvent.create();
                queue.submit(job);
                scope.until("retrieved", () -> !queue.progressRetrieve(event).isError());
            }
            case "context closed" -> {
                queue.remove(dma);
                dma.close();
            }
            default -> {}
        }
        return job;
    }
}
