package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.HostSide;
import io.softdpu.perf.pair.Latencies;
import io.softdpu.perf.pair.LineTimes;
import io.softdpu.perf.pair.PerfResult;
import io.softdpu.perf.pair.PerfRun;
import io.softdpu.perf.result.MachineUse;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The host side: submits the operations and measures. */
public final class RdmaHost extends RdmaSide
        implements HostSide<PerfResult<RdmaPlan, RdmaFigures>> {
    private final DpuLines lines;
    private final Process dpu;
    private final Latencies roundTrips = new Latencies();
    private byte number;

    /**
     * Opens the machine, the device, the memory and the RDMA instance.
     *
     * @param pair the devices of both sides
     * @param dpu the process of the DPU; the host does not wait any more once it has ended
     */
    public RdmaHost(RdmaPlan plan, ComchPair pair, Path fabric, Process dpu) {
        super(
                plan,
                pair,
                fabric,
                Side.HOST,
                true,
                plan.isAnswered() && plan.operation().isReceived());
        this.dpu = dpu;
        lines = new DpuLines(dpu);
        CompletableFuture<Void> _ =
                dpu.onExit().thenAccept(ended -> stop.raise(DpuLines.endOf(ended)));
    }

    @Override
    Object peerName() {
        return "DPU process " + dpu.pid();
    }

    @Override
    void unblock() {
        Process process = dpu;
        if (process != null) {
            process.destroyForcibly(); // this side may wait for its lines
        }
        super.unblock();
    }

    @Override
    public PerfResult<RdmaPlan, RdmaFigures> run() {
        try (var _ = stop) {
            pin();
            PeerExport peer = lines.read(PeerExport::parse, "peer: connection=..., memory=...");
            lines.write(export().toString());
            connect(peer);
            lines.require(RdmaDpu.READY);
            // The warm-up is all of a measurement: what the first lines load and allocate on either
            // side is not counted in the second.
            measureWithLineTimes();
            PerfRun<RdmaFigures> measured = measureWithLineTimes();
            lines.close(); // which ends the process of the DPU
            return new PerfResult<>(plan, List.of(measured));
        } catch (DpuException e) {
            DpuException reason = stop.reason(); // instead of the wait that it has ended
            throw reason == null ? lines.causeOf(e) : reason;
        }
    }

    /** Ends it: the process of the DPU as well, whose lines this side may wait for. */
    @Override
    public void abort(String reason) {
        stop.raise(new DpuException(Status.CONNECTION_ABORTED, reason));
    }

    private PerfRun<RdmaFigures> measureWithLineTimes() {
        if (!plan.isLineTimed()) {
            return measure();
        }
        long before = lineTime();
        PerfRun<RdmaFigures> run = measure();
        return run.with(new LineTimes(before, lineTime()));
    }

    private long lineTime() {
        lines.write(RdmaDpu.LINE);
        return line().measure(plan.deadlineNanos(), this::checkMeanwhile);
    }

    private PerfRun<RdmaFigures> measure() {
        lines.write(RdmaDpu.RUN);
        ResourceUse dpuBefore = lines.read(ResourceUse::parse, "its resources");
        requests().reset();
        roundTrips.reset();
        OptionalLong machineBefore = MachineUse.now(); // which allocates
        ResourceUse hostBefore = ResourceUse.now();
        long begin = System.nanoTime();
        long end = plan.mode() == RdmaMode.LATENCY ? oneByOne(begin) : severalAtATime(begin);
        ResourceUse host = ResourceUse.now().since(hostBefore);
        lines.write(RdmaDpu.END);
        RdmaRun others = lines.read(RdmaRun::parse, "its part of the run");
        ResourceUse used = lines.read(ResourceUse::parse, "its resources").since(dpuBefore);
        long operations = requests().completed();
        requireAllThere(operations, others);
        Latencies latencies = plan.mode() == RdmaMode.LATENCY ? roundTrips : requests().latencies();
        return new PerfRun<>(
                operations,
                end - begin,
                latencies.percentiles(),
                host,
                used,
                MachineUse.othersProcessors(machineBefore, host, used),
                null,
                new RdmaFigures(Objects.requireNonNull(peer(), "connected").provider()));
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
        Requests requests = requests();
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
            setNumber(++number);
        }
        requests().submit(0);
    }

    /** Waits for the answer of the DPU. */
    private void awaitEnd() {
        if (plan.isPolled()) {
            while (writtenNumber() != number) {
                turn();
            }
        } else {
            Receives received = Objects.requireNonNull(receives(), "answered");
            long first = received.received();
            while (received.received() == first) {
                turn();
            }
        }
    }

    private long severalAtATime(long begin) {
        Requests requests = requests();
        int timedEach = plan.operationsPerTimed();
        long now = begin;
        while (now - begin < plan.nanos()) {
            while (requests.hasIdle()) {
                requests.submit(requests.submitted() % timedEach == 0 ? System.nanoTime() : 0);
            }
            turn();
            now = System.nanoTime();
        }
        awaitCompletions();
        return System.nanoTime();
    }

    private void awaitCompletions() {
        while (!requests().isIdle()) {
            turn();
        }
    }

    /** The DPU has received what was sent, and its value is the number of atomic operations. */
    private void requireAllThere(long operations, RdmaRun others) {
        boolean isCounted = plan.operation().isReceived() || plan.isPolled();
        if (isCounted && others.received() != operations) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "the other side has not received what was sent: received=%d, sent=%d",
                            others.received(), operations));
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
