package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuSide;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfReport;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The DPU side: echoes or consumes messages, and reports their number and its resource use. */
public final class ComchDpu extends ComchSide implements DpuSide {
    /** A question of the host: report once so many messages, a number follows, have come in all. */
    static final String REPORT = "report ";

    /** An answer while they have not: so many have come, a number follows. */
    static final String SO_FAR = "received ";

    /** A request of the host: answer in the shared line, for its time. */
    static final String LINE = "line";

    /** Interval of reports of the number of messages to a waiting host. */
    private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long NOT_ASKED = -1;

    private final ComchPair pair;
    private final Latencies latencies = new Latencies();
    private final List<ConsumerThread> otherConsumers = new ArrayList<>();
    private @Nullable ComchConnection client;
    private @Nullable IdleServer idle;
    private long received;
    private long receivedAtNanos;
    private long wanted = NOT_ASKED;
    private long toldAtNanos;
    private int owed;
    private boolean isLineAsked;

    /** Opens the machine and the device. */
    public ComchDpu(ComchPlan plan, ComchPair pair, Path fabric) {
        super(plan, pair, fabric, Side.DPU, plan.deadlineNanos());
        this.pair = pair;
    }

    /**
     * Serves one host until it has gone; they agree by control messages.
     *
     * @throws DpuException TIME_OUT if none comes; CONNECTION_ABORTED after {@link #abort}
     */
    @Override
    public void run(InputStream in, PrintStream out) {
        run();
    }

    void run() {
        Device port = device;
        Representor host = keep(port.findRepresentor(pair.host().pciAddress().toString()).open());
        ComchServer server = ComchServer.create(port, host, SERVER);
        server.setMaxClients(1);
        server.setConnectedCallback(arrived -> client = arrived);
        startEndpoint(server);
        until("host connects", () -> client != null);
        ComchConnection connection = client;
        if (connection == null) {
            throw new AssertionError("awaited");
        }
        try {
            if (plan.mode() == ComchMode.IDLE) {
                idle = new IdleServer(this, connection);
                idle.serve(host);
            } else {
                serve(connection);
            }
        } catch (DpuException e) {
            if (e.status() != Status.CONNECTION_RESET) {
                throw e;
            }
            // The host has ended during the load: it reports the reason, if it can.
        }
    }

    private void serve(ComchConnection connection) {
        receive(connection);
        while (otherConsumers.size() < plan.consumers() - 1) {
            otherConsumers.add(keep(new ConsumerThread(plan, device, connection, engine)));
        }
        if (plan.mode().isRoundTrip()) {
            produce(connection);
        }
        while (connection.isConnected()) {
            long before = received;
            turn();
            if (received != before) {
                // The clock is read once per iteration, not per message. The host sends nothing
                // between its
                // question and the answer, so this is the moment of the last that it asks for.
                receivedAtNanos = System.nanoTime();
            }
            answer();
            if (isLineAsked) {
                isLineAsked = false;
                sharedLine().answer(plan.deadlineNanos(), this::checkMeanwhile);
            }
        }
    }

    private void answer() {
        while (owed > 0 && trySend(0)) {
            owed--;
        }
        for (ConsumerThread each : otherConsumers) {
            each.requireNoFailure();
        }
        if (wanted == NOT_ASKED) {
            return;
        }
        long all = receivedByAll();
        if (all >= wanted) {
            wanted = NOT_ASKED;
            report(all);
        } else if (System.nanoTime() - toldAtNanos > TELL_NANOS) {
            toldAtNanos = System.nanoTime();
            sendControl(SO_FAR + all);
        }
    }

    private long receivedByAll() {
        long all = received;
        for (ConsumerThread each : otherConsumers) {
            all += each.received();
        }
        return all;
    }

    /** Messages that each consumer has received; for tests. */
    List<Long> receivedByConsumer() {
        List<Long> each = new ArrayList<>(List.of(received));
        otherConsumers.forEach(other -> each.add(other.received()));
        return each;
    }

    private void report(long all) {
        ResourceUse use = ResourceUse.now();
        long lastNanos = receivedAtNanos;
        for (ConsumerThread each : otherConsumers) {
            each.setAwaited(false);
            each.moveLatencies(latencies);
            if (each.received() > 0 && each.receivedAtNanos() - lastNanos > 0) {
                lastNanos = each.receivedAtNanos();
            }
        }
        sendControl(new PerfReport(all, lastNanos, latencies.percentiles(), use).toString());
        latencies.reset();
    }

    @Override
    void received(long stamp) {
        received++;
        if (plan.mode().isRoundTrip()) {
            if (!trySend(0)) {
                owed++;
            }
        } else if (stamp != 0) {
            // The host's clock: System.nanoTime() is CLOCK_MONOTONIC on Linux, which is one and
            // the same for all processes of a machine.
            latencies.record(System.nanoTime() - stamp);
        }
    }

    @Override
    void receivedControl(String message) {
        if (idle != null) {
            idle.receivedControl(message);
        } else if (message.startsWith(REPORT)) {
            wanted = numberIn(message, REPORT);
            toldAtNanos = System.nanoTime();
            otherConsumers.forEach(each -> each.setAwaited(true));
        } else if (message.equals(LINE)) {
            isLineAsked = true; // not here: this is inside progress()
        }
    }
}
