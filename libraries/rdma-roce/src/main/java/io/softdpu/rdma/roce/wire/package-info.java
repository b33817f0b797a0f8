/**
 * Packets and connection messages of RoCE v2, byte for byte.
 *
 * <p>Role: this package reads, checks and writes the formats of {@code docs/wire/roce.md}, and
 * computes the invariant CRC, without I/O, clock or threads. Start with {@link
 * io.softdpu.rdma.roce.wire.Packet}, a view of one received packet: it is checked once, and then no
 * accessor can fail. {@link io.softdpu.rdma.roce.wire.Headers} writes the headers of a packet,
 * {@link io.softdpu.rdma.roce.wire.Icrc} the check at its end. {@link
 * io.softdpu.rdma.roce.wire.CmCodec} has the messages of connection management as records.
 *
 * <p>Thread rule: {@link io.softdpu.rdma.roce.wire.Packet} and {@link
 * io.softdpu.rdma.roce.wire.Icrc} belong to one thread at a time; everything else is immutable or
 * static.
 *
 * <p>Ownership: views refer to memory of their caller, which no peer may write to. The path of a
 * packet allocates nothing; connection messages are copied into records.
 */
@NullMarked
package io.softdpu.rdma.roce.wire;

import org.jspecify.annotations.NullMarked;
