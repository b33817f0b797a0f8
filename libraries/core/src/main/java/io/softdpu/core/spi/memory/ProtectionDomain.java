package io.softdpu.core.spi.memory;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory of one device of one machine that peers may access by key: a packet that arrives for a
 * queue pair of the device finds the device's own memory, and no other.
 *
 * <p>Keys are random and unique in the domain. They are in a table that is never changed but
 * replaced, so that a look-up is one read of its reference and a few of its slots, without a lock;
 * exports are rare, and each costs more by its system calls than by a copy of the table. Any
 * thread.
 */
public final class ProtectionDomain {
    private static final System.Logger LOG = System.getLogger(ProtectionDomain.class.getName());
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final int MIN_SLOTS = 16;

    /** Slots for each key: a key that does not exist is refused after 1.2 reads on average. */
    private static final int SLOTS_PER_KEY = 4;

    private final String name;
    private final IntSupplier random;

    /** Open addressing: a key is in the slot of its low bits, or in the next free one. */
    private volatile @Nullable MemoryKey[] slots = new MemoryKey[MIN_SLOTS];

    // Under the lock of this.
    private final List<MemoryKey> keys = new ArrayList<>();
    private final List<AccessBatches> attached = new ArrayList<>();

    /** Adapters that serve all memory of the domain. */
    private int serving;

    /**
     * An empty domain.
     *
     * @param name of its device, for messages
     */
    public ProtectionDomain(String name) {
        this(name, RANDOM::nextInt);
    }

    ProtectionDomain(String name, IntSupplier random) {
        this.name = name;
        this.random = random;
    }

    /**
     * Registers memory under a key of its own, until {@link MemoryKey#withdraw}.
     *
     * @param address of the first byte, as peers name it: a multiple of eight if that byte's
     *     address in this process is one; the range does not wrap
     * @param memory accessible to any thread and open until the key is withdrawn
     * @param rights the bits of RDMA_READ, RDMA_WRITE and RDMA_ATOMIC
     * @param grant of the memory: while a peer has revoked it nothing is found
     * @param changed runs after each write and atomic operation, inside a batch: allocates nothing,
     *     and does not wait
     */
    public synchronized MemoryKey register(
            long address, MemorySegment memory, int rights, Grant grant, Runnable changed) {
        return add(new MemoryKey(this, newKey(), address, memory, rights, grant, changed, null));
    }

    /**
     * The same for memory that is not mapped in this process: each access is refused until an
     * adapter {@linkplain DomainAccess#serve serves} the domain. Then it is mapped, here if one
     * does already, which takes half a second per GiB.
     *
     * @param mapping maps it: memory as that of {@link #register}, or null if it ends meanwhile;
     *     called until it has returned memory, by any thread
     * @throws RuntimeException of the mapping, if an adapter serves; nothing is registered then
     */
    public MemoryKey registerUnmapped(
            long address,
            Supplier<@Nullable MemorySegment> mapping,
            int rights,
            Grant grant,
            Runnable changed) {
        MemoryKey added;
        boolean served;
        synchronized (this) {
            added =
                    add(
                            new MemoryKey(
                                    this,
                                    newKey(),
                                    address,
                                    MemorySegment.NULL,
                                    rights,
                                    grant,
                                    changed,
                                    mapping));
            served = serving > 0;
        }
        if (served) {
            boolean mapped = false;
            try {
                added.map();
                mapped = true;
            } finally {
                if (!mapped) {
                    added.withdraw();
                }
            }
        }
        return added;
    }

    private int newKey() {
        int key = random.getAsInt();
        while (key == 0 || find(key) != null) {
            key = random.getAsInt();
        }
        return key;
    }

    private MemoryKey add(MemoryKey added) {
        keys.add(added);
        slots = tableOf(keys);
        return added;
    }

    /** Number of keys, for tests. */
    synchronized int keys() {
        return keys.size();
    }

    /**
     * Maps all memory, also what is registered later, until {@link #endService}. Memory that cannot
     * be mapped stays refused: its exporter must not keep the other memory from its peers.
     */
    void serve() {
        List<MemoryKey> present;
        synchronized (this) {
            serving++;
            present = List.copyOf(keys);
        }
        for (MemoryKey key : present) {
            try {
                key.map();
            } catch (RuntimeException e) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "memory that is passed on cannot be mapped, and peers have no access: "
                                + key,
                        e);
            }
        }
    }

    /** Ends the service of one adapter; mapped memory stays mapped until its withdrawal. */
    synchronized void endService() {
        serving--;
    }

    /**
     * Gives an adapter access to the domain: from now on a withdrawal waits for its batches.
     *
     * @param batches of the adapter, which may have access to further domains
     */
    public synchronized DomainAccess attach(AccessBatches batches) {
        attached.add(batches);
        return new DomainAccess(this, batches);
    }

    /** The adapter may be attached once more by another access. */
    synchronized void detach(AccessBatches batches) {
        attached.remove(batches);
    }

    /** A batch that begins afterwards does not find the key. */
    synchronized void remove(MemoryKey key) {
        if (keys.remove(key)) {
            slots = tableOf(keys);
        }
    }

    /** Waits for the batches under way. */
    void awaitBatches() {
        List<AccessBatches> readers;
        synchronized (this) {
            readers = List.copyOf(attached);
        }
        readers.forEach(AccessBatches::awaitEnd);
    }

    @Nullable MemoryKey find(int key) {
        @Nullable MemoryKey[] table = slots;
        int mask = table.length - 1;
        int at = key & mask;
        MemoryKey found = table[at];
        while (found != null && found.key() != key) {
            at = (at + 1) & mask;
            found = table[at];
        }
        return found;
    }

    private static @Nullable MemoryKey[] tableOf(List<MemoryKey> keys) {
        int length = MIN_SLOTS;
        while (length < keys.size() * SLOTS_PER_KEY) {
            length *= 2;
        }
        @Nullable MemoryKey[] table = new MemoryKey[length];
        for (MemoryKey key : keys) {
            int at = key.key() & (length - 1);
            while (table[at] != null) {
                at = (at + 1) & (length - 1);
            }
            table[at] = key;
        }
        return table;
    }

    /** Its device, for messages. */
    @Override
    public String toString() {
        return "domain of " + name;
    }
}
