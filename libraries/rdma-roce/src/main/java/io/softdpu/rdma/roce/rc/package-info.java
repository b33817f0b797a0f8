/**
 * Reliable connections of RoCE v2, without I/O, clock or threads: packets and time go in, packets
 * and completions come out.
 *
 * <p>Role: a {@link io.softdpu.rdma.roce.rc.QueuePair} is one end of a connection. Its requester
 * turns {@link io.softdpu.rdma.spi.WorkRequest}s into packets, repeats what was lost, and completes
 * them in order; its responder executes the peer's packets. What it has of its instance is in an
 * {@link io.softdpu.rdma.roce.rc.Attachment}, what it has agreed on with its peer in a {@link
 * io.softdpu.rdma.roce.rc.Path}. An {@link io.softdpu.rdma.roce.rc.Agenda} knows which queue pairs
 * have packets to send, and which deadlines.
 *
 * <p>Thread rule: everything belongs to one thread at a time. Listeners and sinks are called inside
 * the calls of a queue pair; they may submit requests, and end or destroy the queue pair.
 *
 * <p>Ownership: a request belongs to its queue pair from submission to completion. Nothing is
 * allocated per packet, request or timer; a queue pair allocates when it is created and when it is
 * connected. Section numbers in comments are those of the InfiniBand Architecture Specification,
 * volume 1, release 1.4.
 */
@NullMarked
package io.softdpu.rdma.roce.rc;

import org.jspecify.annotations.NullMarked;
