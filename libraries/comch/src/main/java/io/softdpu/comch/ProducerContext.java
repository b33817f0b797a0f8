package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The {@link ComchProducer} context: its configuration, and its registration with the connection
 * from start to stop.
 */
final class ProducerContext extends ProducerSends implements ComchProducer {
    private boolean active;

    /** Number of the last start: answers to an earlier one, which a stop has ended, are ignored. */
    private long start;

    private final AtomicBoolean dropPosted = new AtomicBoolean();

    /** Creates a producer; {@code onRoom} is null unless it is of a stream. */
    ProducerContext(
            ComchConnection connection, ConsumerRegistry registry, @Nullable Runnable onRoom) {
        super(connection, registry, onRoom);
    }

    @Override
    public ComchProducer setSendTasks(
            int count,
            ComchTaskCallback<ComchProducerSendTask> onSuccess,
            ComchTaskCallback<ComchProducerSendTask> onFailure) {
        requireConfigurable();
        sends.configure(count, onSuccess, onFailure);
        completed = null;
        return this;
    }

    @Override
    public ComchProducer setSendTasks(
            int count, ComchBatchCallback<ComchProducerSendTask> onCompleted) {
        requireConfigurable();
        Arguments.notNull(onCompleted, "onCompleted");
        ComchTaskCallback<ComchProducerSendTask> single =
                CompletedTasks.single(onCompleted, ComchProducerSendTask[]::new);
        sends.configure(count, single, single);
        completed =
                new CompletedTasks<>(
                        onCompleted,
                        new ComchProducerSendTask[count],
                        this::completedAll,
                        this::callbackFailed);
        return this;
    }

    @Override
    public ComchConnection connection() {
        return connection;
    }

    @Override
    public ProducerSendTask allocateSendTask(Buf buf, int consumerId) {
        return sends.requireAllocated(tryAllocateSendTask(buf, consumerId));
    }

    @Override
    public @Nullable ProducerSendTask tryAllocateSendTask(Buf buf, int consumerId) {
        requireOwnerThread();
        requireState(ContextState.RUNNING, "allocating a task");
        Arguments.notNull(buf, "buf");
        ProducerSendTask task = sends.tryAllocate();
        if (task == null) {
            return null;
        }
        task.setBuf(buf);
        task.setConsumerId(consumerId);
        return task;
    }

    // ---- the context ----

    @Override
    protected void checkConfiguration() {
        sends.requireConfigured(this);
    }

    @Override
    protected ContextState onStart() {
        connection.requireRegistry();
        registry.requireNoStream(isOfStream(), this);
        openSends(); // the last that can fail
        registry.addUser(this);
        active = true;
        long thisStart = ++start;
        connection.services().post(() -> registry.register(this, thisStart));
        return ContextState.STARTING;
    }

    @Override
    protected boolean onStop() {
        if (!active) {
            return true;
        }
        if (!closeSends()) {
            return false;
        }
        active = false;
        connection.services().post(() -> registry.unregister(this));
        registry.removeUser(this);
        return true;
    }

    @Override
    protected @Nullable String describeAwaited() {
        return state() == ContextState.STARTING ? "awaited=engine of the connection" : null;
    }

    @Override
    protected long stopWarningNanos() {
        return isOfStream() ? Long.MAX_VALUE : super.stopWarningNanos();
    }

    // ---- from the connection's engine ----

    void registered(long atStart, int newId) {
        post(() -> {
            if (atStart == start && state() == ContextState.STARTING) {
                setId(newId);
                started();
            }
        });
    }

    void postFatal(long atStart, DpuException reason) {
        post(() -> {
            // Work posted to a closed engine runs on the posting thread, which may not touch the
            // context; the context is IDLE then.
            if (atStart == start && state() != ContextState.IDLE) {
                fatal(reason);
            }
        });
    }

    /** A consumer of the peer has expired and waits for the release of its memory. */
    void consumerGone() {
        if (dropPosted.compareAndSet(
                false, true)) { // one post at a time, or a peer could fill the mailbox
            post(() -> {
                dropPosted.set(false);
                dropExpired();
            });
        }
    }
}
