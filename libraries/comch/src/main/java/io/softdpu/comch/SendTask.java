package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.check.Threads;
import io.softdpu.core.spi.TaskBase;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The {@link ComchSendTask} of an {@link EndpointContext}. */
final class SendTask extends TaskBase<ComchSendTask> implements ComchSendTask {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final EndpointContext<?> endpoint;
    private @Nullable ComchConnection connection;
    private MemorySegment memory = NOTHING;
    private long offset;
    private int length;

    SendTask(EndpointContext<?> endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
    }

    @Override
    public @Nullable ComchConnection connection() {
        return connection;
    }

    @Override
    public ComchSendTask setConnection(ComchConnection to) {
        requireUser();
        Arguments.notNull(to, "to");
        if (to.context() != endpoint) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "connection of another context: context=%s, connection=%s",
                            endpoint, to));
        }
        connection = to;
        return this;
    }

    @Override
    public ComchSendTask setMessage(MemorySegment source, long sourceOffset, int lengthBytes) {
        requireUser();
        requireInside(source, sourceOffset, lengthBytes);
        memory = source;
        offset = sourceOffset;
        length = lengthBytes;
        return this;
    }

    /**
     * Refuses a range that is not inside its memory, or that this thread cannot read.
     *
     * @throws DpuException INVALID_VALUE
     */
    static void requireInside(MemorySegment source, long sourceOffset, int lengthBytes) {
        Arguments.readable(source, "source");
        if (sourceOffset < 0 || lengthBytes < 0 || sourceOffset > source.byteSize() - lengthBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "message outside its memory: offsetBytes=%d, lengthBytes=%d,"
                                    + " memoryBytes=%d",
                            sourceOffset, lengthBytes, source.byteSize()));
        }
    }

    @Override
    public ComchSendTask setMessage(byte[] message) {
        setMessage(MemorySegment.ofArray(Arguments.notNull(message, "message")), 0, message.length);
        return this;
    }

    @Override
    public int length() {
        return length;
    }

    @Override
    protected @Nullable Refusal onSubmit() {
        ComchConnection to = connection;
        if (to == null) {
            return Refusal.of(
                    Status.INVALID_VALUE,
                    "task has no connection: connection=none, expected=setConnection");
        }
        return Arguments.isReadable(memory)
                ? to.send(this, memory, offset, length)
                : Refusal.of(
                        Status.INVALID_VALUE,
                        "memory of the message is closed or belongs to another thread:"
                                + " memoryBytes=%d, thread=%s, expected=memory that this thread can"
                                + " read until the submission",
                        memory.byteSize(),
                        Threads.current());
    }

    @Override
    protected void onCompleted() {
        endpoint.sendCompleted(this);
    }

    @Override
    protected void onFree() {
        connection = null;
        memory = NOTHING;
        offset = 0;
        length = 0;
    }

    void finish(Status ended) {
        complete(ended);
    }
}
