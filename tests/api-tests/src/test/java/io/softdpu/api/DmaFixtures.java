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
        registry.none(DmaTaskCallback.class, "the user's to implement, nobody's to call");
        registry.add(
                DmaCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scene, state) -> DmaCapabilities.of(scene.world.p0.info()));
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

    private static Dma dma(Scene scene, String state) {
        switch (state) {
            case "created" -> {
                return scene.keep(Dma.create(scene.world.p0));
            }
            case "running for jobs" -> {
                return scene.startedDma();
            }
            case "on a queue" -> {
                return scene.dmaOf(scene.queueWithDma());
            }
            default -> {}
        }
        Dma dma = scene.dma();
        if (state.equals("configured")) {
            return dma;
        }
        scene.engine().connect(dma);
        switch (state) {
            case "running" -> dma.start();
            case "stopping" -> {
                dma.start();
                scene.keep(allocate(scene, dma));
                dma.stop();
            }
            case "stopped" -> {
                dma.start();
                scene.stop(dma);
            }
            case "closed" -> dma.close();
            default -> {}
        }
        return dma;
    }

    private static DmaMemcpyTask allocate(Scene scene, Dma dma) {
        return dma.allocateMemcpy(
                scene.buf(scene.world.p0, 64, 16), scene.buf(scene.world.p0, 64, 16));
    }

    private static DmaMemcpyTask task(Scene scene, String state) {
        Dma dma = dma(scene, "running");
        DmaMemcpyTask task = scene.keep(allocate(scene, dma));
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scene.until("done", () -> dma.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scene.stop(dma);
                dma.close();
            }
            default -> {}
        }
        return task;
    }

    private static DmaMemcpyJob job(Scene scene, String state) {
        // That which is closed is its own: other queues of the scene use theirs.
        Dma dma = state.equals("context closed") ? scene.startedDma() : scene.queuedDma();
        WorkQueue queue = scene.queueWith(dma);
        DmaMemcpyJob job = scene.job(queue);
        switch (state) {
            case "in flight" -> queue.submit(job);
            case "retrieved" -> {
                JobEvent event = JobEvent.create();
                queue.submit(job);
                scene.until("retrieved", () -> !queue.progressRetrieve(event).isError());
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
