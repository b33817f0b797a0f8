package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.compute.Compress;
import io.softdpu.compute.Sha;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaCapabilities;
import io.softdpu.compute.ShaHashJob;
import io.softdpu.compute.ShaHashTask;
import io.softdpu.compute.ShaPartialHashJob;
import io.softdpu.compute.ShaPartialHashTask;
import io.softdpu.compute.ShaSession;
import io.softdpu.compute.ShaTaskCallback;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.Task;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import java.util.List;

/** SHA contexts, tasks, sessions and jobs. */
final class ShaFixtures {
    private static final List<String> STATES_OF_TASK =
            List.of("allocated", "in flight", "done", "freed", "context closed");
    private static final List<String> STATES_OF_JOB =
            List.of("created", "in flight", "retrieved", "context closed");

    private ShaFixtures() {}

    static void register(Registry registry) {
        registry.none(ShaTaskCallback.class, "implemented by users, called by libraries only");
        registry.unsupported(Compress.class);
        registry.value(ShaAlgorithm.class, ShaAlgorithm.SHA256);
        registry.add(
                ShaCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> ShaCapabilities.of(scope.environment.p0.info()));
        registry.add(
                Sha.class,
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
                ShaFixtures::sha);
        registry.add(ShaHashTask.class, Threads.OF_ENGINE, STATES_OF_TASK, ShaFixtures::task);
        registry.add(
                ShaPartialHashTask.class,
                Threads.OF_ENGINE,
                STATES_OF_TASK,
                ShaFixtures::partialTask);
        registry.add(
                ShaSession.class,
                Threads.ONE_AT_A_TIME,
                List.of("created", "in flight", "in progress"),
                ShaFixtures::session);
        registry.add(ShaHashJob.class, Threads.ONE_AT_A_TIME, STATES_OF_JOB, ShaFixtures::job);
        registry.add(
                ShaPartialHashJob.class,
                Threads.ONE_AT_A_TIME,
                STATES_OF_JOB,
                ShaFixtures::partialJob);
    }

    private static Sha sha(FixtureScope scope, String state) {
        Sha sha = scope.keep(Sha.create(scope.environment.p0));
        switch (state) {
            case "created" -> {
                return sha;
            }
            case "running for jobs" -> {
                sha.start();
                return sha;
            }
            case "on a queue" -> {
                queueWith(scope, sha);
                return sha;
            }
            default -> {}
        }
        sha.setHashTasks(1, task -> {}, task -> {}).setPartialHashTasks(1, task -> {}, task -> {});
        if (state.equals("configured")) {
            return sha;
        }
        scope.engine().connect(sha);
        switch (state) {
            case "running" -> sha.start();
            case "stopping" -> {
                sha.start();
                scope.keep(sha.allocateHash(ShaAlgorithm.SHA256, source(scope), room(scope)));
                sha.stop();
            }
            case "stopped" -> {
                sha.start();
                scope.stop(sha);
            }
            case "closed" -> sha.close();
            default -> {}
        }
        return sha;
    }

    /** A session that the receiver's jobs can be of. */
    static ShaSession sessionFor(FixtureScope scope, Object receiver) {
        Sha sha = receiver instanceof Sha context ? context : otherSha(scope);
        return sha.createSession(ShaAlgorithm.SHA256);
    }

    /** A session of a context that no job of the scope is of. */
    static ShaSession otherSession(FixtureScope scope) {
        return otherSha(scope).createSession(ShaAlgorithm.SHA256);
    }

    private static Sha otherSha(FixtureScope scope) {
        return scope.keep(Sha.create(scope.environment.p0));
    }

    private static Buf source(FixtureScope scope) {
        return scope.buf(scope.environment.p0, 128, 64);
    }

    private static Buf room(FixtureScope scope) {
        return scope.buf(scope.environment.p0, 200, 0);
    }

    private static ShaHashTask task(FixtureScope scope, String state) {
        Sha sha = sha(scope, "running");
        ShaHashTask task =
                scope.keep(sha.allocateHash(ShaAlgorithm.SHA256, source(scope), room(scope)));
        bringTo(scope, sha, task, state);
        return task;
    }

    private static ShaPartialHashTask partialTask(FixtureScope scope, String state) {
        Sha sha = sha(scope, "running");
        ShaPartialHashTask task =
                scope.keep(
                        sha.allocatePartialHash(ShaAlgorithm.SHA256, source(scope), room(scope)));
        bringTo(scope, sha, task, state);
        return task;
    }

    private static void bringTo(FixtureScope scope, Sha sha, Task task, String state) {
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("done", () -> sha.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(sha);
                sha.close();
            }
            default -> {}
        }
    }

    private static WorkQueue queueWith(FixtureScope scope, Sha sha) {
        sha.start();
        WorkQueue queue = scope.keep(WorkQueue.create(2));
        queue.add(sha);
        return queue;
    }

    private static ShaHashJob job(FixtureScope scope, String state) {
        Sha sha = otherSha(scope);
        WorkQueue queue = queueWith(scope, sha);
        ShaHashJob job = sha.createHashJob(ShaAlgorithm.SHA256, source(scope), room(scope));
        bringTo(scope, sha, queue, job, state);
        return job;
    }

    private static ShaPartialHashJob partialJob(FixtureScope scope, String state) {
        Sha sha = otherSha(scope);
        WorkQueue queue = queueWith(scope, sha);
        ShaPartialHashJob job =
                sha.createPartialHashJob(
                        sha.createSession(ShaAlgorithm.SHA256), source(scope), room(scope));
        bringTo(scope, sha, queue, job, state);
        return job;
    }

    private static ShaSession session(FixtureScope scope, String state) {
        String ofJob = state.equals("in progress") ? "retrieved" : state;
        return partialJob(scope, ofJob).session();
    }

    private static void bringTo(
            FixtureScope scope, Sha sha, WorkQueue queue, Job job, String state) {
        switch (state) {
            case "in flight" -> queue.submit(job);
            case "retrieved" -> {
                JobEvent event = JobEvent.create();
                queue.submit(job);
                scope.until("retrieved", () -> !queue.progressRetrieve(event).isError());
            }
            case "context closed" -> {
                queue.remove(sha);
                sha.close();
            }
            default -> {}
        }
    }
}
