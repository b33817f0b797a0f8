package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ReceivedOpcode;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaReceiveTask} of an {@link RdmaContext}. */
final class ReceiveTask extends RdmaTask<RdmaReceiveTask> implements RdmaReceiveTask {
    static final RdmaTasks.Definition<ReceiveTask, RdmaReceiveTask> TYPE =
            new RdmaTasks.Definition<>(RdmaTaskType.RECEIVE, ReceiveTask::new);

    private @Nullable Buf destination;

    ReceiveTask(RdmaContext rdma) {
        super(rdma, TYPE, rdma.receiveBufferListLength());
    }

    @Override
    public @Nullable Buf destination() {
        return destination;
    }

    @Override
    public RdmaReceiveTask setDestination(@Nullable Buf destination) {
        requireUser();
        this.destination = destination;
        return this;
    }

    @Override
    public long resultLength() {
        return request.resultLengthBytes;
    }

    @Override
    public RdmaOpcode resultOpcode() {
        return switch (request.resultOpcode) {
            case SEND -> RdmaOpcode.SEND;
            case SEND_IMMEDIATE -> RdmaOpcode.SEND_IMMEDIATE;
            case WRITE_IMMEDIATE -> RdmaOpcode.WRITE_IMMEDIATE;
        };
    }

    @Override
    public int resultImmediate() {
        return request.immediate;
    }

    @Override
    public @Nullable RdmaConnection resultConnection() {
        ProviderConnection from = request.resultConnection;
        return from == null ? null : (RdmaConnection) from.owner();
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        request.resultConnection = null;
        request.resultOpcode = ReceivedOpcode.SEND;
        request.resultLengthBytes = 0;
        request.immediate = 0;
        Buf into = destination;
        if (into == null) {
            useNothing();
            return rdma.postReceive(request);
        }
        Refusal refusal = checkLocal("destination", into);
        if (refusal == null) {
            refusal =
                    Refusal.with(
                            Regions.markDestination(into, maxListLength), "operand=destination");
        }
        if (refusal != null) {
            return refusal;
        }
        scatter(into, Math.min(BufLists.tailroom(into), rdma.maxMessageBytes()));
        refusal = rdma.postReceive(request);
        if (refusal != null) {
            Regions.clearInFlight(into);
        }
        return refusal;
    }

    @Override
    void finish(Status status) {
        Buf into = destination;
        if (into != null) {
            Regions.clearInFlight(into);
            if (status == Status.SUCCESS
                    && request.resultOpcode != ReceivedOpcode.WRITE_IMMEDIATE) {
                BufLists.appendData(into, request.resultLengthBytes);
            }
        }
        complete(status);
    }

    @Override
    protected void onCompleted() {
        callback().completed(this);
    }

    @Override
    protected boolean completesInOrder() {
        return true;
    }

    @Override
    protected void onFree() {
        request.local.release();
        destination = null;
        request.resultConnection = null;
    }
}
