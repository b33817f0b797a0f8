package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.PerfHost;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfReport;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.util.Objects;

/** The host side: submits the operations and measures. */
public final class RdmaHost extends PerfHost<RdmaPlan, RdmaFigures> {
    private final RdmaSide rdma;
    private final Requests requests;
    private final Latencies roundTrips = new Latencies();
    private long nanos;
    private byte number;

    /**
     * Opens the machine, the device, the memory and the RDMA instance.
     *
     * @param pair the devices of both sides
     * @param dpu the process of the DPU; the host does not wait any more once it has ended
     */
    public RdmaHost(RdmaPlan plan, ComchPair pair, Path fabric, Process dpu) {
        super(plan, pair, fabric, dpu);
        boolean isReceiver = plan.isAnswered() && plan.operation().isReceived();
        rdma = open(() -> new RdmaSide(this, true, isReceiver));
        requests = rdma.requests();
    }

    @Override
    protected void connect(DpuLines over) {
        PeerExport peer = over.read(PeerExport::parse, "peer: connection=..., memory=...");
        over.write(rdma.export().toString());
        rdma.connect(peer);
    }

    @Override
    protected void checkMeanwhile() {
        super.checkMeanwhile();
        rdma.requireConnection();
    }

    @Override
    protected void prepare() {
        requests.reset();
        roundTrips.reset();
    }

    @Override
    public void drive(boolean isWarmUp) {
        long begin = System.nanoTime();
        nanos = (plan.mode() == RdmaMode.LATENCY ? oneByOne(begin) : severalAtATime(begin)) - begin;
    }

    @Override
    protected PerfRun<RdmaFigures> result(
            PerfReport ofDpu, ResourceUse host, ResourceUse used, double others) {
        requireAllThere(requests.completed(), ofDpu);
        Latencies latencies = plan.mode() == RdmaMode.LATENCY ? roundTrips : requests.latencies();
        RdmaConnection peer = Objects.requireNonNull(rdma.peer(), "connected");
        return new PerfRun<>(
                requests.completed(),
                nanos,
                latencies.percentiles(),
                host,
                used,
                others,
                null,
                new RdmaFigures(
                        peer.provider(), peer.pathMtuBytes(), rdma.counters(), ofDpu.counters()));
    }

    /** Operations until the time is over: round trips, or from submission to completion. */
    private long oneByOne(long begin) {
        return plan.isAnswered() ? untilAnswered(begin) : untilCompleted(begin);
    }

    /** Nothing but the operation and one reading of the clock is within its time. */
    private long untilCompleted(long begin) {
        long now = begin;
        while (now - begin < plan.nanos()) {
            long beganAt = System.nanoTime();
            submit();
            awaitCompletions();
            now = System.nanoTime();
            roundTrips.record(now - beganAt);
        }
        return now;
    }

    /** The end of one is the begin of the next. */
    private long untilAnswered(long begin) {
        long beganAt = begin;
        submit();
        while (true) {
            awaitEnd();
            long now = System.nanoTime();
            long took = now - beganAt;
            if (now - begin >= plan.nanos()) {
                roundTrips.record(took);
                awaitCompletions();
                return now;
            }
            if (requests.isIdle()) {
                beganAt = now;
            } else {
                awaitCompletions(); // of the task, whose memory and place are used again
                beganAt = System.nanoTime();
            }
            submit();
            roundTrips.record(took); // while the next one is on its way
        }
    }

    private void submit() {
        if (plan.isPolled()) {
            rdma.setNumber(++number);
        }
        requests.submit(0);
    }

    /** Waits for the answer of the DPU. */
    private void awaitEnd() {
        if (plan.isPolled()) {
            while (rdma.writtenNumber() != number) {
                rdma.turn();
            }
        } else {
            Receives received = Objects.requireNonNull(rdma.receives(), "answered");
            long first = received.received();
            while (received.received() == first) {
                rdma.turn();
            }
        }
    }

    private long severalAtATime(long begin) {
        int timedEach = PerfPlan.operationsPerTimed(plan.sizeBytes());
        long now = begin;
        while (now - begin < plan.nanos()) {
            while (requests.hasIdle()) {
                requests.submit(requests.submitted() % timedEach == 0 ? System.nanoTime() : 0);
            }
            rdma.turn();
            now = System.nanoTime();
        }
        awaitCompletions();
        return System.nanoTime();
    }

    private void awaitCompletions() {
        while (!requests.isIdle()) {
            rdma.turn();
        }
    }

    /** The DPU has received what was sent, and its value is the number of atomic operations. */
    private void requireAllThere(long operations, PerfReport others) {
        boolean isCounted = plan.operation().isReceived() || plan.isPolled();
        if (isCounted && others.operations() != operations) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "the other side has not received what was sent: received=%d, sent=%d",
                            others.operations(), operations));
        }
        if (plan.operation().isAtomic() && others.value() != operations) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "value is not the number of operations: value=%d, operations=%d",
                            others.value(), operations));
        }
    }
}
