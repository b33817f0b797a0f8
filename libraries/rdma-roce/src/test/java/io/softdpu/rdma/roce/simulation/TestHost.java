package io.softdpu.rdma.roce.simulation;

import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.adapter.Adapter;
import io.softdpu.rdma.roce.adapter.AdapterConfig;
import io.softdpu.rdma.roce.adapter.IcrcCheck;
import io.softdpu.rdma.roce.adapter.Management;
import io.softdpu.rdma.roce.rc.Attachment;
import io.softdpu.rdma.roce.rc.Limits;
import io.softdpu.rdma.roce.rc.PacketSink;
import io.softdpu.rdma.roce.rc.PeerMemory;
import io.softdpu.rdma.roce.rc.ReceiveListener;
import io.softdpu.rdma.roce.rc.RemoteKeys;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** An adapter with one instance: its memory by keys, and its receives. */
public final class TestHost {
    /** Every right of a peer. */
    public static final Permissions ALL =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC);

    private final Adapter adapter;
    private final Map<Integer, TestMemory> memories = new HashMap<>();
    private final Queue<WorkRequest> receives = new ArrayDeque<>();
    private final Copier copier = new Copier();
    private final ReceiveListener listener;

    /** An adapter with an ICRC check. */
    public TestHost(
            Gid gid,
            int firstNumber,
            int maxQueuePairs,
            Limits limits,
            PacketSink sink,
            ReceiveListener listener,
            Management management) {
        this(gid, firstNumber, maxQueuePairs, limits, sink, listener);
        adapter.manage(management);
    }

    /** One whose adapter gets its management later. */
    public TestHost(
            Gid gid,
            int firstNumber,
            int maxQueuePairs,
            Limits limits,
            PacketSink sink,
            ReceiveListener listener) {
        this.listener = listener;
        adapter =
                new Adapter(
                        new AdapterConfig(gid, firstNumber, maxQueuePairs, 4, limits),
                        sink,
                        new IcrcCheck(gid));
    }

    /** The adapter. */
    public Adapter adapter() {
        return adapter;
    }

    /** Receives that wait for messages; the test adds them. */
    public Queue<WorkRequest> receives() {
        return receives;
    }

    /** Grants memory by its key. */
    public TestMemory grant(TestMemory memory) {
        memories.put(memory.key(), memory);
        return memory;
    }

    /** What a queue pair has of the instance. */
    public Attachment attachment(Permissions grants, int sendQueueSize, RnrTimer rnrTimer) {
        PeerMemory memory = this::find;
        return new Attachment(
                listener, receives::poll, memory, KEYS, copier, grants, sendQueueSize, rnrTimer);
    }

    private @Nullable GrantedMemory find(int key, long address, long bytes, AccessFlag right) {
        TestMemory memory = memories.get(key);
        return memory != null && memory.grants(address, bytes, right) ? memory : null;
    }

    private static final RemoteKeys KEYS =
            new RemoteKeys() {
                @Override
                public int key(RemoteMemory memory) {
                    return ((TestMemory) memory).key();
                }

                @Override
                public long address(RemoteMemory memory) {
                    return ((TestMemory) memory).address();
                }
            };
}
