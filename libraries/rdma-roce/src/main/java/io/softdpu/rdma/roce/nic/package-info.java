/**
 * Network adapters of this process: an adapter of the protocol, its UDP socket, and the threads
 * that drive both.
 *
 * <p>Role: {@link io.softdpu.rdma.roce.nic.Nic} is one per process and local address, for all
 * machines of the process. {@link io.softdpu.rdma.roce.nic.NicEndpoint} and {@link
 * io.softdpu.rdma.roce.nic.NicConnection} are the parts of an instance and a connection between its
 * engine and the adapter, {@link io.softdpu.rdma.roce.nic.NicRequest} is a request of a peer.
 *
 * <p>Options ({@link io.softdpu.rdma.roce.nic.NicOptions}) may put an impairment between adapter
 * and socket, and a capture beside both.
 *
 * <p>Thread rule: the adapter, its queue pairs and connections, with the impairment, belong to the
 * owner of the NIC: one thread at a time, that of an engine for a batch within its progress, or
 * that of the NIC. An engine hands requests over, and gets completions and events, also from
 * itself, by {@linkplain io.softdpu.rdma.roce.nic.WorkRing rings} and queues without locks; before
 * it sleeps it says so, and what comes then wakes it. Connecting, listening and ending are tasks
 * that the engine gives to the thread of the NIC, and waits for; it does not wait for its answers
 * to requests.
 *
 * <p>Ownership: a NIC is opened by the first endpoint that needs its address, and closed with the
 * last. A request belongs to the NIC from its publication until its completion is in a ring.
 */
@NullMarked
package io.softdpu.rdma.roce.nic;

import org.jspecify.annotations.NullMarked;
