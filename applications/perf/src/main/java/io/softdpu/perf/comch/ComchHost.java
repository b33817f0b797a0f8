package io.softdpu.perf.comch;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfReport;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The host side: drives the load. It measures round trips itself; one-way messages are measured by
 * the DPU.
 */
public final class ComchHost extends ComchSide implements HostSide<ComchPlan, ComchFigures> {
    /** The sockets of a process close before its parent is notified of its end. */
    private static final long LATE_MILLIS = 200;

    private final Process otherHalf;
    private final List<ProducerThread> otherProducers = new ArrayList<>();
    private final List<Long> sentByProducer = new ArrayList<>();
    private final Latencies roundTrips = new Latencies();
    private @Nullable IdleClients idle;
    private @Nullable PerfReport before;
    private @Nullable PerfReport report;
    private long receivedSoFar;
    private long sent;
    private long begin;
    private long sentAt;
    private long returned;
    private long returnedAt;
    private boolean over;
    private boolean owed;

    /**
     * Opens the machine and the device.
     *
     * @param pair the devices of both sides
     * @param otherHalf the process of the DPU; the host does not wait any more once it has ended
     */
    public ComchHost(ComchPlan plan, ComchPair pair, Path fabric, Process otherHalf) {
        this(plan, pair, fabric, otherHalf, plan.deadlineNanos());
    }

    ComchHost(
            ComchPlan plan,
            ComchPair pair,
            Path fabric,
            Process otherHalf,
            long silenceTimeoutNanos) {
        super(plan, pair, fabric, Side.HOST, silenceTimeoutNanos);
        this.otherHalf = otherHalf;
    }

    @Override
    Object peerName() {
        return "DPU process " + otherHalf.pid();
    }

    @Override
    void checkPeer() {
        try {
            super.checkPeer();
        } catch (DpuException e) {
            throw otherHalfEndsWithin(LATE_MILLIS) ? otherHalfEnded(e) : e;
        }
        if (!otherHalf.isAlive()) {
            throw otherHalfEnded(null);
        }
    }

    private boolean otherHalfEndsWithin(long millis) {
        try {
            return otherHalf.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private DpuException otherHalfEnded(@Nullable DpuException cause) {
        return new DpuException(
                Status.CONNECTION_RESET,
                "process of the DPU has ended: " + JvmCommand.describeExit(otherHalf.exitValue()),
                cause);
    }

    /**
     * Connects, warms up and measures as often as the plan says.
     *
     * @throws io.softdpu.core.DpuException if the other side does not come, does not answer, or
     *     goes; CONNECTION_ABORTED after {@link #abort}
     */
    @Override
    public PerfResult<ComchPlan, ComchFigures> run() {
        ComchClient client = ComchClient.create(device, SERVER);
        client.setConnectTimeout(Duration.ofNanos(plan.deadlineNanos()));
        startEndpoint(client);
        until("connected", () -> client.state() == ContextState.RUNNING);
        if (plan.mode().isRoundTrip()) {
            receive(client.connection());
        }
        produce(client.connection());
        if (plan.mode() == ComchMode.IDLE) {
            idle = new IdleClients(this);
            return new PerfResult<>(plan, List.of(idle.run()));
        }
        int[] consumers = client.connection().remoteConsumers();
        while (otherProducers.size() < plan.producers() - 1) {
            int consumer = consumerOf(otherProducers.size() + 1, consumers, client.connection());
            otherProducers.add(
                    keep(
                            new ProducerThread(
                                    plan,
                                    device,
                                    client.connection(),
                                    consumer,
                                    engine,
                                    this::abortReason)));
        }
        return measure(plan);
    }

    /** The consumer that a producer sends to: its own, or the only one. */
    private int consumerOf(int producer, int[] consumers, ComchConnection connection) {
        if (consumers.length < plan.consumers()) {
            throw MessagePath.refused(Status.NOT_FOUND, connection); // the peer has ended
        }
        return consumers[plan.consumers() == 1 ? 0 : producer];
    }

    @Override
    public long lineNanos() {
        sendControl(ComchDpu.LINE);
        return sharedLine().measure(plan.deadlineNanos(), this::checkMeanwhile);
    }

    @Override
    public ResourceUse begin() {
        before = report();
        roundTrips.reset();
        returned = 0;
        return before.use();
    }

    @Override
    public void drive(boolean isWarmUp) {
        begin = System.nanoTime();
        if (plan.mode().isRoundTrip()) {
            pingPong();
        } else {
            oneWay();
        }
    }

    @Override
    public ResourceUse end() {
        return report().use();
    }

    @Override
    public PerfRun<ComchFigures> result(ResourceUse host, ResourceUse used, double others) {
        PerfReport first = Objects.requireNonNull(before, "begun");
        PerfReport last = Objects.requireNonNull(report, "ended");
        boolean there = plan.mode().isRoundTrip();
        return new PerfRun<>(
                there ? returned : last.operations() - first.operations(),
                (there ? returnedAt : last.value()) - begin, // one clock, see ComchDpu
                there ? roundTrips.percentiles() : last.latencies(),
                host,
                used,
                others,
                null,
                new ComchFigures(there ? List.of(returned) : sentByProducer, null));
    }

    private void pingPong() {
        over = false;
        ping(begin);
        long deadline = deadlineAfter(begin);
        int idleTurns = 0;
        while (!over) {
            if (owed) {
                ping(System.nanoTime());
            }
            if (turn()) {
                idleTurns = 0;
                deadline = deadlineAfter(sentAt);
            } else if (++idleTurns >= plan.waiting().turnsPerCheck()) {
                idleTurns = 0;
                checkSilence(() -> "the message comes back", deadline);
            }
        }
        until("all messages have been sent", this::allSent);
    }

    private void ping(long nowNanos) {
        sentAt = nowNanos;
        owed = !send(0);
    }

    private void oneWay() {
        long now = begin;
        long deadline = deadlineAfter(now);
        long first = sent;
        int timedEach = PerfPlan.operationsPerTimed(plan.sizeBytes());
        List<ProducerThread.Load> others =
                otherProducers.stream().map(each -> each.begin(begin + plan.nanos())).toList();
        while (now - begin < plan.nanos()) {
            while (send((sent - first) % timedEach == 0 ? System.nanoTime() : 0)) {
                // until there is neither a message nor a buffer for it
            }
            boolean progressed = turn();
            now = System.nanoTime();
            if (progressed) {
                deadline = deadlineAfter(now);
            } else {
                checkSilence(() -> "the messages are taken", deadline);
            }
        }
        until("all messages have been sent", this::allSent);
        until(
                "all producers have sent their messages",
                () -> others.stream().allMatch(ProducerThread.Load::isOver));
        sentByProducer.clear();
        sentByProducer.add(sent - first);
        for (ProducerThread.Load each : others) {
            sentByProducer.add(each.sent());
            sent += each.sent();
        }
    }

    private boolean send(long stamp) {
        if (!trySend(stamp)) {
            return false;
        }
        sent++;
        return true;
    }

    /** The report of the DPU after it has received all messages. */
    private PerfReport report() {
        report = null;
        sendControl(ComchDpu.REPORT + sent);
        until(
                () -> "receipt of all messages, received=" + receivedSoFar + ", sent=" + sent,
                () -> report != null);
        PerfReport answer = report;
        if (answer == null || answer.operations() != sent) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "the other side has not received what was sent: report=%s, sent=%d",
                            answer, sent));
        }
        receivedSoFar = sent;
        return answer;
    }

    @Override
    void received(long stamp) {
        returnedAt = System.nanoTime();
        long roundTrip = returnedAt - sentAt;
        returned++;
        if (returnedAt - begin < plan.nanos()) {
            ping(returnedAt);
        } else {
            over = true;
        }
        roundTrips.record(roundTrip); // while the next one is on its way
    }

    @Override
    void receivedControl(String message) {
        if (idle != null) {
            idle.receivedControl(message);
        } else if (message.startsWith(ComchDpu.SO_FAR)) {
            receivedSoFar = numberIn(message, ComchDpu.SO_FAR);
        } else {
            PerfReport.parse(message).ifPresent(answer -> report = answer);
        }
    }
}
