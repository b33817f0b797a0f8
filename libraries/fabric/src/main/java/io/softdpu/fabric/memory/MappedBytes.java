package io.softdpu.fabric.memory;

import io.softdpu.fabric.error.FabricException;
import java.util.HashMap;
import java.util.Map;

/**
 * Accounting of the memory of peers that a bus has mapped, per peer process. Mapping memory of a
 * peer may cost this process as many bytes as are mapped, even if the peer has deallocated them: a
 * touched hole is allocated and charged to the process that touches it. So they are counted from
 * before the mapping until everything is unmapped. Any thread.
 */
public final class MappedBytes {
    private final long limitBytes;
    private final long peerLimitBytes;
    private final Map<Integer, Long> byPeer = new HashMap<>();
    private long allBytes;

    /**
     * Creates an empty account.
     *
     * @param limitBytes limit of all peers together
     * @param peerLimitBytes limit of one peer process
     */
    public MappedBytes(long limitBytes, long peerLimitBytes) {
        this.limitBytes = limitBytes;
        this.peerLimitBytes = peerLimitBytes;
    }

    /** Bytes of one peer that are counted until {@link #release()}, which is called once. */
    final class Reservation {
        private final int peerPid;
        private final long sizeBytes;
        private boolean released;

        private Reservation(int peerPid, long sizeBytes) {
            this.peerPid = peerPid;
            this.sizeBytes = sizeBytes;
        }

        /** Process id of the peer. */
        int peerPid() {
            return peerPid;
        }

        /** Stops counting the bytes, which have been unmapped. */
        void release() {
            synchronized (MappedBytes.this) {
                if (released) {
                    throw new IllegalStateException("reservation released twice: pid=" + peerPid);
                }
                released = true;
                allBytes -= sizeBytes;
                byPeer.computeIfPresent(
                        peerPid,
                        (pid, bytes) ->
                                bytes == sizeBytes ? null : Long.valueOf(bytes - sizeBytes));
            }
        }
    }

    /**
     * Counts bytes that are about to be mapped, in whole pages.
     *
     * @throws FabricException LIMIT, naming the peer, the sizes and the limit; nothing is counted
     */
    synchronized Reservation reserve(int peerPid, long sizeBytes) {
        long bytes = SharedSegment.roundUpToPage(sizeBytes);
        long ofPeer = byPeer.getOrDefault(peerPid, 0L);
        if (bytes > peerLimitBytes - ofPeer) {
            throw full("one peer", peerPid, bytes, ofPeer, peerLimitBytes);
        }
        if (bytes > limitBytes - allBytes) {
            throw full("all peers", peerPid, bytes, ofPeer, limitBytes);
        }
        byPeer.put(peerPid, ofPeer + bytes);
        allBytes += bytes;
        return new Reservation(peerPid, bytes);
    }

    /** Bytes of all peers that are counted now. */
    public synchronized long allBytes() {
        return allBytes;
    }

    private FabricException full(String whose, int peerPid, long bytes, long ofPeer, long limit) {
        return new FabricException(
                FabricException.Kind.LIMIT,
                "memory of "
                        + whose
                        + " mapped here would exceed the limit: peerPid="
                        + peerPid
                        + ", sizeBytes="
                        + bytes
                        + ", mappedOfPeerBytes="
                        + ofPeer
                        + ", mappedBytes="
                        + allBytes
                        + ", limitBytes="
                        + limit);
    }
}
