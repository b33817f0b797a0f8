package gettingstarted;

import static io.softdpu.core.execution.Deadline.NO_LIMIT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchReceiveBuffer;
import io.softdpu.comch.ComchSendBuffer;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStream;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A key-value service on the DPU; with the arguments NUMBER ROUNDS one of its clients. */
public final class KeyValue {
    private static final int BYTES = 16; // key and value; a request with the value 0 gets
    private static final Map<Long, Long> VALUES = new HashMap<>();
    private static final Set<ComchStream> STREAMS = new HashSet<>();
    private static final CompletableFuture<Void> ENDED = new CompletableFuture<>();
    private static boolean ends;

    public static void main(String[] arguments) {
        switch (arguments.length) {
            case 0 -> serve();
            case 2 -> ask(Long.parseLong(arguments[0]), Long.parseLong(arguments[1]));
            default -> throw new IllegalArgumentException("usage: KeyValue [NUMBER ROUNDS]");
        }
    }

    private static void serve() {
        try (Machine machine = Machine.open(Side.DPU);
                Device port = machine.findDevice("03:00.0").open();
                Representor function = port.findRepresentor("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(port, function, "key-value")) {
            Runtime.getRuntime().addShutdownHook(new Thread(ENDED::join)); // the JVM waits for it
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> engine.execute(() -> ends = true)));
            server.setConnectedCallback(connection -> accept(engine, connection));
            engine.start(server.acceptStreams(), NO_LIMIT);
            System.out.println("serving: name=" + server.serverName());
            engine.runUntil(() -> ends, NO_LIMIT, server);
            Set.copyOf(STREAMS).forEach(ComchStream::close); // delivers the replies
        } finally {
            System.out.println("ended: keys=" + VALUES.size());
            ENDED.complete(null);
        }
    }

    private static void accept(ProgressEngine engine, ComchConnection connection) {
        if (!ends) {
            ComchStream stream = ComchStream.create(connection).setReadyCallback(KeyValue::answer);
            stream.setStateChangedCallback(
                    (_, _, next) -> {
                        if (next == ContextState.IDLE) {
                            close(stream);
                        }
                    });
            STREAMS.add(stream);
            engine.connect(stream);
            stream.start();
        }
    }

    private static void close(ComchStream stream) {
        STREAMS.remove(stream);
        stream.close();
        stream.connection().disconnect(); // does nothing if it has ended
    }

    private static void answer(ComchStream stream) {
        try {
            while (true) {
                // The reply's buffer first: without one the request waits in its own until "ready".
                try (ComchSendBuffer reply = stream.tryClaim();
                        ComchReceiveBuffer request = reply == null ? null : stream.tryReceive()) {
                    if (request == null) {
                        return;
                    }
                    if (request.length() != BYTES) {
                        throw new IllegalArgumentException("bytes=" + request.length());
                    }
                    long key = request.segment().get(JAVA_LONG, 0);
                    long value = request.segment().get(JAVA_LONG, 8);
                    value = VALUES.merge(key, value, (old, put) -> put == 0 ? old : put);
                    send(reply, key, value, BYTES);
                }
            }
        } catch (RuntimeException e) { // costs this client only
            System.err.println("bad request: " + e.getMessage());
            stream.stop();
        }
    }

    private static void send(ComchSendBuffer buffer, long key, long value, int bytes) {
        buffer.segment().set(JAVA_LONG, 0, key);
        buffer.segment().set(JAVA_LONG, 8, value);
        buffer.send(bytes);
    }

    private static void ask(long number, long rounds) {
        try (Machine machine = Machine.open(Side.HOST);
                Device function = machine.findDevice("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create()) {
            while (true) {
                try (ComchClient client = ComchClient.create(function, "key-value")) {
                    engine.start(client.acceptStreams(), NO_LIMIT);
                    try (ComchStream stream = ComchStream.create(client.connection())) {
                        engine.start(stream, NO_LIMIT);
                        ask(stream, number, rounds);
                        engine.runUntil(() -> false, NO_LIMIT, stream);
                    }
                } catch (DpuException e) {
                    System.out.println("connects again: status=" + e.status());
                }
            }
        }
    }

    private static void ask(ComchStream stream, long number, long rounds) {
        for (long round = 1; round <= rounds; round++) {
            for (long key = 16 * number; key < 16 * (number + 1); key++) {
                send(stream.claim(NO_LIMIT), key, key << 32 | round, number == 0 ? 1 : BYTES);
                send(stream.claim(NO_LIMIT), key, 0, BYTES);
            }
            for (long i = 0; i < 32; i++) {
                try (ComchReceiveBuffer reply = stream.receive(NO_LIMIT)) {
                    long expected = (16 * number + i / 2) << 32 | round;
                    if (reply != null && reply.segment().get(JAVA_LONG, 8) != expected) {
                        throw new IllegalStateException("wrong value: expected=" + expected);
                    }
                }
            }
            if (round % 1000 == 1) {
                System.out.println("checked: client=" + number + ", round=" + round);
            }
        }
    }
}
