package io.softdpu.rdma.roce.simulation;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.GrantedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a host with a key, as its owner grants it, and as its peer names it.
 *
 * <p>Guards are in front and behind: {@link #guardsAreWhole}.
 */
public final class TestMemory implements GrantedMemory, RemoteMemory {
    private static final int GUARD_BYTES = 64;
    private static final byte GUARD = 0x5a;

    private final int key;
    private final long address;
    private final int bytes;
    private final Permissions permissions;
    private final MemorySegment guarded;
    private final MemorySegment memory;
    private int changes;
    private boolean withdrawn;

    /**
     * Memory of zero bytes.
     *
     * @param address as peers name it: a multiple of eight
     */
    public TestMemory(int key, long address, int bytes, Permissions permissions) {
        this.key = key;
        this.address = address;
        this.bytes = bytes;
        this.permissions = permissions;
        guarded = MemorySegment.ofArray(new long[(bytes + 7) / 8 + 2 * GUARD_BYTES / 8]);
        guarded.fill(GUARD);
        guarded.asSlice(GUARD_BYTES, bytes).fill((byte) 0);
        memory = guarded.asSlice(GUARD_BYTES);
    }

    /** Memory for all that peers may do. */
    public static TestMemory open(int key, long address, int bytes) {
        return new TestMemory(
                key,
                address,
                bytes,
                Permissions.of(
                        AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC));
    }

    @Override
    public int key() {
        return key;
    }

    /** Whether an access is granted. */
    public boolean grants(long from, long count, AccessFlag right) {
        long offset = from - address;
        return !withdrawn
                && permissions.has(right)
                && offset >= 0
                && offset <= bytes
                && count <= bytes - offset;
    }

    /** Grants nothing from now on. */
    public void withdraw() {
        withdrawn = true;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public void changed() {
        changes++;
    }

    /** How often it was told of a change. */
    public int changes() {
        return changes;
    }

    @Override
    public boolean isOf(byte[] gid) {
        return true;
    }

    @Override
    public @Nullable Refusal checkAlive() {
        return null;
    }

    /** A copy of its bytes. */
    public byte[] content() {
        return guarded.asSlice(GUARD_BYTES, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Whether no byte in front and behind has changed. */
    public boolean guardsAreWhole() {
        for (long i = 0; i < guarded.byteSize(); i++) {
            boolean inside = i >= GUARD_BYTES && i < GUARD_BYTES + bytes;
            if (!inside && guarded.get(ValueLayout.JAVA_BYTE, i) != GUARD) {
                return false;
            }
        }
        return true;
    }
}
