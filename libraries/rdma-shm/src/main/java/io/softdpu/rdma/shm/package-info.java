/**
 * RDMA provider for instances of one machine, over shared memory. Each side of a connection owns a
 * receive ring for the peer's messages, exported as a region of the fabric; reads and writes are
 * executed by their initiator, which copies between its own memory and the imported memory of the
 * peer, so that the peer's program takes no part. {@code docs/wire/rdma-shm.md} specifies the
 * bytes.
 *
 * <p><b>Thread.</b> Endpoint and connections belong to the engine's thread. The bus thread imports
 * the peer's ring and reports leases; both are forwarded through the engine's mailbox.
 *
 * <p><b>Ownership.</b> A connection owns its ring's memory, the export of it and the import of the
 * peer's; closing it releases all three.
 *
 * <p><b>Trust.</b> The peer can write anything into this side's ring at any time: every header is
 * copied, checked against the expected next one, and then used; a wrong one ends the connection.
 */
@NullMarked
package io.softdpu.rdma.shm;

import org.jspecify.annotations.NullMarked;
