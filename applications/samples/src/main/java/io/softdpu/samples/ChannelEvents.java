package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.StateChangedCallback;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/**
 * Prints each change of connection and context state of a Comm Channel sample, and keeps the
 * current connection. Its callbacks run inside progress, like all callbacks.
 */
final class ChannelEvents {
    private final PrintStream out;
    private @Nullable ComchConnection connection;

    ChannelEvents(PrintStream out) {
        this.out = out;
    }

    /** Registers for the events of a server: it learns of connections by callbacks of their own. */
    void register(ComchServer server) {
        server.setStateChangedCallback(changesOf("server"));
        server.setConnectedCallback(this::connected);
        server.setRefusedCallback((refused, reason) ->
                out.println(
                        "refused: function="
                                + refused.function()
                                + ", reason="
                                + reason.getMessage()));
        server.setDisconnectedCallback(this::disconnected);
    }

    /**
     * Registers for the events of a client: it has one connection, which is there while it runs.
     */
    void register(ComchClient client) {
        client.setStateChangedCallback((context, previous, next) -> {
            printChange("client", previous, next);
            if (next == ContextState.RUNNING) {
                connected(client.connection());
            }
            ComchConnection ended = connection;
            if (next == ContextState.IDLE && ended != null) {
                disconnected(ended, client.failure());
            }
        });
    }

    /** Registers for the events of another context, such as a producer. */
    void register(Context context, String name) {
        context.setStateChangedCallback(changesOf(name));
    }

    /**
     * Stops a context and waits until it is IDLE. The events of a stop that takes effect at once
     * come with the next progress.
     */
    static void stop(Context context, ProgressEngine engine, Deadline deadline) {
        engine.stop(context, deadline.remaining());
        engine.progress();
    }

    /** The connection that was established last and has not ended; null if there is none. */
    @Nullable ComchConnection connection() {
        return connection;
    }

    private StateChangedCallback changesOf(String name) {
        return (context, previous, next) -> printChange(name, previous, next);
    }

    private void printChange(String name, ContextState previous, ContextState next) {
        out.println(name + ": " + previous + " to " + next);
    }

    private void connected(ComchConnection established) {
        out.println("connected: function=" + established.function());
        connection = established;
    }

    private void disconnected(ComchConnection ended, @Nullable DpuException reason) {
        out.println("disconnected: function=" + ended.function() + ", orderly=" + (reason == null));
        if (ended == connection) {
            connection = null;
        }
    }
}
