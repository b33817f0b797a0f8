package io.softdpu.core.spi.memory;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.jcstress.WakeUp;
import java.lang.foreign.MemorySegment;

/**
 * Withdrawal of memory beside the begin of a batch, reduced to the two reads that must not both
 * miss: the owner takes the key away and asks whether a batch is under way, which it would wait
 * for; the adapter begins a batch and looks for the memory.
 */
public final class WithdrawalWakeUp implements WakeUp, WakeUp.Maker {
    private static final int KEY = 1;
    private static final long ADDRESS = 0x1000;
    private static final int WRITE = AccessFlag.RDMA_WRITE.bit();
    private static final Grant GRANT = new Grant(null);

    private ProtectionDomain domain;
    private AccessBatches batches;
    private DomainAccess access;
    private MemoryKey key;

    @Override
    public WakeUp make(MemorySegment memory) {
        WithdrawalWakeUp made = new WithdrawalWakeUp();
        made.domain = new ProtectionDomain("device", () -> KEY);
        made.batches = new AccessBatches("adapter");
        made.access = made.domain.attach(made.batches);
        made.key = made.domain.register(ADDRESS, memory, WRITE, GRANT, () -> {});
        return made;
    }

    /** Withdraws the memory; whether there is a batch to wait for. */
    @Override
    public boolean publishAndAsk() {
        domain.remove(key);
        return batches.isUnderWay();
    }

    /** Begins a batch, which stays under way; whether it does not find the memory. */
    @Override
    public boolean armAndLook() {
        batches.begin();
        return access.find(KEY, ADDRESS, Long.BYTES, WRITE) == null;
    }
}
