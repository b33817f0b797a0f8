package io.softdpu.core.sync.spi;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.access.RemoteEventAccess;
import org.jspecify.annotations.Nullable;

/**
 * Use of remote sync events by tasks. A task {@linkplain #mark marks} the event, gives its
 * {@linkplain #counterOf counter} to a transport as eight bytes of a peer's memory, and {@linkplain
 * #clear clears} the mark when the transport has completed the operation. The transport wakes those
 * who wait, by {@link RemoteMemory#changed()}.
 *
 * <p>Any thread. Nothing here allocates or takes a lock, unless a refusal is returned.
 */
public final class RemoteEvents {
    private static final RemoteEventAccess<RemoteSyncEvent> ACCESS =
            RemoteEventAccess.of(RemoteSyncEvent.class);

    private RemoteEvents() {}

    /**
     * Keeps the event open until {@link #clear}, for a task on a device.
     *
     * @return null if it was marked; BAD_STATE if it is closed; NOT_PERMITTED if it was created for
     *     another device; SHUTDOWN if it was destroyed; CONNECTION_RESET if its process has ended
     */
    public static @Nullable Refusal mark(RemoteSyncEvent event, Device device) {
        return ACCESS.mark(event, device);
    }

    /** Reverts {@link #mark}. */
    public static void clear(RemoteSyncEvent event) {
        ACCESS.clear(event);
    }

    /**
     * The counter: eight bytes, at offset 0, aligned. Valid while the event is marked; to be
     * changed by single stores and atomic operations alone.
     */
    public static RemoteMemory counterOf(RemoteSyncEvent event) {
        return ACCESS.counterOf(event);
    }
}
