package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.rdma.spi.WorkRequest;
import org.jspecify.annotations.Nullable;

/** The {@link RdmaSendTask} of an {@link RdmaContext}. */
final class SendTask extends RdmaTask implements RdmaSendTask {
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

    private @Nullable RdmaConnection connection;
    private @Nullable Buf source;

    SendTask(RdmaContext rdma) {
        super(rdma, WorkRequest.Kind.SEND, rdma.maxSendListLength());
    }

    @Override
    public RdmaConnection connection() {
        return requireSet(connection, "connection");
    }

    @Override
    public RdmaSendTask setConnection(RdmaConnection connection) {
        requireUser();
        this.connection = rdma.requireOwn(connection);
        return this;
    }

    @Override
    public @Nullable Buf source() {
        return source;
    }

    @Override
    public RdmaSendTask setSource(@Nullable Buf source) {
        requireUser();
        this.source = source;
        return this;
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        Buf from = source;
        if (from == null) {
            useNothing();
            return submit(connection(), request);
        }
        Refusal refusal = checkLocal("source", from);
        long lengthBytes = 0;
        if (refusal == null) {
            lengthBytes = BufLists.dataLength(from);
            refusal = checkLength(from, lengthBytes);
        }
        if (refusal == null) {
            refusal = Refusal.with(REGIONS.markSource(from, maxListLength), "operand=source");
        }
        if (refusal != null) {
            return refusal;
        }
        gather(from, lengthBytes);
        refusal = submit(connection(), request);
        if (refusal != null) {
            REGIONS.clearInFlight(from);
        }
        return refusal;
    }

    @Override
    void finish(Status status) {
        Buf from = source;
        if (from != null) {
            REGIONS.clearInFlight(from);
        }
        complete(status);
    }

    @Override
    protected void onCompleted() {
        rdma.tasks().send.callbackFor(this).completed(this);
    }

    @Override
    protected void onFree() {
        connection = null;
        source = null;
    }

    @Override
    public RdmaSendTask setUserData(long userData) {
        super.setUserData(userData);
        return this;
    }

    @Override
    public RdmaSendTask setUserObject(@Nullable Object userObject) {
        super.setUserObject(userObject);
        return this;
    }
}
