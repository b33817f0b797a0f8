package io.softdpu.samples;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One end of a Comm Channel between the two processes of a sample: registers the send task and the
 * event of a received message, sends a message, and keeps the received one.
 */
final class MessageChannel {
    private final ComchEndpoint endpoint;
    private final ProgressEngine engine;
    private final Deadline deadline;
    private @Nullable ComchConnection from;
    private byte @Nullable [] received;
    private boolean delivered;

    /** Configures the endpoint and connects it to the engine. */
    MessageChannel(ComchEndpoint endpoint, ProgressEngine engine, Deadline deadline) {
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

    /** Sleeps until a message has come. */
    byte[] awaitMessage() {
        runUntil(() -> received != null, endpoint);
        return Objects.requireNonNull(received, "awaited");
    }

    /**
     * Does what there is to do. The peer may sleep until it is told that its message has been
     * delivered, which happens when there is nothing else: before this thread waits without the
     * engine.
     */
    void settle() {
        while (engine.progress()) {
            deadline.check("end of the work of the channel");
        }
    }

    private void runUntil(BooleanSupplier condition, Context... contexts) {
        engine.runUntil(condition, deadline.remaining(), contexts);
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
        runUntil(() -> delivered);
    }
}
