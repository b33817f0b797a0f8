package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * Task that sends the data of a local list of bufs as one message with a 32-bit immediate value to
 * a receive task of the peer (RDMA guide, send with immediate task). The value arrives apart from
 * the data, in {@link RdmaReceiveTask#resultImmediate()}.
 *
 * <p>Otherwise it is an {@link RdmaSendTask}: the same meaning of success, the same refusals and
 * the same failures.
 *
 * <p>Thread: that of the engine. From submit to callback the bufs must not be touched.
 */
public sealed interface RdmaSendImmediateTask extends Task permits SendImmediateTask {
    /**
     * The connection that the message is sent on.
     *
     * @throws DpuException BAD_STATE if the task was freed
     */
    RdmaConnection connection();

    /** Sets another connection of the same instance. */
    RdmaSendImmediateTask setConnection(RdmaConnection connection);

    /** The list with the message, by its head; null for an empty message. */
    @Nullable Buf source();

    /** Sets the list with the message, by its head; null for an empty message. */
    RdmaSendImmediateTask setSource(@Nullable Buf source);

    /** The immediate value. */
    int immediate();

    /** Sets the immediate value, which the peer gets as the same number. */
    RdmaSendImmediateTask setImmediate(int immediate);

    @Override
    RdmaSendImmediateTask setUserData(long userData);

    @Override
    RdmaSendImmediateTask setUserObject(@Nullable Object userObject);
}
