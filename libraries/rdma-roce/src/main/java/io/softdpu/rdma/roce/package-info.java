/**
 * RDMA provider over UDP, in the RoCE v2 format: for instances that share no fabric folder, on one
 * computer or two.
 *
 * <p>Role: the provider of {@code RoceService} opens an endpoint per instance, which has its
 * connections, and the ports on which it listens, in the NIC of its address. {@code
 * docs/wire/roce.md} specifies the packets, and the section of a blob.
 *
 * <p>Users see {@link io.softdpu.rdma.roce.RoceOptions}, the options of all NICs of the process;
 * and for peers that are none of softdpu, and exchange numbers by a way of their own, {@link
 * io.softdpu.rdma.roce.RoceQueuePair} and {@link io.softdpu.rdma.roce.RoceMemory}.
 *
 * <p><b>Thread.</b> Endpoint and connections belong to the engine's thread; they exchange requests,
 * completions, events and the requests of peers with the NIC, which that thread drives while it
 * polls.
 *
 * <p><b>Trust.</b> Every byte of a section and of a packet may be a hostile peer's: it is checked
 * once, before it is used. RoCE has no authentication; the key of a blob only keeps a connection
 * from those who have not seen both blobs.
 */
@NullMarked
package io.softdpu.rdma.roce;

import org.jspecify.annotations.NullMarked;
