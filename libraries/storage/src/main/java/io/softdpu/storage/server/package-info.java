/**
 * Storage target: serves a volume to one zero-copy service.
 *
 * <p>Role: start with {@link io.softdpu.storage.server.StorageTarget}. It handles control requests
 * over TCP. Its workers receive io_messages on the io_control connection and transfer the data by
 * RDMA on io_data, directly between the volume and the initiator's memory: the only copy of the
 * data.
 *
 * <p>Thread rule: {@code run} belongs to the control thread; each worker has a thread of its own.
 *
 * <p>Ownership: the target owns its device, its port, its workers, the imported mmap and the
 * volume.
 */
@NullMarked
package io.softdpu.storage.server;

import org.jspecify.annotations.NullMarked;
