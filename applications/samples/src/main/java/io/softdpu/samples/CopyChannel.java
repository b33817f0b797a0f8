package io.softdpu.samples;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One end of the Comm Channel between the two processes of dma-copy: sends a message, and keeps the
 * received one.
 */
final class CopyChannel {
    /** Maximum time of a sleep before the deadline is checked. */
    private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ComchEndpoint endpoint;
    private final ProgressEngine engine;
    private final Deadline deadline;
    private @Nullable ComchConnection from;
    private byte @Nullable [] received;
    private boolean delivered;

    /** Configures the endpoint and connects it to the engine. */
    CopyChannel(ComchEndpoint endpoint, ProgressEngine engine, Deadline deadline) {
        this.endpoint = endpoint;
        this.engine = engine;
        this.deadline = deadline;
        endpoint.setMessageCallback((connection, message) -> {
            if (received == null) { // the first; a second one is ignored
                from = connection;
                received = message.toArray(ValueLayout.JAVA_BYTE); // gone after this
            }
        });
        endpoint.setSendTasks(
                1,
                task -> {
                    task.free();
                    delivered = true;
                },
                task -> {
                    Status status = task.status();
                    task.free();
                    throw new DpuException(status, "message was not delivered");
                });
        engine.connect(endpoint);
    }

    /** Progresses, and sleeps where there is nothing to do, until this holds. */
    void await(String what, BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            DpuException failure = endpoint.failure();
            if (failure != null) {
                throw new DpuException(failure.status(), "channel has ended: " + what, failure);
            }
            if (from != null && !from.isConnected()) {
                throw new DpuException(Status.CONNECTION_RESET, "peer has gone: awaited=" + what);
            }
            deadline.check(what);
            engine.await(Math.min(NAP_NANOS, deadline.remainingNanos()));
        }
    }

    /** Until a message has come. */
    byte[] awaitMessage(String what) {
        await(what, () -> received != null);
        return Objects.requireNonNull(received, "awaited");
    }

    /** The connection that has sent it. */
    ComchConnection sender() {
        return Objects.requireNonNull(from, "a message has come");
    }

    /** Sends a message, and returns when it was delivered. */
    void send(ComchConnection to, byte[] message) {
        delivered = false;
        ComchSendTask task = endpoint.allocateSendTask(to);
        task.setMessage(message);
        Status submitted = task.trySubmit();
        while (submitted == Status.AGAIN) { // no room just now
            engine.progress();
            deadline.check("room for a message");
            submitted = task.trySubmit();
        }
        if (submitted != Status.SUCCESS) {
            task.free();
            throw new DpuException(submitted, "message was not submitted");
        }
        // Its callback comes in any case. A peer that has what it wanted may be gone before that.
        while (!delivered) {
            deadline.check("delivery of a message");
            engine.await(Math.min(NAP_NANOS, deadline.remainingNanos()));
        }
    }

    /** Stops the endpoint, which may take some progress. */
    void stop() {
        endpoint.stop();
        while (endpoint.state() != ContextState.IDLE) {
            engine.progress();
            deadline.check("end of the channel");
        }
    }
}
