package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.EventMode;
import io.softdpu.core.execution.Job;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.JobType;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerListener;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.execution.SubmitFlags;
import io.softdpu.core.execution.WorkQueue;
import java.util.List;

/** Work queues, their jobs, and what else goes with submissions. */
final class WorkQueueFixtures {
    private WorkQueueFixtures() {}

    static void register(Registry registry) {
        registry.value(DataPathLocation.class, DataPathLocation.CPU);
        registry.value(EventMode.class, EventMode.SELECTIVE);
        registry.value(SubmitFlags.class, SubmitFlags.FLUSH);
        registry.value(JobType.class, new JobType("misuse"));
        registry.value(SanitizerReport.Kind.class, SanitizerReport.Kind.TASK_LEAKED);
        registry.value(
                SanitizerReport.class,
                new SanitizerReport(
                        SanitizerReport.Kind.TASK_LEAKED, "misused: object=x", 1, null));
        registry.none(Job.class, "an interface; its calls are made on all that implement it");
        registry.none(SanitizerListener.class, "implemented by users, called by libraries only");
        registry.add(
                WorkQueue.class,
                Threads.OF_ENGINE,
                List.of("added", "job in flight", "armed", "event-driven", "created", "closed"),
                WorkQueueFixtures::queue);
        registry.add(
                JobEvent.class,
                Threads.ONE_AT_A_TIME,
                List.of("filled", "created", "emptied"),
                WorkQueueFixtures::event);
        registry.add(
                Sanitizer.class,
                Threads.ANY,
                List.of("on", "closed"),
                (scope, state) -> {
                    Sanitizer sanitizer = scope.keep(Sanitizer.start(1));
                    if (state.equals("closed")) {
                        sanitizer.close();
                    }
                    return sanitizer;
                });
    }

    private static WorkQueue queue(FixtureScope scope, String state) {
        WorkQueue queue = scope.keep(WorkQueue.create(2));
        if (state.equals("created")) {
            return queue;
        }
        if (state.equals("armed") || state.equals("event-driven")) {
            queue.setEventDriven(true);
        }
        queue.add(scope.dmaOf(queue));
        switch (state) {
            case "job in flight" -> queue.submit(scope.job(queue));
            case "armed" -> {
                queue.submit(scope.job(queue));
                queue.armEvent();
            }
            case "closed" -> queue.close();
            default -> {}
        }
        return queue;
    }

    private static JobEvent event(FixtureScope scope, String state) {
        JobEvent event = JobEvent.create();
        if (state.equals("created")) {
            return event;
        }
        WorkQueue queue = scope.queueWithDma();
        queue.submit(scope.job(queue));
        scope.until("retrieved", () -> !queue.progressRetrieve(event).isError());
        if (state.equals("emptied")) {
            queue.progressRetrieve(event);
        }
        return event;
    }
}
