package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Messages of the basic path: send tasks of the server and the client. Those that are measured
 * begin with a zero byte, those by which the two sides agree with a letter.
 */
final class BasicPath implements MessagePath {
    private static final byte FIRST_BYTE = 0;

    /** The task of the last message may complete after its answer has come. */
    private static final int TASKS = 2;

    /** User data of the tasks of measured messages. */
    private static final long MEASURED = 1;

    private final MemorySegment message;
    private @Nullable ComchEndpoint endpoint;
    private @Nullable ComchConnection connection;
    private int inFlight;

    /** Status of the last measured message that failed. */
    private Status failure = Status.SUCCESS;

    BasicPath(ComchPlan plan) {
        message = MemorySegment.ofArray(new byte[Math.toIntExact(plan.sizeBytes())]);
    }

    /** Whether a received message is a measured one. */
    static boolean isMeasured(MemorySegment received) {
        return received.byteSize() > 0 && received.get(ValueLayout.JAVA_BYTE, 0) == FIRST_BYTE;
    }

    @Override
    public void configure(ComchEndpoint created) {
        endpoint = created;
        created.setSendTasks(ComchSide.CONTROL_TASKS + TASKS, this::done, this::failed);
    }

    private void failed(ComchSendTask task) {
        if (task.userData() == MEASURED) {
            failure = task.status();
        }
        done(task);
    }

    private void requireNoFailure() {
        if (failure != Status.SUCCESS) {
            throw MessagePath.refused(failure, Objects.requireNonNull(connection, "connected"));
        }
    }

    private void done(ComchSendTask task) {
        if (task.userData() == MEASURED) {
            inFlight--;
        }
        task.free();
    }

    @Override
    public void receive(ComchConnection over) {
        connection = over; // the endpoint receives
    }

    @Override
    public void produce(ComchConnection over) {
        connection = over;
    }

    @Override
    public boolean trySend(long stamp) {
        requireNoFailure();
        if (inFlight == TASKS) {
            return false;
        }
        ComchConnection to = Objects.requireNonNull(connection, "connected");
        ComchSendTask task = Objects.requireNonNull(endpoint, "configured").allocateSendTask(to);
        Status status =
                task.setUserData(MEASURED)
                        .setMessage(message, 0, (int) message.byteSize())
                        .trySubmit();
        if (status == Status.SUCCESS) {
            inFlight++;
            return true;
        }
        task.free();
        if (status != Status.AGAIN) {
            throw MessagePath.refused(status, to);
        }
        return false;
    }

    @Override
    public boolean allSent() {
        requireNoFailure();
        return inFlight == 0;
    }

    @Override
    public void freeIdle() {
        // A task is freed when it completes.
    }
}
