package io.softdpu.rdma.roce.rc;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.spi.memory.GrantedMemory;
import org.jspecify.annotations.Nullable;

/** Memory that peers of an instance may access. Allocates nothing. */
public interface PeerMemory {
    /**
     * Finds the memory of a key, and checks an access to it. Called for each packet, so that memory
     * which is withdrawn stays as it is from then on.
     *
     * @param key from the packet: any number
     * @param address of the first byte, as peers name it: any number
     * @param lengthBytes 1 to 2^31
     * @param right RDMA_READ, RDMA_WRITE or RDMA_ATOMIC
     * @return null if there is no such memory, if the range is not inside, or if the right is not
     *     granted
     */
    @Nullable GrantedMemory find(int key, long address, long lengthBytes, AccessFlag right);
}
