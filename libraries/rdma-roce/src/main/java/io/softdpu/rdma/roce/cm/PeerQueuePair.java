package io.softdpu.rdma.roce.cm;

import io.softdpu.rdma.roce.wire.Gid;

/**
 * Queue pair of a peer without connection management, whose program has stated it by a way of its
 * own.
 *
 * @param gid with the port of RoCE v2
 * @param number 24 bits, 2 or more
 * @param firstPsn number of the first request packet that it sends, 24 bits
 * @param pathMtuBytes of both ends, a power of two from 256 to 4,096
 * @param readLimit reads and atomic operations that it answers at a time, 0 to 255
 */
public record PeerQueuePair(Gid gid, int number, int firstPsn, int pathMtuBytes, int readLimit) {}
