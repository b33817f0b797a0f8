/**
 * The storage target: serves a volume to one zero-copy service.
 *
 * <p>Role: {@link io.softdpu.storage.server.StorageTarget} answers control messages over TCP. Its
 * workers take io_messages off the io_control connection and move the data by RDMA on io_data,
 * straight between the volume and the initiator's memory: the only copy that there is.
 *
 * <p>Thread rule: {@code run} belongs to the control thread; each core has a thread of its own.
 *
 * <p>Ownership: the target owns its device, its port, its workers, the imported mmap and the volume
 * that it was given.
 */
@NullMarked
package io.softdpu.storage.server;

import org.jspecify.annotations.NullMarked;
