/**
 * The RDMA provider for instances of one machine: what travels goes through shared memory. Each
 * side of a connection owns a ring for what the peer sends, exported as a region of the fabric;
 * reads and writes are done by their initiator, which copies between its own memory and the
 * imported memory of the peer, so that they need nothing of the peer's program. {@code
 * docs/wire/rdma-shm.md} has the bytes.
 *
 * <p><b>Thread.</b> Endpoint and connections belong to the engine's thread. The bus thread fetches
 * the peer's ring and tells of leases; both are handed over through the engine's mailbox.
 *
 * <p><b>Ownership.</b> A connection owns its ring's memory, the export of it and the import of the
 * peer's; closing it gives back all three.
 *
 * <p><b>Trust.</b> The peer can write anything into this side's ring at any time: every header is
 * copied, checked against what must come next, and then used; a wrong one ends the connection.
 */
@NullMarked
package io.softdpu.rdma.shm;

import org.jspecify.annotations.NullMarked;
