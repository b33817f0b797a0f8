package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A server or client with a producer and a consumer, those of a stream, as a process that sleeps
 * once a message has gone each way, until it is killed.
 */
public final class SleepingPeer {
    /** Argument for a sleep on the engine's event handle; others use {@code await}. */
    static final String EVENT = "event";

    private static final int BUFFER_BYTES = 64;

    private SleepingPeer() {}

    /** Arguments: side, folder, the way of waiting. Prints the id of the thread that sleeps. */
    public static void main(String[] arguments) throws IOException {
        Side side = Side.valueOf(arguments[0]);
        StreamPeer peer = new StreamPeer(side, Path.of(arguments[1]));
        ComchConnection connection = peer.connection();
        ProgressEngine engine = peer.engine;
        ComchStream stream = peer.stream(connection);
        stream.claim(Patience.LIMIT).send(BUFFER_BYTES);
        stream.receive(Patience.LIMIT).close();
        System.out.println(
                "asleep " + Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName());
        boolean event = arguments[2].equals(EVENT);
        while (stream.state() == ContextState.RUNNING) {
            if (!event) {
                engine.await(Deadline.NO_LIMIT);
                continue;
            }
            engine.requestNotification();
            engine.awaitNotification(Deadline.NO_LIMIT);
            engine.clearNotification();
            while (engine.progress()) {}
        }
        throw new AssertionError("peer has ended", stream.failure());
    }
}
