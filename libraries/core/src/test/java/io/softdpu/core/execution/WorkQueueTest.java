package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.TinyJobs.TinyJob;
import io.softdpu.core.spi.JobBase;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkQueueTest extends WorkQueueFixture {
    @Test
    @Clause({"core-127", "core-128", "core-129"})
    @Clause("core-025")
    void shouldSubmitWithoutWaitingAndAnswerAgainUntilTheJobIsDone() {
        TinyJob job = context.job();
        job.setSlices(3);
        job.setUserData(Long.MIN_VALUE + 7);
        job.setUserObject(this);
        queue.submit(job);
        assertThat(context.slices).hasValue(0);
        assertThat(job.isInFlight()).isTrue();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        assertThat(event.isValid()).isFalse();
        Thrown.with(Status.BAD_STATE, event::job);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(event.isValid()).isTrue();
        assertThat(event.job()).isSameAs(job);
        assertThat(event.type()).isEqualTo(TinyJobs.COUNT);
        assertThat(event.status()).isEqualTo(Status.SUCCESS);
        assertThat(event.userData()).isEqualTo(Long.MIN_VALUE + 7);
        assertThat(event.userObject()).isSameAs(this);
        assertThat(job.isInFlight()).isFalse();
        assertThat(queue.progressRetrieve(event)).as("once").isEqualTo(Status.AGAIN);
        assertThat(event.isValid()).isFalse();
    }

    @Test
    void shouldGiveTheNumberOfAJob() {
        TinyJob job = context.job();
        job.number = Long.MIN_VALUE + 3;
        Thrown.with(Status.BAD_STATE, event::result);
        queue.submit(job);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.result()).isEqualTo(Long.MIN_VALUE + 3);
    }

    @Test
    @Clause({"core-125", "core-135"})
    void shouldReturnFromSubmitBeforeItDoesWhatTheJobDescribes() {
        TinyJob first = context.job(TinyJobs.SHOUT);
        first.setSlices(2);
        TinyJob second = context.job(TinyJobs.COUNT);
        queue.submit(first);
        queue.submit(second);
        assertThat(context.slices).as("nothing is done yet").hasValue(0);
        assertThat(queue.inFlightJobs()).isEqualTo(2);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.type()).isEqualTo(TinyJobs.SHOUT);
        assertThat(context.slices).hasValue(2);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.type()).isEqualTo(TinyJobs.COUNT);
        assertThat(context.slices).hasValue(3);
    }

    @Test
    @Clause("core-039")
    void shouldDoJobsOnEachDeviceOfItsMachine() {
        for (Side side : Side.values()) {
            Machine machine = machines.open(side);
            assertThat(machine.devices())
                    .extracting(DeviceInfo::function)
                    .isEqualTo(Topology.builtin().functionsOf(side));
            for (DeviceInfo info : machine.devices()) {
                assertThat(info.function().side()).isEqualTo(side);
                TinyJobs there =
                        machines.add(
                                new TinyJobs(
                                        "there", machines.device(machine, info.interfaceName())));
                there.start();
                queue.add(there);
                queue.submit(there.job());
                assertThat(retrieve()).as("%s", info).isEqualTo(Status.SUCCESS);
                queue.remove(there);
                there.stop();
            }
        }
    }

    @Test
    @Clause("core-154")
    void shouldAnswerAgainWhileNoJobHasFinished() {
        assertThat(queue.progressRetrieve(event)).as("without any").isEqualTo(Status.AGAIN);
        TinyJob job = context.job();
        job.setSlices(3);
        queue.submit(job);
        for (int slice = 1; slice <= 2; slice++) {
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
            assertThat(context.slices).hasValue(slice);
        }
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        assertThat(queue.progressRetrieve(event)).as("no other").isEqualTo(Status.AGAIN);
    }

    @Test
    @Clause({"core-153", "core-155", "core-151"})
    void shouldCountTheJobsOfSeveralContextsFromOnePlace() {
        TinyJobs second = machines.add(new TinyJobs("second", device));
        second.start();
        queue.add(second);
        List<Job> submitted = new ArrayList<>();
        for (TinyJobs each : List.of(context, second)) {
            for (JobType type : List.of(TinyJobs.COUNT, TinyJobs.SHOUT)) {
                TinyJob job = each.job(type);
                queue.submit(job);
                submitted.add(job);
            }
        }
        List<Job> retrieved = new ArrayList<>();
        while (retrieved.size() < submitted.size()) {
            assertThat(retrieve()).isEqualTo(Status.SUCCESS);
            assertThat(event.type()).isEqualTo(event.job().type());
            retrieved.add(event.job());
        }
        assertThat(retrieved).containsExactlyInAnyOrderElementsOf(submitted);
        assertThat(queue.progressRetrieve(event)).as("each once").isEqualTo(Status.AGAIN);
        assertThat(queue.inFlightJobs()).isZero();
        queue.remove(second);
        second.stop();
    }

    /**
     * More contexts than a queue has room for at first, more jobs in all than its ring has places.
     */
    @Test
    @Clause({"core-150", "core-151", "core-153"})
    @Clause({"core-128", "core-155"})
    void shouldAwaitTheJobsOfManyContextsRoundAfterRound() {
        List<TinyJobs> contexts = new ArrayList<>(List.of(context));
        for (int i = 0; i < 6; i++) {
            TinyJobs another = machines.add(new TinyJobs("tiny " + i, device));
            another.start();
            queue.add(another);
            contexts.add(another);
        }
        for (int round = 0; round < contexts.size(); round++) {
            List<Job> submitted = new ArrayList<>();
            for (int i = 0; i < DEPTH - 1; i++) {
                TinyJob job = contexts.get((round + i) % contexts.size()).job();
                job.atOnce = i == 0;
                queue.submit(job);
                submitted.add(job);
            }
            List<Job> retrieved = new ArrayList<>();
            while (retrieved.size() < submitted.size()) {
                assertThat(retrieve()).isEqualTo(Status.SUCCESS);
                retrieved.add(event.job());
            }
            assertThat(retrieved).containsExactlyInAnyOrderElementsOf(submitted);
            assertThat(queue.progressRetrieve(event)).as("each once").isEqualTo(Status.AGAIN);
        }
        for (TinyJobs each : contexts.subList(1, contexts.size())) {
            queue.remove(each);
            each.stop();
        }
    }

    @Test
    @Clause({"core-131", "core-134", "core-150"})
    void shouldAcceptTheTypesOfItsContextsAndNoOthers() {
        TinyJobs other = machines.add(new TinyJobs("other", device));
        other.start();
        assertThat(queue.trySubmit(other.job())).isEqualTo(Status.NOT_FOUND);
        Thrown.with(Status.NOT_FOUND, () -> queue.submit(other.job()))
                .hasMessageContainingAll("tiny count", "other");
        assertThat(queue.trySubmit(new ForeignJob(context))).isEqualTo(Status.INVALID_VALUE);
        assertThat(queue.inFlightJobs()).isZero();
        assertThat(queue.trySubmit(context.job(TinyJobs.SHOUT))).isEqualTo(Status.SUCCESS);
        assertThat(queue.trySubmit(context.job(TinyJobs.COUNT))).isEqualTo(Status.SUCCESS);

        queue.add(other);
        assertThat(queue.trySubmit(other.job())).as("of both now").isEqualTo(Status.SUCCESS);
        for (int i = 0; i < 3; i++) {
            assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        }
        assertThat(other.slices).as("its own job").hasValue(1);
        queue.remove(other);
        assertThat(queue.trySubmit(other.job())).as("removed").isEqualTo(Status.NOT_FOUND);
    }

    @Test
    @Clause("core-131")
    void shouldRefuseAJobWithoutAContext() {
        Thrown.with(Status.INVALID_VALUE, () -> new ForeignJob(null))
                .hasMessageContaining("argument=context");
        Thrown.with(Status.INVALID_VALUE, () -> queue.submit(null))
                .hasMessageContaining("argument=job");
    }

    @Test
    @Clause("core-127")
    void shouldTakeAsManyJobsAsItIsDeep() {
        List<TinyJob> jobs = new ArrayList<>();
        for (int i = 0; i < DEPTH; i++) {
            jobs.add(context.job());
            queue.submit(jobs.getLast());
        }
        TinyJob more = context.job();
        assertThat(queue.trySubmit(more)).isEqualTo(Status.NO_MEMORY);
        Thrown.with(Status.NO_MEMORY, () -> queue.submit(more))
                .hasMessageContainingAll("inFlight=4", "depth=4");
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(queue.trySubmit(more)).isEqualTo(Status.SUCCESS);
        assertThat(queue.depth()).isEqualTo(DEPTH);
    }

    @Test
    void shouldHoldAJobUntilItIsRetrieved() {
        TinyJob job = context.job();
        job.atOnce = true;
        queue.submit(job);
        assertThat(queue.trySubmit(job)).isEqualTo(Status.IN_USE);
        Thrown.with(Status.IN_USE, () -> job.setUserData(1)).hasMessageContaining("tiny count");
        Thrown.with(Status.IN_USE, () -> job.setUserObject(null));
        Thrown.with(Status.IN_USE, () -> job.setSlices(2));
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
        job.setUserData(1);
        assertThat(queue.trySubmit(job)).as("used again").isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldLeaveAJobThatIsNotValidToItsUser() {
        TinyJob job = context.job();
        job.valid = false;
        assertThat(queue.trySubmit(job)).isEqualTo(Status.INVALID_VALUE);
        assertThat(job.isInFlight()).isFalse();
        assertThat(queue.inFlightJobs()).isZero();
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
    }

    @Test
    @Clause({"core-138", "core-258", "core-259"})
    @Clause("core-129")
    void shouldTellWhichJobHasFailedAndHow() {
        TinyJob good = context.job();
        TinyJob bad = context.job();
        bad.outcome = Status.NOT_PERMITTED;
        bad.setUserData(255);
        queue.submit(bad);
        queue.submit(good);
        assertThat(bad.status()).as("before it is retrieved").isEqualTo(Status.SUCCESS);
        assertThat(retrieve()).isEqualTo(Status.IO_FAILED);
        assertThat(event.isValid()).isTrue();
        assertThat(event.job()).isSameAs(bad);
        assertThat(event.userData()).isEqualTo(255);
        assertThat(event.status()).isEqualTo(Status.NOT_PERMITTED);
        assertThat(event).hasToString("event[type=tiny count, status=NOT_PERMITTED, userData=255]");
        assertThat(retrieve()).as("work goes on").isEqualTo(Status.SUCCESS);
        assertThat(event.job()).isSameAs(good);
        assertThat(event.status()).isEqualTo(Status.SUCCESS);
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);

        for (Status next : List.of(Status.TIME_OUT, Status.SUCCESS, Status.DRIVER)) {
            bad.outcome = next;
            queue.submit(bad);
            assertThat(retrieve())
                    .as("%s, after another result", next)
                    .isEqualTo(next == Status.SUCCESS ? next : Status.IO_FAILED);
            assertThat(event.status()).isEqualTo(next);
        }
    }

    @Test
    @Clause({"core-139", "core-256", "core-257"})
    void shouldDistinguishAnErrorThatBelongsToNoJob() {
        TinyJob job = context.job();
        queue.submit(job);
        assertThat(queue.progressRetrieve(null)).isEqualTo(Status.INVALID_VALUE);
        assertThat(context.slices).as("nothing has gone on").hasValue(0);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        assertThat(event.isValid()).as("before the error").isTrue();
        queue.submit(job);

        context.defect = new IllegalStateException("memory is gone");
        assertThat(queue.progressRetrieve(event)).isEqualTo(Status.INVALID_VALUE);
        assertThat(event.isValid()).isFalse();
        assertThat(event).hasToString("event[not valid]");
        Thrown.with(Status.BAD_STATE, event::job);
        Thrown.with(Status.BAD_STATE, event::status).hasMessageContaining("not valid");
        Thrown.with(Status.BAD_STATE, event::type);
        Thrown.with(Status.BAD_STATE, event::userData);
        Thrown.with(Status.BAD_STATE, event::userObject);
        assertThat(context.failure()).hasMessageContaining("memory is gone");
    }

    @Test
    @Clause({"core-139", "core-258"})
    void shouldTellByTheContextThatItHasToBeInitialisedAgain() {
        TinyJob broken = context.job();
        broken.outcome = Status.IO_FAILED;
        broken.breaksContext = true;
        TinyJob flushed = context.job();
        queue.submit(broken);
        queue.submit(flushed);
        assertThat(retrieve()).isEqualTo(Status.IO_FAILED);
        assertThat(event.job()).isSameAs(broken);
        assertThat(context.state()).isEqualTo(ContextState.STOPPING);
        assertThat(context.failure().status()).isEqualTo(Status.IO_FAILED);
        assertThat(queue.trySubmit(broken)).isEqualTo(Status.BAD_STATE);
        assertThat(retrieve()).isEqualTo(Status.IO_FAILED);
        assertThat(event.job()).isSameAs(flushed);
        assertThat(event.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        queue.remove(context);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        context.start();
        assertThat(context.failure()).isNull();
        queue.add(context);
        queue.submit(flushed);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("core-156")
    void shouldGiveBackTheJobsOfAContextThatHasFailedByItself() {
        queue.submit(context.job());
        queue.submit(context.job());
        context.defect = new IllegalStateException("memory is gone");
        List<Status> answers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            answers.add(queue.progressRetrieve(event));
        }
        assertThat(answers)
                .containsExactly(
                        Status.INVALID_VALUE, Status.IO_FAILED, Status.IO_FAILED, Status.AGAIN);
    }

    @Test
    @Clause({"core-144", "core-146"})
    void shouldWantAStartedContext() {
        TinyJobs idle = machines.add(new TinyJobs("idle", device));
        Thrown.with(Status.BAD_STATE, () -> queue.add(idle)).hasMessageContaining("state=IDLE");
        idle.start();
        assertThat(queue.trySubmit(idle.job())).as("not added").isEqualTo(Status.NOT_FOUND);
        queue.add(idle);
        assertThat(queue.trySubmit(idle.job())).isEqualTo(Status.SUCCESS);
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        WorkQueue second = machines.add(WorkQueue.create(1));
        assertThat(second.trySubmit(idle.job()))
                .as("added to another queue alone")
                .isEqualTo(Status.NOT_FOUND);
        Thrown.with(Status.IN_USE, () -> queue.add(idle)).hasMessageContaining("idle");
        queue.remove(idle);
        Thrown.with(Status.NOT_FOUND, () -> queue.remove(idle)).hasMessageContaining("idle");
        assertThat(queue.trySubmit(idle.job())).as("removed").isEqualTo(Status.NOT_FOUND);
    }

    @Test
    @Clause("core-148")
    void shouldBeRefusedByAContextThatHasAsManyQueuesAsItMay() {
        TinyJobs single = machines.add(new TinyJobs("single", device));
        single.maxQueues = 1;
        single.start();
        queue.add(single);
        WorkQueue second = machines.add(WorkQueue.create(1));
        Thrown.with(Status.IN_USE, () -> second.add(single))
                .hasMessageContainingAll("single", "queues=1");
        second.add(context);
        queue.remove(single);
        second.add(single);
        assertThat(second.trySubmit(single.job())).isEqualTo(Status.SUCCESS);
        assertThat(second.progressRetrieve(event)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldBeRefusedByContextsThatWorkOnEngines() {
        TinyContext tasksOnly = machines.add(new TinyContext(device));
        Thrown.with(Status.NOT_SUPPORTED, () -> queue.add(tasksOnly))
                .hasMessageContaining("has no jobs");
        ProgressEngine engine = machines.add(ProgressEngine.create());
        TinyJobs connected = machines.add(new TinyJobs("connected", device));
        engine.connect(connected);
        connected.start();
        Thrown.with(Status.BAD_STATE, () -> queue.add(connected))
                .hasMessageContaining("has a progress engine");
        Thrown.with(Status.BAD_STATE, () -> engine.connect(context));
        assertThat(connected.calls).containsExactly("start on an engine");
        assertThat(context.calls).containsExactly("start on work queues");
    }

    @Test
    void shouldNotStartWithoutAnEngineWhatOnlyAnEngineCanDrive() {
        TinyJobs withCallback = machines.add(new TinyJobs("told", device));
        withCallback.setStateChangedCallback((c, previous, next) -> {});
        Thrown.with(Status.BAD_STATE, withCallback::start)
                .hasMessageContaining("callback for states needs a progress engine");
        withCallback.setStateChangedCallback(null);
        withCallback.configured = false;
        Thrown.with(Status.BAD_STATE, withCallback::start).hasMessageContaining("item=counter");
        withCallback.configured = true;
        assertThat(withCallback.start()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldNotStopAContextUnderItsQueues() {
        queue.submit(context.job());
        Thrown.with(Status.NOT_PERMITTED, context::stop)
                .hasMessageContainingAll("tiny", "queues=1");
        Thrown.with(Status.NOT_PERMITTED, context::close);
        Thrown.with(Status.NOT_PERMITTED, () -> queue.remove(context))
                .hasMessageContaining("jobs=1");
        Thrown.with(Status.IN_USE, queue::close).hasMessageContaining("jobs=1");
        assertThat(retrieve()).isEqualTo(Status.SUCCESS);
        queue.close();
        queue.close();
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.BAD_STATE, () -> queue.submit(context.job()))
                .hasMessageContaining("closed");
        Thrown.with(Status.BAD_STATE, () -> queue.progressRetrieve(event));
    }

    @Test
    void shouldRefuseADepthOutOfRange() {
        for (int depth : new int[] {0, -1, WorkQueue.MAX_DEPTH + 1, Integer.MIN_VALUE}) {
            Thrown.with(Status.INVALID_VALUE, () -> WorkQueue.create(depth))
                    .hasMessageContaining("depth=" + depth);
        }
        Thrown.with(Status.INVALID_VALUE, () -> new JobType(" "));
    }

    /** Job of another library, for this context. */
    private static final class ForeignJob extends JobBase<Job> {
        ForeignJob(TinyJobs context) {
            super(context, TinyJobs.COUNT);
        }
    }
}
