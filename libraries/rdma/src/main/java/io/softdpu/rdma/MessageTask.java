package io.softdpu.rdma;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import org.jspecify.annotations.Nullable;

/**
 * Base class of sends, with and without immediate: a connection, and the source of the message.
 *
 * @param <T> the public type, which setters return
 */
abstract class MessageTask<T extends Task> extends PeerTask<T> {

    private @Nullable Buf source;

    MessageTask(RdmaContext rdma, RdmaTasks.Definition<?, T> definition) {
        super(rdma, definition, rdma.maxSendBufferListLength());
    }

    public final @Nullable Buf source() {
        return source;
    }

    public final T setConnection(RdmaConnection connection) {
        return use(connection, source);
    }

    public final T setSource(@Nullable Buf source) {
        requireUser();
        this.source = source;
        return self();
    }

    final T use(RdmaConnection newConnection, @Nullable Buf newSource) {
        requireUser();
        useConnection(newConnection);
        source = newSource;
        return self();
    }

    @Override
    protected final @Nullable Refusal onSubmit() {
        Buf from = source;
        if (from == null) {
            useNothing();
            return submitRequest();
        }
        Refusal refusal = checkLocal("source", from);
        long lengthBytes = 0;
        if (refusal == null) {
            lengthBytes = BufLists.dataLength(from);
            refusal = checkLength(from, lengthBytes);
        }
        if (refusal == null) {
            refusal = Refusal.with(Regions.markSource(from, maxListLength), "operand=source");
        }
        if (refusal != null) {
            return refusal;
        }
        gather(from, lengthBytes);
        refusal = submitRequest();
        if (refusal != null) {
            Regions.clearInFlight(from);
        }
        return refusal;
    }

    @Override
    final void finish(Status status) {
        Buf from = source;
        if (from != null) {
            Regions.clearInFlight(from);
        }
        complete(status);
    }

    @Override
    protected final void onFree() {
        super.onFree();
        source = null;
    }
}
