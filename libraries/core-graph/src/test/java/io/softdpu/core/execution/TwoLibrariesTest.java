package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventAddJob;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.core.sync.SyncEventSetJob;
import io.softdpu.testkit.Clause;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Jobs of contexts of two libraries, two of each, on one work queue. */
class TwoLibrariesTest extends WorkQueueFixture {
    @Test
    @Clause({"core-151", "core-155"})
    void shouldAwaitTheJobsOfContextsOfDifferentTypesFromOneQueue() {
        TinyJobs second = machines.add(new TinyJobs("second", device));
        second.start();
        queue.add(second);
        SyncEvent event1 = startedAsynchronously();
        SyncEvent event2 = startedAsynchronously();
        TinyJob slow = context.job();
        slow.setSlices(3);
        TinyJob quick = second.job(TinyJobs.SHOUT);
        SyncEventSetJob set = event1.asContext().createSetJob(5);
        SyncEventAddJob add = event2.asContext().createAddJob(7);
        Map<Job, JobType> submitted =
                Map.of(
                        slow, TinyJobs.COUNT,
                        quick, TinyJobs.SHOUT,
                        set, SyncEventContext.SET_JOB,
                        add, SyncEventContext.ADD_JOB);
        for (Job job : List.of(slow, set, quick, add)) {
            queue.submit(job);
        }
        Map<Job, JobType> retrieved = new HashMap<>();
        while (retrieved.size() < submitted.size()) {
            assertThat(retrieve()).isEqualTo(Status.SUCCESS);
            assertThat(retrieved.put(event.job(), event.type())).as("each once").isNull();
        }
        assertThat(retrieved).isEqualTo(submitted);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        assertThat(add.previous()).as("of an event of its own").isZero();
        for (SyncEvent each : List.of(event1, event2)) {
            queue.remove(each.asContext());
            each.asContext().stop();
            each.close();
        }
        queue.remove(second);
        second.stop();
    }

    private SyncEvent startedAsynchronously() {
        SyncEvent started =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.CPU);
        started.asContext().start();
        queue.add(started.asContext());
        return started;
    }
}
