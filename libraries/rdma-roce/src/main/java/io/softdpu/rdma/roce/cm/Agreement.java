package io.softdpu.rdma.roce.cm;

import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.roce.rc.Path;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Icrc;
import org.jspecify.annotations.Nullable;

/**
 * Terms of a connection, of which both ends are aware. Immutable.
 *
 * @param path of the queue pair; its MTU is the lower one of both ends, or that of the REQ if the
 *     other end is none of softdpu, since its REP would state no lower one
 * @param grants what the peer's instance grants; all rights of RDMA peers if it does not state them
 * @param receiveBufferBytes size of the peer's receive buffer; 0 if it does not state it
 */
public record Agreement(Path path, Permissions grants, long receiveBufferBytes) {
    /** The terms of the end that answers a REQ. */
    static Agreement answering(
            CmMessage.Req req, @Nullable EndGuid guid, Gid peer, LocalTerms terms, int receivePsn) {
        int mtu = EndGuid.mtuBytes(req.pathMtu());
        return of(
                guid,
                peer,
                terms,
                req.queuePair(),
                req.startingPsn(),
                receivePsn,
                guid == null ? mtu : Math.min(mtu, terms.pathMtuBytes()),
                req.responderResources(),
                req.initiatorDepth(),
                req.rnrRetries());
    }

    /** The terms of the end whose REQ was answered. */
    static Agreement answered(
            CmMessage.Rep rep, @Nullable EndGuid guid, Gid peer, LocalTerms terms, int receivePsn) {
        int mtu = terms.pathMtuBytes();
        return of(
                guid,
                peer,
                terms,
                rep.queuePair(),
                rep.startingPsn(),
                receivePsn,
                guid == null ? mtu : Math.min(EndGuid.mtuBytes(guid.pathMtuCode()), mtu),
                rep.responderResources(),
                rep.initiatorDepth(),
                rep.rnrRetries());
    }

    /**
     * The terms of an end whose peer sends no messages.
     *
     * @param ownPsn number of the first request packet of this end
     */
    static Agreement stated(PeerQueuePair peer, LocalTerms terms, int ownPsn) {
        return new Agreement(
                new Path(
                        peer.gid(),
                        peer.number(),
                        ownPsn,
                        peer.firstPsn(),
                        peer.pathMtuBytes(),
                        Path.ANY_IDENTIFICATION,
                        terms.responderResources(),
                        Math.min(terms.initiatorDepth(), peer.readLimit()),
                        terms.retries(),
                        TimeCode.nanos(terms.ackTimeout()),
                        terms.rnrRetries()),
                EndGuid.ALL,
                0);
    }

    /**
     * The path MTU that a REQ asks for, and that no REP lowers, since its sender is none of
     * softdpu; 0 if one does.
     */
    static int fixedPathMtuBytes(CmMessage.Req req) {
        return EndGuid.isOne(req.caGuid()) ? 0 : EndGuid.mtuBytes(req.pathMtu());
    }

    /**
     * Whether a REQ asks for a larger path MTU than this end has, and can be given no lower one.
     */
    static boolean isPathMtuBeyond(CmMessage.Req req, int pathMtuBytes) {
        return fixedPathMtuBytes(req) > pathMtuBytes;
    }

    /** Why such a REQ is rejected. */
    static String pathMtuText(CmMessage.Req req, int limit) {
        return "path MTU of the request is too large: pathMtuBytes="
                + fixedPathMtuBytes(req)
                + ", limit="
                + limit;
    }

    private static Agreement of(
            @Nullable EndGuid guid,
            Gid peer,
            LocalTerms terms,
            int peerQueuePair,
            int sendPsn,
            int receivePsn,
            int mtuBytes,
            int peerResources,
            int peerDepth,
            int peerRnrRetries) {
        return new Agreement(
                new Path(
                        peer,
                        peerQueuePair,
                        sendPsn,
                        receivePsn,
                        mtuBytes,
                        guid == null ? Path.ANY_IDENTIFICATION : Icrc.SENT_IDENTIFICATIONS,
                        Math.min(terms.responderResources(), peerDepth),
                        Math.min(terms.initiatorDepth(), peerResources),
                        terms.retries(),
                        TimeCode.nanos(terms.ackTimeout()),
                        peerRnrRetries),
                grantsOf(guid),
                guid == null ? 0 : guid.receiveBufferBytes());
    }

    /** Whether the peer is an end of softdpu, which states its grants and its receive buffer. */
    public boolean isWithSoftdpu() {
        return receiveBufferBytes > 0;
    }

    static Permissions grantsOf(@Nullable EndGuid guid) {
        return guid == null ? EndGuid.ALL : guid.grants();
    }
}
