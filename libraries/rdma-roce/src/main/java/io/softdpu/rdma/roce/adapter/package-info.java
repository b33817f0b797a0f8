/**
 * One adapter of RoCE v2 without its socket: queue pairs by number, their turns to send, and their
 * deadlines.
 *
 * <p>Role: an {@link io.softdpu.rdma.roce.adapter.Adapter} takes packets and the time, checks the
 * packets, and gives them to the {@linkplain io.softdpu.rdma.roce.rc.QueuePair queue pair} that
 * they are for; those for queue pair 1 to its {@link io.softdpu.rdma.roce.adapter.Management}.
 * Outgoing packets go to a {@link io.softdpu.rdma.roce.rc.PacketSink}, as headers and references to
 * memory; a {@link io.softdpu.rdma.roce.adapter.PacketWriter} makes one piece of them, with the
 * ICRC.
 *
 * <p>Thread rule: an adapter and all of its parts belong to one thread at a time.
 *
 * <p>Ownership: places for queue pairs and datagrams are allocated with the adapter; nothing is
 * allocated per packet of a connection.
 */
@NullMarked
package io.softdpu.rdma.roce.adapter;

import org.jspecify.annotations.NullMarked;
