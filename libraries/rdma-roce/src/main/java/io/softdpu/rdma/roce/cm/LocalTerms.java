package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.rc.Attachment;

/**
 * Terms of an end for its connection: what its queue pair has of its instance, and terms that are
 * stated in REQ and REP.
 *
 * @param attachment of the queue pair; its grants are stated
 * @param receiveBufferBytes size of the buffer in which packets wait for this end; stated as the
 *     next lower power of two
 * @param pathMtuBytes largest payload of a packet, a power of two from 256 to 4,096
 * @param responderResources reads and atomics that a peer may have outstanding here, 0 to 255
 * @param initiatorDepth reads and atomics that this end has outstanding at most, 0 to 255
 * @param ackTimeout code of the time after which a packet is repeated, 0 to 31
 * @param retries repeats of a packet, 0 to 7
 * @param rnrRetries repeats of a message that finds no receive, 0 to 7
 * @param connectTimeoutNanos limit of the time from connect or accept until it is established
 */
public record LocalTerms(
        Attachment attachment,
        long receiveBufferBytes,
        int pathMtuBytes,
        int responderResources,
        int initiatorDepth,
        int ackTimeout,
        int retries,
        int rnrRetries,
        long connectTimeoutNanos) {}
