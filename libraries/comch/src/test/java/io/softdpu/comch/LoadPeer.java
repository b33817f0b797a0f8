package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Server or client with a {@link LoadSession} on each connection, one at a time, on a thread of its
 * own; also as a process. Any thread calls it.
 */
public final class LoadPeer implements AutoCloseable {
    /** Command to the process: finish the load. */
    static final String FINISH = "finish";

    /** Command to the process: print what the load has sent and received. */
    static final String TOTALS = "totals";

    /** Number of calls of the engine that have returned. */
    final AtomicLong passes = new AtomicLong();

    /** Number of connections so far. */
    final AtomicLong sessions = new AtomicLong();

    private final Machine machine;
    private final Device device;
    private final @Nullable Representor representor;
    private final String name;
    private final Thread thread;
    private volatile boolean connecting;
    private volatile ContextState state = ContextState.IDLE;
    private volatile @Nullable LoadSession session;
    private volatile @Nullable Throwable failure;
    private volatile boolean closing;

    /** A server is started; a client by {@link #connect()}. */
    LoadPeer(Side side, Path fabric, String name) {
        this.name = name;
        machine = Machine.builder(side).fabricFolder(fabric).open();
        boolean server = side == Side.DPU;
        device = machine.findDevice(server ? "p0" : "pf0").open();
        representor = server ? device.findRepresentor("hpf0").open() : null;
        thread = Thread.ofPlatform().daemon().name("load-" + side).start(this::run);
        ContextState awaited = server ? ContextState.RUNNING : ContextState.IDLE;
        Await.until("engine runs", () -> passes.get() > 0 && state() == awaited);
    }

    /** Arguments: side, fabric folder, name of the server. Ends with its input. */
    public static void main(String[] arguments) throws IOException {
        Side side = Side.valueOf(arguments[0]);
        try (LoadPeer peer = new LoadPeer(side, Path.of(arguments[1]), arguments[2])) {
            System.out.println("ready");
            if (side == Side.HOST) {
                peer.connect();
            }
            LoadSession session = peer.awaitSession(1);
            System.out.println("connected");
            BufferedReader input =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                switch (line) {
                    case FINISH -> {
                        peer.finish(session);
                        System.out.println("finished");
                    }
                    case TOTALS -> System.out.println("totals " + session.totals());
                    default -> throw new IllegalArgumentException(line);
                }
            }
        }
    }

    /** Starts the client, which is IDLE. */
    void connect() {
        connecting = true;
    }

    ContextState state() {
        requireNoFailure();
        return state;
    }

    /** The session with this number, from 1, when it has begun. */
    LoadSession awaitSession(int number) {
        Await.until(
                Text.format("session %d of %s", number, thread.getName()),
                () -> {
                    requireNoFailure();
                    return sessions.get() >= number;
                });
        return session;
    }

    /** Ends the load of a session, together with the peer's. */
    void finish(LoadSession of) {
        of.finish();
        of.join();
        of.await(
                "messages delivered",
                () -> {
                    requireNoFailure();
                    return of.messagesCompleted.get() == of.messagesSubmitted.get();
                });
    }

    void requireNoFailure() {
        if (failure != null) {
            throw new AssertionError("failed: " + thread.getName(), failure);
        }
    }

    @Override
    public void close() {
        closing = true;
        try {
            if (!thread.join(Patience.DEADLINE)) {
                throw new AssertionError("does not end: " + thread.getName());
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        requireNoFailure();
        if (representor != null) {
            representor.close();
        }
        device.close();
        machine.close();
    }

    // ---- on the thread ----

    private void run() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            // Its descriptors for deadlines are created with the first timer, and kept.
            engine.timer(() -> {});
            ComchEndpoint endpoint =
                    representor == null
                            ? ComchClient.create(device, name).setConnectTimeout(Patience.LIMIT)
                            : server(ComchServer.create(device, representor, name));
            engine.connect(endpoint);
            endpoint.setControlTimeout(Patience.LIMIT);
            endpoint.setSendTasks(8, this::messageEnded, this::messageEnded);
            endpoint.setMessageCallback(
                    (from, message) -> requireSession(from).messageArrived(message));
            endpoint.setConsumerCallbacks((from, id) -> {}, (from, id) -> {});
            if (representor != null) {
                endpoint.start();
            }
            while (!closing) {
                if (connecting) {
                    connecting = false;
                    endpoint.start();
                }
                if (endpoint instanceof ComchClient client) {
                    watch(client);
                }
                if (session != null) {
                    session.step();
                }
                engine.await(LoadWorker.PAUSE);
                passes.incrementAndGet();
                state = endpoint.state();
            }
            engine.stop(endpoint, Patience.LIMIT);
            endpoint.close();
        } catch (Throwable e) {
            failure = e;
        }
    }

    private ComchServer server(ComchServer server) {
        return server.setConnectedCallback(this::begin)
                .setDisconnectedCallback((connection, reason) -> {
                    if (reason != null) {
                        requireSession(connection).lost();
                    }
                });
    }

    private void watch(ComchClient client) {
        if (client.state() == ContextState.RUNNING) {
            if (session == null || session.connection != client.connection()) {
                begin(client.connection());
            }
        } else if (session != null && client.failure() != null) {
            session.lost();
        }
    }

    private void begin(ComchConnection connection) {
        session = new LoadSession(connection, device);
        sessions.incrementAndGet();
    }

    /** A message may come before the client has seen that it runs. */
    private LoadSession requireSession(ComchConnection of) {
        if (session == null || session.connection != of) {
            begin(of);
        }
        return session;
    }

    private void messageEnded(ComchSendTask task) {
        requireSession(task.connection()).messageEnded(task.status());
        task.free();
    }
}
