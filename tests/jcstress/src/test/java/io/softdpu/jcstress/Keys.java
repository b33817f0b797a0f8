package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.memory.AccessBatches;
import io.softdpu.core.spi.memory.DomainAccess;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.core.spi.memory.WithdrawalWakeUp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** An adapter looks memory up by its key while another thread withdraws or registers some. */
public final class Keys {
    private static final long ADDRESS = 0x1000;
    private static final int WRITE = AccessFlag.RDMA_WRITE.bit();
    private static final Grant GRANT = new Grant(null);

    private Keys() {}

    private static MemoryKey register(ProtectionDomain domain, MemorySegment memory) {
        return domain.register(ADDRESS, memory, WRITE, GRANT, () -> {});
    }

    /**
     * The owner withdraws the memory and then writes into it. A packet that was executed in a batch
     * which the withdrawal has not seen would write behind that.
     */
    @JCStressTest
    @Outcome(
            id = {"true, 2", "false, 2"},
            expect = ACCEPTABLE,
            desc = "written before the withdrawal, or not at all")
    @State
    public static class Withdrawal {
        private final MemorySegment memory = MemorySegment.ofArray(new long[1]);
        private final ProtectionDomain domain = new ProtectionDomain("device");
        private final AccessBatches batches = new AccessBatches("adapter");
        private final DomainAccess access = domain.attach(batches);
        private final MemoryKey key = register(domain, memory);

        @Actor
        public void execute(LL_Result r) {
            batches.begin();
            GrantedMemory found = access.find(key.key(), ADDRESS, Long.BYTES, WRITE);
            if (found != null) {
                found.memory().set(ValueLayout.JAVA_LONG, 0, 1);
            }
            batches.end();
            r.r1 = found != null;
        }

        @Actor
        public void withdraw() {
            key.withdraw();
            memory.set(ValueLayout.JAVA_LONG, 0, 2);
        }

        @Arbiter
        public void look(LL_Result r) {
            r.r2 = memory.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** The same, reduced to what {@link UnfencedBatch} shows the need of a fence for. */
    @JCStressTest
    @Outcome(
            id = "false, false",
            expect = FORBIDDEN,
            desc = "lost: the owner has the memory back, and the batch writes into it")
    @Outcome(expect = ACCEPTABLE, desc = "waited for, or not found, or both")
    @State
    public static class Begin {
        private static final WakeUp.Maker MAKER = new WithdrawalWakeUp();

        private final WakeUp wakeUp = MAKER.make(Memory.next());

        @Actor
        public void withdraw(ZZ_Result r) {
            r.r1 = wakeUp.publishAndAsk();
        }

        @Actor
        public void look(ZZ_Result r) {
            r.r2 = wakeUp.armAndLook();
        }
    }

    /** Memory is found while other memory comes and goes, so that the table grows and shrinks. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "found each time")
    @State
    public static class Neighbours {
        private final MemorySegment memory = MemorySegment.ofArray(new long[1]);
        private final ProtectionDomain domain = new ProtectionDomain("device");
        private final AccessBatches batches = new AccessBatches("adapter");
        private final DomainAccess access = domain.attach(batches);
        private final MemoryKey key = register(domain, memory);

        @Actor
        public void look(ZZ_Result r) {
            batches.begin();
            r.r1 = access.find(key.key(), ADDRESS, Long.BYTES, WRITE) != null;
            r.r2 = access.find(key.key(), ADDRESS, Long.BYTES, WRITE) != null;
            batches.end();
        }

        @Actor
        public void change() {
            MemoryKey first = register(domain, memory);
            for (int i = 0; i < 4; i++) {
                MemoryKey _ = register(domain, memory);
            }
            first.withdraw();
        }
    }
}
