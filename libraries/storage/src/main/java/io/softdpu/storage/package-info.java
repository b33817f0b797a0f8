/**
 * Zero-copy storage pipeline: an initiator on the host, a service on the DPU that only forwards
 * messages, and a target that transfers the data by RDMA directly between its volume and the
 * initiator's memory.
 *
 * <p>Role: the interface common to the three roles: {@link io.softdpu.storage.StorageRole}, the
 * steps of its session, its listener, its reports and its defaults. Start with one of the roles:
 * {@link io.softdpu.storage.server.StorageTarget}, {@link io.softdpu.storage.relay.ZeroCopyService}
 * and {@link io.softdpu.storage.initiator.StorageInitiator}.
 *
 * <p>Thread rule: a role's {@code run} belongs to one thread, its control thread; {@code abort} and
 * {@code report} may be called from any. Each worker of the data path has a thread of its own,
 * which the role starts and ends.
 *
 * <p>Ownership: a role owns the device, the representor, the channels, the memory and the threads
 * that it created, and releases them when {@code run} ends; the {@code Machine} belongs to the
 * caller.
 */
@NullMarked
package io.softdpu.storage;

import org.jspecify.annotations.NullMarked;
