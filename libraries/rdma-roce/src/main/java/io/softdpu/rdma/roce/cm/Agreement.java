package io.softdpu.rdma.roce.cm;

import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Terms of a connection, of which both ends are aware. Immutable.
 *
 * @param peer address of the peer's adapter
 * @param peerQueuePair 24 bits
 * @param sendPsn 24 bits, of the first packet that this end sends
 * @param receivePsn 24 bits, of the first packet that the peer sends
 * @param pathMtuBytes the lower one of both ends, or that of the REQ if the other end is none of
 *     softdpu, since its REP would state no lower one
 * @param responderResources reads and atomics that the peer may have outstanding at this end
 * @param initiatorDepth reads and atomics that this end may have outstanding at the peer
 * @param rnrRetries that the peer states for messages of this end, 0 to 7
 * @param grants what the peer's instance grants; all rights of RDMA peers if it does not state them
 * @param receiveBufferBytes size of the peer's receive buffer; 0 if it does not state it
 */
public record Agreement(
        Gid peer,
        int peerQueuePair,
        int sendPsn,
        int receivePsn,
        int pathMtuBytes,
        int responderResources,
        int initiatorDepth,
        int rnrRetries,
        Permissions grants,
        long receiveBufferBytes) {

    /** The terms of the end that answers a REQ. */
    static Agreement answering(
            CmMessage.Req req, @Nullable EndGuid guid, Gid peer, LocalTerms terms, int receivePsn) {
        int mtu = EndGuid.mtuBytes(req.pathMtu());
        return new Agreement(
                peer,
                req.queuePair(),
                req.startingPsn(),
                receivePsn,
                guid == null ? mtu : Math.min(mtu, terms.pathMtuBytes()),
                Math.min(terms.responderResources(), req.initiatorDepth()),
                Math.min(terms.initiatorDepth(), req.responderResources()),
                req.rnrRetries(),
                grantsOf(guid),
                bufferOf(guid));
    }

    /** The terms of the end whose REQ was answered. */
    static Agreement answered(
            CmMessage.Rep rep, @Nullable EndGuid guid, Gid peer, LocalTerms terms, int receivePsn) {
        return new Agreement(
                peer,
                rep.queuePair(),
                rep.startingPsn(),
                receivePsn,
                guid == null
                        ? terms.pathMtuBytes()
                        : Math.min(EndGuid.mtuBytes(guid.pathMtuCode()), terms.pathMtuBytes()),
                Math.min(terms.responderResources(), rep.initiatorDepth()),
                Math.min(terms.initiatorDepth(), rep.responderResources()),
                rep.rnrRetries(),
                grantsOf(guid),
                bufferOf(guid));
    }

    /** Whether the peer is an end of softdpu, which states its grants and its receive buffer. */
    public boolean isWithSoftdpu() {
        return receiveBufferBytes > 0;
    }

    static Permissions grantsOf(@Nullable EndGuid guid) {
        return guid == null ? EndGuid.ALL : guid.grants();
    }

    private static long bufferOf(@Nullable EndGuid guid) {
        return guid == null ? 0 : guid.receiveBufferBytes();
    }
}
